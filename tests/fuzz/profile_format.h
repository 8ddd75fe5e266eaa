/* profile_format.h - one fuzz target for each format of profiles: FORMAT is the reader's name.
 *
 * Any bytes: no crash, an account that is whole, ids that exist; and what was read is written by
 * the writer of that name, if there is one, and read again with the same weight where the format
 * holds it (no fraction is left, no sample is the last of a time line). */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_account(const struct fb_profile *p, const struct fb_read_report *report)
{
    uint64_t losses = 0;

    for (size_t i = 0; i < report->losses_count; i++)
        losses += report->losses[i].count;
    if (report->samples_in != p->samples.count + losses)
        abort();
    for (size_t i = 0; i < p->samples.count; i++) {
        if (p->samples.stack[i] >= p->stacks_count || p->samples.thread[i] >= p->threads_count)
            abort();
    }
    for (size_t i = 1; i < p->stacks_count; i++) {
        if (p->stacks[i].parent.n >= i || p->stacks[i].frame.n >= p->frames_count)
            abort();
    }
}

static void check_again(const struct fb_profile *p)
{
    const struct fb_writer *writer;
    struct fb_read_report report;
    struct fb_profile *q;
    struct fb_buf out = {0};
    struct fb_err err;

    if (fb_writer_find(FORMAT, "", &writer, &err) != FB_OK || p->samples.count == 0)
        return;
    writer->write(p, NULL, &out);
    if (fb_profile_decode(out.data, out.len, "again", FORMAT, &q, &report, &err) == FB_OK) {
        check_account(q, &report);
        fb_profile_free(q);
    } else if (fb_profile_weight(p) > 0 && fb_profile_weight(p) < (uint64_t)1 << 50) {
        abort();
    }
    fb_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const types[] = {NULL, "left", "right", "spans", "bytes", "cpu"};
    size_t type = n > 0 ? data[n - 1] % (sizeof types / sizeof *types) : 0;
    struct fb_read_options options = {.type = types[type]};
    struct fb_source *in = fb_source_of_bytes(data, n, "fuzz");
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    if (fb_profile_read(in, FORMAT, &options, &p, &report, &err) == FB_OK) {
        check_account(p, &report);
        check_again(p);
        fb_profile_free(p);
    } else if (err.text[0] == '\0') {
        abort();
    }
    fb_source_close(in);
    return 0;
}

/* Any bytes as folded text: no crash, and what is written folds to itself. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fb_read_report report;
    struct fb_profile *p, *q;
    struct fb_buf one = {0}, two = {0};
    struct fb_err err;
    const struct fb_writer *writer;

    if (fb_profile_decode(data, n, "fuzz", "folded", &p, &report, &err) != FB_OK)
        return 0;
    if (fb_writer_find("folded", "", &writer, &err) != FB_OK)
        abort();
    writer->write(p, NULL, &one);
    if (one.len > 0 &&
        fb_profile_decode(one.data, one.len, "again", "folded", &q, &report, &err) == FB_OK) {
        if (fb_profile_weight(p) != fb_profile_weight(q))
            abort();
        writer->write(q, NULL, &two);
        fb_profile_free(q);
    }
    fb_buf_done(&one);
    fb_buf_done(&two);
    fb_profile_free(p);
    return 0;
}

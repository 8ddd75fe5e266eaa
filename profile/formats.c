#include "profile/formats.h"

#include <string.h>

#include "profile/read/folded.h"
#include "profile/write/folded.h"

static enum fb_status read_bank(const void *bytes, size_t n, const char *name,
                                struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                struct fb_err *err)
{
    return fb_bank_decode(bytes, n, name, ret_p, &ret_report->damage, err);
}

static void write_bank(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out)
{
    (void)canonical; /* a bank keeps raw names */
    fb_bank_encode(p, out);
}

const struct fb_reader fb_readers[] = {
    {"fbank", "a bank written by the sampler or by 'convert'", fb_bank_sniff, read_bank},
    {"folded", "folded stacks, 'root;frame;leaf 12' a line", fb_folded_sniff, fb_folded_read},
    {NULL, NULL, NULL, NULL},
};

const struct fb_writer fb_writers[] = {
    {"fbank", ".fbank", "a packed bank", FB_HOLDS_ALL & ~(unsigned)FB_HOLDS_LABELS, write_bank},
    {"folded", ".folded", "folded stacks, canonical names", FB_HOLDS_KINDS | FB_HOLDS_TIERS,
     fb_folded_write_profile},
    {NULL, NULL, NULL, 0, NULL},
};

static const struct fb_reader *reader_find(const char *format, const void *bytes, size_t n)
{
    for (const struct fb_reader *r = fb_readers; r->name; r++) {
        if (format ? strcmp(r->name, format) == 0 : r->sniff(bytes, n))
            return r;
    }
    return NULL;
}

enum fb_status fb_profile_decode(const void *bytes, size_t n, const char *name, const char *format,
                                 struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                 struct fb_err *err)
{
    const struct fb_reader *reader = reader_find(format, bytes, n);

    *ret_report = (struct fb_read_report){0};
    if (reader)
        return reader->read(bytes, n, name, ret_p, ret_report, err);
    if (format)
        return fb_fail(err, FB_EUSAGE, "'%s' is not a format that can be read", format);
    if (n == 0)
        return fb_fail(err, FB_EFORMAT, "%s: is empty, a profile was expected", name);
    return fb_fail(err, FB_EFORMAT,
                   "%s: is of no known profile format (a bank or folded stacks were expected)",
                   name);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

enum fb_status fb_writer_find(const char *name, const char *path, const struct fb_writer **ret_w,
                              struct fb_err *err)
{
    for (const struct fb_writer *w = fb_writers; w->name; w++) {
        if (name ? strcmp(w->name, name) == 0 : ends_with(path, w->suffix)) {
            *ret_w = w;
            return FB_OK;
        }
    }
    if (name)
        return fb_fail(err, FB_EUSAGE, "'%s' is not a format that can be written", name);
    return fb_fail(err, FB_EUSAGE,
                   "%s: its ending names no format that can be written (.fbank or .folded was "
                   "expected, or --to)",
                   path);
}

/* hostile.h - a reader over input that was cut, and input in which bytes were flipped. */
#ifndef FB_TESTS_HOSTILE_H
#define FB_TESTS_HOSTILE_H

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* Reads a copy that ends where its memory ends; true where there was a profile. */
static inline bool read_bytes(const void *bytes, size_t n, const char *format, const char *type,
                              struct fb_profile **ret_p, struct fb_read_report *report,
                              struct fb_err *err)
{
    struct fb_read_options options = {.type = type, .jobs = 1};
    char *copy = malloc(n ? n : 1);
    struct fb_source *in;
    enum fb_status r;

    memcpy(copy, bytes, n);
    in = fb_source_of_bytes(copy, n, "t");
    err->text[0] = '\0';
    r = fb_profile_read(in, format, &options, ret_p, report, err);
    fb_source_close(in);
    free(copy);
    return r == FB_OK;
}

/* Every cut, and every byte with each of three flips: a profile or a sentence that names the file.
 */
static inline void be_hostile(const void *bytes, size_t n, const char *format, const char *type)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    unsigned char *copy = malloc(n ? n : 1);

    for (size_t cut = 0; cut < n; cut++) {
        if (read_bytes(bytes, cut, format, type, &p, &report, &err))
            fb_profile_free(p);
        else
            assert_true(strncmp(err.text, "t: ", 3) == 0);
    }
    memcpy(copy, bytes, n);
    for (size_t i = 0; i < n * 3; i++) {
        copy[i / 3] ^= flips[i % 3];
        if (read_bytes(copy, n, format, type, &p, &report, &err))
            fb_profile_free(p);
        else
            assert_true(strncmp(err.text, "t: ", 3) == 0);
        copy[i / 3] ^= flips[i % 3];
    }
    free(copy);
}

#endif

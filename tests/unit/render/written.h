/* written.h - a table as one text, for comparing. */
#ifndef FB_TESTS_RENDER_WRITTEN_H
#define FB_TESTS_RENDER_WRITTEN_H

#include "render/render.h"

/* Yours. */
static inline char *written(const struct fb_table *t, const char *format)
{
    struct fb_buf b = {0};

    fb_table_writer_find(format)->write(&t, 1, false, &b);
    return fb_buf_take(&b);
}

/* Fails with both texts shown where they differ; frees the table. */
#define assert_table(t, format, expected)                                                          \
    do {                                                                                           \
        char *text_ = written(t, format);                                                          \
        assert_string_equal(text_, expected);                                                      \
        free(text_);                                                                               \
    } while (0)

#endif

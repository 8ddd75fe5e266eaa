/* buf.h - a growing byte buffer with a maximum, for output and for whole files.
 *
 *     struct fb_buf b = {0};
 *     fb_buf_printf(&b, "%s", name);
 *     ... b.data, b.len ...          b.data is NUL-terminated once anything was added
 *     fb_buf_done(&b);
 *
 * `max` (0: none) bounds len; past it nothing more is added and `overflow` is set.
 *
 * Where much is written, `drain` takes what has gathered: the writer calls fb_buf_drain() between
 * two lines, which does nothing before FB_BUF_DRAIN bytes are there, and the owner takes the rest.
 */
#ifndef FB_BASE_BUF_H
#define FB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_buf {
    char *data;
    size_t len, room, max;
    bool overflow;
    void (*drain)(void *arg, const void *bytes, size_t n); /* NULL: all stays in the buffer */
    void *drain_arg;
};

enum { FB_BUF_DRAIN = 256 * 1024 };

void fb_buf_drain(struct fb_buf *b);

void fb_buf_add(struct fb_buf *b, const void *bytes, size_t n);
void fb_buf_puts(struct fb_buf *b, const char *text);
void fb_buf_putc(struct fb_buf *b, char c);
void fb_buf_printf(struct fb_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fb_buf_add_u64(struct fb_buf *b, uint64_t v); /* decimal; faster than printf */
/* The bytes become yours (free()); b is empty again.  Never NULL. */
char *fb_buf_take(struct fb_buf *b);
void fb_buf_done(struct fb_buf *b);

#endif

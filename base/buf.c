#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void fb_buf_add(struct fb_buf *b, const void *bytes, size_t n)
{
    if (b->overflow || (b->max && n > b->max - b->len)) {
        b->overflow = true;
        return;
    }
    fb_vec_reserve(&b->data, &b->room, b->len + n + 1, 1);
    if (n > 0)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void fb_buf_puts(struct fb_buf *b, const char *text)
{
    fb_buf_add(b, text, strlen(text));
}

void fb_buf_putc(struct fb_buf *b, char c)
{
    fb_buf_add(b, &c, 1);
}

void fb_buf_printf(struct fb_buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap, again;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof small) {
        fb_buf_add(b, small, (size_t)n);
    } else if (n >= 0) {
        char *large = fb_alloc((size_t)n + 1);

        (void)vsnprintf(large, (size_t)n + 1, fmt, again);
        fb_buf_add(b, large, (size_t)n);
        free(large);
    }
    va_end(again);
}

void fb_buf_add_u64(struct fb_buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    fb_buf_add(b, digits + at, sizeof digits - at);
}

char *fb_buf_take(struct fb_buf *b)
{
    char *data = b->data ? b->data : fb_alloc(1);

    *b = (struct fb_buf){.max = b->max};
    return data;
}

void fb_buf_done(struct fb_buf *b)
{
    free(b->data);
    *b = (struct fb_buf){.max = b->max};
}

void fb_buf_drain(struct fb_buf *b)
{
    if (!b->drain || b->len < FB_BUF_DRAIN)
        return;
    b->drain(b->drain_arg, b->data, b->len);
    b->len = 0;
}

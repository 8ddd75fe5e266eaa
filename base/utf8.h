/* utf8.h - one code point at a time, in (safe on any bytes) and out. */
#ifndef FB_BASE_UTF8_H
#define FB_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at text[*at], *at moved past it.  Bytes that are not well-formed UTF-8
 * (overlong, surrogates, cut) give U+FFFD one byte at a time.  *at < len. */
static inline uint32_t fb_utf8_next(const char *text, size_t len, size_t *at)
{
    const unsigned char *p = (const unsigned char *)text + *at;
    size_t left = len - *at, n;
    uint32_t c = p[0], least;

    if (c < 0x80) {
        *at += 1;
        return c;
    }
    if (c >= 0xc2 && c < 0xe0) {
        n = 2;
        c &= 0x1f;
        least = 0x80;
    } else if (c >= 0xe0 && c < 0xf0) {
        n = 3;
        c &= 0x0f;
        least = 0x800;
    } else if (c >= 0xf0 && c < 0xf5) {
        n = 4;
        c &= 0x07;
        least = 0x10000;
    } else {
        *at += 1;
        return 0xfffd;
    }
    for (size_t i = 1; i < n; i++) {
        if (i >= left || (p[i] & 0xc0) != 0x80) {
            *at += 1;
            return 0xfffd;
        }
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        *at += 1;
        return 0xfffd;
    }
    *at += n;
    return c;
}

/* The code point as one to four bytes; returns how many. */
static inline size_t fb_utf8_write(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Whether all of it is well-formed. */
static inline bool fb_utf8_valid(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t from = at;

        if (fb_utf8_next(text, len, &at) == 0xfffd && at - from == 1)
            return false;
    }
    return true;
}

#endif

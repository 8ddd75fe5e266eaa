/* utf8.c - see utf8.h. */
#include "sampler/jvm/utf8.h"

#include <string.h>

enum { UNKNOWN = 0xfffd };

size_t fb_jvm_utf8_letter(uint32_t c, char ret_bytes[FB_JVM_UTF8_MAX])
{
    size_t n = 0;

    if (c >> 11 == 0x1b || c > 0x10ffff)
        c = UNKNOWN;
    if (c < 0x80) {
        ret_bytes[n++] = (char)c;
        return n;
    }
    if (c < 0x800) {
        ret_bytes[n++] = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        ret_bytes[n++] = (char)(0xe0 | c >> 12);
        ret_bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        ret_bytes[n++] = (char)(0xf0 | c >> 18);
        ret_bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        ret_bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    }
    ret_bytes[n++] = (char)(0x80 | (c & 0x3f));
    return n;
}

/* The letter at text, of several bytes: how many; 0: it is none, or not whole. */
static size_t letter_at(const unsigned char *text, size_t n, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    uint32_t c = text[0] & (0x7fu >> size);

    if (text[0] < 0xc0 || text[0] > 0xf4 || size > n)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        c = c << 6 | (text[i] & 0x3fu);
    }
    *ret = c;
    return c < least[size] ? 0 : size;
}

size_t fb_jvm_utf8_text(const char *text, size_t n, char *ret_text)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t len = 0;
    size_t at = 0;

    while (at < n) {
        char bytes[FB_JVM_UTF8_MAX];
        uint32_t low = 0;
        uint32_t c = from[at];
        size_t size = c == 0 ? 0 : 1;

        if (c >= 0x80)
            size = letter_at(from + at, n - at, &c);
        if (size == 3 && c >> 10 == 0x36 && at + 3 < n && from[at + 3] == 0xed &&
            letter_at(from + at + 3, n - at - 3, &low) == 3 && low >> 10 == 0x37) {
            c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
            size = 6;
        }
        if (size == 0) {
            c = '?';
            size = 1;
            while (at + size < n && from[at + size] >> 6 == 2)
                size++; /* the rest of what is no letter */
        }
        at += size;
        size = fb_jvm_utf8_letter(c, bytes);
        memcpy(ret_text + len, bytes, size);
        len += size;
    }
    return len;
}

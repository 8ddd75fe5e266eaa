#include "symbolize/canonical_text.h"

#include <string.h>

#define HEX_DIGITS "0123456789abcdefABCDEF"

void fb_text_cut(struct fb_buf *text, size_t at, size_t n)
{
    memmove(text->data + at, text->data + at + n, text->len - at - n + 1);
    text->len -= n;
}

bool fb_text_truncate(struct fb_buf *text, size_t len)
{
    text->data[len] = 0;
    text->len = len;
    return true;
}

void fb_text_replace(struct fb_buf *text, size_t at, size_t n, const char *with)
{
    size_t m = strlen(with), tail = text->len - at - n;

    if (m > n)
        fb_buf_add(text, with, m - n); /* room; the bytes are overwritten */
    if (text->overflow)
        return;
    memmove(text->data + at + m, text->data + at + n, tail);
    memcpy(text->data + at, with, m);
    fb_text_truncate(text, at + m + tail);
}

bool fb_text_ends(const struct fb_buf *text, const char *word)
{
    size_t n = strlen(word);

    return text->len > n && memcmp(text->data + text->len - n, word, n) == 0;
}

bool fb_text_begins(const struct fb_buf *text, const char *word)
{
    size_t n = strlen(word);

    return text->len > n && memcmp(text->data, word, n) == 0;
}

size_t fb_text_hex(const struct fb_buf *text, size_t at)
{
    return strspn(text->data + at, HEX_DIGITS);
}

size_t fb_text_digits(const struct fb_buf *text, size_t at)
{
    return strspn(text->data + at, "0123456789");
}

bool fb_text_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t fb_text_closing(const struct fb_buf *text, size_t at, char open, char close)
{
    size_t depth = 0;

    for (size_t i = at; i < text->len; i++) {
        if (text->data[i] == open)
            depth++;
        else if (text->data[i] == close && --depth == 0)
            return i + 1;
    }
    return 0;
}

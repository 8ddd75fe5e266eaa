#include "symbolize/canonical_text.h"

#include <stdint.h>
#include <string.h>

#define HEX_DIGITS "0123456789abcdefABCDEF"

void fb_edit_replace(struct fb_edit *e, size_t at, size_t n, const char *with)
{
    if (!e->is_begun) {
        e->out.max = e->text->max;
        e->is_begun = true;
    }
    fb_buf_add(&e->out, e->text->data + e->from, at - e->from);
    fb_buf_puts(&e->out, with);
    e->from = at + n;
}

bool fb_edit_done(struct fb_edit *e)
{
    struct fb_buf old = *e->text;

    if (!e->is_begun)
        return false;
    fb_buf_add(&e->out, old.data + e->from, old.len - e->from);
    if (e->out.overflow) {
        e->text->overflow = true;
        fb_buf_done(&e->out);
        return true;
    }
    *e->text = e->out;
    fb_buf_done(&old);
    return true;
}

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
    struct fb_edit e = {.text = text};

    fb_edit_replace(&e, at, n, with);
    fb_edit_done(&e);
}

bool fb_text_replace_all(struct fb_buf *text, const char *what, const char *with)
{
    struct fb_edit e = {.text = text};
    size_t n = strlen(what);

    for (const char *p = strstr(text->data, what); p; p = strstr(p + n, what))
        fb_edit_replace(&e, (size_t)(p - text->data), n, with);
    return fb_edit_done(&e);
}

bool fb_text_cut_behind(struct fb_buf *text, const char *word,
                        size_t (*length_of)(const struct fb_buf *text, size_t at))
{
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, word); p;) {
        size_t at = (size_t)(p - text->data) + strlen(word), n = length_of(text, at);

        if (n > 0)
            fb_edit_replace(&e, at, n, "");
        p = strstr(text->data + at + n, word);
    }
    return fb_edit_done(&e);
}

size_t fb_text_last(const struct fb_buf *text, char c)
{
    const char *p = memrchr(text->data, c, text->len);

    return p ? (size_t)(p - text->data) : SIZE_MAX;
}

size_t fb_text_first(const struct fb_buf *text, char c)
{
    const char *p = memchr(text->data, c, text->len);

    return p ? (size_t)(p - text->data) : SIZE_MAX;
}

size_t fb_text_hex(const struct fb_buf *text, size_t at)
{
    return strspn(text->data + at, HEX_DIGITS);
}

size_t fb_text_digits(const struct fb_buf *text, size_t at)
{
    size_t n = 0;

    while (fb_text_is_digit(text->data[at + n]))
        n++;
    return n;
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

/* canonical_text.h - the few edits that the rules are made of.  Texts stay NUL-terminated.
 *
 * A rule that finds many places edits in one pass, so that its cost is the length of the name:
 *
 *     struct fb_edit e = {.text = text};
 *     fb_edit_replace(&e, at, n, "");       places in ascending order; text is as it was meanwhile
 *     return fb_edit_done(&e);              now it is not */
#ifndef FB_SYMBOLIZE_CANONICAL_TEXT_H
#define FB_SYMBOLIZE_CANONICAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"

struct fb_edit {
    struct fb_buf *text;
    size_t from; /* private from here on: what is before was copied or cut */
    struct fb_buf out;
    bool is_begun;
};

/* Replaces n bytes at `at` by `with`. */
void fb_edit_replace(struct fb_edit *e, size_t at, size_t n, const char *with);
/* Puts the edits into effect; whether there were any. */
bool fb_edit_done(struct fb_edit *e);

/* One edit at once. */
void fb_text_cut(struct fb_buf *text, size_t at, size_t n);
void fb_text_replace(struct fb_buf *text, size_t at, size_t n, const char *with);

/* Keeps the first len bytes; always true, for `return`. */
bool fb_text_truncate(struct fb_buf *text, size_t len);

/* Replaces every `what` by `with`, which does not contain it. */
bool fb_text_replace_all(struct fb_buf *text, const char *what, const char *with);

/* Cuts, behind each `word`, as much as length_of() says of what follows it. */
bool fb_text_cut_behind(struct fb_buf *text, const char *word,
                        size_t (*length_of)(const struct fb_buf *text, size_t at));

/* Whether it ends (begins) with the word and has more than it.  Inline, like the two below, because
 * the word's length is known then. */
static inline bool fb_text_ends(const struct fb_buf *text, const char *word)
{
    size_t n = strlen(word);

    return text->len > n && memcmp(text->data + text->len - n, word, n) == 0;
}

static inline bool fb_text_begins(const struct fb_buf *text, const char *word)
{
    size_t n = strlen(word);

    return text->len > n && memcmp(text->data, word, n) == 0;
}

/* Whether the word is at `at`. */
static inline bool fb_text_is_at(const struct fb_buf *text, size_t at, const char *word)
{
    return strncmp(text->data + at, word, strlen(word)) == 0;
}

/* The offset of the last (first) c, or SIZE_MAX. */
size_t fb_text_last(const struct fb_buf *text, char c);
size_t fb_text_first(const struct fb_buf *text, char c);

/* The number of hexadecimal (decimal) digits at `at`. */
size_t fb_text_hex(const struct fb_buf *text, size_t at);
size_t fb_text_digits(const struct fb_buf *text, size_t at);

/* Characters of ASCII, whatever the locale; a word is of letters, digits and '_'. */
static inline bool fb_text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool fb_text_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool fb_text_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool fb_text_is_word(char c)
{
    return fb_text_is_lower(c) || fb_text_is_upper(c) || fb_text_is_digit(c) || c == '_';
}

/* The offset behind the bracket that closes the one at `at`, or 0.  Counts only that pair. */
size_t fb_text_closing(const struct fb_buf *text, size_t at, char open, char close);

#endif

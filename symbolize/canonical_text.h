/* canonical_text.h - the few edits that the rules are made of.  Texts stay NUL-terminated. */
#ifndef FB_SYMBOLIZE_CANONICAL_TEXT_H
#define FB_SYMBOLIZE_CANONICAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Removes n bytes at `at`. */
void fb_text_cut(struct fb_buf *text, size_t at, size_t n);

/* Keeps the first len bytes; always true, for `return`. */
bool fb_text_truncate(struct fb_buf *text, size_t len);

/* Replaces n bytes at `at` by `with`. */
void fb_text_replace(struct fb_buf *text, size_t at, size_t n, const char *with);

/* Whether it ends (begins) with the word and has more than it. */
bool fb_text_ends(const struct fb_buf *text, const char *word);
bool fb_text_begins(const struct fb_buf *text, const char *word);

/* The number of hexadecimal (decimal) digits at `at`. */
size_t fb_text_hex(const struct fb_buf *text, size_t at);
size_t fb_text_digits(const struct fb_buf *text, size_t at);

/* A letter, digit or '_' of ASCII. */
bool fb_text_is_word(char c);

/* The offset behind the bracket that closes the one at `at`, or 0.  Counts only that pair. */
size_t fb_text_closing(const struct fb_buf *text, size_t at, char open, char close);

#endif

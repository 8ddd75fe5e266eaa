/* width.h - how many columns of a terminal a text takes, and text that is safe to show there.
 *
 * Independent of the locale: 0 for combining marks and zero-width characters, 2 for East Asian wide
 * ones and emoji, 1 for the rest.  Widths of the Unicode blocks, not of single characters: a rare
 * character may be off by one. */
#ifndef FB_RENDER_WIDTH_H
#define FB_RENDER_WIDTH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

size_t fb_width_of_code(uint32_t code);

/* A code point that may be shown: control characters become their pictures (U+2400 ...), what
 * turns the direction of text or is no character becomes U+FFFD. */
uint32_t fb_width_visible(uint32_t code);

/* Columns of the text as fb_width_put() writes it. */
size_t fb_width(const char *text, size_t len);

/* Appends the visible form of the text, cut to at most `columns` with a final "…" if it is longer.
 * Returns the columns written. */
size_t fb_width_put(struct fb_buf *out, const char *text, size_t len, size_t columns);

/* Appends one code point as UTF-8. */
void fb_utf8_put(struct fb_buf *out, uint32_t code);

#endif

/* literal.h - what a text must hold before a pattern is worth trying: the prefilter of regex.h.
 *
 *     struct fb_literals need;
 *     fb_literals_find(&need, "^(read|write)$");
 *     if (fb_literals_allow(&need, text, len)) ...run the pattern...
 *     fb_literals_done(&need);
 *
 * The analysis is conservative: of a construct that it does not know it says nothing, and then
 * every text is allowed.  A text that is refused cannot match. */
#ifndef FB_BASE_LITERAL_H
#define FB_BASE_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FB_LITERALS_MAX = 64 };

struct fb_literals {
    size_t count;      /* one of them is in every text that matches; 0: unknown */
    bool at_start;     /* ... at its beginning */
    uint64_t first[4]; /* the set of their first bytes */
    char *text[FB_LITERALS_MAX];
    size_t len[FB_LITERALS_MAX];
    size_t rare[FB_LITERALS_MAX]; /* offset of its rarest byte, which is looked for */
};

/* The pattern is a valid one, without flags outside of it (case matters). */
void fb_literals_find(struct fb_literals *ret_literals, const char *pattern);
void fb_literals_done(struct fb_literals *literals);

/* False only if the pattern cannot match. */
bool fb_literals_allow(const struct fb_literals *literals, const char *text, size_t len);

/* The length of the shortest of them, 0 where nothing is known: how much the pattern asks for. */
size_t fb_literals_least(const struct fb_literals *literals);

#endif

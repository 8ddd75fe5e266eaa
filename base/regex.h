/* regex.h - regular expressions: the wrapper of PCRE2.
 *
 * Patterns match anywhere in the text unless anchored; text and pattern are bytes, UTF-8 allowed
 * but not required.  Compiled once, JIT where the machine has it; a text that lacks the plain
 * characters that the pattern asks for (literal.h) never reaches it.  The match is bounded in
 * steps, so that a hostile pattern ends with FB_REGEX_LIMIT and not in hours. */
#ifndef FB_BASE_REGEX_H
#define FB_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct fb_regex;

/* *ret_regex is yours.  The error names the offset in the pattern. */
enum fb_status fb_regex_new(const char *pattern, bool ignore_case, struct fb_regex **ret_regex,
                            struct fb_err *err);
void fb_regex_free(struct fb_regex *regex);

/* Whether the pattern matches anywhere in text; FB_REGEX_LIMIT: given up for its cost. */
enum fb_regex_found { FB_REGEX_NO, FB_REGEX_YES, FB_REGEX_LIMIT };
enum fb_regex_found fb_regex_find(const struct fb_regex *regex, const char *text, size_t len);

/* The same; a match that was given up counts as none. */
bool fb_regex_match(const struct fb_regex *regex, const char *text, size_t len);

/* Whether some plain text is known to be in all that matches; a pattern like "." needs none. */
bool fb_regex_needs_literal(const struct fb_regex *regex);

const char *fb_regex_pattern(const struct fb_regex *regex); /* as given; borrowed */

#endif

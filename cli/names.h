/* names.h - symbolizing a bank and saying how far that went. */
#ifndef FB_CLI_NAMES_H
#define FB_CLI_NAMES_H

#include "profile/profile.h"
#include "symbolize/symbolize.h"

/* Names the frames of p and marks it as symbolized.  Returns the percentage of the weight whose
 * leaf has no name; says the outcome and the symbolizer's notes on stderr unless say_path is NULL.
 */
double fb_names_find(struct fb_profile *p, const struct fb_symbolizer_options *options,
                     const char *say_path);

#endif

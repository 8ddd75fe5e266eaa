/* names.h - symbolizing a bank and saying how far that went. */
#ifndef FB_CLI_NAMES_H
#define FB_CLI_NAMES_H

#include "profile/profile.h"
#include "symbolize/symbolize.h"

/* Names the frames of p, marks it as symbolized, and says the outcome on stderr. */
void fb_names_find(struct fb_profile *p, const char *path,
                   const struct fb_symbolizer_options *options, bool say_notes);

#endif

/* folded.h - a profile as folded text.  Private to profile/. */
#ifndef FB_PROFILE_WRITE_FOLDED_H
#define FB_PROFILE_WRITE_FOLDED_H

#include "profile/formats.h"

/* Appends a function's name as a folded frame: ';' is ':', control bytes are '?', the kind is a
 * suffix. */
void fb_folded_name(const struct fb_functions *fns, uint32_t function, struct fb_buf *out);

void fb_folded_write_profile(const struct fb_profile *p, fb_canonical_fn canonical,
                             struct fb_buf *out);

#endif

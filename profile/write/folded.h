/* folded.h - a profile as folded text.  Private to profile/. */
#ifndef FB_PROFILE_WRITE_FOLDED_H
#define FB_PROFILE_WRITE_FOLDED_H

#include "profile/formats.h"

void fb_folded_write_profile(const struct fb_profile *p, fb_canonical_fn canonical,
                             struct fb_buf *out);

#endif

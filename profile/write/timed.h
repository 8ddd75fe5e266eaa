/* timed.h - a profile as timed folded text, as profile/read/timed.h.  Private to profile/.
 *
 * Samples stand in their order.  Names are written as in folded text; a weight of 1 is left out, a
 * profile without times has 0 for them. */
#ifndef FB_PROFILE_WRITE_TIMED_H
#define FB_PROFILE_WRITE_TIMED_H

#include "profile/formats.h"

void fb_timed_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);

#endif

/* flamebearer.h - a profile, or two over one tree, as Pyroscope's JSON.  Private to profile/.
 *
 * Children are in the order in which the profile has them, and names are numbered as Pyroscope
 * does, so that what was read from a flamebearer is written with the same levels.  All bars are
 * written, none is pruned.  fb_flamebearer_write_pair() is in formats.h. */
#ifndef FB_PROFILE_WRITE_FLAMEBEARER_H
#define FB_PROFILE_WRITE_FLAMEBEARER_H

#include "profile/formats.h"

void fb_flamebearer_write(const struct fb_profile *p, fb_canonical_fn canonical,
                          struct fb_buf *out);

#endif

/* speedscope.h - a profile as speedscope's JSON: a sampled profile for each thread.  Private to
 * profile/.
 *
 * Weights are nanoseconds where the profile tells what a weight is worth, bytes, or numbers.  With
 * times the samples of a thread are in their order, equal ones next to each other as one; without,
 * each stack stands once.  speedscope's frames have a name, file and line; beside them, where they
 * say something, stand `module`, `kind` and `tier`, which others pass over. */
#ifndef FB_PROFILE_WRITE_SPEEDSCOPE_H
#define FB_PROFILE_WRITE_SPEEDSCOPE_H

#include "profile/formats.h"

void fb_speedscope_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);

#endif

/* cpuprofile.h - a profile as a .cpuprofile.  Private to profile/.
 *
 * The format has one time line, in which a sample stands for the time to the next: all threads are
 * in it one after the other, and the time line is the sum of the weights (a weight that is no time
 * counts as microseconds).  A last sample of `(root)` ends it. */
#ifndef FB_PROFILE_WRITE_CPUPROFILE_H
#define FB_PROFILE_WRITE_CPUPROFILE_H

#include "profile/formats.h"

void fb_cpuprofile_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);

#endif

/* firefox.h - a profile in the processed format of the Firefox Profiler (version 56, which its page
 * upgrades).  Private to profile/.
 *
 * Each thread has the tables that it uses, and its samples with their times (all 0 where the
 * profile has none).  Categories are layers where there are any, else kinds of frames;
 * subcategories are the kind and tier of a frame.  fb_write_layers is in formats.h. */
#ifndef FB_PROFILE_WRITE_FIREFOX_H
#define FB_PROFILE_WRITE_FIREFOX_H

#include "profile/formats.h"

void fb_firefox_write(const struct fb_profile *p, fb_canonical_fn canonical, struct fb_buf *out);
void fb_firefox_write_layers(const struct fb_profile *p, fb_canonical_fn canonical,
                             const struct fb_write_layers *layers, struct fb_buf *out);

#endif

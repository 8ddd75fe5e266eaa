/* firefox.h - profiles of Firefox: what the profiler writes ("gecko"), and what its web page and
 * other tools write ("processed").  Private to profile/.
 *
 * Tables are read in both spellings (columns.h), of each thread or shared by all; profiles of
 * further processes may be nested in a gecko profile.  Times are meta.startTime + the sample's. A
 * sample weighs 1, or its weight; with options->weight PERIOD, the time to the next sample of its
 * thread, in nanoseconds.  `(root)` is no frame; names like 0x1f3e in a library become addresses of
 * it. */
#ifndef FB_PROFILE_READ_FIREFOX_H
#define FB_PROFILE_READ_FIREFOX_H

#include "profile/formats.h"

bool fb_firefox_sniff(const void *head, size_t n);
enum fb_status fb_firefox_read(struct fb_source *source, const struct fb_read_options *options,
                               struct fb_profile **ret_p, struct fb_read_report *report,
                               struct fb_err *err);

#endif

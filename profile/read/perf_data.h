/* perf_data.h - perf.data: samples with their call chains as raw addresses.  Private to profile/.
 *
 * Frames keep the file (with its build ID) and the offset in it, and are named when the profile is
 * symbolized; a caller's address is one less than the return address, so that it lies within the
 * call.  Events are taken in the order of their times.  Roots, threads, weights and the choice of
 * an event are as in perf_script.h. */
#ifndef FB_PROFILE_READ_PERF_DATA_H
#define FB_PROFILE_READ_PERF_DATA_H

#include "profile/formats.h"

enum fb_status fb_perf_data_read(struct fb_source *in, const struct fb_read_options *options,
                                 struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                 struct fb_err *err);

#endif

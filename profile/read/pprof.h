/* pprof.h - profile.proto, as pprof and most continuous profilers write it.  Private to profile/.
 *
 * Unpacked bytes in.  One value type is read: that of options->type, else the file's default, else
 * its last.  "samples/count" are ticks of the period; every other value is an amount in its unit.
 * Labels that name a thread (thread, thread_name, "thread name", comm; tid, thread_id, "thread id";
 * pid) make threads, end_timestamp_ns and timestamp_ns times where every sample has one.
 * drop_frames and keep_frames are kept and not applied.  A sample of negative value (the base of a
 * difference) is a named loss. */
#ifndef FB_PROFILE_READ_PPROF_H
#define FB_PROFILE_READ_PPROF_H

#include "profile/formats.h"

bool fb_pprof_sniff(const void *head, size_t n);
enum fb_status fb_pprof_read(struct fb_source *in, const struct fb_read_options *options,
                             struct fb_profile **ret_p, struct fb_read_report *ret_report,
                             struct fb_err *err);

#endif

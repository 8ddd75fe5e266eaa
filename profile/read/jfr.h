/* jfr.h - recordings of JDK Flight Recorder, of the JDK and of async-profiler.  Private to
 * profile/.
 *
 * Read chunk by chunk.  One type of event is read: cpu, native, cputime, wall, alloc, alloc-sample,
 * live, lock, park, malloc, nativelock, or any class of events with a stack by its full name
 * ("jdk.FileRead", weighed by its duration where it has one); a recording with several wants one to
 * be named.  A chunk that was never finished (the JVM was killed, or the file is cut) is read as
 * far as it goes; samples whose stack it does not have any more are a named loss. */
#ifndef FB_PROFILE_READ_JFR_H
#define FB_PROFILE_READ_JFR_H

#include "profile/formats.h"

bool fb_jfr_sniff(const void *head, size_t n);
enum fb_status fb_jfr_read(struct fb_source *in, const struct fb_read_options *options,
                           struct fb_profile **ret_p, struct fb_read_report *ret_report,
                           struct fb_err *err);

#endif

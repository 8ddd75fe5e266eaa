/* trace_event.h - Chrome's trace event format: an array of events, or an object with
 * `traceEvents`.  Private to profile/.
 *
 * Type 'cpu' is the CPU profiles in it (Profile and ProfileChunk events, or CpuProfile), which are
 * read by default where there are any; 'spans' is its begin, end and complete events.  A file that
 * ends early is read as far as it goes, and that is said. */
#ifndef FB_PROFILE_READ_TRACE_EVENT_H
#define FB_PROFILE_READ_TRACE_EVENT_H

#include "profile/formats.h"

bool fb_trace_event_sniff(const void *head, size_t n);
enum fb_status fb_trace_event_read(struct fb_source *source, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *report,
                                   struct fb_err *err);

#endif

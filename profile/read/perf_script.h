/* perf_script.h - the text of `perf script`, its default fields and more.  Private to profile/.
 *
 * A sample is a header line (perf_header.h), the lines of its frames (perf_frame.h), leaf first,
 * and a blank line or the end of the text; a sample without frames counts, and so does one whose
 * only frame stands on its header line.  Source lines (-F +srcline) are kept, brstack and payloads
 * are passed over, what is neither is counted as skipped.
 *
 * The root of a stack is the command; the sample has its thread, and its time on perf's clock.  One
 * event is read (--event; modifiers may be left out), several are an error that lists them.  A
 * sample weighs its period (for cpu-clock and task-clock: nanoseconds), or 1 with --weight samples
 * and where perf printed none. */
#ifndef FB_PROFILE_READ_PERF_SCRIPT_H
#define FB_PROFILE_READ_PERF_SCRIPT_H

#include "profile/formats.h"

bool fb_perf_script_sniff(const void *head, size_t n);
enum fb_status fb_perf_script_read(struct fb_source *in, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                   struct fb_err *err);

#endif

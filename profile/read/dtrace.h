/* dtrace.h - aggregates of stacks as DTrace prints them.  Private to profile/.
 *
 *       libc.so.1`read+0xa          leaf first, the offset is left out
 *       app`main+0x12
 *         7                         how often
 *
 * Blocks are separated by blank lines; what has no count (the heading) is passed over.  A name
 * keeps its module, "libc.so.1`read", and "a->b" is b inlined into a. */
#ifndef FB_PROFILE_READ_DTRACE_H
#define FB_PROFILE_READ_DTRACE_H

#include "profile/formats.h"

bool fb_dtrace_sniff(const void *head, size_t n);
enum fb_status fb_dtrace_read(struct fb_source *in, const struct fb_read_options *options,
                              struct fb_profile **ret_p, struct fb_read_report *ret_report,
                              struct fb_err *err);

#endif

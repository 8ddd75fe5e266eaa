/* jfrconv.h - the flame graphs that async-profiler writes as HTML, as input: often they are all
 * that was kept of a run.  Private to profile/.
 *
 * The page has a pool of names, each as the length of what it shares with the one before it (a byte
 * from ' ' on) and the rest, and a call for each box, parents before their children:
 *
 *     f(key, level, left, width)      key = 8 * name + type
 *     u(key, width)                   one level further in
 *     n(key, width)                   beside the last one
 *
 * where a missing width is the last one; pages before 2023 have f(level, left, width, type,
 * 'name'). A box's own samples are its width without its children's: what the page was pruned of
 * (--minwidth) is its parent's own, and nothing in the page tells.  The page does not say what it
 * counts. */
#ifndef FB_PROFILE_READ_JFRCONV_H
#define FB_PROFILE_READ_JFRCONV_H

#include "profile/formats.h"

bool fb_jfrconv_sniff(const void *head, size_t n);
enum fb_status fb_jfrconv_read(struct fb_source *in, const struct fb_read_options *options,
                               struct fb_profile **ret_p, struct fb_read_report *report,
                               struct fb_err *err);

#endif

/* timed.h - samples with their times as text: "epoch_ms TAB thread TAB root;frame;leaf [TAB
 * weight]". Private to profile/.
 *
 * Milliseconds since 1970, which may have decimals; a thread is "name", "name tid=12" or empty; the
 * stack is as in folded text, and the weight 1 where there is none.  '#' lines are comments. */
#ifndef FB_PROFILE_READ_TIMED_H
#define FB_PROFILE_READ_TIMED_H

#include "profile/formats.h"

bool fb_timed_sniff(const void *head, size_t n);
enum fb_status fb_timed_read(struct fb_source *in, const struct fb_read_options *options,
                             struct fb_profile **ret_p, struct fb_read_report *ret_report,
                             struct fb_err *err);

#endif

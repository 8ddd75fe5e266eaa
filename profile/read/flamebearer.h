/* flamebearer.h - Pyroscope's JSON, single and double, versioned or not.  Private to profile/.
 *
 * Rows of bars, each bar (gap to the bar before it, total, self, name); double has the first three
 * twice, for two profiles over one tree, of which options->type chooses: 'left' or 'right'.  The
 * parent of a bar is the bar of the row above that it lies under.  Selfs become the samples; where
 * a total is not self + children, that is said.  A leaf named 'other' is what the server pruned:
 * a mark, no function.
 *
 * Ticks of 1/sampleRate s; a rate of 1e9 means that the weights are nanoseconds. */
#ifndef FB_PROFILE_READ_FLAMEBEARER_H
#define FB_PROFILE_READ_FLAMEBEARER_H

#include "profile/formats.h"

bool fb_flamebearer_sniff(const void *head, size_t n);
enum fb_status fb_flamebearer_read(struct fb_source *source, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *report,
                                   struct fb_err *err);

#endif

/* match_by.h - steps that are compared though their rates differ: by the user's word, or at the
 * same fraction of each arm's knee.
 *
 * Such steps are shown and carry no verdict, since the cost of a request falls with the rate. */
#ifndef FB_DIFF_MATCH_BY_H
#define FB_DIFF_MATCH_BY_H

#include "diff/align.h"

/* options->match_control[i] of every control with options->match_variant[i] of every variant, each
 * a step's name or offered rate.  Fails where an arm has no such step. */
enum fb_status fb_matching_by_steps(const struct fb_diff_input *in, const struct fb_lineup *lineup,
                                    const struct fb_diff_options *options,
                                    struct fb_matching *ret_matching, struct fb_err *err);

/* The nearest fraction of the knee within 5 points, each step once.  Fails where an arm's knee is
 * not known, or lies beyond its ramp. */
enum fb_status fb_matching_by_utilization(const struct fb_diff_input *in,
                                          const struct fb_lineup *lineup,
                                          const struct fb_diff_options *options,
                                          struct fb_matching *ret_matching, struct fb_err *err);

#endif

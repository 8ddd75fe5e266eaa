/* align.h - who is compared with whom: runs into replicates and pairs, steps with steps.
 *
 *     r = fb_lineup_build(in, &lineup, err);
 *     r = fb_matching_build(in, &lineup, &options, &matching, err);
 *     step = fb_matching_step(&matching, i, replicate);     NULL: it has no such step
 *
 * All banks of one run id are one replicate: their samples are summed, never averaged.  The i-th
 * control replicate pairs with the i-th variant replicate. */
#ifndef FB_DIFF_ALIGN_H
#define FB_DIFF_ALIGN_H

#include "diff/diff.h"

struct fb_replicate {
    bool is_variant;
    size_t *arms; /* indices of input->arms */
    size_t arms_count;
};

struct fb_lineup {
    struct fb_replicate *replicates; /* controls, then variants */
    size_t count, controls, variants;
    size_t pairs; /* the smaller of the two counts */
};

/* Fails without a control or a variant. */
enum fb_status fb_lineup_build(const struct fb_diff_input *in, struct fb_lineup *ret_lineup,
                               struct fb_err *err);
void fb_lineup_done(struct fb_lineup *lineup);

/* The replicate that is the control (or variant) of a pair. */
const struct fb_replicate *fb_lineup_side(const struct fb_lineup *lineup, size_t pair,
                                          bool is_variant);

struct fb_matching {
    const struct fb_step **steps; /* [row x replicates]; the first control is never NULL */
    size_t count, replicates;
};

/* Steps of the first control in its order; the others matched by offered rate (nearest, within
 * 0.5 %), without rates by name, and if no name agrees, by order.  Warm-ups match warm-ups, and
 * steps those of their mode, unless the mode is what differs between the arms. */
void fb_matching_by_rate(const struct fb_diff_input *in, const struct fb_lineup *lineup,
                         struct fb_matching *ret_matching);
/* By options->match; only by rate it always succeeds. */
enum fb_status fb_matching_build(const struct fb_diff_input *in, const struct fb_lineup *lineup,
                                 const struct fb_diff_options *options,
                                 struct fb_matching *ret_matching, struct fb_err *err);
void fb_matching_done(struct fb_matching *matching);

static inline const struct fb_step *fb_matching_step(const struct fb_matching *m, size_t row,
                                                     size_t replicate)
{
    return m->steps[row * m->replicates + replicate];
}

#endif

/* unknown.h - what frames without a name could hide (docs/statistics.md, 7).
 *
 *     fb_unknown_measure(state, s, &u);
 *     if (fb_unknown_hides_function(&u, fns, function, row->change_points)) ...no verdict
 *     fb_unknown_done(&u); */
#ifndef FB_DIFF_UNKNOWN_H
#define FB_DIFF_UNKNOWN_H

#include "diff/state.h"

/* Fills *ret_u with the differences of the arms' shares of nameless leaves. */
void fb_unknown_measure(const struct fb_diff_state *state, const struct fb_step_state *s,
                        struct fb_unknown *ret_u);
void fb_unknown_done(struct fb_unknown *u);

/* Whether a change of that many points (in 0..1) could be nothing but names that one arm lacks. */
bool fb_unknown_hides_function(const struct fb_unknown *u, const struct fb_functions *fns,
                               uint32_t function, double points);
bool fb_unknown_hides_layer(const struct fb_unknown *u, double points);

/* The largest difference, for a note. */
double fb_unknown_largest(const struct fb_unknown *u);

#endif

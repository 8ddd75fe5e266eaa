/* flame_intervals.h - the amounts of one profile behind its boxes: their unit, their intervals.
 *
 *     double scale = fb_flame_scale(in->weights, in->weights_count);
 *     fb_flame_intervals(in, &layout, &lo, &hi);      free both */
#ifndef FB_RENDER_FLAME_INTERVALS_H
#define FB_RENDER_FLAME_INTERVALS_H

#include "render/flame_layout.h"
#include "render/render.h"

/* Units of width in one unit of weight: 1 where weights are whole numbers; else (shares) all of
 * them together are 10^9. */
double fb_flame_scale(const struct fb_calltree_weight *weights, size_t count);

/* The 95 % intervals (0 to 1) of the widest boxes, by box; NAN where there is none.  Both NULL
 * where none are known. */
void fb_flame_intervals(const struct fb_flame_input *in, const struct fb_flame_layout *layout,
                        double **ret_lo, double **ret_hi);

#endif

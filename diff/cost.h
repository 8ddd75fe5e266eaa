/* cost.h - CPU per request of one window, and its own standard error.
 *
 *     fb_cost_measure(cpu_by_second, seconds, cpu_s, delivered, &cost);
 *
 * ms per request of a layer is share x cost.ms; its interval is ln_half_cost of fb_share_measure()
 * on a grid that was given the same CPU by second (docs/statistics.md, 2).  Whether a window was
 * too unsteady to be believed is a mark of its step (steps.h). */
#ifndef FB_DIFF_COST_H
#define FB_DIFF_COST_H

#include <stddef.h>

struct fb_cost {
    double ms; /* CPU per delivered request, milliseconds; NAN where one of them is unknown */
    double se; /* block SE of ln(ms) at the longest block; NAN without CPU by second        */
};

/* cpu may be NULL (cells 0).  cpu_s and delivered may be NAN. */
void fb_cost_measure(const double *cpu, size_t cells, double cpu_s, double delivered,
                     struct fb_cost *ret_cost);

#endif

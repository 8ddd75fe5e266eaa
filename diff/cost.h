/* cost.h - CPU per request of one window, and whether the window was steady enough to believe it.
 *
 *     fb_cost_measure(cpu_by_second, seconds, cpu_s, delivered, &cost);
 *
 * ms per request of a layer is share x cost.ms; its interval is ln_half_cost of fb_share_measure()
 * on a grid that was given the same CPU by second (docs/statistics.md, 2). */
#ifndef FB_DIFF_COST_H
#define FB_DIFF_COST_H

#include <stdbool.h>
#include <stddef.h>

struct fb_cost {
    double ms;   /* CPU per delivered request, milliseconds; NAN where one of them is unknown */
    double se;   /* block SE of ln(ms) at the longest block; NAN without CPU by second        */
    double lag1; /* autocorrelation of CPU from second to second; NAN as above                */
    bool is_unsteady; /* se over 2 %, or lag1 over 0.5 with at least 20 seconds              */
    bool has_seconds;
};

/* cpu may be NULL (cells 0).  cpu_s and delivered may be NAN. */
void fb_cost_measure(const double *cpu, size_t cells, double cpu_s, double delivered,
                     struct fb_cost *ret_cost);

#endif

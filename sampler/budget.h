/* budget.h - when the sampler costs too much, and when it may take more samples again.
 *
 *     struct fb_budget b = {0};
 *     scale = fb_budget_look(&b, scale, row time, own CPU time, the process's);    once a second
 *
 * Pure arithmetic.  Windows of FB_BUDGET_WINDOW_NS follow one another.  In one where the sampler
 * had over 1 % of the process's CPU time, and over 0.5 % of one CPU (what an idle program's
 * counters cost is no reason), the interval is made longer by the whole factor that would have met
 * the 1 %. After three windows in a row under 0.25 % the factor is halved: half the factor is twice
 * the cost, which is still half of what would lower the rate again, so that it does not swing. What
 * was spent before the first row (the start) is in no window. */
#ifndef FB_SAMPLER_BUDGET_H
#define FB_SAMPLER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define FB_BUDGET_WINDOW_NS UINT64_C(10000000000)

struct fb_budget {
    bool begun;
    unsigned calm; /* windows in a row that were cheap */
    uint64_t time_ns;
    uint64_t own_ns;
    uint64_t process_ns;
};

/* The factor on the interval that was asked for, 1 .. most, given the one in use. */
unsigned fb_budget_look(struct fb_budget *b, unsigned scale, unsigned most, uint64_t time_ns,
                        uint64_t own_ns, uint64_t process_ns);

/* The window begins anew: what was measured so far is of another state. */
void fb_budget_restart(struct fb_budget *b);

#endif

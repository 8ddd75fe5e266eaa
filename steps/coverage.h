/* coverage.h - the account of a step's CPU time: of what the control group was charged, how much
 * the samples explain, and who used the rest.
 *
 *     if (fb_coverage_measure(profile, sampled, step, &coverage)) ... all of it over the same span
 *
 * charged = sampled + sampler + others + unexplained, exactly; unexplained may be negative, since
 * each part is measured by itself.  The samples hold the handler's time, since the handler runs on
 * the threads that are sampled; the sampler's own thread is not sampled. */
#ifndef FB_STEPS_COVERAGE_H
#define FB_STEPS_COVERAGE_H

#include <stdbool.h>

#include "profile/profile.h"
#include "steps/sampled.h"

struct fb_step;

struct fb_coverage { /* CPU seconds over span_s */
    double span_s;
    bool is_group; /* `charged` is the control group's; else the process's own */
    double charged_s;
    double sampled_s; /* Σ weight × interval of the samples                      */
    double handler_s; /* a part of sampled_s: in the sampler's handler           */
    double sampler_s; /* the sampler's own thread                                */
    double others_s;  /* other processes of the group; 0 where it is the process */
    double unexplained_s;
};

/* False: the profile has no CPU counters or no CPU samples over the step's load. */
bool fb_coverage_measure(const struct fb_profile *p, const struct fb_sampled *sampled,
                         const struct fb_step *s, struct fb_coverage *ret_coverage);

#endif

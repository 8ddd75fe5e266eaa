/* plan.h - where the steps are, for sources that do not mark them.
 *
 *     r = fb_plan_parse("start=2026-09-06T20:12:00Z,step=120,skip=10,rates=200:400", &plan, err);
 *
 * Step k (from 0) has the slot [start + k step, start + (k + 1) step); its load begins `skip` later
 * and lasts for `length`, or as long as the source says, or to the end of the slot. */
#ifndef FB_STEPS_PLAN_H
#define FB_STEPS_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { FB_PLAN_RATES = 500 };

struct fb_plan {
    int64_t start_ns; /* 0: not absolute                                              */
    double after_s;   /* with start_ns 0: seconds after the first sample (or request) */
    double step_s;    /* from the beginning of a step to that of the next             */
    double skip_s;    /* 0 where it is not given                                      */
    double length_s;  /* NAN: not given                                               */
    size_t warmups;   /* so many steps at the beginning are warm-up                   */
    size_t count;     /* of the steps; 0: as many as there are                        */
    size_t rates_count;
    double rates[FB_PLAN_RATES]; /* offered, per second */
};

enum fb_status fb_plan_parse(const char *text, struct fb_plan *ret_plan, struct fb_err *err);

#endif

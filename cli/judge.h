/* judge.h - what the health of steps needs from the command line and from layers.
 *
 *     r = fb_judge_limits(args, &limits, err);     --limit NAME=VALUE ...; free() *ret_limits
 *     fb_judge_layers(view);                       after layers were applied: marks JIT+GC, anew */
#ifndef FB_CLI_JUDGE_H
#define FB_CLI_JUDGE_H

#include "cli/load.h"

/* *ret_limits is NULL where no limit was given: the defaults. */
enum fb_status fb_judge_limits(const struct fb_args *args, double **ret_limits, struct fb_err *err);

/* Only where the rules have a layer of JIT or GC, and an arm has steps and a profile. */
void fb_judge_layers(struct fb_view *view);

/* The last of a command's options; "limit" is one that repeats. */
#define FB_OPTIONS_LIMITS                                                                          \
    {                                                                                              \
        "limit", 0, "NAME=VALUE", "a threshold of the steps' health; see 'flamebank help limits'"  \
    }

#endif

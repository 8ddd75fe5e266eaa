/* pair.h - a diff from the arms of a command line. */
#ifndef FB_CLI_PAIR_H
#define FB_CLI_PAIR_H

#include "cli/load.h"
#include "cli/sums.h"
#include "diff/diff.h"

struct fb_pair {
    char **steps; /* of --pair: names of the controls' steps, then of the variants' */
    size_t steps_count;
    struct fb_floors floors; /* of --floor */
    struct fb_keys keys;     /* of --by package, thread, module; then input.keys is by_keys */
    struct fb_diff_keys by_keys;
    struct fb_pair_sums sums;
    struct fb_diff_arm *arms;
    struct fb_diff_input input;
    struct fb_steps **whole; /* steps made for arms that have none; as many as arms */
    size_t count;
    struct fb_diff *diff;
};

/* Controls are the arms before --vs, or the first of two; says the diff's notes on stderr is left
 * to the tables.  fb_pair_done() before fb_view_done(). */
enum fb_status fb_pair_new(const struct fb_args *args, const struct fb_view *view,
                           struct fb_pair *ret_pair, struct fb_err *err);
/* The same with further sums (fb_pair_sums_get()). */
enum fb_status fb_pair_new_with(const struct fb_args *args, const struct fb_view *view,
                                const char *const *sums, size_t sums_count,
                                struct fb_pair *ret_pair, struct fb_err *err);
/* The i-th arm of the view as control against the j-th. */
enum fb_status fb_pair_new_two(const struct fb_args *args, const struct fb_view *view, size_t i,
                               size_t j, struct fb_pair *ret_pair, struct fb_err *err);
void fb_pair_done(struct fb_pair *pair);

/* The step of that name, else of that offered rate (no warm-up). */
enum fb_status fb_pair_step(const struct fb_diff *diff, const char *wanted, size_t *ret_step,
                            struct fb_err *err);

#define FB_OPTIONS_DELTA                                                                           \
    {"delta", 0, "PERCENT", "CPU per request within this is the same (5)"},                        \
    {                                                                                              \
        "delta-share", 0, "PERCENT", "a layer or frame within this is the same (10)"               \
    }
#define FB_OPTIONS_PAIR                                                                            \
    {"floor", 0, "FILE", "how far two runs of one arm differ, as `flamebank floor` measured it"},  \
        {"q", 0, "PERCENT", "false discovery rate of the frames (5)"},                             \
    {                                                                                              \
        "jvm", 0, NULL, "the arms are JVMs: floors and frame rules for compiled code"              \
    }
#define FB_OPTIONS_MATCH                                                                           \
    {"match", 0, "HOW", "steps of one 'rate' (default), or of one 'utilization' of the knee"},     \
        {"knee", 0, "RULE", "--match utilization: not-sent, p50=MS or p99=MS"},                    \
        {"pair", 0, "STEP:STEP", "a control's step against another one of the variant"},           \
    {                                                                                              \
        "saturated", 0, NULL, "judge steps past the knee, per delivered request"                   \
    }

#endif

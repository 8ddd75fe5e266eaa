/* load.h - arms from the command line: a profile, its steps, or both, ready to be looked at.
 *
 * An argument is "FILE" or "FILE,FILE...": a bank (or any profile), job logs (or any files of
 * steps, joined where there are several) and side counters, told apart by their content.  --steps
 * gives the steps of the arms in their order; without any, the marks in the bank are the steps.
 * Damage, losses and skipped lines are said on stderr. */
#ifndef FB_CLI_LOAD_H
#define FB_CLI_LOAD_H

#include "cli/name_rules.h"
#include "cli/options.h"
#include "diff/diff.h"
#include "layers/layers.h"
#include "profile/profile.h"
#include "render/render.h"
#include "steps/steps.h"

struct fb_arm {
    char *name;                 /* the first file as typed                  */
    struct fb_profile *profile; /* NULL where there is only a steps file    */
    struct fb_steps *steps;     /* NULL where there are none                */
    struct fb_steps *banked;    /* of a folder of profiles, where `steps` are of another file */
    struct fb_side **sides;     /* counters beside the steps                */
    size_t sides_count, sides_room;
    uint32_t *node_of_stack; /* of the view                              */
    const double *limits;    /* of the view                              */
};

/* All arms of a command under one table of functions and one call tree. */
struct fb_view {
    struct fb_arm *arms;
    size_t count;
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_layers *layers; /* NULL unless asked for */
    struct fb_layers_options layers_options;
    struct fb_layers_applied applied;
    uint16_t *layer_of_node;      /* applied.layer */
    uint64_t *boundaries_of_node; /* fb_layers_boundaries() */
    double *limits;               /* of --limit; NULL: the defaults */
    struct fb_ambiguous ambiguous;
    bool raw_names; /* --raw-names */
};

enum fb_view_flags {
    FB_VIEW_LAYERS = 1,        /* load the rules of --rules (default: native)           */
    FB_VIEW_NEEDS_PROFILE = 2, /* an arm without a profile is an error                 */
    FB_VIEW_STEPS_SHOWN = 4,   /* the table of steps has their warnings: not on stderr  */
    FB_VIEW_THREADS = 8,       /* stacks begin with their thread, whether rules ask for it or not */
    FB_VIEW_LAYERS_ONLY = 32,  /* of one arm: no rule, decider or boundaries by node */
    FB_VIEW_FOLD_KERNEL = 16,  /* unless --kernel says otherwise                        */
};

/* Loads all positional arguments as arms. */
enum fb_status fb_view_load(const struct fb_args *args, unsigned flags, struct fb_view *ret_view,
                            struct fb_err *err);
void fb_view_done(struct fb_view *view);

/* One profile by path: read as FB_OPTIONS_READ say, damage said, raw addresses symbolized.  format
 * NULL: told by the content. */
enum fb_status fb_load_profile(const struct fb_args *args, const char *path, const char *format,
                               struct fb_profile **ret_p, struct fb_err *err);

/* A span of time of one arm: --from/--to (absolute, "+10" from the start, "-10" from the end), or
 * --step.  All time where none is given. */
enum fb_status fb_view_window(const struct fb_args *args, const struct fb_arm *arm,
                              int64_t *ret_from_ns, int64_t *ret_to_ns,
                              const struct fb_step **ret_step, struct fb_err *err);

/* Weight by node of arm i in its window, with a title such as "x.fbank, step 600". */
enum fb_status fb_view_self(const struct fb_args *args, const struct fb_view *view, size_t i,
                            double **ret_self, const struct fb_step **ret_step, struct fb_err *err);

/* The same as a list of the nodes that have weight; free() it. */
enum fb_status fb_view_weights(const struct fb_args *args, const struct fb_view *view, size_t i,
                               struct fb_calltree_weight **ret_weights, size_t *ret_count,
                               struct fb_err *err);

/* Shares with intervals of arm i in its window, by any key of the nodes. */
enum fb_status fb_view_shares_by(const struct fb_args *args, const struct fb_view *view, size_t i,
                                 const uint32_t *key_of_node, size_t keys,
                                 struct fb_diff_shares *ret_shares, struct fb_err *err);

/* The intervals (0 to 1) of the totals of some nodes, by rising id; needs a profile with times. */
enum fb_status fb_view_shares_of_nodes(const struct fb_args *args, const struct fb_view *view,
                                       size_t i, const uint32_t *nodes, size_t count, double *lo,
                                       double *hi, struct fb_err *err);

/* The same by layer, or (by_layer false) by function. */
enum fb_status fb_view_shares(const struct fb_args *args, const struct fb_view *view, size_t i,
                              bool by_layer, struct fb_diff_shares *ret_shares, struct fb_err *err);

/* "x.fbank, step 600"; yours. */
char *fb_view_title(const struct fb_view *view, size_t i, const struct fb_step *step);

/* Says under a table which clock took the profile, what happened to it, and what it cost. */
void fb_note_clock(struct fb_table *table, const struct fb_profile *p);

#define FB_OPTIONS_READ                                                                            \
    {"type", 0, "TYPE", "the event or value to read, where a file has several"},                   \
        {"event", 0, "EVENT", "the same as --type"},                                               \
        {"weight", 0, "WHAT", "of samples of perf, Chrome, Firefox: period, or samples (1 each)"}, \
        {"no-inlines", 0, NULL, "count inlined functions to the function that has their code"},    \
    {                                                                                              \
        "jobs", 0, "N", "threads that may read large text (default: 1)"                            \
    }
#define FB_OPTIONS_STEPS                                                                           \
    {"steps", 's', "FILE", "steps: a job log, a load generator's output or a TSV"},                \
        {"plan", 0, "PLAN", "steps without times: start=T,step=S[,skip=S,length=S,rates=R:R...]"}, \
    {                                                                                              \
        "clock-offset", 0, "SECONDS", "added to the times of the steps: the arm's clock is ahead"  \
    }
#define FB_OPTIONS_WINDOW                                                                          \
    FB_OPTIONS_STEPS, {"step", 0, "STEP", "this step only, by its number, name or offered rate"},  \
        {"from", 0, "TIME", "from this time on: epoch seconds, ISO 8601, +S or -S"},               \
    {                                                                                              \
        "to", 0, "TIME", "up to this time"                                                         \
    }
#define FB_OPTIONS_NAMES                                                                           \
    {"raw-names", 0, NULL, "names as they are in the files, not their canonical form"},            \
    {                                                                                              \
        "no-name-rule", 0, "RULES", "turn rules of names off: RULE,RULE..."                        \
    }
#define FB_OPTIONS_RULES                                                                           \
    {"rules", 'r', "RULES", "layer rules: a preset or a JSON file (default: native)"},             \
        {"charge", 0, "WHOM", "transparent frames: caller, or self (default: as the rules say)"},  \
    {                                                                                              \
        "kernel", 0, "HOW", "keep (default), or fold kernel frames into their user frame"          \
    }

#endif

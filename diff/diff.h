/* diff.h - the public header of this folder: control against variant, and how far to believe it.
 *
 *     struct fb_diff_input in = {.arms = arms, .arms_count = n, .tree = &tree, ...};
 *     r = fb_diff_new(&in, &options, &diff, err);
 *     for each diff->steps[i]: metrics, layers, frames, and fb_diff_nodes() for pictures
 *     fb_diff_free(diff);
 *
 * The change of a row is (variant - control) / control, d = ln(variant / control); verdicts rest on
 * ms per request where CPU and delivered are known, else on shares.  The method, with its sources,
 * is docs/statistics.md.  Everything here is computed once: tables, JSON and pictures show the
 * same numbers. */
#ifndef FB_DIFF_DIFF_H
#define FB_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "diff/differs.h"
#include "diff/floors.h"
#include "layers/layers.h"
#include "profile/profile.h"
#include "steps/steps.h"

enum fb_verdict {
    FB_VERDICT_NONE,       /* NO VERDICT: see the row's reason                        */
    FB_VERDICT_DIFF,       /* the 95 % interval excludes 0 and |d| >= floor           */
    FB_VERDICT_SAME,       /* the 90 % interval lies within +-delta                   */
    FB_VERDICT_UNRESOLVED, /* neither; mde says what could have been seen             */
    FB_VERDICT_BURSTY,     /* too few bursts for an interval                          */
    FB_VERDICT_ABSENT,     /* in one arm only, bounded: "absent (<= x %)"             */
    FB_VERDICT_NOT_SEEN,   /* in one arm only, too little evidence: "not seen (<= x %)" */
    FB_VERDICT_COUNT
};

/* One run of one arm. */
struct fb_diff_arm {
    bool is_variant;
    const char *label;                /* for headings: file name                               */
    const struct fb_profile *profile; /* NULL: a job log without a profile                   */
    const uint32_t *node_of_stack;    /* of fb_calltree_add(); NULL without a profile        */
    struct fb_steps *steps;           /* judged                                              */
};

/* Whether both are one run: one bank, one profile of that name or of
 * equal content, or steps that agree to the last
 * digit where neither has a profile.  A run is no replicate of itself. */
bool fb_diff_is_one_run(const struct fb_diff_arm *a, const struct fb_diff_arm *b);

/* A chosen set of stacks, shown as one row: did the sum stay while its parts moved? */
struct fb_diff_sum {
    const char *name;
    const size_t *layers; /* its parts, where it is a sum of layers */
    size_t layers_count;
};

enum { FB_DIFF_SUMS_MAX = 64 };

/* What the family of rows behind the layers goes by, where that is not the frame. */
struct fb_diff_keys {
    const char *what;        /* "package", "thread", "module" */
    const uint32_t *of_node; /* by node                       */
    char *const *names;
    size_t count;
    bool is_inlined; /* inlining moves weight between them: in JVM arms as unsure as frames */
};

struct fb_diff_input {
    const struct fb_diff_arm
        *arms; /* controls and variants; the i-th control pairs with the i-th variant */
    size_t arms_count;
    const struct fb_calltree *tree; /* union of all arms */
    const struct fb_functions *fns;
    const struct fb_layers *layers;
    const uint16_t *layer_of_node;
    const uint64_t *boundaries_of_node; /* fb_layers_boundaries(); NULL: no boundary rows */
    const struct fb_diff_keys *keys;    /* NULL: the family is the frames */
    const struct fb_diff_sum *sums;
    size_t sums_count;            /* FB_DIFF_SUMS_MAX at most                             */
    const uint64_t *sums_of_node; /* by node: bit i, if a stack that ends here is in sum i */
};

/* Which steps are compared: those of one offered rate; those at one fraction of each arm's knee; or
 * the ones that the user names. */
enum fb_diff_match { FB_MATCH_RATE, FB_MATCH_UTILIZATION, FB_MATCH_STEPS };

struct fb_diff_options {
    enum fb_diff_match match;
    struct fb_knee knee;              /* of FB_MATCH_UTILIZATION                             */
    const char *const *match_control; /* of FB_MATCH_STEPS: names or offered rates, borrowed */
    const char *const *match_variant;
    size_t match_count;
    double delta_cpu;   /* equivalence margin of CPU per request; 0: 0.05       */
    double delta_share; /* of layers and frames, relative; 0: 0.10              */
    double q;           /* false discovery rate of the frame family; 0: 0.05    */
    bool is_jvm;        /* floors of JVM arms, no one-pair frame verdicts       */
    bool saturated;     /* judge steps past the knee, on ms per delivered request, floor 2 % */
    const struct fb_floors *floors; /* the user's own, borrowed; NULL: those of others' runs; then
                                       latency is shown and not judged                        */
    size_t frames_max;              /* rows of the frame table, 0: 40                       */
};

/* What one arm says of a row; with replicates, summed over the runs. */
struct fb_diff_side {
    double samples;            /* observations (signals) of the row                          */
    double share;              /* 0..1 of the arm's weight in the window                     */
    double share_lo, share_hi; /* 95 %                                                    */
    double ms;                 /* ms per request; NAN where CPU or delivered is unknown      */
    double ms_lo, ms_hi;
    double cores;      /* NAN where unknown                                          */
    double deff;       /* design effect; NAN where it is unknown                     */
    bool deff_assumed; /* ... not measured, since the profile has no times */
    uint32_t hit_seconds;
};

/* How a frame's change reads beside its callers' (callers.c). */
enum fb_move {
    FB_MOVE_NONE,    /* they followed, or there is none                                        */
    FB_MOVE_INLINED, /* they stayed as a whole, and their own time took over what the frame lost,
                        or gave what it won                                                     */
    FB_MOVE_WITHIN,  /* they stayed as a whole: other code of theirs took over                 */
    FB_MOVE_TOOK,    /* it is such a caller itself: its time moved against that of `partner`   */
};

struct fb_diff_row {
    char *name;     /* layer, function or metric                                  */
    uint32_t id;    /* layer index, function id, key, or enum fb_diff_metric      */
    uint16_t layer; /* of a layer or frame row                                    */
    struct fb_diff_side control, variant;
    double value_control, value_variant; /* metric rows: the value in its unit            */
    const char *unit;     /* metric rows: "per s", "ms", "MB" ...                       */
    double d, d_lo, d_hi; /* ln ratio that the verdict rests on and its 95 % interval; NAN */
    double change;        /* exp(d) - 1; -1 for a row that the variant lacks            */
    double change_points; /* share points, in 0..1                                      */
    double change_ms;
    double floor; /* tau used                                                   */
    double mde;   /* minimum detectable relative effect; NAN                    */
    double bound; /* upper bound of the share of an absent row; NAN             */
    enum fb_verdict verdict;
    const char *reason; /* borrowed from the diff: why there is no verdict, "" if there is one */
    bool within_delta;  /* a DIFF that is also equivalent within delta                */
    bool on_share;      /* d is of the share of samples, not of ms per request        */
    bool is_total;      /* the sum of all layers: the last layer row                  */
    bool is_moved; /* a layer that differs and whose boundaries did not follow: inlining moved it */
    bool is_moved_in_part; /* of JVM arms: its boundary differs, and the rest of that moved against
                              the layer */
    enum fb_move move;     /* of frames                                              */
    size_t callers;        /* of frames: index in step->callers; SIZE_MAX none */
    const char *partner;   /* of FB_MOVE_TOOK: the function that was inlined, borrowed  */
    const char *renamed; /* of frames: the name that it may have in the other arm, borrowed; NULL */
};

/* A function that one arm alone has, and one that the other alone has, with names, callers, callees
 * and shares alike: a suggestion, nothing is merged. */
struct fb_diff_rename {
    uint32_t from, to;              /* functions: of the control, of the variant     */
    double share_from, share_to;    /* inclusive, 0..1                               */
    double names, callers, callees; /* how alike, 0..1                               */
    bool is_ambiguous;              /* another function would do as well             */
};

/* The frames that moved most, sorted out. */
enum fb_mover_kind {
    FB_MOVER_MORE,
    FB_MOVER_LESS,
    FB_MOVER_NEW,
    FB_MOVER_GONE,
    FB_MOVER_MOVED,   /* by inlining, or within its callers: no change of cost */
    FB_MOVER_RENAMED, /* perhaps */
};
struct fb_diff_mover {
    size_t frame; /* of step->frames */
    enum fb_mover_kind kind;
    bool is_judged; /* false: one pair of JVMs, which ranks frames */
};

enum fb_diff_metric {
    FB_METRIC_OFFERED,
    FB_METRIC_DELIVERED,
    FB_METRIC_NOT_SENT,
    FB_METRIC_P50,
    FB_METRIC_P99,
    FB_METRIC_P999,
    FB_METRIC_CPU_PER_REQUEST,
    FB_METRIC_CORES,
    FB_METRIC_THROTTLED,
    FB_METRIC_HEAP,
    FB_METRIC_RSS,
    FB_METRIC_COUNT
};

struct fb_diff_run { /* one arm's part in a step */
    const struct fb_diff_arm *arm;
    const struct fb_step *step;
    double samples, weight; /* in the window */
};

struct fb_diff_step {
    char *name;
    double offered;
    uint32_t health;    /* union over the runs                                       */
    char *why;          /* "control: ...; variant: ..."; "" if all are healthy       */
    bool is_comparable; /* delivered rates agree within 0.5 % (or no rates are known) */
    struct fb_diff_run *runs;
    size_t runs_count, pairs;
    struct fb_diff_row *metrics;
    size_t metrics_count;
    struct fb_diff_row *layers; /* by the order of the rules, then the total as the last row */
    size_t layers_count;
    struct fb_diff_row *boundaries; /* inclusive: rows overlap; `layer` is the one beside it,
                                       FB_NO_LAYER                                            */
    size_t boundaries_count;
    struct fb_diff_row *sums; /* as the input's, `id` is the index there; they may overlap */
    size_t sums_count;
    /* or by the input's keys */
    struct fb_diff_row *frames; /* by |change in ms or share|, tested ones first         */
    size_t frames_count, frames_tested;
    struct fb_diff_row *callers; /* inclusive: the callers of frames that changed, and more;
                                    `id` is one such frame, frames[].callers says which are its */
    size_t callers_count;
    struct fb_diff_rename *renames; /* the largest first */
    size_t renames_count;
    struct fb_diff_mover *movers; /* by |change| */
    size_t movers_count;
    double samples_control, samples_variant;
    double unknown_control, unknown_variant; /* share of [unknown] leaf frames           */
    const char *denial; /* why nothing in this step is judged, "" if it is              */
    char **notes;       /* sentences about this step alone                              */
    size_t notes_count;
    bool on_ms; /* verdicts rest on ms per request, else on shares              */
};

struct fb_diff {
    struct fb_diff_options options; /* defaults filled in */
    const struct fb_diff_input *input;
    struct fb_diff_step *steps;
    size_t steps_count;
    bool is_wall; /* weights are time that threads lived, running or waiting */
    char **notes; /* sentences about all: one pair only, clocks, unmatched steps ... */
    size_t notes_count;
    size_t pairs;
    bool has_ms;                 /* ms per request is known in some step, judged or not */
    struct fb_diff_state *state; /* private */
};

/* Fails when no step of the arms can be matched, when the clocks differ, when a profile and its
 * steps do not overlap.  `in` and what it points to must outlive the diff. */
enum fb_status fb_diff_new(const struct fb_diff_input *in, const struct fb_diff_options *options,
                           struct fb_diff **ret_diff, struct fb_err *err);
void fb_diff_free(struct fb_diff *diff);

/* "DIFF", "SAME", ... */
const char *fb_verdict_word(enum fb_verdict v);

/* Whether a layer is JIT or GC, by that word in its name. */
bool fb_diff_is_jit_or_gc(const char *layer_name);

/* The union tree of one step (or of all healthy steps for step == SIZE_MAX), for pictures.
 * All arrays have tree->count items and are freed by fb_diff_nodes_done(). */
struct fb_diff_interval { /* 95 %, of ln(variant / control); NAN where nothing was tested */
    float lo, hi;
};
struct fb_diff_nodes {
    double *control_self, *control_total; /* share of the arm's weight, 0..1 */
    double *variant_self, *variant_total;
    uint8_t *self_is_real,
        *total_is_real; /* 1: the change is outside the noise (same rule as frames) */
    struct fb_diff_interval *self_change, *total_change; /* by the test behind *_is_real */
    double control_ms, variant_ms; /* CPU per request of the step; NAN unknown            */
    bool on_ms;                    /* "real" is a change of ms per request; else of share */
    double control_weight, variant_weight;
    bool is_judged; /* false: a step of them has no verdict, and nothing is real  */
};
void fb_diff_nodes(const struct fb_diff *diff, size_t step, struct fb_diff_nodes *ret_nodes);
void fb_diff_nodes_done(struct fb_diff_nodes *nodes);

/* ---- one profile ---- */

/* Shares of a span of one profile by any key of its nodes (layer, function), with 95 % intervals by
 * the formula of one window. */
struct fb_diff_shares {
    double *share, *lo, *hi; /* by key, 0..1 */
    size_t keys;
    double samples;  /* observations in the span                             */
    bool is_assumed; /* no times, or too short: the design effect is assumed */
};

/* in: arms[0] with its profile, tree, fns, layers.  INT64_MIN, INT64_MAX: all of it. */
void fb_diff_shares_measure(const struct fb_diff_input *in, int64_t from_ns, int64_t to_ns,
                            const uint32_t *key_of_node, size_t keys,
                            struct fb_diff_shares *ret_shares);
void fb_diff_shares_done(struct fb_diff_shares *shares);

/* The 95 % intervals of the inclusive shares of some nodes (by rising id) in a span of a profile
 * with times; lo and hi are yours, count long. */
void fb_diff_shares_of_nodes(const struct fb_diff_input *in, int64_t from_ns, int64_t to_ns,
                             const uint32_t *nodes, size_t count, double *lo, double *hi);

/* What is asked of a diff that was made. */
#include "diff/contrast.h"
#include "diff/gate.h"
#include "diff/predict.h"

#endif

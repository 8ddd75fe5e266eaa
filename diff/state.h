/* state.h - what the files of this folder share about one diff while it is made and drawn.
 *
 *     diff.c         aligns, collects, states notes
 *     metric_rows.c  CPU per request, latency ...: fb_metric_rows()
 *     layer_rows.c   fb_layer_pairs_measure() of every step, fb_layer_pools_fill(), then
 *                    fb_layer_rows()
 *     frame_rows.c   fb_frame_rows()
 *     callers.c, renames.c, movers.c   what stands around the frames (around.h)
 *     nodes.c        fb_diff_nodes() */
#ifndef FB_DIFF_STATE_H
#define FB_DIFF_STATE_H

#include "base/arena.h"
#include "diff/align.h"
#include "diff/verdict.h"
#include "diff/window.h"

/* One layer in one pair of windows. */
struct fb_layer_pair {
    struct fb_share control, variant;
    double d_share, d_ms; /* NAN where one of the arms has none */
    double half_share, half_ms;
};

/* The variance between pairs: squared deviations of their d's from the mean, and degrees. */
struct fb_pair_pool {
    double sum2, df;
};

/* Differences of the arms' shares of nameless leaves (unknown.h). */
struct fb_unknown {
    double *by_module; /* by string id of the module; NULL without profiles          */
    size_t modules;
    double unplaced; /* of those that no rule places: leaves in the layer "other"  */
};

struct fb_step_state {
    size_t row;    /* of the matching                                         */
    size_t *pairs; /* those of the lineup in which both arms have the step    */
    size_t pairs_count;
    uint32_t health;
    struct fb_unknown unknown;
    struct fb_layer_pair *layers; /* [layer, then boundary, then sum, x pairs_count] */
};

struct fb_diff_state {
    const struct fb_diff_input *in;
    struct fb_lineup lineup;
    struct fb_matching matching;
    struct fb_window *windows;     /* [replicate x matching.count] */
    struct fb_step_state *steps;   /* as diff->steps */
    struct fb_pair_pool *pools;    /* [row of layers, then the same in ms], over healthy steps */
    struct fb_pair_pool cost_pool; /* of CPU per request, over healthy steps */
    struct fb_arena arena;         /* texts of reasons */
    bool has_profiles;             /* every arm has one */
    bool by_share_only;            /* the weights are no CPU time: clocks itimer and wall */
};

/* The window of one side of the i-th pair of a step. */
struct fb_window *fb_state_window(const struct fb_diff_state *state, const struct fb_step_state *s,
                                  size_t pair, bool is_variant);

/* The health that the floor of CPU per request goes by.  With two pairs and more the spread that
 * an unsteady machine makes is measured, not assumed. */
static inline uint32_t fb_state_floor_health(const struct fb_step_state *s)
{
    return s->pairs_count < 2 ? s->health : s->health & ~(uint32_t)FB_FLOOR_WANDERING;
}

/* A text that lives as long as the diff. */
const char *fb_state_text(struct fb_diff_state *state, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a sentence to diff->notes. */
void fb_diff_note(struct fb_diff *diff, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same to out->notes. */
void fb_diff_step_note(struct fb_diff_step *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* One row's shares of one side, by pair, summed into the side of a table row. */
void fb_side_fill(const struct fb_diff_state *state, const struct fb_step_state *s,
                  const struct fb_share *shares, bool is_variant, struct fb_diff_side *ret_side);

/* A row with nothing known yet. */
void fb_row_init(struct fb_diff_row *row, const char *name, uint32_t id);
/* Changes that need no verdict: points and ms, from the two sides. */
void fb_row_changes(struct fb_diff_row *row);
void fb_row_deny(struct fb_diff_row *row, const char *reason);
void fb_row_take(struct fb_diff_row *row, const struct fb_judged *judged);
/* A row that one arm alone has.  shares: of the living side, by pair. */
void fb_row_absent(const struct fb_diff_state *state, const struct fb_step_state *s,
                   struct fb_diff_row *row, const struct fb_share *shares, bool living_is_variant);

/* The d's of a pair whose two shares are measured. */
void fb_layer_pair_close(const struct fb_diff_state *state, const struct fb_step_state *s,
                         size_t pair, struct fb_layer_pair *p);
/* Interval, verdict and mde of a row of these pairs; its sides are filled.  tau: floor of one run;
 * pool NULL: of these pairs alone. */
void fb_layer_pairs_judge(struct fb_diff *diff, size_t step, const struct fb_layer_pair *p,
                          double tau, const struct fb_pair_pool *pool, struct fb_diff_row *row);

void fb_cost_pool_fill(struct fb_diff *diff); /* before the first fb_metric_rows() */
void fb_metric_rows(struct fb_diff *diff, size_t step);
void fb_layer_pairs_measure(struct fb_diff *diff, size_t step);
void fb_layer_pools_fill(struct fb_diff *diff);        /* after that of all steps */
void fb_layer_rows(struct fb_diff *diff, size_t step); /* after fb_metric_rows */
void fb_frame_rows(struct fb_diff *diff, size_t step);

#endif

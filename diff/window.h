/* window.h - the samples of one replicate in one step, ready for the tests.
 *
 *     fb_windows_collect(in, replicate, windows, count);     start_ns, end_ns, step are set
 *     ... windows[i].grid, .layer_x, .events ...
 *     fb_window_done(&windows[i]);
 *
 * One pass over the samples fills all windows of the replicate.  Events are sorted by cell, so a
 * stable sort by function or node gives series at once. */
#ifndef FB_DIFF_WINDOW_H
#define FB_DIFF_WINDOW_H

#include "diff/align.h"
#include "diff/cost.h"
#include "diff/share.h"

struct fb_event {
    uint32_t node, cell;
    double weight;
};

struct fb_window {
    const struct fb_step *step; /* NULL: this replicate has no such step            */
    int64_t start_ns, end_ns;   /* equal to INT64_MIN, INT64_MAX without times      */
    size_t cells;               /* whole seconds, which are its parts; 0 without times */
    double weight, samples, weight_squares;
    double *n;       /* weight by cell                                   */
    double *layer_x; /* weight by layer and cell: [layer * cells + cell]; behind the layers the
                        boundaries and the sums, whose stacks overlap */
    double *layer_weight, *layer_samples;
    size_t layers_count, sums_row; /* the first row of the sums */
    struct fb_event *events;
    size_t events_count;
    double samples_per_weight; /* 0: an event is one observation                    */
    bool is_period_unknown;    /* an event is an unknown number of observations       */
    double unknown;            /* share of leaf frames without a name               */
    double *cpu;               /* by cell, nanoseconds; NULL unknown                */
    double cpu_s;              /* of the replicate in the step; NAN unknown         */
    struct fb_cost cost;
    struct fb_grid grid;
};

/* Sets step and the span of a window; step may be NULL. */
void fb_window_init(struct fb_window *w, const struct fb_step *step,
                    const struct fb_profile *profile);

/* Returns the observations of the replicate that lie in none of the windows. */
double fb_windows_collect(const struct fb_diff_input *in, const struct fb_replicate *replicate,
                          struct fb_window *windows, size_t count);
void fb_window_done(struct fb_window *w);

/* Observations behind one event. */
static inline double fb_event_samples(const struct fb_window *w, const struct fb_event *e)
{
    return w->samples_per_weight > 0 ? e->weight * w->samples_per_weight : 1;
}

/* How many boundaries the windows have behind their layers. */
static inline size_t fb_window_boundaries(const struct fb_diff_input *in)
{
    return in->layers && in->boundaries_of_node ? fb_layers_boundaries_count(in->layers) : 0;
}

/* How many rows the windows have: layers, boundaries, sums. */
static inline size_t fb_window_rows(const struct fb_diff_input *in)
{
    return (in->layers ? fb_layers_count(in->layers) : 0) + fb_window_boundaries(in) +
           in->sums_count;
}

/* The series of a layer (or, behind them, of a boundary or a sum); the arrays (cells long) are the
 * caller's, borrowed by *ret_series. */
void fb_window_layer_series(const struct fb_window *w, size_t layer, uint32_t *cells, double *x,
                            struct fb_series *ret_series);

/* The events sorted by key_of_node, and within a key by cell.  ret_start has keys + 1 items;
 * free() both. */
void fb_window_sort(const struct fb_window *w, const uint32_t *key_of_node, size_t keys,
                    struct fb_event **ret_events, uint32_t **ret_start);

/* The series of a run of sorted events (one key), cells added up; arrays as above. */
void fb_window_event_series(const struct fb_window *w, const struct fb_event *events, size_t count,
                            uint32_t *cells, double *x, struct fb_series *ret_series);

#endif

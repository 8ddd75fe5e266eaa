/* Shares of one profile with their intervals: the same windows, blocks and formula as in a diff. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/window.h"

static struct fb_step span_of(const struct fb_profile *p, int64_t from_ns, int64_t to_ns)
{
    struct fb_step step;

    memset(&step, 0, sizeof step);
    step.load_start_ns = from_ns == INT64_MIN ? p->first_ns : from_ns;
    step.load_end_ns = to_ns == INT64_MAX ? p->last_ns + 1 : to_ns;
    if (step.load_start_ns < p->first_ns)
        step.load_start_ns = p->first_ns;
    if (step.load_end_ns > p->last_ns + 1)
        step.load_end_ns = p->last_ns + 1;
    step.secs = step.delivered = step.offered = step.cpu_s = step.cpu_span_s = NAN;
    step.stated_delivered_per_s = step.stated_ms_per_request = NAN;
    return step;
}

/* in->arms[0] in the span. */
static void window_make(const struct fb_diff_input *in, int64_t from_ns, int64_t to_ns,
                        struct fb_step *step, struct fb_window *ret_window)
{
    const struct fb_profile *p = in->arms[0].profile;
    size_t first = 0;
    struct fb_replicate replicate = {.arms = &first, .arms_count = 1};

    *step = span_of(p, from_ns, to_ns);
    fb_window_init(ret_window, step, p);
    (void)fb_windows_collect(in, &replicate, ret_window, 1);
}

static void measure(const struct fb_window *w, const uint32_t *key_of_node,
                    struct fb_diff_shares *out)
{
    size_t cells = w->cells ? w->cells : 1;
    uint32_t *start, *hit = fb_alloc_array(cells, sizeof *hit);
    double *x = fb_alloc_array(cells, sizeof *x);
    struct fb_event *events;

    fb_window_sort(w, key_of_node, out->keys, &events, &start);
    for (size_t k = 0; k < out->keys; k++) {
        struct fb_series series;
        struct fb_share share;

        fb_window_event_series(w, events + start[k], start[k + 1] - start[k], hit, x, &series);
        fb_share_measure(&w->grid, &series, FB_FLOOR_PLAIN, &share);
        out->share[k] = share.p;
        out->lo[k] = share.lo;
        out->hi[k] = share.hi;
        out->is_assumed |= share.deff_assumed;
    }
    out->samples = w->samples;
    free(events);
    free(start);
    free(hit);
    free(x);
}

void fb_diff_shares_measure(const struct fb_diff_input *in, int64_t from_ns, int64_t to_ns,
                            const uint32_t *key_of_node, size_t keys,
                            struct fb_diff_shares *ret_shares)
{
    struct fb_diff_shares out = {.keys = keys};
    struct fb_step step;
    struct fb_window window;

    out.share = fb_alloc_array(keys, sizeof *out.share);
    out.lo = fb_alloc_array(keys, sizeof *out.lo);
    out.hi = fb_alloc_array(keys, sizeof *out.hi);
    window_make(in, from_ns, to_ns, &step, &window);
    if (window.weight > 0)
        measure(&window, key_of_node, &out);
    fb_window_done(&window);
    *ret_shares = out;
}

void fb_diff_shares_done(struct fb_diff_shares *shares)
{
    free(shares->share);
    free(shares->lo);
    free(shares->hi);
    memset(shares, 0, sizeof *shares);
}

/* ---- inclusive, by node ---- */

/* Amounts by cell of so many nodes at a time are in memory. */
enum { ROWS_CELLS_MAX = 1 << 23 };

/* Some nodes, and what is on them: rows[] is cells long for each. */
struct node_rows {
    const uint32_t *nodes;
    size_t count, cells;
    uint32_t *owner; /* by node of the tree: 1 + the nearest of `nodes` at or above it; 0 none */
    float *x;
    double *weight, *samples;
};

static void rows_fill(struct node_rows *r, const struct fb_calltree *tree,
                      const struct fb_window *w)
{
    size_t next = 0;

    memset(r->x, 0, r->count * r->cells * sizeof *r->x);
    for (uint32_t i = 0; i < tree->count; i++) {
        r->owner[i] = i > 0 ? r->owner[tree->nodes[i].parent] : 0;
        if (next < r->count && r->nodes[next] == i)
            r->owner[i] = (uint32_t)++next;
    }
    for (size_t i = 0; i < r->count; i++)
        r->weight[i] = r->samples[i] = 0;
    for (size_t i = 0; i < w->events_count; i++) {
        const struct fb_event *e = &w->events[i];
        size_t at = r->owner[e->node];

        if (at == 0)
            continue;
        r->weight[at - 1] += e->weight;
        r->samples[at - 1] += fb_event_samples(w, e);
        if (e->cell < r->cells)
            r->x[(at - 1) * r->cells + e->cell] += (float)e->weight;
    }
    for (size_t i = r->count; i-- > 0;) {
        size_t at = r->nodes[i] > 0 ? r->owner[tree->nodes[r->nodes[i]].parent] : 0;

        if (at == 0)
            continue;
        r->weight[at - 1] += r->weight[i];
        r->samples[at - 1] += r->samples[i];
        for (size_t c = 0; c < r->cells; c++)
            r->x[(at - 1) * r->cells + c] += r->x[i * r->cells + c];
    }
}

static void rows_measure(const struct node_rows *r, const struct fb_window *w, uint32_t *cell,
                         double *x, double *lo, double *hi)
{
    for (size_t i = 0; i < r->count; i++) {
        struct fb_series s = {
            .cell = cell, .x = x, .weight = r->weight[i], .samples = r->samples[i]};
        struct fb_share share;

        for (size_t c = 0; c < r->cells; c++)
            if (r->x[i * r->cells + c] > 0) {
                cell[s.hits] = (uint32_t)c;
                x[s.hits++] = r->x[i * r->cells + c];
            }
        fb_share_measure(&w->grid, &s, FB_FLOOR_PLAIN, &share);
        lo[i] = share.lo;
        hi[i] = share.hi;
    }
}

void fb_diff_shares_of_nodes(const struct fb_diff_input *in, int64_t from_ns, int64_t to_ns,
                             const uint32_t *nodes, size_t count, double *lo, double *hi)
{
    struct fb_step step;
    struct fb_window w;
    struct node_rows r;
    size_t most;
    uint32_t *cell;
    double *x;

    window_make(in, from_ns, to_ns, &step, &w);
    r.cells = w.cells;
    most = w.cells < ROWS_CELLS_MAX ? ROWS_CELLS_MAX / (w.cells + 1) + 1 : 1;
    most = most < count ? most : count;
    r.owner = fb_alloc_array(in->tree->count, sizeof *r.owner);
    r.x = fb_alloc_array(most * (w.cells + 1), sizeof *r.x);
    r.weight = fb_alloc_array(most, sizeof *r.weight);
    r.samples = fb_alloc_array(most, sizeof *r.samples);
    cell = fb_alloc_array(w.cells + 1, sizeof *cell);
    x = fb_alloc_array(w.cells + 1, sizeof *x);
    for (size_t from = 0; from < count && w.weight > 0; from += most) {
        r.nodes = nodes + from;
        r.count = count - from < most ? count - from : most;
        rows_fill(&r, in->tree, &w);
        rows_measure(&r, &w, cell, x, lo + from, hi + from);
    }
    fb_window_done(&w);
    free(r.owner);
    free(r.x);
    free(r.weight);
    free(r.samples);
    free(cell);
    free(x);
}

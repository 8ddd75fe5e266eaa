/* layer_rows.c - one row a layer, and the total; one row a boundary and a sum, by the same
 * statistics.
 *
 * A row's index counts the layers first, then the boundaries, then the sums, as in the windows. */
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "diff/follow.h"
#include "diff/state.h"
#include "diff/unknown.h"

/* Run-to-run floor of CPU per request that is inside every layer's ms; the window's own part of
 * it is in the linearised interval already. */
static double row_floor(const struct fb_diff *diff, const struct fb_step_state *s,
                        enum fb_floor_kind kind, double p, bool on_ms)
{
    double share = fb_floor_share(diff->options.floors, kind, p, diff->options.is_jvm);

    return on_ms ? hypot(share, fb_floor_cpu(diff->options.floors, fb_state_floor_health(s), 0))
                 : share;
}

static const char *row_name(const struct fb_diff_state *state, size_t row)
{
    size_t layers = fb_layers_count(state->in->layers);
    size_t sums = layers + fb_window_boundaries(state->in);

    if (row >= sums)
        return state->in->sums[row - sums].name;
    return row < layers ? fb_layers_get(state->in->layers, row)->name
                        : fb_layers_boundary(state->in->layers, row - layers)->name;
}

/* A sum is of a kind only if all its parts are. */
static enum fb_floor_kind row_kind(const struct fb_diff_state *state, size_t row)
{
    size_t sums = fb_layers_count(state->in->layers) + fb_window_boundaries(state->in);
    const struct fb_diff_sum *sum;
    enum fb_floor_kind kind;

    if (row < sums)
        return fb_floor_kind(row_name(state, row));
    sum = &state->in->sums[row - sums];
    kind = sum->layers_count > 0 ? fb_floor_kind(row_name(state, sum->layers[0])) : FB_FLOOR_PLAIN;
    for (size_t i = 1; i < sum->layers_count; i++)
        if (fb_floor_kind(row_name(state, sum->layers[i])) != kind)
            return FB_FLOOR_PLAIN;
    return kind;
}

void fb_layer_pair_close(const struct fb_diff_state *state, const struct fb_step_state *s,
                         size_t pair, struct fb_layer_pair *p)
{
    double control_ms = fb_state_window(state, s, pair, false)->cost.ms;
    double variant_ms = fb_state_window(state, s, pair, true)->cost.ms;

    p->d_share = p->d_ms = p->half_share = p->half_ms = NAN;
    if (!(p->control.p > 0 && p->variant.p > 0))
        return;
    p->d_share = log(p->variant.p / p->control.p);
    p->half_share = fb_verdict_pair_half(p->control.ln_half, p->variant.ln_half);
    p->d_ms = p->d_share + log(variant_ms / control_ms);
    p->half_ms = fb_verdict_pair_half(p->control.ln_half_cost, p->variant.ln_half_cost);
}

static void pair_measure(const struct fb_diff_state *state, const struct fb_step_state *s,
                         size_t layer, size_t pair, uint32_t *cells, double *x)
{
    struct fb_layer_pair *p = &s->layers[layer * s->pairs_count + pair];
    struct fb_window *w[2] = {fb_state_window(state, s, pair, false),
                              fb_state_window(state, s, pair, true)};
    struct fb_share *shares[2] = {&p->control, &p->variant};
    enum fb_floor_kind kind = row_kind(state, layer);

    for (int a = 0; a < 2; a++) {
        struct fb_series series;

        fb_window_layer_series(w[a], layer, cells, x, &series);
        fb_share_measure(&w[a]->grid, &series, kind, shares[a]);
    }
    fb_layer_pair_close(state, s, pair, p);
}

void fb_layer_pairs_measure(struct fb_diff *diff, size_t step)
{
    struct fb_diff_state *state = diff->state;
    struct fb_step_state *s = &state->steps[step];
    size_t rows = fb_window_rows(state->in), longest = 0;
    uint32_t *cells;
    double *x;

    for (size_t i = 0; i < s->pairs_count; i++)
        for (int a = 0; a < 2; a++) {
            const struct fb_window *w = fb_state_window(state, s, i, a == 1);

            longest = w->cells > longest ? w->cells : longest;
        }
    cells = fb_alloc_array(longest, sizeof *cells);
    x = fb_alloc_array(longest, sizeof *x);
    s->layers = fb_alloc_array(rows * s->pairs_count, sizeof *s->layers);
    for (size_t l = 0; l < rows; l++)
        for (size_t i = 0; i < s->pairs_count; i++)
            pair_measure(state, s, l, i, cells, x);
    free(cells);
    free(x);
}

/* Adds the squared deviations of the paired d's from their mean. */
static void pairs_pool(const struct fb_layer_pair *p, size_t count, bool on_ms,
                       struct fb_pair_pool *pool)
{
    double k = (double)count, mean = 0, sum2 = 0;

    if (count < 2)
        return;
    for (size_t j = 0; j < count; j++)
        mean += (on_ms ? p[j].d_ms : p[j].d_share) / k;
    for (size_t j = 0; j < count; j++)
        sum2 += pow((on_ms ? p[j].d_ms : p[j].d_share) - mean, 2);
    if (isnan(sum2))
        return;
    pool->sum2 += sum2;
    pool->df += k - 1;
}

static struct fb_pair_pool *pool_of(const struct fb_diff_state *state, size_t row, bool on_ms)
{
    return &state->pools[(on_ms ? fb_window_rows(state->in) : 0) + row];
}

void fb_layer_pools_fill(struct fb_diff *diff)
{
    struct fb_diff_state *state = diff->state;
    size_t rows = fb_window_rows(state->in);

    state->pools = fb_alloc_array(2 * rows, sizeof *state->pools);
    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_step_state *s = &state->steps[i];

        for (size_t r = 0; r < rows && !diff->steps[i].denial[0]; r++)
            for (int on_ms = 0; on_ms < 2; on_ms++)
                pairs_pool(s->layers + r * s->pairs_count, s->pairs_count, on_ms == 1,
                           pool_of(state, r, on_ms == 1));
    }
}

/* Bursts allow no interval; but where the arm with more is not bursty, and the bursty one's upper
 * end is below the other's lower end, the order of the two is beyond doubt. */
static bool is_bursty(const struct fb_layer_pair *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fb_share *more = &p[i].control, *less = &p[i].variant;

        if (less->p > more->p) {
            more = &p[i].variant;
            less = &p[i].control;
        }
        if (more->is_bursty || (less->is_bursty && less->hi >= more->lo))
            return true;
    }
    return false;
}

void fb_layer_pairs_judge(struct fb_diff *diff, size_t step, const struct fb_layer_pair *p,
                          double tau, const struct fb_pair_pool *pool, struct fb_diff_row *row)
{
    const struct fb_step_state *s = &diff->state->steps[step];
    bool on_ms = diff->steps[step].on_ms;
    double *d = fb_alloc_array(s->pairs_count, sizeof *d), n = 0, deff = row->control.deff;
    double *half = fb_alloc_array(s->pairs_count, sizeof *half);
    struct fb_pair_pool own = {0};
    struct fb_judged judged;
    struct fb_evidence e = {.d = d, .half = half, .pairs = s->pairs_count};

    for (size_t i = 0; i < s->pairs_count; i++) {
        d[i] = on_ms ? p[i].d_ms : p[i].d_share;
        half[i] = on_ms ? p[i].half_ms : p[i].half_share;
        e.is_assumed |= p[i].control.deff_assumed || p[i].variant.deff_assumed;
        n += (fb_state_window(diff->state, s, i, false)->grid.effective +
              fb_state_window(diff->state, s, i, true)->grid.effective) /
             (2 * (double)s->pairs_count);
    }
    if (!pool)
        pairs_pool(p, s->pairs_count, on_ms, &own);
    e.pooled_sum2 = pool ? pool->sum2 : own.sum2;
    e.pooled_df = pool ? pool->df : own.df;
    e.tau = row->floor = tau;
    e.delta = diff->options.delta_share;
    fb_verdict_judge(&e, &judged);
    fb_row_take(row, &judged);
    if (!isnan(row->variant.deff))
        deff = isnan(deff) ? row->variant.deff : (deff + row->variant.deff) / 2;
    row->mde = fb_verdict_mde((row->control.share + row->variant.share) / 2, deff, n, e.tau,
                              s->pairs_count);
    free(d);
    free(half);
}

static void row_judge(struct fb_diff *diff, size_t step, size_t layer, struct fb_diff_row *row)
{
    const struct fb_step_state *s = &diff->state->steps[step];
    bool on_ms = diff->steps[step].on_ms;
    double share = (row->control.share + row->variant.share) / 2;

    fb_layer_pairs_judge(diff, step, s->layers + layer * s->pairs_count,
                         row_floor(diff, s, row_kind(diff->state, layer), share, on_ms),
                         pool_of(diff->state, layer, on_ms), row);
}

static bool is_missing_somewhere(const struct fb_layer_pair *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(p[i].d_share))
            return true;
    return false;
}

static void row_verdict(struct fb_diff *diff, size_t step, size_t layer, struct fb_diff_row *row,
                        const struct fb_share *control, const struct fb_share *variant)
{
    const struct fb_diff_step *out = &diff->steps[step];
    const struct fb_step_state *s = &diff->state->steps[step];
    const struct fb_layer_pair *p = s->layers + layer * s->pairs_count;
    bool in_control = row->control.samples > 0, in_variant = row->variant.samples > 0;

    row->on_share = !out->on_ms;
    if (!in_control && !in_variant) {
        fb_row_deny(row, "no samples in either arm");
        return;
    }
    if (in_control && in_variant && !is_missing_somewhere(p, s->pairs_count))
        row_judge(diff, step, layer, row); /* the change is shown, whatever follows */
    else if (in_control &&
             in_variant) /* no pair's change for one of the pairs: that of the means */
        row->change = (out->on_ms ? row->variant.ms / row->control.ms
                                  : row->variant.share / row->control.share) -
                      1;
    if (out->denial[0])
        fb_row_deny(row, out->denial);
    else if (fb_unknown_hides_layer(&s->unknown, row->change_points))
        fb_row_deny(row, "not larger than what [unknown] frames in 'other' could hide");
    else if (!in_control || !in_variant)
        fb_row_absent(diff->state, s, row, in_control ? control : variant, in_variant);
    else if (is_missing_somewhere(p, s->pairs_count) || is_bursty(p, s->pairs_count))
        row->verdict = FB_VERDICT_BURSTY;
}

/* The total is the step's CPU per request: the verdict of that metric. */
static void total_row(struct fb_diff *diff, size_t step, struct fb_diff_row *row)
{
    const struct fb_diff_step *out = &diff->steps[step];
    const struct fb_diff_row *cpu = NULL;

    fb_row_init(row, "total", (uint32_t)(out->layers_count - 1));
    row->is_total = true;
    row->layer = (uint16_t)(out->layers_count - 2);
    for (size_t i = 0; i < out->metrics_count; i++)
        if (out->metrics[i].id == FB_METRIC_CPU_PER_REQUEST)
            cpu = &out->metrics[i];
    row->control.ms = row->variant.ms = row->control.cores = row->variant.cores = 0;
    for (size_t i = 0; i + 1 < out->layers_count; i++) {
        row->control.ms += out->layers[i].control.ms;
        row->variant.ms += out->layers[i].variant.ms;
        row->control.cores += out->layers[i].control.cores;
        row->variant.cores += out->layers[i].variant.cores;
    }
    row->control.samples = out->samples_control;
    row->variant.samples = out->samples_variant;
    row->control.share = row->control.share_lo = row->control.share_hi = 1;
    row->variant.share = row->variant.share_lo = row->variant.share_hi = 1;
    fb_row_changes(row);
    if (!cpu || isnan(cpu->d)) {
        fb_row_deny(row, "CPU per request is unknown, and shares add up to 1");
        return;
    }
    row->d = cpu->d;
    row->d_lo = cpu->d_lo;
    row->d_hi = cpu->d_hi;
    row->change = cpu->change;
    row->floor = cpu->floor;
    row->mde = cpu->mde;
    row->verdict = cpu->verdict;
    row->reason = cpu->reason;
    row->within_delta = cpu->within_delta;
}

/* shares: room for both sides of all pairs. */
static void row_fill(struct fb_diff *diff, size_t step, size_t index, struct fb_share *shares,
                     struct fb_diff_row *row)
{
    struct fb_diff_state *state = diff->state;
    const struct fb_step_state *s = &state->steps[step];

    for (size_t i = 0; i < s->pairs_count; i++) {
        shares[i] = s->layers[index * s->pairs_count + i].control;
        shares[s->pairs_count + i] = s->layers[index * s->pairs_count + i].variant;
    }
    fb_row_init(row, row_name(state, index), (uint32_t)index);
    row->layer = (uint16_t)index;
    fb_side_fill(state, s, shares, false, &row->control);
    fb_side_fill(state, s, shares + s->pairs_count, true, &row->variant);
    fb_row_changes(row);
    row_verdict(diff, step, index, row, shares, shares + s->pairs_count);
}

/* Whether the boundary, not resolved itself, rules out that it lost or won what the layer did.  A
 * layer larger than its boundary is not the inside of it. */
static bool did_not_follow(const struct fb_diff_row *layer, const struct fb_diff_row *boundary)
{
    return boundary->verdict == FB_VERDICT_UNRESOLVED && boundary->on_share == layer->on_share &&
           layer->control.share <= boundary->control.share &&
           layer->variant.share <= boundary->variant.share && fb_follow_fails(layer, boundary);
}

/* A layer's self time moved, and the code that it is the inside of did not: another process inlines
 * other methods (docs/statistics.md, 4).  What a layer lost may be spread over several boundaries,
 * so there each must be the same.  In a JVM both may be true at once: the boundary changed, and the
 * rest of it took over from the layer, or gave to it. */
static void layer_move_mark(const struct fb_diff *diff, const struct fb_diff_step *out, size_t l,
                            struct fb_diff_row *layer)
{
    const struct fb_diff_row *boundary = NULL;
    size_t same = 0, all = 0;

    for (size_t b = 0; b < out->boundaries_count; b++) {
        if (out->boundaries[b].layer != l)
            continue;
        boundary = &out->boundaries[b];
        all++;
        same += boundary->verdict == FB_VERDICT_SAME;
    }
    if (layer->verdict != FB_VERDICT_DIFF || all == 0)
        return;
    layer->is_moved = same == all || (all == 1 && did_not_follow(layer, boundary));
    layer->is_moved_in_part = diff->options.is_jvm && all == 1 &&
                              boundary->verdict == FB_VERDICT_DIFF &&
                              fb_follow_opposes(layer, boundary);
}

void fb_layer_rows(struct fb_diff *diff, size_t step)
{
    struct fb_diff_state *state = diff->state;
    const struct fb_step_state *s = &state->steps[step];
    struct fb_diff_step *out = &diff->steps[step];
    size_t layers = fb_layers_count(state->in->layers);
    struct fb_share *shares = fb_alloc_array(2 * s->pairs_count, sizeof *shares);

    out->layers = fb_alloc_array(layers + 1, sizeof *out->layers);
    out->layers_count = layers + 1;
    out->boundaries_count = fb_window_boundaries(state->in);
    out->boundaries = fb_alloc_array(out->boundaries_count, sizeof *out->boundaries);
    for (size_t l = 0; l < layers; l++)
        row_fill(diff, step, l, shares, &out->layers[l]);
    for (size_t b = 0; b < out->boundaries_count; b++) {
        row_fill(diff, step, layers + b, shares, &out->boundaries[b]);
        out->boundaries[b].layer = fb_layers_boundary(state->in->layers, b)->layer;
    }
    out->sums_count = state->in->sums_count;
    out->sums = fb_alloc_array(out->sums_count, sizeof *out->sums);
    for (size_t i = 0; i < out->sums_count; i++) {
        row_fill(diff, step, layers + out->boundaries_count + i, shares, &out->sums[i]);
        out->sums[i].id = (uint32_t)i;
        out->sums[i].layer = FB_NO_LAYER;
    }
    total_row(diff, step, &out->layers[layers]);
    for (size_t l = 0; l + 1 < out->layers_count; l++)
        layer_move_mark(diff, out, l, &out->layers[l]);
    free(shares);
}

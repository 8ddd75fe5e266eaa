/* nodes.c - the union call tree of a diff, node by node, for pictures.
 *
 * Whether a node's change is outside the noise is decided as for frames: variance of blocks of
 * seconds, floor, false discovery rate; self and inclusive are two families.  A window becomes a
 * table [node x cell]; all windows of a run have CELLS_MAX cells together (longer ones get longer
 * cells), so inclusive weights by cell are one backward pass over the nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/distribution.h"
#include "diff/frames.h"
#include "diff/state.h"
#include "diff/unknown.h"

enum { CELLS_MAX = 128, CELLS_MIN = 10 }; /* of all windows of a run together; of one */

/* One replicate, summed over the steps that are drawn. */
struct node_run {
    double weight, effective, cpu_ms, delivered, degrees;
    double *x[2], *samples[2], *variance[2]; /* by node; [0] self, [1] inclusive */
};

struct node_sum {
    const struct fb_diff *diff;
    size_t nodes, pairs, cells_max;
    struct node_run *runs[2]; /* by side and pair of the lineup */
    uint32_t *hits[2];        /* by node: cells hit, both sides */
    bool on_ms;
    double cost_floor; /* tau of CPU per request, the largest of the steps drawn */
    double t95;        /* quantile of the test, the same for all nodes           */
};

/* One window as a table. */
struct node_table {
    size_t cells, grain;
    float *x; /* [node x cells] */
    double *self, *samples;
    struct fb_grid grid;
};

static void table_grid(const struct fb_window *w, struct node_table *t)
{
    double *n = fb_alloc_array(t->cells + 1, sizeof *n);
    double *cpu = fb_alloc_array(t->cells + 1, sizeof *cpu);

    for (size_t i = 0; i < w->cells; i++) {
        size_t cell = i / t->grain < t->cells ? i / t->grain : t->cells - 1;

        n[cell] += w->n[i];
        cpu[cell] += w->cpu ? w->cpu[i] : 0;
    }
    fb_grid_init(&t->grid, n, t->cells, w->weight, w->samples, w->weight_squares);
    if (w->cpu)
        fb_grid_set_cost(&t->grid, cpu);
    free(n);
    free(cpu);
}

static void table_fill(const struct fb_window *w, size_t nodes, size_t cells_max,
                       struct node_table *t)
{
    memset(t, 0, sizeof *t);
    t->grain = (w->cells + cells_max - 1) / cells_max;
    t->grain = t->grain > 0 ? t->grain : 1;
    t->cells = w->cells / t->grain;
    t->x = fb_alloc_array(nodes * t->cells + 1, sizeof *t->x);
    t->self = fb_alloc_array(nodes, sizeof *t->self);
    t->samples = fb_alloc_array(nodes, sizeof *t->samples);
    for (size_t i = 0; i < w->events_count; i++) {
        const struct fb_event *e = &w->events[i];
        size_t cell = e->cell / t->grain;

        t->self[e->node] += e->weight;
        t->samples[e->node] += fb_event_samples(w, e);
        if (t->cells > 0)
            t->x[e->node * t->cells + (cell < t->cells ? cell : t->cells - 1)] += (float)e->weight;
    }
    table_grid(w, t);
}

static void table_done(struct node_table *t)
{
    fb_grid_done(&t->grid);
    free(t->x);
    free(t->self);
    free(t->samples);
}

/* From self to inclusive: a parent is smaller than its children. */
static void table_accumulate(const struct fb_calltree *tree, struct node_table *t)
{
    for (size_t i = tree->count - 1; i > 0; i--) {
        uint32_t parent = tree->nodes[i].parent;
        float *to = t->x + parent * t->cells;
        const float *from = t->x + i * t->cells;

        if (!(t->self[i] > 0))
            continue;
        t->self[parent] += t->self[i];
        t->samples[parent] += t->samples[i];
        for (size_t c = 0; c < t->cells; c++)
            to[c] += from[c];
    }
}

/* Adds the table to the run; variance only where it can matter. */
static void run_add(struct node_sum *sum, struct node_run *run, const struct node_table *t,
                    int kind, const double *samples_all)
{
    uint32_t cells[CELLS_MAX + 1];
    double x[CELLS_MAX + 1];

    for (size_t i = 0; i < sum->nodes; i++) {
        struct fb_series s = {
            .cell = cells, .x = x, .weight = t->self[i], .samples = t->samples[i]};
        const float *row = t->x + i * t->cells;
        double se;

        if (!(t->self[i] > 0))
            continue;
        run->x[kind][i] += t->self[i];
        run->samples[kind][i] += t->samples[i];
        if (samples_all[i] < FB_FRAMES_SAMPLES_MIN)
            continue;
        for (size_t c = 0; c < t->cells; c++) {
            if (!(row[c] > 0))
                continue;
            cells[s.hits] = (uint32_t)c;
            x[s.hits++] = row[c];
        }
        sum->hits[kind][i] += t->cells > 0 ? (uint32_t)s.hits : FB_FRAMES_HITS_MIN;
        if (t->grid.cells > 0) {
            se = fb_share_block_se(&t->grid, &s, sum->on_ms);
        } else {
            double p = fmin(1, s.weight / t->grid.weight);

            se = sqrt(fb_floor_assumed_deff(FB_FLOOR_PLAIN, p) * (1 - p) / (p * t->grid.effective));
        }
        run->variance[kind][i] += pow(s.weight * se, 2);
    }
}

static void window_add(struct node_sum *sum, struct node_run *run, const struct fb_window *w,
                       double *const samples_all[2])
{
    struct node_table t;

    run->weight += w->weight;
    run->effective += w->grid.effective;
    run->cpu_ms += w->cpu_s * 1000;
    run->delivered += w->step->delivered;
    run->degrees += fmin(w->grid.degrees, 1e6);
    if (w->events_count == 0)
        return;
    table_fill(w, sum->nodes, sum->cells_max, &t);
    run_add(sum, run, &t, 0, samples_all[0]);
    table_accumulate(sum->diff->state->in->tree, &t);
    run_add(sum, run, &t, 1, samples_all[1]);
    table_done(&t);
}

/* Whether a step is part of the picture. */
static bool is_drawn(const struct fb_diff *diff, size_t step, size_t wanted)
{
    bool any_healthy = false;

    if (wanted != SIZE_MAX)
        return step == wanted;
    for (size_t i = 0; i < diff->steps_count; i++)
        any_healthy = any_healthy || diff->steps[i].denial[0] == '\0';
    return !any_healthy || diff->steps[step].denial[0] == '\0';
}

/* Samples by node of everything that is drawn: rows under the least count are not tested. */
static void samples_count(const struct node_sum *sum, size_t wanted, double *const samples_all[2])
{
    const struct fb_diff *diff = sum->diff;
    const struct fb_calltree *tree = diff->state->in->tree;

    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_step_state *s = &diff->state->steps[i];

        for (size_t j = 0; is_drawn(diff, i, wanted) && j < 2 * s->pairs_count; j++) {
            const struct fb_window *w = fb_state_window(diff->state, s, j / 2, j % 2 == 1);

            for (size_t e = 0; e < w->events_count; e++)
                samples_all[0][w->events[e].node] += fb_event_samples(w, &w->events[e]);
        }
    }
    memcpy(samples_all[1], samples_all[0], sum->nodes * sizeof *samples_all[1]);
    for (size_t i = sum->nodes - 1; i > 0; i--)
        samples_all[1][tree->nodes[i].parent] += samples_all[1][i];
}

static void sum_init(struct node_sum *sum, const struct fb_diff *diff, size_t wanted)
{
    size_t drawn = 0;

    memset(sum, 0, sizeof *sum);
    sum->diff = diff;
    sum->nodes = diff->state->in->tree->count;
    sum->pairs = diff->state->lineup.pairs;
    sum->on_ms = true;
    for (size_t i = 0; i < diff->steps_count; i++)
        if (is_drawn(diff, i, wanted)) {
            sum->on_ms = sum->on_ms && diff->steps[i].on_ms;
            sum->cost_floor = fmax(sum->cost_floor,
                                   fb_floor_cpu(diff->options.floors,
                                                fb_state_floor_health(&diff->state->steps[i]), 0));
            drawn++;
        }
    sum->cells_max = CELLS_MAX / (drawn > 0 ? drawn : 1);
    if (sum->cells_max < CELLS_MIN)
        sum->cells_max = CELLS_MIN;
    for (int a = 0; a < 2; a++) {
        sum->hits[a] = fb_alloc_array(sum->nodes, sizeof *sum->hits[a]);
        sum->runs[a] = fb_alloc_array(sum->pairs, sizeof *sum->runs[a]);
        for (size_t p = 0; p < sum->pairs; p++)
            for (int kind = 0; kind < 2; kind++) {
                struct node_run *r = &sum->runs[a][p];

                r->x[kind] = fb_alloc_array(sum->nodes, sizeof *r->x[kind]);
                r->samples[kind] = fb_alloc_array(sum->nodes, sizeof *r->samples[kind]);
                r->variance[kind] = fb_alloc_array(sum->nodes, sizeof *r->variance[kind]);
            }
    }
}

static void sum_done(struct node_sum *sum)
{
    for (int a = 0; a < 2; a++) {
        for (size_t p = 0; p < sum->pairs; p++)
            for (int kind = 0; kind < 2; kind++) {
                free(sum->runs[a][p].x[kind]);
                free(sum->runs[a][p].samples[kind]);
                free(sum->runs[a][p].variance[kind]);
            }
        free(sum->runs[a]);
        free(sum->hits[a]);
    }
}

static void sum_fill(struct node_sum *sum, size_t wanted)
{
    const struct fb_diff *diff = sum->diff;
    double degrees = 0, *samples_all[2] = {fb_alloc_array(sum->nodes, sizeof(double)),
                                           fb_alloc_array(sum->nodes, sizeof(double))};

    samples_count(sum, wanted, samples_all);
    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_step_state *s = &diff->state->steps[i];

        if (!is_drawn(diff, i, wanted))
            continue;
        for (size_t j = 0; j < s->pairs_count; j++)
            for (int a = 0; a < 2; a++)
                window_add(sum, &sum->runs[a][s->pairs[j]],
                           fb_state_window(diff->state, s, j, a == 1), samples_all);
    }
    for (size_t p = 0; p < sum->pairs; p++)
        degrees += sum->runs[0][p].degrees + sum->runs[1][p].degrees;
    sum->t95 = fb_t_quantile(0.975, degrees);
    free(samples_all[0]);
    free(samples_all[1]);
}

static void frame_runs(const struct node_sum *sum, int kind, size_t node,
                       struct fb_frame_run *const runs[2])
{
    for (int a = 0; a < 2; a++)
        for (size_t p = 0; p < sum->pairs; p++) {
            const struct node_run *r = &sum->runs[a][p];
            double x = r->x[kind][node];

            runs[a][p] = (struct fb_frame_run){
                .p = r->weight > 0 ? fmin(1, x / r->weight) : 0,
                .samples = r->samples[kind][node],
                .n = r->effective,
                .block_se = x > 0 ? sqrt(r->variance[kind][node]) / x : 0,
                .cost = sum->on_ms && r->delivered > 0 ? r->cpu_ms / r->delivered : 1,
                .degrees = r->degrees,
            };
        }
}

/* The p-value of a node; 2 where it is not tested, and *ret_change stays.  A node that one arm
 * alone has is tested like any other: the binomial part is at the pooled share. */
static double node_p_value(const struct node_sum *sum, int kind, size_t node,
                           struct fb_frame_run *const runs[2], struct fb_diff_interval *ret_change)
{
    const struct fb_diff_options *o = &sum->diff->options;
    double samples[2] = {0}, tau = fb_floor_frame(o->floors);
    struct fb_frame_test test;

    for (int a = 0; a < 2; a++)
        for (size_t p = 0; p < sum->pairs; p++)
            samples[a] += sum->runs[a][p].samples[kind][node];
    if (samples[0] + samples[1] < FB_FRAMES_SAMPLES_MIN ||
        sum->hits[kind][node] < FB_FRAMES_HITS_MIN)
        return 2;
    if (o->is_jvm)
        tau = fb_floor_jvm_frame(kind == 1, (samples[0] + samples[1]) / (2 * (double)sum->pairs));
    frame_runs(sum, kind, node, runs);
    fb_frame_test_native(runs[0], runs[1], sum->pairs,
                         sum->on_ms ? hypot(tau, sum->cost_floor) : tau, &test);
    if (isfinite(test.d) && isfinite(test.d_se)) {
        double half = sum->t95 * test.d_se;

        *ret_change = (struct fb_diff_interval){(float)(test.d - half), (float)(test.d + half)};
    }
    return test.p_value;
}

/* Whether in one of the steps that are drawn the change could be names that one arm lacks. */
static bool is_hidden(const struct node_sum *sum, size_t wanted, size_t node, double points)
{
    const struct fb_diff *diff = sum->diff;
    const struct fb_diff_input *in = diff->state->in;

    for (size_t i = 0; i < diff->steps_count; i++)
        if (is_drawn(diff, i, wanted) &&
            fb_unknown_hides_function(&diff->state->steps[i].unknown, in->fns,
                                      in->tree->nodes[node].function, points))
            return true;
    return false;
}

static void family_judge(const struct node_sum *sum, int kind, size_t wanted, const double *control,
                         const double *variant, uint8_t *is_real, struct fb_diff_interval *change)
{
    double *p = fb_alloc_array(sum->nodes, sizeof *p), threshold;
    double *tested = fb_alloc_array(sum->nodes, sizeof *tested);
    struct fb_frame_run *runs[2] = {fb_alloc_array(sum->pairs, sizeof *runs[0]),
                                    fb_alloc_array(sum->pairs, sizeof *runs[1])};
    size_t count = 0;

    for (size_t i = 1; i < sum->nodes; i++) {
        p[i] = node_p_value(sum, kind, i, runs, &change[i]);
        if (p[i] <= 1)
            tested[count++] = p[i];
    }
    threshold = fb_frames_threshold(tested, count, sum->diff->options.q);
    for (size_t i = 1; i < sum->nodes; i++)
        is_real[i] = p[i] <= threshold && !is_hidden(sum, wanted, i, variant[i] - control[i]);
    free(p);
    free(tested);
    free(runs[0]);
    free(runs[1]);
}

static void shares_fill(const struct node_sum *sum, int side, int kind, double weight, double *out)
{
    for (size_t p = 0; p < sum->pairs && weight > 0; p++)
        for (size_t i = 0; i < sum->nodes; i++)
            out[i] += sum->runs[side][p].x[kind][i] / weight;
}

static void side_totals(const struct node_sum *sum, int side, double *ret_weight, double *ret_ms)
{
    double cpu = 0, delivered = 0;

    *ret_weight = 0;
    for (size_t p = 0; p < sum->pairs; p++) {
        *ret_weight += sum->runs[side][p].weight;
        cpu += sum->runs[side][p].cpu_ms;
        delivered += sum->runs[side][p].delivered;
    }
    *ret_ms = cpu > 0 && delivered > 0 ? cpu / delivered : NAN;
}

/* The root is the cost per request: its verdict is that of the metric, in every step drawn. */
static bool is_cost_real(const struct fb_diff *diff, size_t wanted)
{
    bool is_real = false;

    for (size_t i = 0; i < diff->steps_count; i++)
        for (size_t m = 0; is_drawn(diff, i, wanted) && m < diff->steps[i].metrics_count; m++) {
            const struct fb_diff_row *row = &diff->steps[i].metrics[m];

            if (row->id != FB_METRIC_CPU_PER_REQUEST)
                continue;
            if (row->verdict != FB_VERDICT_DIFF)
                return false;
            is_real = true;
        }
    return is_real;
}

/* Of one step that interval is the metric's too. */
static struct fb_diff_interval cost_change(const struct fb_diff *diff, size_t wanted)
{
    const struct fb_diff_step *step = NULL;

    for (size_t i = 0; i < diff->steps_count; i++)
        if (is_drawn(diff, i, wanted)) {
            if (step)
                return (struct fb_diff_interval){NAN, NAN};
            step = &diff->steps[i];
        }
    for (size_t m = 0; step && m < step->metrics_count; m++)
        if (step->metrics[m].id == FB_METRIC_CPU_PER_REQUEST)
            return (struct fb_diff_interval){(float)step->metrics[m].d_lo,
                                             (float)step->metrics[m].d_hi};
    return (struct fb_diff_interval){NAN, NAN};
}

static struct fb_diff_interval *changes_make(size_t count)
{
    struct fb_diff_interval *out = fb_alloc_array(count, sizeof *out);

    for (size_t i = 0; i < count; i++)
        out[i] = (struct fb_diff_interval){NAN, NAN};
    return out;
}

static bool is_judged(const struct fb_diff *diff, size_t wanted)
{
    for (size_t i = 0; i < diff->steps_count; i++)
        if (is_drawn(diff, i, wanted) && diff->steps[i].denial[0] != '\0')
            return false;
    return true;
}

void fb_diff_nodes(const struct fb_diff *diff, size_t step, struct fb_diff_nodes *ret_nodes)
{
    struct fb_diff_nodes out = {.control_ms = NAN, .variant_ms = NAN};
    size_t n = diff->state->in->tree ? diff->state->in->tree->count : 1;
    double **arrays[] = {&out.control_self, &out.control_total, &out.variant_self,
                         &out.variant_total};
    struct node_sum sum;

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = fb_alloc_array(n, sizeof **arrays[i]);
    out.self_is_real = fb_alloc_array(n, 1);
    out.total_is_real = fb_alloc_array(n, 1);
    out.self_change = changes_make(n);
    out.total_change = changes_make(n);
    if (diff->state->has_profiles) {
        sum_init(&sum, diff, step);
        sum_fill(&sum, step);
        side_totals(&sum, 0, &out.control_weight, &out.control_ms);
        side_totals(&sum, 1, &out.variant_weight, &out.variant_ms);
        shares_fill(&sum, 0, 0, out.control_weight, out.control_self);
        shares_fill(&sum, 0, 1, out.control_weight, out.control_total);
        shares_fill(&sum, 1, 0, out.variant_weight, out.variant_self);
        shares_fill(&sum, 1, 1, out.variant_weight, out.variant_total);
        out.is_judged = is_judged(diff, step);
        if (out.is_judged) {
            family_judge(&sum, 0, step, out.control_self, out.variant_self, out.self_is_real,
                         out.self_change);
            family_judge(&sum, 1, step, out.control_total, out.variant_total, out.total_is_real,
                         out.total_change);
            if (sum.on_ms)
                out.total_change[0] = cost_change(diff, step);
        }
        out.on_ms = sum.on_ms;
        out.total_is_real[0] = sum.on_ms && is_cost_real(diff, step);
        sum_done(&sum);
    }
    *ret_nodes = out;
}

void fb_diff_nodes_done(struct fb_diff_nodes *nodes)
{
    free(nodes->control_self);
    free(nodes->control_total);
    free(nodes->variant_self);
    free(nodes->variant_total);
    free(nodes->self_is_real);
    free(nodes->total_is_real);
    free(nodes->self_change);
    free(nodes->total_change);
    memset(nodes, 0, sizeof *nodes);
}

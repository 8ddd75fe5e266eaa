/* window.c - one pass from samples to cells, layers and sorted events. */
#include "diff/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const double second_ns = 1e9;
static const uint32_t outside = UINT32_MAX;

enum { CELLS_MOST = 1 << 18 }; /* three days of seconds; beyond, a cell is longer than a second */

void fb_window_init(struct fb_window *w, const struct fb_step *step,
                    const struct fb_profile *profile)
{
    memset(w, 0, sizeof *w);
    w->step = step;
    w->cpu_s = NAN;
    if (!step)
        return;
    w->start_ns = step->load_start_ns ? step->load_start_ns : step->start_ns;
    w->end_ns = step->load_end_ns ? step->load_end_ns : step->end_ns;
    if (profile && !profile->has_times) {
        w->start_ns = INT64_MIN;
        w->end_ns = INT64_MAX;
        return;
    }
    if (w->end_ns <= w->start_ns)
        w->end_ns = w->start_ns;
    if (profile && profile->grain_ns >= w->end_ns - w->start_ns)
        return; /* which step a sample is of is known, and not when in it */
    w->cells = (size_t)((double)(w->end_ns - w->start_ns) / second_ns + 1e-3);
    if (w->cells == 0 && w->end_ns > w->start_ns)
        w->cells = 1;
    if (w->cells > CELLS_MOST) /* a mistyped step must not cost all memory */
        w->cells = CELLS_MOST;
}

void fb_window_done(struct fb_window *w)
{
    fb_grid_done(&w->grid);
    free(w->n);
    free(w->layer_x);
    free(w->layer_weight);
    free(w->layer_samples);
    free(w->events);
    free(w->cpu);
    memset(w, 0, sizeof *w);
}

static uint64_t greatest_divisor(const struct fb_samples *s)
{
    uint64_t g = 0;

    for (size_t i = 0; i < s->count && g != 1; i++)
        for (uint64_t b = s->weight[i]; b != 0;) {
            uint64_t rest = g % b;

            g = b;
            b = rest;
        }
    return g;
}

/* Observations per unit of weight of text and imported profiles; 0: one per sample; NAN: the
 * weights are times whose period nothing tells. */
static double samples_per_weight(const struct fb_profile *p)
{
    uint64_t period = p->interval_ns;

    if (p->rows_merged == 0)
        return 0;
    if (strcmp(fb_profile_text(p, p->unit), "nanoseconds") != 0)
        return 1;
    if (period == 0)
        period = greatest_divisor(&p->samples);
    return period > 1 ? 1 / (double)period : NAN;
}

/* The windows of one replicate by their starts, so that a time finds its own without a look at
 * all. */
struct order {
    const struct fb_window *windows;
    uint32_t *index; /* by start; those that have none of the step are left out */
    int64_t *end;    /* the latest of this one and those before it              */
    size_t count;
};

static int by_start(const void *a, const void *b, void *windows)
{
    const struct fb_window *w = windows;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    if (w[i].start_ns != w[k].start_ns)
        return w[i].start_ns < w[k].start_ns ? -1 : 1;
    return (i > k) - (i < k);
}

static void order_init(struct order *o, struct fb_window *windows, size_t count)
{
    *o = (struct order){.windows = windows,
                        .index = fb_alloc_array(count, sizeof *o->index),
                        .end = fb_alloc_array(count, sizeof *o->end)};
    for (size_t i = 0; i < count; i++)
        if (windows[i].step)
            o->index[o->count++] = (uint32_t)i;
    qsort_r(o->index, o->count, sizeof *o->index, by_start, windows);
    for (size_t k = 0; k < o->count; k++) {
        int64_t end = windows[o->index[k]].end_ns;

        o->end[k] = k > 0 && o->end[k - 1] > end ? o->end[k - 1] : end;
    }
}

static void order_done(struct order *o)
{
    free(o->index);
    free(o->end);
}

/* Of windows that overlap, the first in the order of the steps. */
static uint32_t window_at(const struct order *o, int64_t time)
{
    size_t low = 0, high = o->count; /* those before low start at or before the time */
    uint32_t found = outside;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->windows[o->index[middle]].start_ns <= time)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t k = low; k-- > 0 && o->end[k] > time;)
        if (o->windows[o->index[k]].end_ns > time && o->index[k] < found)
            found = o->index[k];
    return found;
}

/* Cells are equal parts of the window, of a second or a little more. */
static uint32_t cell_of(const struct fb_window *w, int64_t time)
{
    double at;
    uint32_t cell;

    if (w->cells == 0)
        return 0;
    at = (double)(time - w->start_ns) * (double)w->cells / (double)(w->end_ns - w->start_ns);
    cell = (uint32_t)at;
    return cell < w->cells ? cell : (uint32_t)w->cells - 1;
}

/* Which window each sample of the profile is in; counts them; returns those outside. */
static double samples_place(const struct fb_profile *p, struct fb_window *windows, size_t count,
                            uint32_t *window_of_sample)
{
    const struct fb_samples *s = &p->samples;
    double factor = samples_per_weight(p), left = 0;
    struct order order;

    order_init(&order, windows, count);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t at = window_at(&order, p->has_times ? s->time_ns[i] : 0);

        window_of_sample[i] = at;
        if (at == outside) {
            left += factor > 0 ? (double)s->weight[i] * factor : 1;
            continue;
        }
        windows[at].events_count++;
    }
    order_done(&order);
    return left;
}

static void row_put(struct fb_window *w, size_t row, const struct fb_event *e, double samples)
{
    w->layer_weight[row] += e->weight;
    w->layer_samples[row] += samples;
    if (w->cells > 0)
        w->layer_x[row * w->cells + e->cell] += e->weight;
}

static void event_put(struct fb_window *w, const struct fb_diff_input *in, struct fb_event e)
{
    uint64_t boundaries = in->boundaries_of_node ? in->boundaries_of_node[e.node] : 0;
    uint64_t sums = in->sums_count > 0 ? in->sums_of_node[e.node] : 0;
    double samples = fb_event_samples(w, &e), x = e.weight;

    w->weight += x;
    w->samples += samples;
    w->weight_squares += w->samples_per_weight > 0 ? x / w->samples_per_weight : x * x;
    row_put(w, in->layer_of_node[e.node], &e, samples);
    for (; boundaries != 0; boundaries &= boundaries - 1)
        row_put(w, w->layers_count + (size_t)__builtin_ctzll(boundaries), &e, samples);
    for (; sums != 0; sums &= sums - 1)
        row_put(w, w->sums_row + (size_t)__builtin_ctzll(sums), &e, samples);
    if (w->cells > 0)
        w->n[e.cell] += x;
    w->events[w->events_count++] = e;
}

static void arm_collect(const struct fb_diff_input *in, const struct fb_diff_arm *arm,
                        const uint32_t *window_of_sample, struct fb_window *windows)
{
    const struct fb_samples *s = &arm->profile->samples;

    for (size_t i = 0; i < s->count; i++) {
        struct fb_window *w;

        if (window_of_sample[i] == outside)
            continue;
        w = &windows[window_of_sample[i]];
        event_put(w, in,
                  (struct fb_event){.node = arm->node_of_stack[s->stack[i]],
                                    .cell = cell_of(w, s->time_ns[i]),
                                    .weight = (double)s->weight[i]});
    }
}

/* Stable counting sort by cell. */
static void events_sort_by_cell(struct fb_window *w)
{
    struct fb_event *sorted;
    uint32_t *start;
    bool is_sorted = true;

    for (size_t i = 1; i < w->events_count && is_sorted; i++)
        is_sorted = w->events[i - 1].cell <= w->events[i].cell;
    if (is_sorted)
        return;
    start = fb_alloc_array(w->cells + 2, sizeof *start);
    sorted = fb_alloc_array(w->events_count, sizeof *sorted);
    for (size_t i = 0; i < w->events_count; i++)
        start[w->events[i].cell + 1]++;
    for (size_t c = 0; c < w->cells; c++)
        start[c + 1] += start[c];
    for (size_t i = 0; i < w->events_count; i++)
        sorted[start[w->events[i].cell]++] = w->events[i];
    free(start);
    free(w->events);
    w->events = sorted;
}

static double unknown_share(const struct fb_diff_input *in, const struct fb_window *w)
{
    bool *is_unknown = fb_alloc_array(in->fns->count, sizeof *is_unknown);
    double sum = 0;

    for (size_t f = 1; f < in->fns->count; f++)
        is_unknown[f] =
            strncmp(fb_function_name(in->fns, (uint32_t)f), "[unknown]", strlen("[unknown]")) == 0;
    for (size_t i = 0; i < w->events_count; i++)
        if (is_unknown[in->tree->nodes[w->events[i].node].function])
            sum += w->events[i].weight;
    free(is_unknown);
    return w->weight > 0 ? sum / w->weight : 0;
}

/* Adds the growth of a counter by cell to w->cpu; false where the bank has not a row a second. */
static bool cpu_add(struct fb_window *w, const struct fb_profile *p, const char *name)
{
    double span = (double)(w->end_ns - w->start_ns), value;

    for (size_t i = 0; i < w->cells; i++) {
        int64_t from = w->start_ns + (int64_t)(span * (double)i / (double)w->cells);
        int64_t to = w->start_ns + (int64_t)(span * (double)(i + 1) / (double)w->cells);

        if (!fb_profile_counter_delta(p, name, from, to, &value))
            return false;
        w->cpu[i] += fmax(0, value);
    }
    return true;
}

static bool has_second_rows(const struct fb_profile *p, const char *name, const struct fb_window *w)
{
    const struct fb_counter *c = fb_profile_counter_find(p, name);
    size_t rows = 0;

    for (size_t i = fb_profile_counter_row(p, w->start_ns - 1000000000);
         c && i < p->counters.rows && p->counters.time_ns[i] <= w->end_ns + 1000000000; i++)
        rows += c->values[i] != FB_COUNTER_ABSENT;
    return 5 * rows >= 4 * w->cells;
}

/* Which counter the step's CPU is of.  Where another source measured it (a job log), the cgroup's
 * gives the shape over seconds if it is the arm's own: within 2 % of the process. */
static bool is_process_cpu(const struct fb_window *w, const struct fb_profile *p)
{
    const char *source = w->step->cpu_source;
    double process, group;

    if (source && (strcmp(source, "process") == 0 || strcmp(source, "cgroup") == 0))
        return source[0] == 'p';
    if (!p || !fb_profile_counter_delta(p, "process.cpu_ns", w->start_ns, w->end_ns, &process))
        return false;
    return !fb_profile_counter_delta(p, "cgroup.cpu_ns", w->start_ns, w->end_ns, &group) ||
           fabs(group - process) > 0.02 * process;
}

/* CPU by second, and the replicate's CPU where it has several banks: a cgroup's counter is the
 * same in all of them, processes add up. */
static void cpu_collect(const struct fb_diff_input *in, const struct fb_replicate *r,
                        struct fb_window *w)
{
    bool is_process = is_process_cpu(w, in->arms[r->arms[0]].profile), ok = w->cells >= 5;
    const char *name = is_process ? "process.cpu_ns" : "cgroup.cpu_ns";
    double total = 0, part;

    w->cpu = fb_alloc_array(w->cells + 1, sizeof *w->cpu);
    w->cpu_s = w->step->cpu_s;
    for (size_t i = 0; i < (is_process ? r->arms_count : 1); i++) {
        const struct fb_profile *p = in->arms[r->arms[i]].profile;

        ok = ok && p && has_second_rows(p, name, w) && cpu_add(w, p, name);
        if (p && fb_profile_counter_delta(p, name, w->start_ns, w->end_ns, &part))
            total += part / second_ns;
        else
            total = NAN;
    }
    if (is_process && r->arms_count > 1)
        w->cpu_s = total;
    if (!ok) {
        free(w->cpu);
        w->cpu = NULL;
    }
}

static void window_finish(const struct fb_diff_input *in, const struct fb_replicate *r,
                          struct fb_window *w)
{
    if (!w->step)
        return;
    events_sort_by_cell(w);
    cpu_collect(in, r, w);
    fb_cost_measure(w->cpu, w->cpu ? w->cells : 0, w->cpu_s, w->step->delivered, &w->cost);
    fb_grid_init(&w->grid, w->n, w->cells, w->weight, w->samples, w->weight_squares);
    if (w->cpu)
        fb_grid_set_cost(&w->grid, w->cpu);
    if (in->fns && in->tree)
        w->unknown = unknown_share(in, w);
}

static void windows_allocate(const struct fb_diff_input *in, double factor,
                             struct fb_window *windows, size_t count)
{
    size_t layers = in->layers ? fb_layers_count(in->layers) : 0;
    size_t rows = fb_window_rows(in);

    for (size_t i = 0; i < count; i++) {
        struct fb_window *w = &windows[i];

        if (!w->step)
            continue;
        w->layers_count = layers;
        w->sums_row = layers + fb_window_boundaries(in);
        w->samples_per_weight = isnan(factor) ? 0 : factor;
        w->is_period_unknown = isnan(factor);
        w->n = fb_alloc_array(w->cells + 1, sizeof *w->n);
        w->layer_x = fb_alloc_array(rows * w->cells + 1, sizeof *w->layer_x);
        w->layer_weight = fb_alloc_array(rows, sizeof *w->layer_weight);
        w->layer_samples = fb_alloc_array(rows, sizeof *w->layer_samples);
        w->events = fb_alloc_array(w->events_count, sizeof *w->events);
        w->events_count = 0; /* counts again while they are put */
    }
}

double fb_windows_collect(const struct fb_diff_input *in, const struct fb_replicate *replicate,
                          struct fb_window *windows, size_t count)
{
    uint32_t **places = fb_alloc_array(replicate->arms_count, sizeof *places);
    double left = 0, factor = 0;

    for (size_t i = 0; i < replicate->arms_count; i++) {
        const struct fb_profile *p = in->arms[replicate->arms[i]].profile;

        if (!p || !in->layer_of_node)
            continue;
        factor = samples_per_weight(p);
        places[i] = fb_alloc_array(p->samples.count, sizeof *places[i]);
        left += samples_place(p, windows, count, places[i]);
    }
    windows_allocate(in, factor, windows, count);
    for (size_t i = 0; i < replicate->arms_count; i++) {
        if (places[i])
            arm_collect(in, &in->arms[replicate->arms[i]], places[i], windows);
        free(places[i]);
    }
    free(places);
    for (size_t i = 0; i < count; i++)
        window_finish(in, replicate, &windows[i]);
    return left;
}

void fb_window_layer_series(const struct fb_window *w, size_t layer, uint32_t *cells, double *x,
                            struct fb_series *ret_series)
{
    struct fb_series s = {.cell = cells, .x = x};
    const double *row = w->layer_x + layer * w->cells;

    for (size_t i = 0; i < w->cells; i++) {
        if (!(row[i] > 0))
            continue;
        cells[s.hits] = (uint32_t)i;
        x[s.hits++] = row[i];
    }
    s.weight = w->layer_weight[layer];
    s.samples = w->layer_samples[layer];
    *ret_series = s;
}

void fb_window_sort(const struct fb_window *w, const uint32_t *key_of_node, size_t keys,
                    struct fb_event **ret_events, uint32_t **ret_start)
{
    struct fb_event *sorted = fb_alloc_array(w->events_count, sizeof *sorted);
    uint32_t *start = fb_alloc_array(keys + 2, sizeof *start);

    for (size_t i = 0; i < w->events_count; i++)
        start[key_of_node[w->events[i].node] + 2]++;
    for (size_t k = 2; k <= keys; k++)
        start[k] += start[k - 1];
    for (size_t i = 0; i < w->events_count; i++)
        sorted[start[key_of_node[w->events[i].node] + 1]++] = w->events[i];
    *ret_events = sorted;
    *ret_start = start;
}

void fb_window_event_series(const struct fb_window *w, const struct fb_event *events, size_t count,
                            uint32_t *cells, double *x, struct fb_series *ret_series)
{
    struct fb_series s = {.cell = cells, .x = x};

    for (size_t i = 0; i < count; i++) {
        s.weight += events[i].weight;
        s.samples += fb_event_samples(w, &events[i]);
        if (s.hits > 0 && cells[s.hits - 1] == events[i].cell) {
            x[s.hits - 1] += events[i].weight;
        } else if (w->cells > 0) {
            cells[s.hits] = events[i].cell;
            x[s.hits++] = events[i].weight;
        }
    }
    *ret_series = s;
}

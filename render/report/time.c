#include "render/report/time.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"

enum { COLUMNS_MAX = 1200, ROWS = 50, LANES_MAX = 16, EVENTS_DEFAULT = 400000 };

static const int64_t SECOND = 1000000000;
/* Milliseconds of a cell, tried from the finest on. */
static const int64_t grains_ms[] = {20, 100, 500, 1000, 5000, 10000, 30000, 120000, 600000};

enum { GRAINS = sizeof grains_ms / sizeof *grains_ms };

struct work {
    const struct fb_report_tree *tree;
    const struct fb_report_arm *arm;
    int64_t start_ns, column_ns;
    size_t columns;
    size_t layers; /* of the rules */
    uint32_t *lane_of_thread;
    uint32_t *lanes; /* thread by lane; the last lane may stand for all others */
    size_t lanes_count, threads_more;
    struct fb_buf *json, *binary;
};

/* The column of a time; false outside. */
static bool column_of(const struct work *w, int64_t time_ns, size_t *ret_column)
{
    if (time_ns < w->start_ns)
        return false;
    *ret_column = (size_t)((time_ns - w->start_ns) / w->column_ns);
    return *ret_column < w->columns;
}

static bool span_find(struct work *w)
{
    const struct fb_samples *s = &w->arm->profile->samples;
    int64_t first = INT64_MAX, last = INT64_MIN, seconds;

    for (size_t i = 0; i < s->count; i++) {
        first = s->time_ns[i] < first ? s->time_ns[i] : first;
        last = s->time_ns[i] > last ? s->time_ns[i] : last;
    }
    if (s->count == 0 || last < first || last - first > INT64_MAX / 4)
        return false;
    w->start_ns = first - ((first % SECOND) + SECOND) % SECOND;
    seconds = (last - w->start_ns) / SECOND + 1;
    w->column_ns = SECOND * ((seconds + COLUMNS_MAX - 1) / COLUMNS_MAX);
    w->columns = (size_t)((last - w->start_ns) / w->column_ns + 1);
    return true;
}

/* ---- threads ---- */

struct thread_weight {
    uint32_t thread;
    uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct thread_weight *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The heaviest threads have a lane each; more than that share the last. */
static void lanes_find(struct work *w)
{
    const struct fb_profile *p = w->arm->profile;
    struct thread_weight *sums = fb_alloc_array(p->threads_count, sizeof *sums);
    size_t used = 0, own;

    for (size_t i = 0; i < p->threads_count; i++)
        sums[i].thread = (uint32_t)i;
    for (size_t i = 0; i < p->samples.count; i++)
        sums[p->samples.thread[i]].weight += p->samples.weight[i];
    qsort(sums, p->threads_count, sizeof *sums, by_weight);
    while (used < p->threads_count && sums[used].weight > 0)
        used++;
    own = used <= LANES_MAX ? used : LANES_MAX - 1;
    w->lanes = fb_alloc_array(LANES_MAX, sizeof *w->lanes);
    w->lane_of_thread = fb_alloc_array(p->threads_count, sizeof *w->lane_of_thread);
    for (size_t i = 0; i < used; i++) {
        uint32_t lane = (uint32_t)(i < own ? i : own);

        w->lane_of_thread[sums[i].thread] = lane;
        w->lanes[lane] = sums[i].thread;
    }
    w->lanes_count = own < used ? own + 1 : own;
    w->threads_more = used - own;
    free(sums);
}

static void lanes_json(const struct work *w)
{
    const struct fb_profile *p = w->arm->profile;

    fb_buf_puts(w->json, ",\"lanes\":[");
    for (size_t i = 0; i < w->lanes_count; i++) {
        const struct fb_thread *t = &p->threads[w->lanes[i]];

        fb_buf_puts(w->json, i > 0 ? "," : "");
        if (i + 1 == w->lanes_count && w->threads_more > 0)
            fb_buf_printf(w->json, "{\"more\":%zu}", w->threads_more);
        else {
            fb_buf_puts(w->json, "{\"name\":");
            fb_report_string(w->json, fb_profile_text(p, t->name));
            fb_buf_printf(w->json, ",\"tid\":%u}", t->tid);
        }
    }
    fb_buf_puts(w->json, "]");
}

/* ---- weights by column ---- */

static void sums_put(const struct work *w, const double *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fb_report_varint(w->binary, (uint64_t)llround(sums[i]));
}

static size_t layer_of(const struct work *w, size_t sample)
{
    const struct fb_report_input *in = w->tree->in;
    uint32_t node = w->arm->node_of_stack[w->arm->profile->samples.stack[sample]];

    return in->layer_of_node ? in->layer_of_node[node] : 0;
}

static void heat_put(const struct work *w)
{
    const struct fb_samples *s = &w->arm->profile->samples;
    double *sums = fb_alloc_array(w->columns * ROWS, sizeof *sums);
    int64_t row_ns = w->column_ns / ROWS;
    size_t column;

    for (size_t i = 0; i < s->count; i++)
        if (column_of(w, s->time_ns[i], &column)) {
            int64_t within = s->time_ns[i] - w->start_ns - (int64_t)column * w->column_ns;

            sums[column * ROWS + (size_t)(within / row_ns)] += (double)s->weight[i];
        }
    sums_put(w, sums, w->columns * ROWS);
    free(sums);
}

static void layers_put(const struct work *w)
{
    const struct fb_samples *s = &w->arm->profile->samples;
    double *sums = fb_alloc_array(w->layers * w->columns, sizeof *sums);
    size_t column, used = 0;

    for (size_t i = 0; i < s->count; i++)
        if (column_of(w, s->time_ns[i], &column))
            sums[layer_of(w, i) * w->columns + column] += (double)s->weight[i];
    fb_buf_puts(w->json, ",\"layers\":[");
    for (size_t l = 0; l < w->layers; l++) {
        double sum = 0;

        for (size_t c = 0; c < w->columns; c++)
            sum += sums[l * w->columns + c];
        if (!(sum > 0))
            continue;
        fb_buf_printf(w->json, "%s%zu", used++ > 0 ? "," : "", l);
        sums_put(w, sums + l * w->columns, w->columns);
    }
    fb_buf_puts(w->json, "]");
    free(sums);
}

static void lane_put(const struct work *w, size_t lane, double *sums)
{
    const struct fb_samples *s = &w->arm->profile->samples;
    size_t column;

    memset(sums, 0, w->layers * w->columns * sizeof *sums);
    for (size_t i = 0; i < s->count; i++)
        if (w->lane_of_thread[s->thread[i]] == lane && column_of(w, s->time_ns[i], &column))
            sums[layer_of(w, i) * w->columns + column] += (double)s->weight[i];
    for (size_t c = 0; c < w->columns; c++) {
        size_t best = 0;
        double all = 0;

        for (size_t l = 0; l < w->layers; l++) {
            all += sums[l * w->columns + c];
            best = sums[l * w->columns + c] > sums[best * w->columns + c] ? l : best;
        }
        fb_report_varint(w->binary, (uint64_t)llround(all));
        fb_report_varint(w->binary, all > 0 ? 1 + best : 0);
    }
}

static void lanes_put(const struct work *w)
{
    double *sums = fb_alloc_array(w->layers * w->columns, sizeof *sums);

    for (size_t lane = 0; lane < w->lanes_count; lane++)
        lane_put(w, lane, sums);
    free(sums);
    lanes_json(w);
}

/* ---- samples ---- */

struct event {
    uint32_t cell, box;
    uint64_t weight;
};

static int by_cell(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->box < y->box ? -1 : x->box > y->box;
}

/* Sorted and added up; returns how many are left. */
static size_t events_fill(const struct work *w, int64_t grain_ns, struct event *events)
{
    const struct fb_samples *s = &w->arm->profile->samples;
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < s->count; i++) {
        uint32_t box = w->tree->box_of_node[w->arm->node_of_stack[s->stack[i]]];

        if (box != UINT32_MAX)
            events[n++] = (struct event){(uint32_t)((s->time_ns[i] - w->start_ns) / grain_ns), box,
                                         s->weight[i]};
    }
    qsort(events, n, sizeof *events, by_cell);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && by_cell(&events[kept - 1], &events[i]) == 0)
            events[kept - 1].weight += events[i].weight;
        else
            events[kept++] = events[i];
    }
    return kept;
}

/* The finest grain whose samples keep to the budget; with many samples the finest are not tried. */
static void events_put(const struct work *w)
{
    size_t max = w->tree->in->events_max > 0 ? w->tree->in->events_max : EVENTS_DEFAULT;
    size_t count = w->arm->profile->samples.count, kept = 0, g;
    struct event *events = fb_alloc_array(count, sizeof *events);
    uint32_t last = 0;

    max /= w->tree->in->arms_count;
    g = count > max ? 3 : 0;
    while (g < GRAINS &&
           (int64_t)w->columns * (w->column_ns / 1000000) / grains_ms[g] >= UINT32_MAX)
        g++;
    for (; g < GRAINS; g++) {
        kept = events_fill(w, grains_ms[g] * 1000000, events);
        if (kept <= max)
            break;
    }
    if (g == GRAINS)
        kept = 0; /* no window can be chosen; the page says so */
    fb_buf_printf(w->json, ",\"grain\":%" PRId64, g == GRAINS ? (int64_t)0 : grains_ms[g]);
    fb_report_varint(w->binary, kept);
    for (size_t i = 0; i < kept; i++) {
        fb_report_varint(w->binary, events[i].cell - last);
        fb_report_varint(w->binary, events[i].box);
        fb_report_varint(w->binary, events[i].weight);
        last = events[i].cell;
    }
    free(events);
}

/* ---- what else happened ---- */

static void ms_json(const struct work *w, int64_t time_ns)
{
    fb_buf_printf(w->json, "%" PRId64, (time_ns - w->start_ns) / 1000000);
}

static void steps_json(const struct work *w)
{
    const struct fb_steps *steps = w->arm->steps;
    bool is_first = true;

    fb_buf_puts(w->json, ",\"steps\":[");
    for (size_t i = 0; steps && i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];
        struct fb_buf health = {0};

        if (s->load_end_ns <= s->load_start_ns)
            continue;
        fb_buf_puts(w->json, is_first ? "{\"name\":" : ",{\"name\":");
        fb_report_string(w->json, s->name);
        fb_buf_puts(w->json, ",\"from\":");
        ms_json(w, s->load_start_ns);
        fb_buf_puts(w->json, ",\"to\":");
        ms_json(w, s->load_end_ns);
        fb_step_health_text(s->health, &health);
        fb_buf_puts(w->json, ",\"health\":");
        fb_report_string(w->json, health.data);
        fb_buf_puts(w->json, "}");
        fb_buf_done(&health);
        is_first = false;
    }
    fb_buf_puts(w->json, "],\"marks\":[");
    for (size_t i = 0; i < w->arm->profile->marks_count; i++) {
        const struct fb_mark *m = &w->arm->profile->marks[i];

        fb_buf_puts(w->json, i > 0 ? ",{\"name\":" : "{\"name\":");
        fb_report_string(w->json, fb_profile_text(w->arm->profile, m->name));
        fb_buf_puts(w->json, ",\"at\":");
        ms_json(w, m->time_ns);
        fb_buf_puts(w->json, "}");
    }
    fb_buf_puts(w->json, "]");
}

/* Growth of a counter of nanoseconds by column, in ms; not there where it never grew. */
static void counter_json(const struct work *w, const char *name, const char *key)
{
    const struct fb_profile *p = w->arm->profile;
    double *growth = fb_alloc_array(w->columns, sizeof *growth), sum = 0;

    for (size_t c = 0; fb_profile_counter_find(p, name) && c < w->columns; c++) {
        int64_t from = w->start_ns + (int64_t)c * w->column_ns;

        if (fb_profile_counter_delta(p, name, from, from + w->column_ns, &growth[c]))
            sum += growth[c];
        else
            growth[c] = 0;
    }
    if (sum > 0) {
        fb_buf_printf(w->json, ",\"%s\":[", key);
        for (size_t c = 0; c < w->columns; c++)
            fb_buf_printf(w->json, "%s%.0f", c > 0 ? "," : "", growth[c] / 1e6);
        fb_buf_puts(w->json, "]");
    }
    free(growth);
}

static void counters_json(const struct work *w)
{
    counter_json(w, "cgroup.throttled_ns", "throttled");
    counter_json(w, "process.cpu_ns", "cpu");
    counter_json(w, "jvm.gc_young_ns", "gcYoung");
    counter_json(w, "jvm.gc_old_ns", "gcOld");
    counter_json(w, "jvm.compile_ns", "compile");
}

void fb_report_time_put(const struct fb_report_tree *tree, const struct fb_report_arm *arm,
                        struct fb_buf *json, struct fb_buf *binary)
{
    struct work w = {.tree = tree, .arm = arm, .json = json, .binary = binary};

    w.layers = tree->in->layers ? fb_layers_count(tree->in->layers) : 1;
    if (!arm->profile || !arm->profile->has_times || tree->pictures_count == 0 || !span_find(&w)) {
        fb_buf_puts(json, "null");
        return;
    }
    fb_buf_printf(json,
                  "{\"start\":%" PRId64 ",\"columnMs\":%" PRId64 ",\"columns\":%zu,\"rows\":%d",
                  w.start_ns / 1000000, w.column_ns / 1000000, w.columns, ROWS);
    lanes_find(&w);
    heat_put(&w);
    layers_put(&w);
    lanes_put(&w);
    events_put(&w);
    steps_json(&w);
    counters_json(&w);
    fb_buf_puts(json, "}");
    free(w.lanes);
    free(w.lane_of_thread);
}

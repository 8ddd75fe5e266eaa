/* frame_rows.c - one row a function (or a package, thread, module) by self time, the family judged
 * together.
 *
 * Every window's events are sorted by function once; a function then costs its own events.  Only
 * the rows that are shown get full intervals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/distribution.h"
#include "diff/frames.h"
#include "diff/state.h"
#include "diff/unknown.h"

struct sorted {
    const struct fb_window *window;
    struct fb_event *events;
    uint32_t *start; /* by function, one more than there are */
};

struct candidate {
    uint32_t function;
    bool is_tested, in_control, in_variant;
    double rank; /* |change|: ms where known, else share */
    struct fb_frame_test test;
    struct fb_frame_spread spread;
};

/* Everything about the frames of one step. */
struct family {
    struct fb_diff *diff;
    size_t step, pairs;
    const struct fb_diff_keys *keys; /* NULL: functions */
    bool is_jit;                     /* which code is inlined where decides on a row */
    struct sorted *sides[2];         /* by pair */
    uint32_t *key_of_node;
    size_t functions;
    struct candidate *items;
    size_t count, tested;
    double threshold;
    bool by_spread; /* JVM: moderated t between runs */
    uint32_t *cells;
    double *x;
    struct fb_frame_run *runs[2];
    struct fb_share *shares;
};

static void family_init(struct family *f, struct fb_diff *diff, size_t step)
{
    const struct fb_step_state *s = &diff->state->steps[step];
    const struct fb_diff_input *in = diff->state->in;
    size_t longest = 1;

    memset(f, 0, sizeof *f);
    f->diff = diff;
    f->step = step;
    f->pairs = s->pairs_count;
    f->keys = in->keys;
    f->functions = f->keys ? f->keys->count : in->fns->count;
    f->is_jit = diff->options.is_jvm && (!f->keys || f->keys->is_inlined);
    f->by_spread = f->is_jit && f->pairs >= 2;
    f->key_of_node = fb_alloc_array(in->tree->count, sizeof *f->key_of_node);
    for (size_t i = 0; i < in->tree->count; i++)
        f->key_of_node[i] =
            f->keys ? f->keys->of_node[i] : in->fns->items[in->tree->nodes[i].function].same;
    for (int a = 0; a < 2; a++) {
        f->sides[a] = fb_alloc_array(f->pairs, sizeof *f->sides[a]);
        f->runs[a] = fb_alloc_array(f->pairs, sizeof *f->runs[a]);
        for (size_t i = 0; i < f->pairs; i++) {
            struct sorted *sorted = &f->sides[a][i];

            sorted->window = fb_state_window(diff->state, s, i, a == 1);
            fb_window_sort(sorted->window, f->key_of_node, f->functions, &sorted->events,
                           &sorted->start);
            longest = sorted->window->cells > longest ? sorted->window->cells : longest;
        }
    }
    f->cells = fb_alloc_array(longest, sizeof *f->cells);
    f->x = fb_alloc_array(longest, sizeof *f->x);
    f->shares = fb_alloc_array(2 * f->pairs, sizeof *f->shares);
    f->items = fb_alloc_array(f->functions, sizeof *f->items);
}

static void family_done(struct family *f)
{
    for (int a = 0; a < 2; a++) {
        for (size_t i = 0; i < f->pairs; i++) {
            free(f->sides[a][i].events);
            free(f->sides[a][i].start);
        }
        free(f->sides[a]);
        free(f->runs[a]);
    }
    free(f->key_of_node);
    free(f->cells);
    free(f->x);
    free(f->shares);
    free(f->items);
}

static struct fb_series series_of(struct family *f, int side, size_t pair, uint32_t function)
{
    const struct sorted *s = &f->sides[side][pair];
    struct fb_series series;

    fb_window_event_series(s->window, s->events + s->start[function],
                           s->start[function + 1] - s->start[function], f->cells, f->x, &series);
    return series;
}

/* Fills the runs of both sides and the candidate's place in the table; false without samples. */
static bool candidate_measure(struct family *f, uint32_t function, struct candidate *c)
{
    bool on_ms = f->diff->steps[f->step].on_ms;
    double samples = 0, hits = 0, sum[2] = {0};

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < f->pairs; i++) {
            const struct fb_window *w = f->sides[a][i].window;
            struct fb_series series = series_of(f, a, i, function);
            struct fb_frame_run *run = &f->runs[a][i];

            *run = (struct fb_frame_run){.samples = series.samples,
                                         .n = w->grid.effective,
                                         .cost = on_ms ? w->cost.ms : 1,
                                         .degrees = fmin(w->grid.degrees, 1e6)};
            run->p = w->weight > 0 ? series.weight / w->weight : 0;
            if (series.weight > 0 && samples + series.samples > 0)
                run->block_se = w->cells > 0 ? fb_share_block_se(&w->grid, &series, on_ms)
                                             : sqrt(fb_floor_assumed_deff(FB_FLOOR_PLAIN, run->p) *
                                                    (1 - run->p) / fmax(1e-300, run->p * run->n));
            samples += series.samples;
            hits += w->cells > 0 ? (double)series.hits : FB_FRAMES_HITS_MIN;
            sum[a] += run->p * run->cost;
        }
    *c = (struct candidate){.function = function,
                            .in_control = sum[0] > 0,
                            .in_variant = sum[1] > 0,
                            .rank = fabs(sum[1] - sum[0])};
    c->is_tested = c->in_control && c->in_variant && samples >= FB_FRAMES_SAMPLES_MIN &&
                   hits >= FB_FRAMES_HITS_MIN;
    return samples > 0;
}

/* A package, a thread or a module is as coarse as a layer, and takes the floor of one of its share.
 */
static double row_floor(const struct family *f, double share)
{
    const struct fb_step_state *s = &f->diff->state->steps[f->step];
    const struct fb_diff_options *o = &f->diff->options;
    double own = f->keys ? fb_floor_share(o->floors, FB_FLOOR_PLAIN, share, o->is_jvm)
                         : fb_floor_frame(o->floors);

    return f->diff->steps[f->step].on_ms
               ? hypot(own, fb_floor_cpu(o->floors, fb_state_floor_health(s), 0))
               : own;
}

/* The mean share of the runs that are measured at the moment. */
static double share_measured(const struct family *f)
{
    double sum = 0;

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < f->pairs; i++)
            sum += f->runs[a][i].p;
    return sum / (2 * (double)f->pairs);
}

static const char *row_name(const struct family *f, uint32_t key)
{
    return f->keys ? f->keys->names[key] : fb_function_name(f->diff->state->in->fns, key);
}

static void family_measure(struct family *f)
{
    struct fb_frame_prior prior;
    struct fb_frame_spread *rows;
    double *p_values;

    for (uint32_t i = f->keys ? 0 : 1; i < f->functions; i++) {
        struct candidate *c = &f->items[f->count];

        if (!candidate_measure(f, i, c))
            continue;
        f->count++;
        if (!c->is_tested)
            continue;
        f->tested++;
        fb_frame_test_native(f->runs[0], f->runs[1], f->pairs, row_floor(f, share_measured(f)),
                             &c->test);
        if (f->by_spread)
            fb_frame_spread(f->runs[0], f->runs[1], f->pairs, &c->spread);
    }
    rows = fb_alloc_array(f->tested, sizeof *rows);
    p_values = fb_alloc_array(f->tested, sizeof *p_values);
    for (size_t i = 0, n = 0; i < f->count; i++)
        if (f->items[i].is_tested)
            rows[n++] = f->items[i].spread;
    fb_frame_prior_fit(rows, f->tested, f->pairs, &prior);
    for (size_t i = 0, n = 0; i < f->count; i++) {
        struct candidate *c = &f->items[i];

        if (!c->is_tested)
            continue;
        if (f->by_spread)
            fb_frame_test_moderated(&c->spread, f->pairs, &prior, &c->test);
        p_values[n++] = c->test.p_value;
    }
    f->threshold = fb_frames_threshold(p_values, f->tested, f->diff->options.q);
    free(rows);
    free(p_values);
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    bool x_first = x->is_tested || x->in_control != x->in_variant;
    bool y_first = y->is_tested || y->in_control != y->in_variant;

    if (x_first != y_first)
        return x_first ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->function < y->function ? -1 : 1;
}

/* The layer that holds most of the function's weight. */
static uint16_t heaviest_layer(const struct family *f, uint32_t function)
{
    const struct fb_diff_input *in = f->diff->state->in;
    size_t layers = fb_layers_count(in->layers);
    double *sum = fb_alloc_array(layers, sizeof *sum);
    uint16_t best = 0;

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < f->pairs; i++) {
            const struct sorted *s = &f->sides[a][i];

            for (uint32_t e = s->start[function]; e < s->start[function + 1]; e++)
                sum[in->layer_of_node[s->events[e].node]] +=
                    s->events[e].weight / s->window->weight;
        }
    for (size_t l = 1; l < layers; l++)
        if (sum[l] > sum[best])
            best = (uint16_t)l;
    free(sum);
    return best;
}

static void row_sides(struct family *f, const struct candidate *c, struct fb_diff_row *row)
{
    const struct fb_step_state *s = &f->diff->state->steps[f->step];

    for (int a = 0; a < 2; a++) {
        struct fb_share *shares = f->shares + (size_t)a * f->pairs;

        for (size_t i = 0; i < f->pairs; i++) {
            struct fb_series series = series_of(f, a, i, c->function);

            fb_share_measure(&f->sides[a][i].window->grid, &series, FB_FLOOR_PLAIN, &shares[i]);
        }
        fb_side_fill(f->diff->state, s, shares, a == 1, a == 1 ? &row->variant : &row->control);
    }
    fb_row_changes(row);
}

static void row_tested(const struct family *f, const struct candidate *c, struct fb_diff_row *row)
{
    double t = fb_t_quantile(0.975, c->test.degrees), t90 = fb_t_quantile(0.95, c->test.degrees);
    double delta = f->diff->options.delta_share, n = 0, deff = row->control.deff;
    bool is_same = fabs(c->test.d) + t90 * c->test.d_se < delta;

    for (size_t i = 0; i < f->pairs; i++)
        n += (f->runs[0][i].n + f->runs[1][i].n) / (2 * (double)f->pairs);
    row->d = c->test.d;
    row->d_lo = c->test.d - t * c->test.d_se;
    row->d_hi = c->test.d + t * c->test.d_se;
    row->change = expm1(row->d);
    row->floor = f->by_spread ? NAN : row_floor(f, (row->control.share + row->variant.share) / 2);
    if (!f->by_spread)
        row->mde = fb_verdict_mde((row->control.share + row->variant.share) / 2,
                                  isnan(deff) ? 1 : deff, n, row->floor, f->pairs);
    row->verdict = FB_VERDICT_UNRESOLVED;
    if (c->test.p_value <= f->threshold) {
        row->verdict = FB_VERDICT_DIFF;
        row->within_delta = is_same;
    } else if (is_same) {
        row->verdict = FB_VERDICT_SAME;
    }
}

/* A process of a JVM inlines a method or does not, for its whole life: that a leaf is in both of
 * two processes and in neither of two others happens by chance (3 to 9 leaves of 400 in runs
 * alike). */
enum { ABSENT_JVM_PAIRS = 3 };

static void row_absent(const struct family *f, const struct fb_step_state *s,
                       struct fb_diff_row *row, const struct fb_share *living, bool is_variant)
{
    bool in_all = f->pairs >= ABSENT_JVM_PAIRS;

    fb_row_absent(f->diff->state, s, row, living, is_variant);
    for (size_t i = 0; i < f->pairs; i++)
        in_all = in_all && living[i].samples > 0;
    if (f->is_jit && !in_all)
        row->verdict = FB_VERDICT_NOT_SEEN;
}

/* A thread has its weight whatever the names of its frames are. */
static bool is_hidden(const struct family *f, const struct fb_step_state *s, uint32_t key,
                      double points)
{
    if (!f->keys)
        return fb_unknown_hides_function(&s->unknown, f->diff->state->in->fns, key, points);
    return f->keys->is_inlined && fb_unknown_hides_layer(&s->unknown, points);
}

static void row_verdict(struct family *f, const struct candidate *c, struct fb_diff_row *row)
{
    const struct fb_diff_step *out = &f->diff->steps[f->step];
    const struct fb_step_state *s = &f->diff->state->steps[f->step];
    const struct fb_share *living = c->in_control ? f->shares : f->shares + f->pairs;
    bool is_one_jvm_pair = f->is_jit && f->pairs < 2;

    row->on_share = !out->on_ms;
    if (c->is_tested)
        row_tested(f, c, row);
    else if (c->in_control && c->in_variant)
        row->change = (row->on_share ? row->variant.share / row->control.share
                                     : row->variant.ms / row->control.ms) -
                      1;
    if (out->denial[0])
        fb_row_deny(row, out->denial);
    else if (is_hidden(f, s, c->function, row->change_points))
        fb_row_deny(row, "not larger than what [unknown] frames could hide");
    else if (c->in_control != c->in_variant)
        row_absent(f, s, row, living, c->in_variant);
    else if (is_one_jvm_pair)
        fb_row_deny(row, "one pair of JVM arms ranks frames and cannot judge them");
    else if (!c->is_tested)
        fb_row_deny(row, "under 20 samples or 6 seconds in both arms together");
}

void fb_frame_rows(struct fb_diff *diff, size_t step)
{
    struct fb_diff_step *out = &diff->steps[step];
    struct family f;

    family_init(&f, diff, step);
    family_measure(&f);
    qsort(f.items, f.count, sizeof *f.items, compare_candidates);
    out->frames_tested = f.tested;
    out->frames_count = f.count < diff->options.frames_max ? f.count : diff->options.frames_max;
    out->frames = fb_alloc_array(out->frames_count, sizeof *out->frames);
    for (size_t i = 0; i < out->frames_count; i++) {
        const struct candidate *c = &f.items[i];
        struct fb_diff_row *row = &out->frames[i];

        fb_row_init(row, row_name(&f, c->function), c->function);
        row->layer = heaviest_layer(&f, c->function);
        row_sides(&f, c, row);
        row_verdict(&f, c, row);
    }
    family_done(&f);
}

/* order.c - see order.h. */
#include "diff/order.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/vec.h"
#include "diff/distribution.h"

static const double balanced_within = 0.05;

struct run {
    int64_t start_ns;
    bool is_variant;
    double cost; /* mean over the judged steps of ln(CPU per request), less its arm's; NAN */
};

static int by_start(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->is_variant - y->is_variant;
}

/* The start of the first step that the run has; 0 unknown. */
static int64_t start_of(const struct fb_diff_state *state, size_t replicate)
{
    int64_t first = 0;

    for (size_t i = 0; i < state->matching.count; i++) {
        const struct fb_step *s = fb_matching_step(&state->matching, i, replicate);

        if (s && s->start_ns != 0 && (first == 0 || s->start_ns < first))
            first = s->start_ns;
    }
    return first;
}

/* The mean over the steps that are judged and that every run has: one number a run, since what a
 * run has in one step it has in the others. */
static double cost_of(const struct fb_diff *diff, size_t replicate)
{
    const struct fb_diff_state *state = diff->state;
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < diff->steps_count; i++) {
        size_t row = state->steps[i].row;

        if (diff->steps[i].denial[0] != '\0' || state->steps[i].pairs_count < state->lineup.pairs)
            continue;
        sum += log(state->windows[replicate * state->matching.count + row].cost.ms);
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* Runs that are paired, by their starts; NULL where a time is unknown.  Free it. */
static struct run *runs_new(const struct fb_diff *diff, size_t *ret_count)
{
    const struct fb_lineup *l = &diff->state->lineup;
    struct run *runs = fb_alloc_array(2 * l->pairs, sizeof *runs);
    size_t count = 0;

    for (size_t i = 0; i < l->count; i++) {
        bool is_variant = l->replicates[i].is_variant;

        if ((is_variant ? i - l->controls : i) >= l->pairs)
            continue;
        runs[count++] = (struct run){start_of(diff->state, i), is_variant, cost_of(diff, i)};
        if (runs[count - 1].start_ns == 0) {
            free(runs);
            return NULL;
        }
    }
    qsort(runs, count, sizeof *runs, by_start);
    *ret_count = count;
    return runs;
}

static void sequence_put(const struct run *runs, size_t count, struct fb_order *o)
{
    size_t shown = count < FB_ORDER_SHOWN ? count : (size_t)FB_ORDER_SHOWN, changes = 0, at = 0;

    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            o->sequence[at++] = ' ';
        o->sequence[at++] = runs[i].is_variant ? 'V' : 'C';
    }
    if (shown < count) {
        o->sequence[at++] = ' ';
        o->sequence[at++] = '+';
    }
    o->sequence[at] = '\0';
    for (size_t i = 1; i < count; i++)
        changes += runs[i].is_variant != runs[i - 1].is_variant;
    o->is_one_after_the_other = changes == 1;
}

/* Time since the first start, 0..1. */
static double place_of(const struct run *runs, size_t count, size_t i)
{
    double all = (double)(runs[count - 1].start_ns - runs[0].start_ns);

    return all > 0 ? (double)(runs[i].start_ns - runs[0].start_ns) / all : 0;
}

/* Means by arm of what `value` is of each run. */
static void arm_means(const struct run *runs, size_t count, bool of_cost, double mean[2])
{
    mean[0] = mean[1] = 0;
    for (size_t i = 0; i < count; i++)
        mean[runs[i].is_variant] +=
            (of_cost ? runs[i].cost : place_of(runs, count, i)) / ((double)count / 2);
}

/* The common slope within the arms: least squares with a mean of each arm. */
static void drift_fit(const struct run *runs, size_t count, struct fb_order *o)
{
    double place[2], cost[2], xx = 0, xy = 0, yy = 0, degrees = (double)count - 3, rest, half;

    o->drift = o->drift_lo = o->drift_hi = NAN;
    arm_means(runs, count, false, place);
    arm_means(runs, count, true, cost);
    for (size_t i = 0; i < count; i++) {
        double x = place_of(runs, count, i) - place[runs[i].is_variant];
        double y = runs[i].cost - cost[runs[i].is_variant];

        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (!(xx > 0) || !isfinite(xy) || degrees < 1)
        return;
    rest = fmax(0, yy - xy * xy / xx);
    half = fb_t_quantile(0.975, degrees) * sqrt(rest / degrees / xx);
    o->drift = xy / xx;
    o->drift_lo = o->drift - half;
    o->drift_hi = o->drift + half;
}

void fb_order_measure(const struct fb_diff *diff, struct fb_order *ret_order)
{
    struct fb_order o = {.drift = NAN, .drift_lo = NAN, .drift_hi = NAN};
    struct run *runs = NULL;
    double place[2];
    size_t count = 0;

    if (diff->pairs >= 2)
        runs = runs_new(diff, &count);
    if (runs) {
        o.runs = count;
        sequence_put(runs, count, &o);
        arm_means(runs, count, false, place);
        o.inside = place[1] - place[0];
        drift_fit(runs, count, &o);
    }
    free(runs);
    *ret_order = o;
}

void fb_order_note(struct fb_diff *diff)
{
    struct fb_order o;
    double drift;

    fb_order_measure(diff, &o);
    if (o.runs == 0)
        return;
    if (o.is_one_after_the_other)
        fb_diff_note(diff,
                     "order of the runs %s: all runs of one arm came before those of the other: a "
                     "drift of the machine is inside the difference (order C V V C avoids it)",
                     o.sequence);
    else if (fabs(o.inside) <= balanced_within)
        fb_diff_note(diff,
                     "order of the runs %s: a steady drift of the machine is in both arms alike",
                     o.sequence);
    else
        fb_diff_note(diff,
                     "order of the runs %s: %.0f %% of a steady drift between the first run and "
                     "the last is inside the difference (order C V V C avoids it)",
                     o.sequence, 100 * fabs(o.inside));
    if (isnan(o.drift))
        return;
    drift = 100 * expm1(o.drift);
    if (o.drift_lo <= 0 && o.drift_hi >= 0)
        fb_diff_note(diff,
                     "no drift over the runs is seen: CPU per request %+.1f %% from the first to "
                     "the last, %+.1f to %+.1f",
                     drift, 100 * expm1(o.drift_lo), 100 * expm1(o.drift_hi));
    else
        fb_diff_note(diff,
                     "CPU per request drifted over the runs of each arm by %+.1f %% from the first "
                     "to the last, %+.1f to %+.1f, which puts %+.1f %% into the difference",
                     drift, 100 * expm1(o.drift_lo), 100 * expm1(o.drift_hi),
                     100 * expm1(o.drift * o.inside));
}

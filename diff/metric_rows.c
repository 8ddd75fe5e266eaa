/* metric_rows.c - the step's own numbers, of which CPU per request and latency have verdicts. */
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "diff/distribution.h"
#include "diff/state.h"

struct metric {
    enum fb_diff_metric id;
    const char *name, *unit;
    double (*value)(const struct fb_step *step);
};

static double offered(const struct fb_step *s)
{
    return s->offered;
}

static double p50(const struct fb_step *s)
{
    return s->p50_s * 1000;
}

static double p99(const struct fb_step *s)
{
    return s->p99_s * 1000;
}

static double p999(const struct fb_step *s)
{
    return s->p999_s * 1000;
}

static double throttled(const struct fb_step *s)
{
    return s->throttled_s;
}

static double heap(const struct fb_step *s)
{
    return s->heap_bytes / 1048576;
}

static double rss(const struct fb_step *s)
{
    return s->rss_bytes / 1048576;
}

static const struct metric metrics[] = {
    {FB_METRIC_OFFERED, "offered", "per s", offered},
    {FB_METRIC_DELIVERED, "delivered", "per s", fb_step_delivered_per_s},
    {FB_METRIC_NOT_SENT, "not sent", "per s", fb_step_knee_per_s},
    {FB_METRIC_P50, "p50", "ms", p50},
    {FB_METRIC_P99, "p99", "ms", p99},
    {FB_METRIC_P999, "p999", "ms", p999},
    {FB_METRIC_CPU_PER_REQUEST, "CPU per request", "ms", fb_step_ms_per_request},
    {FB_METRIC_CORES, "cores", "cores", fb_step_cores},
    {FB_METRIC_THROTTLED, "throttled", "s", throttled},
    {FB_METRIC_HEAP, "heap", "MB", heap},
    {FB_METRIC_RSS, "rss", "MB", rss},
};
_Static_assert(sizeof metrics / sizeof *metrics == FB_METRIC_COUNT, "a row for every metric");

/* The value of one run: CPU is the replicate's, which may be several banks. */
static double run_value(const struct metric *m, const struct fb_window *w)
{
    if (m->id == FB_METRIC_CPU_PER_REQUEST)
        return w->cost.ms;
    if (m->id == FB_METRIC_CORES && w->step->cpu_s > 0)
        return fb_step_cores(w->step) * w->cpu_s / w->step->cpu_s;
    return m->value(w->step);
}

static void values_fill(const struct fb_diff_state *state, const struct fb_step_state *s,
                        const struct metric *m, struct fb_diff_row *row)
{
    double k = (double)s->pairs_count;

    row->value_control = row->value_variant = 0;
    for (size_t i = 0; i < s->pairs_count; i++) {
        row->value_control += run_value(m, fb_state_window(state, s, i, false)) / k;
        row->value_variant += run_value(m, fb_state_window(state, s, i, true)) / k;
    }
    row->unit = m->unit;
    if (row->value_control > 0)
        row->change = row->value_variant / row->value_control - 1;
}

static double cost_d(const struct fb_diff_state *state, const struct fb_step_state *s, size_t pair)
{
    return log(fb_state_window(state, s, pair, true)->cost.ms /
               fb_state_window(state, s, pair, false)->cost.ms);
}

void fb_cost_pool_fill(struct fb_diff *diff)
{
    struct fb_pair_pool *pool = &diff->state->cost_pool;

    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_step_state *s = &diff->state->steps[i];
        double mean = 0, sum2 = 0;

        if (diff->steps[i].denial[0] || s->pairs_count < 2)
            continue;
        for (size_t j = 0; j < s->pairs_count; j++)
            mean += cost_d(diff->state, s, j) / (double)s->pairs_count;
        for (size_t j = 0; j < s->pairs_count; j++)
            sum2 += pow(cost_d(diff->state, s, j) - mean, 2);
        if (isnan(sum2))
            continue;
        pool->sum2 += sum2;
        pool->df += (double)s->pairs_count - 1;
    }
}

static double window_se(const struct fb_window *w)
{
    return isnan(w->cost.se) ? 0 : w->cost.se;
}

/* The windows' own error is a part of the floor where the floor decides, and the least width of
 * the interval where the spread of the pairs does. */
static void cost_judge(struct fb_diff *diff, size_t step, struct fb_diff_row *row)
{
    const struct fb_step_state *s = &diff->state->steps[step];
    double *d = fb_alloc_array(s->pairs_count, sizeof *d), tau2 = 0;
    double *half = fb_alloc_array(s->pairs_count, sizeof *half);
    double t = fb_t_quantile(0.975, 21);
    const struct fb_floors *floors = diff->options.floors;
    struct fb_judged judged;
    struct fb_evidence e = {
        .d = d, .half = half, .pairs = s->pairs_count, .delta = diff->options.delta_cpu};

    e.pooled_sum2 = diff->state->cost_pool.sum2;
    e.pooled_df = diff->state->cost_pool.df;
    for (size_t i = 0; i < s->pairs_count; i++) {
        double control = window_se(fb_state_window(diff->state, s, i, false));
        double variant = window_se(fb_state_window(diff->state, s, i, true));

        d[i] = cost_d(diff->state, s, i);
        half[i] = e.pairs >= 2 && e.pooled_df >= 4 ? t * hypot(control, variant) : 0;
        tau2 += (pow(fb_floor_cpu(floors, fb_state_floor_health(s), control), 2) +
                 pow(fb_floor_cpu(floors, fb_state_floor_health(s), variant), 2)) /
                (2 * (double)s->pairs_count);
    }
    e.tau = row->floor = sqrt(tau2);
    fb_verdict_judge(&e, &judged);
    fb_row_take(row, &judged);
    row->mde = fb_verdict_mde(1, 1, 1, e.tau, s->pairs_count);
    free(d);
    free(half);
}

/* One pair in a step that may have wandered: the floor is what machines were seen to wander by, and
 * only a change beyond it is a verdict. */
static void wandering_judge(struct fb_diff_row *row, bool is_seen)
{
    if (row->verdict == FB_VERDICT_DIFF)
        row->reason = is_seen ? "UNSTEADY: judged by the floor of a wandering machine, 16 %"
                              : "SHORT: judged by the floor of a wandering machine, 16 %";
    else
        fb_row_deny(row, is_seen ? "UNSTEADY: the cost moved inside the window; one pair cannot "
                                   "judge it"
                                 : "SHORT: under 30 s one pair cannot tell a change from the "
                                   "machine's own wandering");
}

static void cost_row(struct fb_diff *diff, size_t step, struct fb_diff_row *row)
{
    const struct fb_diff_step *out = &diff->steps[step];

    row->change_ms = row->value_variant - row->value_control;
    if (!(row->value_control > 0 && row->value_variant > 0)) {
        fb_row_deny(row, "CPU or delivered requests are unknown");
        return;
    }
    cost_judge(diff, step, row);
    if (out->denial[0])
        fb_row_deny(row, out->denial);
    else if ((out->health & FB_FLOOR_WANDERING) && out->pairs < 2 &&
             isnan(fb_floors_tau(diff->options.floors, FB_FLOOR_OF_CPU)))
        wandering_judge(row, out->health & FB_STEP_UNSTEADY);
}

/* NAN, which is no floor, where nobody has measured it. */
static double latency_floor(const struct fb_diff *diff, enum fb_diff_metric metric)
{
    return fb_floors_tau(diff->options.floors, metric == FB_METRIC_P50   ? FB_FLOOR_OF_P50
                                               : metric == FB_METRIC_P99 ? FB_FLOOR_OF_P99
                                                                         : FB_FLOOR_OF_P999);
}

static void latency_row(struct fb_diff *diff, size_t step, const struct metric *m,
                        struct fb_diff_row *row)
{
    const struct fb_step_state *s = &diff->state->steps[step];
    double *values = fb_alloc_array(2 * s->pairs_count, sizeof *values);
    struct fb_judged judged;
    struct fb_latency_evidence e = {
        .control = values,
        .variant = values + s->pairs_count,
        .pairs = s->pairs_count,
        .is_below_knee = (s->health & (FB_STEP_SHED | FB_STEP_OVER)) == 0,
        .floor = latency_floor(diff, m->id),
        .delta = diff->options.delta_share,
    };
    const char *reason;

    for (size_t i = 0; i < s->pairs_count; i++) {
        values[i] = m->value(fb_state_window(diff->state, s, i, false)->step);
        values[s->pairs_count + i] = m->value(fb_state_window(diff->state, s, i, true)->step);
    }
    if (row->value_control > 0 && row->value_variant > 0) {
        reason = fb_verdict_latency(&e, &judged);
        fb_row_take(row, &judged);
        row->floor = e.floor;
        if (!(e.floor > 0)) /* without a floor there is no interval */
            row->d_lo = row->d_hi = NAN;
        if (diff->steps[step].denial[0])
            reason = diff->steps[step].denial;
        if (reason[0])
            fb_row_deny(row, reason);
    } else {
        fb_row_deny(row, "latency is unknown");
    }
    free(values);
}

void fb_metric_rows(struct fb_diff *diff, size_t step)
{
    struct fb_diff_step *out = &diff->steps[step];

    out->metrics = fb_alloc_array(FB_METRIC_COUNT, sizeof *out->metrics);
    out->metrics_count = FB_METRIC_COUNT;
    for (size_t i = 0; i < FB_METRIC_COUNT; i++) {
        struct fb_diff_row *row = &out->metrics[i];
        const struct metric *m = &metrics[i];

        fb_row_init(row, m->name, m->id);
        values_fill(diff->state, &diff->state->steps[step], m, row);
        if (m->id == FB_METRIC_CPU_PER_REQUEST)
            cost_row(diff, step, row);
        else if (m->id == FB_METRIC_P50 || m->id == FB_METRIC_P99 || m->id == FB_METRIC_P999)
            latency_row(diff, step, m, row);
        else
            fb_row_deny(row, "shown, not judged");
    }
}

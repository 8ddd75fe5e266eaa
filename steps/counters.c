/* What a bank's counters say about a step's load window, where the step's own source is silent.
 *
 * CPU: the group's only where it is the process's too (within 2 %), since a group that others share
 * would charge the arm for them; else the process's own.  Yield: the samples' CPU time over the
 * process's CPU time of the very same window, whatever cpu_s was measured over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"
#include "steps/sampled.h"

enum {
    SPEED_RUN = 5,     /* spins of which the median is taken: one read may be disturbed  */
    SERIES_ROWS = 20,  /* seconds that a statement about the CPU's course needs          */
    SERIES_BATCHES = 5 /* blocks of a window                                             */
};

static const double group_is_process = 0.02; /* relative */
static const double least_covered = 0.98;    /* of a window */
static const double same_span = 0.02;        /* of the metrics and the window */
static const double same_cpu = 0.05;         /* by two sources */

/* ---- CPU and memory ---- */

/* Narrows a span to that of the counters' rows, which begin up to a second after the profile: a
 * growth over the span is one over this. */
static void covered(const struct fb_profile *p, int64_t *from, int64_t *to)
{
    if (p->counters.rows == 0)
        return;
    if (*from < p->counters.time_ns[0])
        *from = p->counters.time_ns[0];
    if (*to > p->counters.time_ns[p->counters.rows - 1])
        *to = p->counters.time_ns[p->counters.rows - 1];
}

/* Two sources of one number: the source's own metrics of the arm, and the bank, over the whole of
 * the stated window, which is about what the metrics span. */
static void cpu_compare(struct fb_steps *steps, struct fb_step *s, const struct fb_profile *p)
{
    double window_s = (double)(s->end_ns - s->start_ns) / 1e9, cpu_ns;
    const char *source = "control group";

    if (isnan(s->cpu_s) || p->counters.rows == 0 || s->start_ns < p->counters.time_ns[0] ||
        s->end_ns > p->counters.time_ns[p->counters.rows - 1] ||
        fabs(s->cpu_span_s - window_s) > same_span * window_s)
        return;
    if (!fb_profile_counter_delta(p, "cgroup.cpu_ns", s->start_ns, s->end_ns, &cpu_ns)) {
        source = "process";
        if (!fb_profile_counter_delta(p, "process.cpu_ns", s->start_ns, s->end_ns, &cpu_ns))
            return;
    }
    s->bank_cpu_s = cpu_ns / 1e9;
    if (fabs(s->bank_cpu_s - s->cpu_s) > same_cpu * s->cpu_s)
        fb_steps_warn(
            steps,
            "step %s: its source says %.2f s of CPU, the bank %.2f s of its %s, %+.1f %%: "
            "ms per request is by the source",
            s->name, s->cpu_s, s->bank_cpu_s, source, (s->bank_cpu_s / s->cpu_s - 1) * 100);
}

static void cpu_fill(struct fb_step *s, const struct fb_profile *p)
{
    int64_t from = s->load_start_ns, to = s->load_end_ns;
    double process, group;
    bool has_process = fb_profile_counter_delta(p, "process.cpu_ns", from, to, &process);
    bool has_group = fb_profile_counter_delta(p, "cgroup.cpu_ns", from, to, &group);

    if (!isnan(s->cpu_s) || (!has_process && !has_group))
        return;
    if (has_process ? !(process > 0) : !(group > 0))
        return; /* one row of counters only: a running process uses some CPU */
    if (has_group && (!has_process || fabs(group - process) <= group_is_process * process)) {
        s->cpu_s = group / 1e9;
        s->cpu_source = "cgroup";
    } else {
        s->cpu_s = process / 1e9;
        s->cpu_source = "process";
    }
    covered(p, &from, &to);
    s->cpu_span_s = (double)(to - from) / 1e9;
}

/* CPU time that the counters saw a part of only is that of fewer requests than were served. */
static void coverage_warn(struct fb_steps *steps, const struct fb_step *s)
{
    double window_s = (double)(s->load_end_ns - s->load_start_ns) / 1e9;

    bool is_ours = s->cpu_source &&
                   (strcmp(s->cpu_source, "process") == 0 || strcmp(s->cpu_source, "cgroup") == 0);

    if (is_ours && s->delivered > 0 && s->cpu_span_s < least_covered * window_s)
        fb_steps_warn(
            steps,
            "step %s: the bank's counters cover %.1f s of its %.1f s, so that its CPU per "
            "request is too low by up to that part",
            s->name, s->cpu_span_s, window_s);
}

/* Shares of a step that was sampled in part are those of the part. */
static void pause_warn(struct fb_steps *steps, const struct fb_step *s, const struct fb_profile *p)
{
    int64_t paused = fb_profile_paused_ns(p, s->load_start_ns, s->load_end_ns);

    if (paused > 0)
        fb_steps_warn(steps,
                      "step %s: the sampler was paused for %.1f s of its %.1f s: its samples are "
                      "of the rest",
                      s->name, (double)paused / 1e9,
                      (double)(s->load_end_ns - s->load_start_ns) / 1e9);
}

/* A JVM's heap as its collections left it: the largest in the window, so that a leak is seen and
 * the garbage between two collections is not. */
static void heap_fill(struct fb_step *s, const struct fb_profile *p)
{
    const char *limit = fb_profile_manifest_get(p, "jvm.heap_max_bytes");
    double most, last;

    if (isnan(s->heap_bytes) &&
        fb_profile_counter_level(p, "jvm.heap_at_gc_bytes", s->load_start_ns, s->load_end_ns, &most,
                                 &last))
        s->heap_bytes = most;
    if (isnan(s->heap_max_bytes) && limit)
        s->heap_max_bytes = strtod(limit, NULL);
}

static void levels_fill(struct fb_step *s, const struct fb_profile *p)
{
    int64_t from = s->load_start_ns, to = s->load_end_ns;
    bool own_group = s->cpu_source && strcmp(s->cpu_source, "cgroup") == 0;
    double delta, idle, busy, max, last;

    if (isnan(s->throttled_s) &&
        fb_profile_counter_delta(p, "cgroup.throttled_ns", from, to, &delta))
        s->throttled_s = delta / 1e9;
    if (isnan(s->rss_bytes) &&
        ((own_group && fb_profile_counter_level(p, "cgroup.memory_bytes", from, to, &max, &last)) ||
         fb_profile_counter_level(p, "process.rss_bytes", from, to, &max, &last)))
        s->rss_bytes = last;
    heap_fill(s, p);
    if (isnan(s->node_busy) && fb_profile_counter_delta(p, "node.busy_ns", from, to, &delta) &&
        fb_profile_counter_delta(p, "node.idle_ns", from, to, &idle) && delta + idle > 0)
        s->node_busy = delta / (delta + idle);
    if (isnan(s->node_softirq) &&
        fb_profile_counter_delta(p, "node.softirq_ns", from, to, &delta) &&
        fb_profile_counter_delta(p, "node.busy_ns", from, to, &busy) &&
        fb_profile_counter_delta(p, "node.idle_ns", from, to, &idle) && busy + idle > 0)
        s->node_softirq = delta / (busy + idle);
}

/* ---- the course of a counter over the window ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of_run(const double *values)
{
    double sorted[SPEED_RUN];

    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, SPEED_RUN, sizeof *sorted, ascending);
    return sorted[SPEED_RUN / 2];
}

/* Rows of the window that have a value of c: values and, unless NULL, their times. */
static size_t series_take(const struct fb_profile *p, const struct fb_counter *c,
                          const struct fb_step *s, double *values, double *times_s)
{
    size_t n = 0;

    for (size_t i = fb_profile_counter_row(p, s->load_start_ns); i < p->counters.rows; i++) {
        int64_t t = p->counters.time_ns[i];

        if (t > s->load_end_ns)
            break;
        if (c->values[i] == FB_COUNTER_ABSENT)
            continue;
        values[n] = (double)c->values[i];
        if (times_s)
            times_s[n] = (double)(t - s->load_start_ns) / 1e9;
        n++;
    }
    return n;
}

/* The slowest run of five spins over the fastest, less 1. */
static void speed_fill(struct fb_step *s, const struct fb_profile *p, double *values)
{
    const struct fb_counter *c = fb_profile_counter_find(p, "machine.spin_ns");
    size_t n = c ? series_take(p, c, s, values, NULL) : 0;
    double least = INFINITY, most = 0;

    for (size_t i = 0; i + SPEED_RUN <= n; i++) {
        double median = median_of_run(&values[i]);

        least = fmin(least, median);
        most = fmax(most, median);
    }
    if (n >= SPEED_RUN && least > 0)
        s->speed_change = most / least - 1;
}

/* Relative standard error of the mean over five equal batches, and lag-1 autocorrelation, of n
 * rates (statistics as in docs/statistics.md: batch means). */
static void course_fill(struct fb_step *s, const double *rates, size_t n)
{
    size_t length = n / SERIES_BATCHES;
    double mean = 0, square = 0, lagged = 0, batches = 0;

    for (size_t i = 0; i < n; i++)
        mean += rates[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        square += (rates[i] - mean) * (rates[i] - mean);
        if (i > 0)
            lagged += (rates[i] - mean) * (rates[i - 1] - mean);
    }
    if (!(mean > 0) || !(square > 0))
        return;
    s->cpu_lag1 = lagged / square;
    for (size_t b = 0; b < SERIES_BATCHES; b++) {
        double sum = 0;

        for (size_t i = b * length; i < (b + 1) * length; i++)
            sum += rates[i];
        sum = sum / (double)length - mean;
        batches += sum * sum;
    }
    s->cpu_se = sqrt(batches / (SERIES_BATCHES - 1) / SERIES_BATCHES) / mean;
}

static void cpu_course_fill(struct fb_step *s, const struct fb_profile *p, double *values,
                            double *times_s)
{
    const struct fb_counter *c = fb_profile_counter_find(p, "process.cpu_ns");
    size_t n = c ? series_take(p, c, s, values, times_s) : 0, rates = 0;

    for (size_t i = 1; i < n; i++) {
        double seconds = times_s[i] - times_s[i - 1];

        if (seconds > 0)
            values[rates++] = (values[i] - values[i - 1]) / seconds;
    }
    if (rates >= SERIES_ROWS)
        course_fill(s, values, rates);
}

/* ---- samples ---- */

static void samples_fill(struct fb_step *s, const struct fb_profile *p,
                         const struct fb_sampled *sampled)
{
    bool all = s->load_start_ns == 0;
    int64_t from = s->load_start_ns, to = s->load_end_ns;
    struct fb_sampled_sum sum;
    double weight, weight_covered, cpu_ns;
    bool known;

    if (!all && !p->has_times)
        return;
    covered(p, &from, &to);
    sum = all ? fb_sampled_all(sampled)
              : fb_sampled_between(sampled, s->load_start_ns, s->load_end_ns);
    weight = (double)sum.weight;
    weight_covered = (double)fb_sampled_between(sampled, from, to).weight;
    s->samples = p->rows_merged > 0 ? weight : (double)sum.count;
    if (!(fb_profile_weight_ns(p) > 0) || fb_profile_is_wall(p))
        return;
    s->sample_cpu_s = weight * fb_profile_weight_ns(p) / 1e9;
    known =
        fb_profile_counter_running(p, "process.cpu_ns", s->load_start_ns, s->load_end_ns, &cpu_ns);
    if (!(known && cpu_ns > 0) && fb_profile_paused_ns(p, s->load_start_ns, s->load_end_ns) > 0)
        return; /* paused all the time: there is nothing to compare */
    if (known && cpu_ns > 0)
        s->yield = weight_covered * fb_profile_weight_ns(p) / cpu_ns;
    else if (s->cpu_s > 0 && isnan(s->cpu_span_s))
        s->yield = s->sample_cpu_s / s->cpu_s;
    else if (s->cpu_s > 0)
        s->yield = s->sample_cpu_s / (s->cpu_s * fmin(1, s->secs / s->cpu_span_s));
}

static bool overlaps(const struct fb_step *s, const struct fb_profile *p)
{
    return p->has_times && s->load_start_ns != 0 && s->load_start_ns <= p->last_ns &&
           s->load_end_ns > p->first_ns;
}

size_t fb_steps_add_counters(struct fb_steps *steps, const struct fb_profile *p)
{
    double *values = fb_alloc_array(p->counters.rows, sizeof *values);
    double *times_s = fb_alloc_array(p->counters.rows, sizeof *times_s);
    struct fb_sampled *sampled = fb_sampled_new(p);
    size_t overlapping = 0;

    for (size_t i = 0; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];

        if (overlaps(s, p)) {
            overlapping++;
            cpu_compare(steps, s, p);
            cpu_fill(s, p);
            coverage_warn(steps, s);
            pause_warn(steps, s, p);
            levels_fill(s, p);
            speed_fill(s, p, values);
            cpu_course_fill(s, p, values, times_s);
            samples_fill(s, p, sampled);
        } else if (strcmp(steps->format, "whole") == 0) {
            overlapping++;
            samples_fill(s, p, sampled);
        }
    }
    free(values);
    free(times_s);
    fb_sampled_free(sampled);
    return overlapping;
}

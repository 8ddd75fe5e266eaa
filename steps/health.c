/* The marks of a step: docs/steps.md has each rule, and where its threshold comes from. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"

/* Limits of the list, in the rules below. */
#define LIMIT(name) (limits[FB_LIMIT_##name])

static const struct {
    enum fb_step_health mark;
    const char *word;
} words[] = {
    {FB_STEP_WARMUP, "WARMUP"},       {FB_STEP_FIRST, "FIRST"},   {FB_STEP_SHED, "SHED"},
    {FB_STEP_OVER, "OVER"},           {FB_STEP_EVENT, "EVENT"},   {FB_STEP_GC, "GC"},
    {FB_STEP_CLIENT, "CLIENT"},       {FB_STEP_NODE, "NODE"},     {FB_STEP_YIELD, "YIELD"},
    {FB_STEP_VOID, "VOID"},           {FB_STEP_RATE, "RATE"},     {FB_STEP_UNSTEADY, "UNSTEADY"},
    {FB_STEP_INVERSION, "INVERSION"}, {FB_STEP_MEMORY, "MEMORY"}, {FB_STEP_SHORT, "SHORT"},
    {FB_STEP_FAILING, "ERRORS"},
};

const char *fb_step_health_word(enum fb_step_health mark)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].mark == mark)
            return words[i].word;
    return "";
}

void fb_step_health_text(uint32_t health, struct fb_buf *out)
{
    bool any = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(health & words[i].mark))
            continue;
        fb_buf_puts(out, any ? ", " : "");
        fb_buf_puts(out, words[i].word);
        any = true;
    }
    if (!any)
        fb_buf_puts(out, "healthy");
}

void fb_step_mark(struct fb_step *s, enum fb_step_health mark, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    char *why;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    why = fb_format("%s%s%s", s->why, *s->why ? "; " : "", text);
    free(s->why);
    s->why = why;
    s->health |= mark;
}

/* ---- one step by itself ---- */

double fb_step_shed(const struct fb_step *s, bool *ret_inferred)
{
    double knee = fb_step_knee_per_s(s), share = knee / s->offered;

    *ret_inferred = false;
    if (isnan(share) && !isnan(s->sent))
        share = 1 - s->sent / (s->offered * s->secs);
    if (isnan(share)) {
        *ret_inferred = true;
        share = 1 - fb_step_delivered_per_s(s) / s->offered;
    }
    return isfinite(share) ? share : NAN;
}

static void judge_void(struct fb_step *s, bool has_generator, const double *limits)
{
    double delivered = fb_step_delivered_per_s(s);

    if (s->uptime_after_s < s->uptime_before_s)
        fb_step_mark(s, FB_STEP_VOID,
                     "the arm restarted inside the step (its uptime fell from %.0f "
                     "to %.0f s)",
                     s->uptime_before_s, s->uptime_after_s);
    if (s->delivered == 0 || delivered == 0)
        fb_step_mark(s, FB_STEP_VOID, "nothing was delivered");
    else if (has_generator && isnan(s->delivered) && isnan(delivered))
        fb_step_mark(s, FB_STEP_VOID, "the generator left no result");
    if (delivered > LIMIT(RATE) * s->offered)
        fb_step_mark(s, FB_STEP_RATE,
                     "%.1f/s were delivered of %.10g/s offered: the generator did not hold its "
                     "rate, or other load was counted",
                     delivered, s->offered);
}

static void judge_shed(struct fb_step *s, const double *limits)
{
    bool inferred;
    double share = fb_step_shed(s, &inferred);
    const char *what = inferred ? "delivered" : "sent";

    if (share > LIMIT(OVER))
        fb_step_mark(s, FB_STEP_OVER, "%.1f %% of the offered load was not %s: past the knee",
                     share * 100, what);
    else if (share > (inferred ? LIMIT(SHED_INFERRED) : LIMIT(SHED)))
        fb_step_mark(s, FB_STEP_SHED, "%.2f %% of the offered load was not %s", share * 100, what);
}

/* What was due and is in no count: a source that says what it sent shows it by that. */
static void judge_schedule(struct fb_step *s, const double *limits)
{
    double due = s->offered * s->secs;
    double off = (s->sent + s->not_sent - due) / due;
    double errors = isnan(s->errors) ? 0 : s->errors;
    double lost = 1 - (s->delivered + s->not_sent + errors) / due;

    if (fabs(off) > LIMIT(SCHEDULE))
        fb_step_mark(s, FB_STEP_CLIENT,
                     "the generator was off its schedule: %.0f requests sent and %.0f held back, "
                     "%.0f were due",
                     s->sent, s->not_sent, due);
    else if (isnan(off) && !(s->health & (FB_STEP_OVER | FB_STEP_VOID)) &&
             lost > LIMIT(UNACCOUNTED))
        fb_step_mark(s, FB_STEP_CLIENT,
                     "of %.0f requests that were due %.1f %% were neither delivered nor held back",
                     due, lost * 100);
}

static void judge_client(struct fb_step *s, const double *limits)
{
    double throttled = s->client_throttled_s / s->secs;

    if (throttled > LIMIT(CLIENT_THROTTLED))
        fb_step_mark(s, FB_STEP_CLIENT,
                     "the generator was throttled for %.1f s, %.1f %% of the window",
                     s->client_throttled_s, throttled * 100);
    judge_schedule(s, limits);
}

/* ": 12 http 5xx, 3 timeout" */
static void error_words_put(const struct fb_step *s, struct fb_buf *out)
{
    bool any = false;

    for (int i = 0; i < FB_STEP_ERRORS; i++) {
        if (!(s->errors_by[i] > 0))
            continue;
        fb_buf_printf(out, "%s%.0f %s", any ? ", " : ": ", s->errors_by[i],
                      fb_step_error_word((enum fb_step_error)i));
        any = true;
    }
}

static void judge_errors(struct fb_step *s, const double *limits)
{
    double share = s->errors / (s->delivered + s->errors);
    struct fb_buf classes = {0};

    if (!(share > LIMIT(ERRORS)))
        return;
    error_words_put(s, &classes);
    fb_step_mark(s, FB_STEP_FAILING, "%.2f %% of the answers were failures (%.0f of %.0f%s)",
                 share * 100, s->errors, s->delivered + s->errors,
                 classes.data ? classes.data : "");
    fb_buf_done(&classes);
}

static void judge_machine(struct fb_step *s, const double *limits)
{
    double expected = s->sample_cpu_s > 0 && s->samples > 0 ? s->samples / s->yield : NAN;
    static const double held = 0.995; /* a generator told 30 s measures 29.97 */
    double tolerance = fmax(LIMIT(YIELD), 3 / sqrt(expected)); /* the count itself scatters */

    if (s->node_busy > LIMIT(NODE)) {
        if (s->node_softirq > 0)
            fb_step_mark(s, FB_STEP_NODE,
                         "the node was busy to %.1f %% (%.1f %% in soft interrupts)",
                         s->node_busy * 100, s->node_softirq * 100);
        else
            fb_step_mark(s, FB_STEP_NODE, "the node was busy to %.1f %%", s->node_busy * 100);
    }
    if (fabs(s->yield - 1) > tolerance)
        fb_step_mark(s, FB_STEP_YIELD, "the samples stand for %.2f of the CPU time", s->yield);
    if (s->speed_change > LIMIT(SPEED))
        fb_step_mark(s, FB_STEP_UNSTEADY, "the machine's speed moved by %.0f %%",
                     s->speed_change * 100);
    if (s->cpu_se > LIMIT(CPU_SE))
        fb_step_mark(s, FB_STEP_UNSTEADY, "CPU per second is unsteady (block SE %.1f %%)",
                     s->cpu_se * 100);
    else if (s->cpu_lag1 > LIMIT(CPU_LAG1) && s->cpu_se > LIMIT(CPU_LAG1_SE))
        fb_step_mark(s, FB_STEP_UNSTEADY,
                     "CPU per second drifts (lag-1 autocorrelation %.2f, block SE %.1f %%)",
                     s->cpu_lag1, s->cpu_se * 100);
    if (s->secs < LIMIT(SHORT) * held)
        fb_step_mark(s, FB_STEP_SHORT, "its window is %.1f s, under %.0f s", s->secs, LIMIT(SHORT));
}

/* ---- a step among its neighbours ---- */

/* The step next to i in one direction; NULL for none and for the warm-up, which proves nothing. */
static const struct fb_step *neighbour(const struct fb_steps *steps, size_t i, int direction)
{
    const struct fb_step *s;

    if ((direction < 0 && i == 0) || (direction > 0 && i + 1 >= steps->count))
        return NULL;
    s = &steps->items[direction < 0 ? i - 1 : i + 1];
    return s->warmup ? NULL : s;
}

static void judge_event(struct fb_steps *steps, size_t i, const double *limits)
{
    struct fb_step *s = &steps->items[i];
    const struct fb_step *before = neighbour(steps, i, -1), *after = neighbour(steps, i, 1);
    const struct fb_step *quiet = after ? after : before;

    if (!quiet || !(s->throttled_s > LIMIT(EVENT_THROTTLED)) ||
        !(s->throttled_s > LIMIT(EVENT_FACTOR) * quiet->throttled_s) ||
        (before && !(s->p99_s > LIMIT(EVENT_FACTOR) * before->p99_s)) ||
        (after && !(s->p99_s > LIMIT(EVENT_FACTOR) * after->p99_s)))
        return;
    if (after)
        fb_step_mark(s, FB_STEP_EVENT,
                     "throttled for %.1f s (the next step %.1f) and p99 %.0f ms over %.0f times "
                     "its neighbours'",
                     s->throttled_s, after->throttled_s, s->p99_s * 1e3, LIMIT(EVENT_FACTOR));
    else
        fb_steps_warn(steps,
                      "step %s is the last and looks like an event: throttled for %.1f s (the "
                      "step before %.1f), p99 %.0f ms (before %.0f)",
                      s->name, s->throttled_s, before->throttled_s, s->p99_s * 1e3,
                      before->p99_s * 1e3);
}

static bool is_queueing(const struct fb_step *s)
{
    return s->health & (FB_STEP_OVER | FB_STEP_VOID);
}

/* Better above, better below: in a ramp that rises, latency and drops rise and the cost of a
 * request falls. */
static void judge_inversion(struct fb_steps *steps, size_t i, const double *limits)
{
    struct fb_step *s = &steps->items[i];
    const struct fb_step *before = neighbour(steps, i, -1), *after = neighbour(steps, i, 1);
    double ms = fb_step_ms_per_request(s), share;
    bool inferred, is_ours;

    if (!before || !after || is_queueing(before) || is_queueing(after) ||
        !(after->offered > s->offered && s->offered > before->offered))
        return;
    share = fb_step_shed(s, &is_ours);
    if (!is_queueing(s) && s->p99_s > LIMIT(INVERSION_P99) * before->p99_s &&
        s->p99_s > LIMIT(INVERSION_P99) * after->p99_s)
        fb_step_mark(s, FB_STEP_INVERSION, "p99 %.1f ms, and %.1f below it, %.1f above it",
                     s->p99_s * 1e3, before->p99_s * 1e3, after->p99_s * 1e3);
    else if (!is_ours && share > LIMIT(SHED) &&
             fb_step_shed(before, &inferred) <= LIMIT(SHED) / 2 &&
             fb_step_shed(after, &inferred) <= LIMIT(SHED) / 2)
        fb_step_mark(s, FB_STEP_INVERSION,
                     "%.2f %% was not sent, and nearly all of it in the steps below and above it",
                     share * 100);
    if (ms > LIMIT(INVERSION_CPU) * fb_step_ms_per_request(before) &&
        ms > LIMIT(INVERSION_CPU) * fb_step_ms_per_request(after))
        fb_step_mark(s, FB_STEP_INVERSION,
                     "%.3f ms of CPU per request, and %.3f below it, %.3f above it: other load may "
                     "have been served",
                     ms, fb_step_ms_per_request(before), fb_step_ms_per_request(after));
}

static void judge_memory(struct fb_steps *steps, size_t i, const double *limits)
{
    struct fb_step *s = &steps->items[i];
    const struct fb_step *before = neighbour(steps, i, -1);

    if (!before)
        return;
    if (s->heap_bytes > LIMIT(HEAP) * before->heap_bytes)
        fb_step_mark(s, FB_STEP_MEMORY, "its heap is %.1f times that of the step before",
                     s->heap_bytes / before->heap_bytes);
    if (s->rss_bytes > LIMIT(RSS) * before->rss_bytes)
        fb_step_mark(s, FB_STEP_MEMORY, "its resident memory is %.1f times that of the step before",
                     s->rss_bytes / before->rss_bytes);
}

/* ---- JIT and GC ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of the steps that are neither the warm-up nor void; NAN for fewer than two. */
static double gc_median(const struct fb_steps *steps)
{
    double *known = fb_alloc_array(steps->count, sizeof *known), median = NAN;
    size_t n = 0;

    for (size_t i = 0; i < steps->count; i++)
        if (!isnan(steps->items[i].gc_share) && !steps->items[i].warmup)
            known[n++] = steps->items[i].gc_share;
    qsort(known, n, sizeof *known, ascending);
    if (n >= 2)
        median = n % 2 ? known[n / 2] : (known[n / 2 - 1] + known[n / 2]) / 2;
    free(known);
    return median;
}

/* The largest share of the other steps; NAN for none. */
static double gc_of_others(const struct fb_steps *steps, size_t step)
{
    double most = NAN;

    for (size_t i = 0; i < steps->count; i++)
        if (i != step && !steps->items[i].warmup)
            most = fmax(most, steps->items[i].gc_share);
    return most;
}

static void judge_gc(struct fb_steps *steps, size_t i, double median, const double *limits)
{
    struct fb_step *s = &steps->items[i];

    if (s->gc_share > LIMIT(GC_FACTOR) * median)
        fb_step_mark(s, FB_STEP_GC, "%.1f %% of the samples in JIT+GC, the run's median is %.1f %%",
                     s->gc_share * 100, median * 100);
    else if (s->gc_share > LIMIT(GC_SHARE) && gc_of_others(steps, i) < LIMIT(GC_SHARE))
        fb_step_mark(s, FB_STEP_GC,
                     "%.1f %% of the samples in JIT+GC, the run's other steps have at most %.1f %%",
                     s->gc_share * 100, gc_of_others(steps, i) * 100);
}

void fb_steps_judge(struct fb_steps *steps)
{
    double usual[FB_LIMIT_COUNT], median;
    const double *limits = steps->limits ? steps->limits : usual;

    fb_limits_default(usual);
    median = gc_median(steps);
    for (size_t i = 0; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];

        s->health = 0;
        s->why[0] = '\0';
        if (s->warmup)
            fb_step_mark(s, FB_STEP_WARMUP, "the warm-up");
        else if (i > 0 && steps->items[i - 1].warmup)
            fb_step_mark(s, FB_STEP_FIRST, "the first step after the warm-up");
        judge_void(s, steps->has_generator, limits);
        if (!s->warmup && !(s->health & FB_STEP_VOID))
            judge_shed(s, limits);
        judge_client(s, limits);
        judge_errors(s, limits);
        judge_machine(s, limits);
    }
    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].warmup || (steps->items[i].health & FB_STEP_VOID))
            continue;
        judge_event(steps, i, limits);
        judge_inversion(steps, i, limits);
        judge_memory(steps, i, limits);
        judge_gc(steps, i, median, limits);
    }
}

/* The marks of a step: docs/steps.md has each rule, and where its threshold comes from. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"

static const double shed_least = 0.001;      /* of offered: generator's own count             */
static const double shed_inferred = 0.005;   /* the same, told from delivered against offered */
static const double over_least = 0.02;       /* of offered                                    */
static const double event_throttled_s = 5;   /* least throttling of an event                  */
static const double event_factor = 3;        /* over the next step's, and p99's over neighbours' */
static const double client_throttled = 0.01; /* of the window                                 */
static const double client_schedule = 0.005; /* of the requests that should have been sent    */
static const double node_busy_most = 0.95;
static const double yield_tolerance = 0.1;
static const double rate_most = 1.005;     /* delivered over offered */
static const double unsteady_speed = 0.15; /* move of the machine's speed */
static const double unsteady_se = 0.02;    /* of ln(CPU) over blocks */
static const double unsteady_lag1 = 0.5;
static const double unsteady_lag1_se = 0.01; /* below it a drift is too small to matter */
static const double inversion_factor = 2;    /* p99 over both neighbours'     */
static const double memory_heap = 1.5;       /* over the step before          */
static const double memory_rss = 1.2;
static const double short_s = 30;

static const struct {
    enum fb_step_health mark;
    const char *word;
} words[] = {
    {FB_STEP_WARMUP, "WARMUP"},       {FB_STEP_FIRST, "FIRST"},   {FB_STEP_SHED, "SHED"},
    {FB_STEP_OVER, "OVER"},           {FB_STEP_EVENT, "EVENT"},   {FB_STEP_GC, "GC"},
    {FB_STEP_CLIENT, "CLIENT"},       {FB_STEP_NODE, "NODE"},     {FB_STEP_YIELD, "YIELD"},
    {FB_STEP_VOID, "VOID"},           {FB_STEP_RATE, "RATE"},     {FB_STEP_UNSTEADY, "UNSTEADY"},
    {FB_STEP_INVERSION, "INVERSION"}, {FB_STEP_MEMORY, "MEMORY"}, {FB_STEP_SHORT, "SHORT"},
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

/* Share of the offered load that was not sent; where nobody counted it, what was not delivered.
 * NAN unknown. */
static double shed_share(const struct fb_step *s, bool *ret_inferred)
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

static void judge_void(struct fb_step *s, bool has_generator)
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
    if (delivered > rate_most * s->offered)
        fb_step_mark(s, FB_STEP_RATE,
                     "%.1f/s were delivered of %.10g/s offered: the generator did not hold its "
                     "rate, or other load was counted",
                     delivered, s->offered);
}

static void judge_shed(struct fb_step *s)
{
    bool inferred;
    double share = shed_share(s, &inferred);
    const char *what = inferred ? "delivered" : "sent";

    if (share > over_least)
        fb_step_mark(s, FB_STEP_OVER, "%.1f %% of the offered load was not %s: past the knee",
                     share * 100, what);
    else if (share > (inferred ? shed_inferred : shed_least))
        fb_step_mark(s, FB_STEP_SHED, "%.2f %% of the offered load was not %s", share * 100, what);
}

static void judge_client(struct fb_step *s)
{
    double should = s->offered * s->secs, throttled = s->client_throttled_s / s->secs;
    double off = (s->sent + s->not_sent - should) / should;

    if (throttled > client_throttled)
        fb_step_mark(s, FB_STEP_CLIENT, "the generator was throttled for %.1f %% of the window",
                     throttled * 100);
    if (fabs(off) > client_schedule)
        fb_step_mark(s, FB_STEP_CLIENT,
                     "the generator was off its schedule: %.0f requests sent and %.0f held back, "
                     "%.0f were due",
                     s->sent, s->not_sent, should);
}

static void judge_machine(struct fb_step *s)
{
    double expected = s->sample_cpu_s > 0 && s->samples > 0 ? s->samples / s->yield : NAN;
    double tolerance = fmax(yield_tolerance, 3 / sqrt(expected)); /* the count itself scatters */

    if (s->node_busy > node_busy_most)
        fb_step_mark(s, FB_STEP_NODE, "the node was busy to %.1f %%", s->node_busy * 100);
    if (fabs(s->yield - 1) > tolerance)
        fb_step_mark(s, FB_STEP_YIELD, "the samples stand for %.2f of the CPU time", s->yield);
    if (s->speed_change > unsteady_speed)
        fb_step_mark(s, FB_STEP_UNSTEADY, "the machine's speed moved by %.0f %%",
                     s->speed_change * 100);
    if (s->cpu_se > unsteady_se)
        fb_step_mark(s, FB_STEP_UNSTEADY, "CPU per second is unsteady (block SE %.1f %%)",
                     s->cpu_se * 100);
    else if (s->cpu_lag1 > unsteady_lag1 && s->cpu_se > unsteady_lag1_se)
        fb_step_mark(s, FB_STEP_UNSTEADY,
                     "CPU per second drifts (lag-1 autocorrelation %.2f, block SE %.1f %%)",
                     s->cpu_lag1, s->cpu_se * 100);
    if (s->secs < short_s)
        fb_step_mark(s, FB_STEP_SHORT, "its window is %.1f s, under %.0f s", s->secs, short_s);
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

static void judge_event(struct fb_steps *steps, size_t i)
{
    struct fb_step *s = &steps->items[i];
    const struct fb_step *before = neighbour(steps, i, -1), *after = neighbour(steps, i, 1);
    const struct fb_step *quiet = after ? after : before;

    if (!quiet || !(s->throttled_s > event_throttled_s) ||
        !(s->throttled_s > event_factor * quiet->throttled_s) ||
        (before && !(s->p99_s > event_factor * before->p99_s)) ||
        (after && !(s->p99_s > event_factor * after->p99_s)))
        return;
    if (after)
        fb_step_mark(s, FB_STEP_EVENT,
                     "throttled for %.1f s (the next step %.1f) and p99 %.0f ms over %.0f times "
                     "its neighbours'",
                     s->throttled_s, after->throttled_s, s->p99_s * 1e3, event_factor);
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

/* Better above, better below: a ramp's latency and drops should only rise. */
static void judge_inversion(struct fb_steps *steps, size_t i)
{
    struct fb_step *s = &steps->items[i];
    const struct fb_step *before = neighbour(steps, i, -1), *after = neighbour(steps, i, 1);
    bool inferred;
    double share = shed_share(s, &inferred);

    if (!before || !after || is_queueing(before) || is_queueing(after) ||
        !(after->offered > s->offered && s->offered > before->offered))
        return;
    if (!is_queueing(s) && s->p99_s > inversion_factor * before->p99_s &&
        s->p99_s > inversion_factor * after->p99_s)
        fb_step_mark(s, FB_STEP_INVERSION, "p99 %.1f ms, and %.1f below it, %.1f above it",
                     s->p99_s * 1e3, before->p99_s * 1e3, after->p99_s * 1e3);
    else if (!inferred && share > shed_least && shed_share(before, &inferred) <= shed_least / 2 &&
             shed_share(after, &inferred) <= shed_least / 2)
        fb_step_mark(s, FB_STEP_INVERSION,
                     "%.2f %% was not sent, and nearly all of it in the steps below and above it",
                     share * 100);
}

static void judge_memory(struct fb_steps *steps, size_t i)
{
    struct fb_step *s = &steps->items[i];
    const struct fb_step *before = neighbour(steps, i, -1);

    if (!before)
        return;
    if (s->heap_bytes > memory_heap * before->heap_bytes)
        fb_step_mark(s, FB_STEP_MEMORY, "its heap is %.1f times that of the step before",
                     s->heap_bytes / before->heap_bytes);
    if (s->rss_bytes > memory_rss * before->rss_bytes)
        fb_step_mark(s, FB_STEP_MEMORY, "its resident memory is %.1f times that of the step before",
                     s->rss_bytes / before->rss_bytes);
}

void fb_steps_judge(struct fb_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];

        s->health = 0;
        s->why[0] = '\0';
        if (s->warmup)
            fb_step_mark(s, FB_STEP_WARMUP, "the warm-up");
        else if (i > 0 && steps->items[i - 1].warmup)
            fb_step_mark(s, FB_STEP_FIRST, "the first step after the warm-up");
        judge_void(s, steps->has_generator);
        if (!s->warmup && !(s->health & FB_STEP_VOID))
            judge_shed(s);
        judge_client(s);
        judge_machine(s);
    }
    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].warmup || (steps->items[i].health & FB_STEP_VOID))
            continue;
        judge_event(steps, i);
        judge_inversion(steps, i);
        judge_memory(steps, i);
    }
}

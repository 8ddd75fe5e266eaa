#include "cli/account.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/vec.h"
#include "cli/say.h"

static const double yield_tolerance = 0.1; /* as in the health of a step */

/* The first and the last row that have the counter. */
static bool span_of(const struct fb_profile *p, const char *counter, int64_t *ret_from,
                    int64_t *ret_to)
{
    const struct fb_counter *c = fb_profile_counter_find(p, counter);
    size_t first = SIZE_MAX, last = 0;

    for (size_t i = 0; c && i < p->counters.rows; i++) {
        if (c->values[i] == FB_COUNTER_ABSENT)
            continue;
        first = first == SIZE_MAX ? i : first;
        last = i;
    }
    if (first == SIZE_MAX || first == last)
        return false;
    *ret_from = p->counters.time_ns[first];
    *ret_to = p->counters.time_ns[last];
    return true;
}

bool fb_account_growth(const struct fb_profile *p, const char *counter, double *ret_growth)
{
    int64_t from, to;

    return span_of(p, counter, &from, &to) &&
           fb_profile_counter_delta(p, counter, from, to, ret_growth);
}

double fb_account_yield(const struct fb_profile *p)
{
    double cpu_ns, weight;
    int64_t from, to;

    if (p->interval_ns == 0 || fb_profile_is_wall(p) || !span_of(p, "process.cpu_ns", &from, &to) ||
        !fb_profile_counter_running(p, "process.cpu_ns", from, to, &cpu_ns) || !(cpu_ns > 0) ||
        !fb_profile_counter_delta(p, "sampler.weight", from, to, &weight))
        return NAN;
    return weight * (double)p->interval_ns / cpu_ns;
}

static bool is_odd(const struct fb_profile *p, double yield)
{
    double cpu_ns, expected, most;
    int64_t from, to;

    if (isnan(yield) || !span_of(p, "process.cpu_ns", &from, &to) ||
        !fb_profile_counter_running(p, "process.cpu_ns", from, to, &cpu_ns))
        return false;
    expected = cpu_ns / (double)p->interval_ns;
    /* Of a fraction of a tick nothing can be said: two that came are no fault. */
    most = fmax(yield_tolerance * expected, 3 * sqrt(fmax(expected, 1)));
    return fabs(yield - 1) * expected > most;
}

/* Samples that were kept with a part of their stack are not lost. */
static bool is_kept(int cause)
{
    return cause == FB_LOSS_TRUNCATED || cause == FB_LOSS_PARTIAL;
}

char *fb_account_clock(const struct fb_profile *p)
{
    const char *clock = fb_profile_manifest_get(p, "clock_got");
    double overruns = fb_profile_overruns(p);

    if (clock && fb_profile_is_wall(p) && p->interval_ns > 0)
        return fb_format(
            "Clock: wall at %.0f Hz: weights are time of threads that run or wait, not "
            "CPU time.",
            1e9 / (double)p->interval_ns);
    if (!clock || isnan(overruns))
        return NULL;
    return fb_format("Clock: %s at %.0f Hz, %.0f %% of the weight from overruns.", clock,
                     1e9 / (double)p->interval_ns, 100 * overruns);
}

static void put_rate(struct fb_buf *out, double per_second)
{
    if (per_second < 1000)
        fb_buf_printf(out, "%.0f B/s", per_second);
    else if (per_second < 1e6)
        fb_buf_printf(out, "%.1f kB/s", per_second / 1e3);
    else
        fb_buf_printf(out, "%.1f MB/s", per_second / 1e6);
}

char *fb_account_cost(const struct fb_profile *p)
{
    struct fb_buf text = {0};
    double cpu, handler, writer, bytes, most, last;
    int64_t from, to;

    if (!span_of(p, "process.cpu_ns", &from, &to) ||
        !fb_profile_counter_delta(p, "process.cpu_ns", from, to, &cpu) || !(cpu > 0) ||
        !fb_profile_counter_delta(p, "sampler.handler_ns", from, to, &handler) ||
        !fb_profile_counter_delta(p, "sampler.writer_ns", from, to, &writer))
        return NULL;
    fb_buf_printf(&text, "Sampler: %.2f %% of the arm's CPU (handler %.2f, writer %.2f)",
                  100 * (handler + writer) / cpu, 100 * handler / cpu, 100 * writer / cpu);
    if (fb_profile_counter_level(p, "sampler.rss_bytes", from, to, &most, &last))
        fb_buf_printf(&text, ", %.1f MiB", most / (1 << 20));
    if (fb_profile_counter_delta(p, "sampler.bytes", from, to, &bytes)) {
        fb_buf_puts(&text, ", ");
        put_rate(&text, bytes / ((double)(to - from) / 1e9));
    }
    fb_buf_puts(&text, ".");
    return fb_buf_take(&text);
}

char *fb_account_events(const struct fb_profile *p)
{
    struct fb_buf text = {0};
    int64_t paused = fb_profile_paused_ns(p, p->first_ns, p->last_ns);
    uint64_t slowest = fb_profile_slowest(p);

    if (paused > 0)
        fb_buf_printf(&text,
                      "The sampler was paused for %.1f s of %.1f s: there are no samples of "
                      "that time.",
                      (double)paused / 1e9, (double)(p->last_ns - p->first_ns) / 1e9);
    if (p->interval_ns > 0 && slowest > p->interval_ns)
        fb_buf_printf(&text,
                      "%sThe sampler took over 1 %% of the arm's CPU and lowered its rate, at most "
                      "%.0f-fold, to %.1f Hz; a sample then weighs as much more.",
                      text.len > 0 ? " " : "", (double)slowest / (double)p->interval_ns,
                      1e9 / (double)slowest);
    return text.len > 0 ? fb_buf_take(&text) : NULL;
}

static void note(struct fb_table *table, const char *label, char *text)
{
    char *line = text && label ? fb_format("%s: %s", label, text) : NULL;

    if (text)
        fb_table_note(table, line ? line : text);
    free(line);
    free(text);
}

void fb_account_note(struct fb_table *table, const struct fb_profile *p, const char *label)
{
    note(table, label, fb_account_events(p));
    note(table, label, fb_account_cost(p));
}

char *fb_account_text(const struct fb_profile *p)
{
    struct fb_buf text = {0};
    double yield = fb_account_yield(p);

    if (is_odd(p, yield))
        fb_buf_printf(&text, "the samples stand for %.0f %% of the CPU time of the process",
                      100 * yield);
    if (fb_profile_overruns(p) > FB_OVERRUNS_MOST && p->samples.count >= 20)
        fb_buf_printf(
            &text,
            "%s%.0f %% of the weight came from overruns: %s, so totals are right and shares "
            "may be biased",
            text.len > 0 ? "; " : "", 100 * fb_profile_overruns(p), fb_profile_overruns_cause(p));
    for (int i = 0; i < FB_LOSS_CAUSE_COUNT; i++)
        if (p->losses[i] > 0 && !is_kept(i))
            fb_buf_printf(&text, "%slost: %" PRIu64 " %s (%s)", text.len > 0 ? "; " : "",
                          (uint64_t)p->losses[i], fb_loss_unit((enum fb_loss_cause)i),
                          fb_loss_text((enum fb_loss_cause)i));
    return text.len > 0 ? fb_buf_take(&text) : NULL;
}

void fb_account_say(const struct fb_profile *p, const char *name)
{
    char *text = fb_account_text(p);

    if (text)
        fb_say("%s: %s", name, text);
    free(text);
}

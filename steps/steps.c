/* The list itself, the table of formats, and the values that follow from a record. */
#include "steps/steps.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "steps/joblog.h"
#include "steps/list.h"
#include "steps/nighthawk.h"
#include "steps/tsv.h"

enum { WARNINGS_MAX = 100 };

static const struct fb_steps_reader readers[] = {
    {"job-log", "a job log with #NH-STEP lines", fb_joblog_sniff, fb_joblog_read},
    {"nighthawk", "the JSON of the load generator Nighthawk", fb_nighthawk_sniff,
     fb_nighthawk_read},
    {"tsv", "a table with a header row of column names, separated by tabs", fb_tsv_sniff,
     fb_tsv_read},
};

struct fb_steps *fb_steps_new(const char *source, const char *format)
{
    struct fb_steps *steps = fb_alloc(sizeof *steps);

    steps->source = fb_strdup(source);
    steps->format = format;
    return steps;
}

struct fb_step *fb_steps_add(struct fb_steps *steps)
{
    struct fb_step *s;

    fb_vec_reserve(&steps->items, &steps->room, steps->count + 1, sizeof *steps->items);
    s = &steps->items[steps->count++];
    *s = (struct fb_step){
        .secs = NAN,
        .offered = NAN,
        .sent = NAN,
        .delivered = NAN,
        .not_sent = NAN,
        .errors = NAN,
        .p50_s = NAN,
        .p90_s = NAN,
        .p99_s = NAN,
        .p999_s = NAN,
        .p50_point = NAN,
        .p90_point = NAN,
        .p99_point = NAN,
        .p999_point = NAN,
        .stated_delivered_per_s = NAN,
        .stated_knee_per_s = NAN,
        .stated_ms_per_request = NAN,
        .cpu_s = NAN,
        .throttled_s = NAN,
        .cpu_span_s = NAN,
        .heap_bytes = NAN,
        .rss_bytes = NAN,
        .conns = NAN,
        .node_busy = NAN,
        .client_throttled_s = NAN,
        .uptime_before_s = NAN,
        .uptime_after_s = NAN,
        .speed_change = NAN,
        .cpu_se = NAN,
        .cpu_lag1 = NAN,
        .samples = NAN,
        .sample_cpu_s = NAN,
        .yield = NAN,
        .mode = fb_strdup(""),
        .why = fb_strdup(""),
    };
    return s;
}

void fb_step_name_default(struct fb_step *s, size_t number)
{
    if (s->name)
        return;
    if (isnan(s->offered))
        s->name = fb_format("step %zu%s", number, s->warmup ? " (warmup)" : "");
    else
        s->name = fb_format("%.10g%s", s->offered, s->warmup ? " (warmup)" : "");
}

void fb_step_window_default(struct fb_step *s)
{
    double span_ns = (double)(s->end_ns - s->start_ns), slack_ns = span_ns - s->secs * 1e9;

    if (s->start_ns == 0 || s->end_ns == 0)
        return;
    if (!(slack_ns > 0))
        slack_ns = 0;
    s->load_start_ns = s->start_ns + (int64_t)(slack_ns / 2);
    s->load_end_ns = s->end_ns - (int64_t)(slack_ns / 2);
}

void fb_steps_warn(struct fb_steps *steps, const char *fmt, ...)
{
    char text[500];
    va_list ap;

    if (steps->warnings_count > WARNINGS_MAX)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (steps->warnings_count == WARNINGS_MAX)
        (void)snprintf(text, sizeof text, "further warnings are left out");
    for (size_t i = 0; i < steps->warnings_count; i++)
        if (strcmp(steps->warnings[i], text) == 0)
            return; /* steps may be judged again */
    fb_vec_reserve(&steps->warnings, &steps->warnings_room, steps->warnings_count + 1,
                   sizeof *steps->warnings);
    steps->warnings[steps->warnings_count++] = fb_strdup(text);
}

bool fb_text_line(const char *text, size_t len, size_t *at, const char **ret_line, size_t *ret_len)
{
    const char *line = text + *at, *end;
    size_t n = len - *at;

    if (n == 0)
        return false;
    end = memchr(line, '\n', n);
    if (end)
        n = (size_t)(end - line);
    *at += n + (end ? 1 : 0);
    if (n > 0 && line[n - 1] == '\r')
        n--;
    *ret_line = line;
    *ret_len = n;
    return true;
}

void fb_steps_free(struct fb_steps *steps)
{
    if (!steps)
        return;
    for (size_t i = 0; i < steps->count; i++) {
        free(steps->items[i].name);
        free(steps->items[i].mode);
        free(steps->items[i].why);
    }
    for (size_t i = 0; i < steps->warnings_count; i++)
        free(steps->warnings[i]);
    free(steps->items);
    free(steps->warnings);
    free(steps->source);
    free(steps);
}

/* ---- reading ---- */

static enum fb_status unknown_format(const char *name, size_t len, struct fb_err *err)
{
    if (len == 0)
        return fb_fail(err, FB_EFORMAT, "%s: the file is empty; the steps of a run were expected",
                       name);
    return fb_fail(err, FB_EFORMAT,
                   "%s: no steps were found: a job log with '#NH-STEP' lines, a Nighthawk JSON "
                   "document, or a table with tabs between the names in its first row (name, "
                   "start, end, offered, delivered, warmup ...) was expected",
                   name);
}

/* Samples of a moment that two steps share would count twice; headers in whole seconds may touch.
 */
static void overlaps_check(struct fb_steps *steps)
{
    static const int64_t grain_ns = 1000000000;

    for (size_t i = 1; i < steps->count; i++) {
        const struct fb_step *before = &steps->items[i - 1], *s = &steps->items[i];

        if (before->start_ns != 0 && s->start_ns != 0 && s->start_ns < before->end_ns - grain_ns &&
            before->start_ns < s->end_ns - grain_ns)
            fb_steps_warn(steps, "line %u: step %s begins %.1f s before step %s ends", s->line,
                          s->name, (double)(before->end_ns - s->start_ns) / 1e9, before->name);
    }
}

bool fb_steps_sniff(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (readers[i].sniff(text, len))
            return true;
    }
    return false;
}

enum fb_status fb_steps_parse(const char *text, size_t len, const char *name,
                              struct fb_steps **ret_steps, struct fb_err *err)
{
    if (len > FB_STEPS_TEXT_MAX)
        return fb_fail(err, FB_ELIMIT, "%s: %zu bytes; a file of steps has at most %d", name, len,
                       FB_STEPS_TEXT_MAX);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        struct fb_steps *steps;
        enum fb_status r;

        if (!readers[i].sniff(text, len))
            continue;
        steps = fb_steps_new(name, readers[i].name);
        r = readers[i].read(text, len, steps, err);
        if (r != FB_OK) {
            fb_steps_free(steps);
            return fb_within(err, "%s", name);
        }
        overlaps_check(steps);
        *ret_steps = steps;
        return FB_OK;
    }
    return unknown_format(name, len, err);
}

enum fb_status fb_steps_read(const char *path, struct fb_steps **ret_steps, struct fb_err *err)
{
    struct fb_buf text = {.max = FB_STEPS_TEXT_MAX};
    enum fb_status r = fb_file_read_unpacked(path, &text, err);

    if (r == FB_OK)
        r = fb_steps_parse(text.data ? text.data : "", text.len, path, ret_steps, err);
    fb_buf_done(&text);
    return r;
}

/* ---- derived values ---- */

double fb_step_delivered_per_s(const struct fb_step *s)
{
    double rate = s->delivered / s->secs;

    return isfinite(rate) ? rate : s->stated_delivered_per_s;
}

double fb_step_knee_per_s(const struct fb_step *s)
{
    double rate = s->not_sent / s->secs;

    return isfinite(rate) ? rate : s->stated_knee_per_s;
}

double fb_step_ms_per_request(const struct fb_step *s)
{
    double ms = s->cpu_s * 1000 / s->delivered;

    return isfinite(ms) ? ms : s->stated_ms_per_request;
}

double fb_step_cores(const struct fb_step *s)
{
    double cores = fb_step_ms_per_request(s) * fb_step_delivered_per_s(s) / 1000;

    if (isnan(cores)) /* a source that counts no requests */
        cores = s->cpu_s / (isnan(s->cpu_span_s) ? s->secs : s->cpu_span_s);
    return cores;
}

/* The list of steps and what a reader puts into a record. */
#include "steps/list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { WARNINGS_MAX = 100 };

struct fb_steps *fb_steps_new(const char *source, const char *format)
{
    struct fb_steps *steps = fb_alloc(sizeof *steps);

    steps->source = fb_strdup(source);
    steps->format = format;
    return steps;
}

/* Every number of a record that may be unknown. */
static const size_t numbers[] = {
#define N(field) offsetof(struct fb_step, field)
    N(secs),
    N(offered),
    N(sent),
    N(delivered),
    N(not_sent),
    N(errors),
    N(p50_s),
    N(p90_s),
    N(p99_s),
    N(p999_s),
    N(p50_point),
    N(p90_point),
    N(p99_point),
    N(p999_point),
    N(stated_delivered_per_s),
    N(stated_knee_per_s),
    N(stated_ms_per_request),
    N(cpu_s),
    N(throttled_s),
    N(cpu_span_s),
    N(heap_bytes),
    N(heap_max_bytes),
    N(rss_bytes),
    N(conns),
    N(node_busy),
    N(node_softirq),
    N(client_cpu_s),
    N(client_throttled_s),
    N(uptime_before_s),
    N(uptime_after_s),
    N(speed_change),
    N(cpu_se),
    N(cpu_lag1),
    N(samples),
    N(sample_cpu_s),
    N(yield),
    N(gc_share),
#undef N
};

struct fb_step *fb_steps_add(struct fb_steps *steps)
{
    struct fb_step *s;

    fb_vec_reserve(&steps->items, &steps->room, steps->count + 1, sizeof *steps->items);
    s = &steps->items[steps->count++];
    *s = (struct fb_step){
        .arm = fb_strdup(""),
        .mode = fb_strdup(""),
        .tier = fb_strdup(""),
        .source = fb_strdup(""),
        .why = fb_strdup(""),
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *(double *)(void *)((char *)s + numbers[i]) = NAN;
    for (size_t i = 0; i < FB_STEP_ERRORS; i++)
        s->errors_by[i] = NAN;
    return s;
}

void fb_step_text_put(char **field, const char *text)
{
    char *copy = fb_strdup(text);

    free(*field);
    *field = copy;
}

void fb_step_error_add(struct fb_step *s, enum fb_step_error error, double count)
{
    if (isnan(count))
        return;
    s->errors = (isnan(s->errors) ? 0 : s->errors) + count;
    s->errors_by[error] = (isnan(s->errors_by[error]) ? 0 : s->errors_by[error]) + count;
}

void fb_step_counter_add(struct fb_step *s, const char *name, double value)
{
    if (s->counters_count >= FB_STEP_COUNTERS_MAX)
        return;
    fb_vec_reserve(&s->counters, &s->counters_room, s->counters_count + 1, sizeof *s->counters);
    s->counters[s->counters_count++] = (struct fb_step_counter){fb_strdup(name), value};
}

double fb_step_counter(const struct fb_step *s, const char *name)
{
    for (size_t i = 0; i < s->counters_count; i++)
        if (strcmp(s->counters[i].name, name) == 0)
            return s->counters[i].value;
    return NAN;
}

const char *fb_step_error_word(enum fb_step_error error)
{
    static const char *const words[FB_STEP_ERRORS] = {
        [FB_ERROR_HTTP_4XX] = "http 4xx",     [FB_ERROR_HTTP_5XX] = "http 5xx",
        [FB_ERROR_HTTP_OTHER] = "http other", [FB_ERROR_GRPC] = "grpc status",
        [FB_ERROR_RESET] = "reset",           [FB_ERROR_CONNECT] = "connect",
        [FB_ERROR_TIMEOUT] = "timeout",       [FB_ERROR_CHECK] = "check",
        [FB_ERROR_OTHER] = "other",
    };

    return words[error];
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

static void step_done(struct fb_step *s)
{
    for (size_t i = 0; i < s->counters_count; i++)
        free(s->counters[i].name);
    free(s->counters);
    free(s->name);
    free(s->arm);
    free(s->mode);
    free(s->tier);
    free(s->source);
    free(s->why);
}

void fb_steps_free(struct fb_steps *steps)
{
    if (!steps)
        return;
    for (size_t i = 0; i < steps->count; i++)
        step_done(&steps->items[i]);
    for (size_t i = 0; i < steps->warnings_count; i++)
        free(steps->warnings[i]);
    free(steps->items);
    free(steps->warnings);
    free(steps->source);
    free(steps);
}

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
    steps->onset_s = NAN;
    fb_strings_init(&steps->texts);
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
    N(bank_cpu_s),
#undef N
};

struct fb_step *fb_steps_add(struct fb_steps *steps)
{
    struct fb_step *s;

    fb_vec_reserve(&steps->items, &steps->room, steps->count + 1, sizeof *steps->items);
    s = &steps->items[steps->count++];
    *s = (struct fb_step){
        .arm = "", .mode = "", .tier = "", .generator = "", .source = "", .why = fb_strdup("")};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *(double *)(void *)((char *)s + numbers[i]) = NAN;
    for (size_t i = 0; i < FB_STEP_ERRORS; i++)
        s->errors_by[i] = NAN;
    return s;
}

static void step_done(struct fb_step *s)
{
    free(s->counters);
    free(s->name);
    free(s->why);
}

void fb_steps_drop(struct fb_steps *steps)
{
    if (steps->count > 0)
        step_done(&steps->items[--steps->count]);
}

enum fb_status fb_steps_room(const struct fb_steps *steps, struct fb_err *err)
{
    if (steps->count < FB_STEPS_MAX)
        return FB_OK;
    return fb_fail(err, FB_ELIMIT, "more than %d steps; a file has at most so many", FB_STEPS_MAX);
}

const char *fb_steps_text(struct fb_steps *steps, const char *text)
{
    return fb_strings_get(&steps->texts, fb_strings_put_z(&steps->texts, text));
}

void fb_step_error_add(struct fb_step *s, enum fb_step_error error, double count)
{
    if (isnan(count))
        return;
    s->errors = (isnan(s->errors) ? 0 : s->errors) + count;
    s->errors_by[error] = (isnan(s->errors_by[error]) ? 0 : s->errors_by[error]) + count;
}

void fb_step_counter_add(struct fb_steps *steps, struct fb_step *s, const char *name, double value)
{
    if (s->counters_count >= FB_STEP_COUNTERS_MAX)
        return;
    fb_vec_reserve(&s->counters, &s->counters_room, s->counters_count + 1, sizeof *s->counters);
    s->counters[s->counters_count++] = (struct fb_step_counter){fb_steps_text(steps, name), value};
}

void fb_step_percentile_put(struct fb_step *s, double point, double seconds)
{
    static const double wanted[] = {0.5, 0.9, 0.99, 0.999};
    double *const values[] = {&s->p50_s, &s->p90_s, &s->p99_s, &s->p999_s};
    double *const points[] = {&s->p50_point, &s->p90_point, &s->p99_point, &s->p999_point};

    for (size_t i = 0; i < 4 && seconds >= 0; i++) {
        if (fabs(point - wanted[i]) > 1e-6)
            continue;
        *values[i] = seconds;
        *points[i] = wanted[i];
    }
}

void fb_step_status_add(struct fb_step *s, double status, double count)
{
    if (!(count > 0))
        return;
    if (status >= 200 && status < 400)
        s->delivered = (isnan(s->delivered) ? 0 : s->delivered) + count;
    else if (status >= 400 && status < 500)
        fb_step_error_add(s, FB_ERROR_HTTP_4XX, count);
    else if (status >= 500 && status < 600)
        fb_step_error_add(s, FB_ERROR_HTTP_5XX, count);
    else
        fb_step_error_add(s, status >= 100 ? FB_ERROR_HTTP_OTHER : FB_ERROR_CONNECT, count);
}

void fb_steps_warn_cut_off(struct fb_steps *steps, const struct fb_step *s, double count)
{
    fb_steps_warn(steps,
                  "line %u: %.0f requests were under way when the run ended: they are neither "
                  "delivered nor failed",
                  s->line, count);
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

void fb_steps_warn_closed_loop(struct fb_steps *steps, const char *tool)
{
    fb_steps_warn(steps,
                  "%s offers no rate: a slow answer holds back the requests behind it, so that its "
                  "latencies leave out who would have waited (coordinated omission)",
                  tool);
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

bool fb_line_begins(const char *text, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);

    return len >= n && memcmp(text, prefix, n) == 0;
}

bool fb_text_has_line(const char *text, size_t len, const char *prefix)
{
    const char *line;
    size_t at = 0, n;

    while (fb_text_line(text, len, &at, &line, &n))
        if (fb_line_begins(line, n, prefix))
            return true;
    return false;
}

double fb_text_number(const char *text, size_t len)
{
    char copy[64], *end;
    double value;

    while (len > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (len == 0 || len >= sizeof copy || strspn(text, "0123456789+-.eE") < len)
        return NAN;
    memcpy(copy, text, len);
    copy[len] = '\0';
    value = strtod(copy, &end);
    return *end != '\0' || !isfinite(value) ? NAN : value;
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
    fb_strings_done(&steps->texts);
    free(steps->source);
    free(steps);
}

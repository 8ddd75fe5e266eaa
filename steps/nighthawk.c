/* Facts of the document: counters and durations are strings, percentiles lie on a fixed grid (its
 * "p99" is 0.990625), and only the result named "global" is the sum of the workers. */
#include "steps/nighthawk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/times.h"

static const struct mode_row {
    const char *name, *latency, *delivered, *not_sent, *sent;
} modes[] = {
    [FB_NIGHTHAWK_HTTP] = {"http", "benchmark_http_client.latency_2xx", "benchmark.http_2xx",
                           "benchmark.pool_overflow", "upstream_rq_total"},
    [FB_NIGHTHAWK_GRPC_UNARY] = {"grpc-unary", "benchmark_http_client.latency_grpc_ok",
                                 "benchmark.grpc_status.0", "benchmark.pool_overflow",
                                 "upstream_rq_total"},
    [FB_NIGHTHAWK_GRPC_STREAM] = {"grpc-stream", "benchmark_stream.message_latency",
                                  "benchmark.stream_messages_received", "benchmark.stream_deferred",
                                  "benchmark.stream_messages_sent"},
};

#define STATUS_PREFIX "grpc_status."

static const struct fb_json *global_result(const struct fb_json *root)
{
    const struct fb_json *results = fb_json_get(root, "results");

    for (size_t i = 0; i < fb_json_count(results); i++) {
        const struct fb_json *result = fb_json_at(results, i);

        if (strcmp(fb_json_string(fb_json_get(result, "name"), ""), "global") == 0)
            return result;
    }
    return NULL;
}

/* Names are written with and without this prefix by different versions. */
static const char *bare(const char *name)
{
    return strncmp(name, "benchmark.", 10) == 0 ? name + 10 : name;
}

static const char *counter_name(const struct fb_json *counter)
{
    return bare(fb_json_string(fb_json_get(counter, "name"), ""));
}

/* A number, or a string that is one; NAN otherwise. */
static double loose_number(const struct fb_json *v)
{
    const char *text = fb_json_string(v, NULL);
    char *end;
    double value;

    if (!text)
        return fb_json_number(v, NAN);
    value = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(value) ? NAN : value;
}

static const struct fb_json *counter_find(const struct fb_json *result, const char *name)
{
    const struct fb_json *counters = fb_json_get(result, "counters");

    for (size_t i = 0; i < fb_json_count(counters); i++) {
        const struct fb_json *counter = fb_json_at(counters, i);

        if (strcmp(counter_name(counter), bare(name)) == 0)
            return counter;
    }
    return NULL;
}

/* The counter's value; `absent` where the document has no such counter. */
static double counter_value(const struct fb_json *result, const char *name, double absent)
{
    const struct fb_json *counter = counter_find(result, name);

    return counter ? loose_number(fb_json_get(counter, "value")) : absent;
}

/* Requests or streams that failed: what the server refused, and streams without an end. */
static double errors_sum(const struct fb_json *result)
{
    static const char *const names[] = {"http_4xx", "http_5xx", "stream_resets"};
    const struct fb_json *counters = fb_json_get(result, "counters");
    double sum = 0;

    for (size_t i = 0; i < fb_json_count(counters); i++) {
        const struct fb_json *counter = fb_json_at(counters, i);
        const char *name = counter_name(counter);
        bool counts = strncmp(name, STATUS_PREFIX, strlen(STATUS_PREFIX)) == 0 &&
                      strcmp(name, STATUS_PREFIX "0") != 0;

        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            counts = counts || strcmp(name, names[k]) == 0;
        if (counts)
            sum += loose_number(fb_json_get(counter, "value"));
    }
    return sum;
}

/* ---- latency ---- */

static double percentile_seconds(const struct fb_json *percentile)
{
    double seconds;

    if (fb_duration_parse(fb_json_string(fb_json_get(percentile, "duration"), ""), &seconds))
        return seconds;
    return loose_number(fb_json_get(percentile, "raw_value")) / 1e9; /* in its own unit, ns */
}

/* The point of the grid nearest to `wanted`, and its value. */
static void percentile_find(const struct fb_json *percentiles, double wanted, double *ret_s,
                            double *ret_point)
{
    double best = INFINITY;

    for (size_t i = 0; i < fb_json_count(percentiles); i++) {
        const struct fb_json *item = fb_json_at(percentiles, i);
        double point = loose_number(fb_json_get(item, "percentile"));
        double value = percentile_seconds(item);

        if (isnan(point) || isnan(value) || fabs(point - wanted) >= best)
            continue;
        best = fabs(point - wanted);
        *ret_s = value;
        *ret_point = point;
    }
}

static void latency_fill(const struct fb_json *result, const char *id, struct fb_step *s)
{
    const struct fb_json *statistics = fb_json_get(result, "statistics"), *percentiles;

    for (size_t i = 0; i < fb_json_count(statistics); i++) {
        const struct fb_json *statistic = fb_json_at(statistics, i);

        if (strcmp(fb_json_string(fb_json_get(statistic, "id"), ""), id) != 0)
            continue;
        if (loose_number(fb_json_get(statistic, "count")) == 0)
            return; /* its percentiles would read 0 */
        percentiles = fb_json_get(statistic, "percentiles");
        percentile_find(percentiles, 0.5, &s->p50_s, &s->p50_point);
        percentile_find(percentiles, 0.9, &s->p90_s, &s->p90_point);
        percentile_find(percentiles, 0.99, &s->p99_s, &s->p99_point);
        percentile_find(percentiles, 0.999, &s->p999_s, &s->p999_point);
        return;
    }
}

/* ---- the whole document ---- */

static bool has_statistic(const struct fb_json *result, const char *id)
{
    const struct fb_json *statistics = fb_json_get(result, "statistics");

    for (size_t i = 0; i < fb_json_count(statistics); i++)
        if (strcmp(fb_json_string(fb_json_get(fb_json_at(statistics, i), "id"), ""), id) == 0)
            return true;
    return false;
}

enum fb_nighthawk_mode fb_nighthawk_mode(const struct fb_json *root)
{
    const struct fb_json *result = global_result(root), *counters = fb_json_get(result, "counters");

    if (has_statistic(result, modes[FB_NIGHTHAWK_GRPC_STREAM].latency) ||
        counter_find(result, "stream_messages_received") ||
        counter_find(result, "stream_messages_sent"))
        return FB_NIGHTHAWK_GRPC_STREAM;
    if (has_statistic(result, modes[FB_NIGHTHAWK_GRPC_UNARY].latency))
        return FB_NIGHTHAWK_GRPC_UNARY;
    for (size_t i = 0; i < fb_json_count(counters); i++)
        if (strncmp(counter_name(fb_json_at(counters, i)), STATUS_PREFIX, strlen(STATUS_PREFIX)) ==
            0)
            return FB_NIGHTHAWK_GRPC_UNARY;
    return FB_NIGHTHAWK_HTTP;
}

/* "http1" or "http2" where the options say so. */
static const char *mode_name(const struct fb_json *root, enum fb_nighthawk_mode mode)
{
    const struct fb_json *options = fb_json_get(root, "options");
    const struct fb_json *h2 = fb_json_get(options, "h2"),
                         *protocol = fb_json_get(options, "protocol");
    const char *word;

    if (mode != FB_NIGHTHAWK_HTTP)
        return modes[mode].name;
    if (fb_json_kind(protocol) == FB_JSON_OBJECT)
        protocol = fb_json_get(protocol, "value");
    word = fb_json_string(protocol, "");
    if (strcmp(word, "HTTP2") == 0 || fb_json_bool(h2, false))
        return "http2";
    return strcmp(word, "HTTP1") == 0 || h2 ? "http1" : "http";
}

enum fb_status fb_nighthawk_fill(const struct fb_json *root, enum fb_nighthawk_mode mode,
                                 struct fb_step *s, struct fb_err *err)
{
    const struct fb_json *result = global_result(root);
    const struct mode_row *row = &modes[mode];
    const char *duration;

    if (!result)
        return fb_fail(err, FB_EFORMAT,
                       "the generator's document has no result named 'global' in 'results'");
    duration = fb_json_string(fb_json_get(result, "execution_duration"), "");
    if (!fb_duration_parse(duration, &s->secs) || !(s->secs > 0))
        s->secs = NAN;
    s->delivered = counter_value(result, row->delivered, 0);
    s->not_sent = counter_value(result, row->not_sent, 0);
    s->sent = counter_value(result, row->sent, NAN);
    s->errors = errors_sum(result);
    s->conns = counter_value(result, "upstream_cx_total", NAN);
    latency_fill(result, row->latency, s);
    free(s->mode);
    s->mode = fb_strdup(mode_name(root, mode));
    return FB_OK;
}

/* ---- a file of documents ---- */

bool fb_nighthawk_sniff(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return at < len && text[at] == '{';
}

/* The aggregate rate (the option is one worker's) and the start, where the document has them. */
static void options_fill(const struct fb_json *root, struct fb_step *s)
{
    const struct fb_json *options = fb_json_get(root, "options");
    const struct fb_json *rps = fb_json_get(options, "requests_per_second");
    const char *start = fb_json_string(fb_json_get(global_result(root), "execution_start"), "");
    double workers = loose_number(fb_json_get(options, "concurrency"));

    if (fb_json_kind(rps) == FB_JSON_OBJECT)
        rps = fb_json_get(rps, "value");
    if (workers >= 1)
        s->offered = loose_number(rps) * workers;
    if (s->secs > 0 && s->secs < 1e9 && fb_time_parse(start, &s->start_ns)) {
        s->end_ns = s->start_ns + (int64_t)(s->secs * 1e9);
        fb_step_window_default(s);
    }
}

/* Skips white space from *at on and counts lines up to there. */
static void blanks_skip(const char *text, size_t len, size_t *at, size_t *line)
{
    for (; *at < len && text[*at] && strchr(" \t\r\n", text[*at]); ++*at)
        *line += text[*at] == '\n' ? 1 : 0;
}

static size_t newlines(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == '\n' ? 1 : 0;
    return count;
}

enum fb_status fb_nighthawk_read(const char *text, size_t len, struct fb_steps *steps,
                                 struct fb_err *err)
{
    size_t at = 0, line = 1, used;

    blanks_skip(text, len, &at, &line);
    while (at < len && text[at] == '{' && steps->count < FB_STEPS_MAX) {
        struct fb_json_doc *doc;
        struct fb_step *s;
        enum fb_status r = fb_json_parse(text + at, len - at, FB_JSON_PREFIX, &doc, &used, err);

        if (r != FB_OK && steps->count == 0)
            return fb_within(err, "a Nighthawk document was expected");
        if (r != FB_OK) {
            fb_steps_warn(steps, "line %zu: the document is cut short or damaged: left out", line);
            return FB_OK;
        }
        s = fb_steps_add(steps);
        s->line = (uint32_t)line;
        r = fb_nighthawk_fill(fb_json_root(doc), fb_nighthawk_mode(fb_json_root(doc)), s, err);
        if (r == FB_OK)
            options_fill(fb_json_root(doc), s);
        fb_json_free(doc);
        if (r != FB_OK)
            return fb_within(err, "line %zu", line);
        fb_step_name_default(s, steps->count);
        line += newlines(text + at, used);
        at += used;
        blanks_skip(text, len, &at, &line);
    }
    if (at < len)
        fb_steps_warn(steps, "line %zu: what follows the last document was left out", line);
    return FB_OK;
}

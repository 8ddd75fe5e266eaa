/* The summary of k6 as JSON, in its three shapes: `--summary-export` has the values flat in each
 * metric, handleSummary() has them under `values` and knows how long the run took; with
 * --new-machine-readable-summary `results.metrics` is a list of metrics with their `name`.
 *
 *   state.testRunDurationMs   or config.duration (s); else count over rate of a counter
 *   http_reqs, iterations     count, rate; grpc_req_duration or ws_* have no counter of their own:
 *                             the iterations count then
 *   http_req_failed           `passes` of this rate are the requests that FAILED; `value` or `rate`
 *                             is their share (`matches` in the list)
 *   checks                    `fails`: answers that the script's checks refused
 *   dropped_iterations        what an arrival-rate executor could not send: the knee; absent where
 *                             nothing was dropped, and in closed loops
 *   http_req_duration         ms: med, p(90), p(95), p(99), p(99.9) as far as they were asked for
 *   options.scenarios         an arrival-rate executor's rate and timeUnit, where they are in it */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "steps/read/document.h"
#include "steps/read/readers.h"
#include "steps/times.h"

static const char *const keys[] = {"metrics", "state", "options", "config", "results", NULL};

static bool sniff(const char *head, size_t n)
{
    static const char *const told_by[] = {"metrics", "root_group", NULL};
    static const char *const other[] = {"metrics", "state", "options", NULL};
    static const char *const machine[] = {"config", "metadata", "results", NULL};

    return fb_document_has(head, n, told_by) || fb_document_has(head, n, other) ||
           fb_document_has(head, n, machine);
}

/* A metric of the object, or of the list. */
static const struct fb_json *metric_get(const struct fb_json *metrics, const char *metric)
{
    if (fb_json_kind(metrics) != FB_JSON_ARRAY)
        return fb_json_get(metrics, metric);
    for (size_t i = 0; i < fb_json_count(metrics); i++) {
        const struct fb_json *m = fb_json_at(metrics, i);

        if (strcmp(fb_json_string(fb_json_get(m, "name"), ""), metric) == 0)
            return m;
    }
    return NULL;
}

static double value_of(const struct fb_json *metrics, const char *metric, const char *key)
{
    const struct fb_json *m = metric_get(metrics, metric), *values = fb_json_get(m, "values");

    return fb_document_get(fb_json_kind(values) == FB_JSON_OBJECT ? values : m, key);
}

static double seconds_of(const struct fb_json *root, const struct fb_json *metrics)
{
    double ms = fb_document_get2(root, "state", "testRunDurationMs");
    double count = value_of(metrics, "iterations", "count");
    double rate = value_of(metrics, "iterations", "rate");

    if (ms > 0)
        return ms / 1e3;
    if (fb_document_get2(root, "config", "duration") > 0)
        return fb_document_get2(root, "config", "duration");
    if (isnan(count) || !(rate > 0)) {
        count = value_of(metrics, "http_reqs", "count");
        rate = value_of(metrics, "http_reqs", "rate");
    }
    return count > 0 && rate > 0 ? count / rate : NAN;
}

/* The sum of the rates of all arrival-rate scenarios; NAN without any. */
static double offered_of(const struct fb_json *root)
{
    const struct fb_json *scenarios = fb_json_get(fb_json_get(root, "options"), "scenarios");
    double sum = NAN;

    for (size_t i = 0; i < fb_json_count(scenarios); i++) {
        const char *name;
        const struct fb_json *scenario = fb_json_member(scenarios, i, &name);
        const char *executor = fb_json_string(fb_json_get(scenario, "executor"), "");
        double unit_s = 1, rate = fb_document_get(scenario, "rate");

        (void)fb_duration_parse(fb_json_string(fb_json_get(scenario, "timeUnit"), "1s"), &unit_s);
        if (strcmp(executor, "constant-arrival-rate") == 0 && rate > 0 && unit_s > 0)
            sum = (isnan(sum) ? 0 : sum) + rate / unit_s;
    }
    return sum;
}

/* The list has each check by itself. */
static double checks_failed(const struct fb_json *root)
{
    const struct fb_json *checks = fb_json_get(fb_json_get(root, "results"), "checks");
    const struct fb_json *each = fb_json_get(checks, "results");
    double sum = NAN;

    for (size_t i = 0; i < fb_json_count(each); i++) {
        double fails = fb_document_get(fb_json_at(each, i), "fails");

        if (!isnan(fails))
            sum = (isnan(sum) ? 0 : sum) + fails;
    }
    return sum;
}

static void failures_add(const struct fb_json *root, const struct fb_json *metrics,
                         struct fb_step *s)
{
    double failed = value_of(metrics, "http_req_failed", "passes");
    double share = value_of(metrics, "http_req_failed", "value");

    if (isnan(failed))
        failed = value_of(metrics, "http_req_failed", "matches");
    if (isnan(share))
        share = value_of(metrics, "http_req_failed", "rate");
    if (isnan(failed))
        failed = share * s->delivered;
    s->errors = 0;
    if (failed > 0) {
        s->delivered = fmax(0, s->delivered - failed);
        fb_step_error_add(s, FB_ERROR_OTHER, failed);
    }
    /* a check is no request, and may have failed for one that is counted above */
    s->errors_by[FB_ERROR_CHECK] = value_of(metrics, "checks", "fails");
    if (isnan(s->errors_by[FB_ERROR_CHECK]))
        s->errors_by[FB_ERROR_CHECK] = checks_failed(root);
}

static void latency_fill(const struct fb_json *metrics, struct fb_step *s)
{
    static const char *const timings[] = {"http_req_duration", "grpc_req_duration",
                                          "iteration_duration"};
    static const struct {
        double point;
        const char *key;
    } percentiles[] = {{0.5, "med"}, {0.5, "p(50)"},  {0.9, "p(90)"},
                       {0.9, "p90"}, {0.99, "p(99)"}, {0.999, "p(99.9)"}};
    size_t t = 0;

    while (t < 2 && isnan(value_of(metrics, timings[t], "avg")))
        t++;
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        fb_step_percentile_put(s, percentiles[i].point,
                               value_of(metrics, timings[t], percentiles[i].key) / 1e3);
}

static enum fb_status fill(const struct fb_json *root, struct fb_step *s, struct fb_steps *steps,
                           struct fb_err *err)
{
    const struct fb_json *metrics = fb_json_get(root, "metrics");

    (void)steps;
    if (fb_json_kind(metrics) != FB_JSON_OBJECT)
        metrics = fb_json_get(fb_json_get(root, "results"), "metrics");
    if (fb_json_kind(metrics) != FB_JSON_OBJECT && fb_json_kind(metrics) != FB_JSON_ARRAY)
        return fb_fail(err, FB_EFORMAT, "'metrics' of the summary is no object");
    s->secs = seconds_of(root, metrics);
    s->offered = offered_of(root);
    s->delivered = value_of(metrics, "http_reqs", "count");
    if (isnan(s->delivered))
        s->delivered = value_of(metrics, "iterations", "count");
    s->sent = s->delivered;
    s->not_sent = value_of(metrics, "dropped_iterations", "count");
    if (isnan(s->not_sent) && !isnan(s->offered))
        s->not_sent = 0; /* an open loop that dropped nothing has no such metric */
    failures_add(root, metrics, s);
    latency_fill(metrics, s);
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    return fb_documents_read(in, "k6", keys, fill, steps, err);
}

const struct fb_steps_reader fb_steps_reader_k6_summary = {
    .name = "k6-summary",
    .what = "the summary of k6 as JSON (--summary-export or handleSummary)",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

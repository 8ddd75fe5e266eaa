/* autocannon --json: one document a run.
 *
 *   start, finish             ISO 8601; duration: s
 *   requests                  total (answers), sent; `average` is of per-second samples, not used
 *   2xx ... 5xx               answers by class; errors (of the connection, timeouts among them),
 *                             timeouts, resets; mismatches are answers, of any class, without
 *                             the body that was expected
 *   latency                   ms, of all answers: p50, p90, p97_5, p99, p99_9
 *   connections               as they were asked for, all of which it opens
 *
 * The offered rate (-R) is not in it. */
#include <math.h>
#include <string.h>

#include "steps/read/document.h"
#include "steps/read/readers.h"

static const char *const keys[] = {
    "start", "finish", "duration", "requests", "latency",  "connections", "1xx",    "2xx",
    "3xx",   "4xx",    "5xx",      "errors",   "timeouts", "mismatches",  "resets", NULL};

static bool sniff(const char *head, size_t n)
{
    static const char *const told_by[] = {"latency", "requests", "throughput", "non2xx", NULL};

    return fb_document_has(head, n, told_by);
}

/* An error page has not the body either, and is counted by its status already. */
static void mismatches_add(double mismatches, struct fb_step *s)
{
    double refused = s->errors_by[FB_ERROR_HTTP_4XX] + s->errors_by[FB_ERROR_HTTP_5XX] +
                     s->errors_by[FB_ERROR_HTTP_OTHER];
    double wrong = mismatches - (isnan(refused) ? 0 : refused);

    if (!(wrong > 0))
        return;
    s->delivered = fmax(0, s->delivered - wrong);
    fb_step_error_add(s, FB_ERROR_CHECK, wrong);
}

static void answers_add(const struct fb_json *root, struct fb_step *s)
{
    double ok = fb_document_get(root, "2xx"), moved = fb_document_get(root, "3xx");
    double errors = fb_document_get(root, "errors"), timeouts = fb_document_get(root, "timeouts");

    s->delivered = isnan(moved) ? ok : ok + moved;
    s->errors = 0;
    fb_step_error_add(s, FB_ERROR_HTTP_4XX, fb_document_get(root, "4xx"));
    fb_step_error_add(s, FB_ERROR_HTTP_5XX, fb_document_get(root, "5xx"));
    fb_step_error_add(s, FB_ERROR_HTTP_OTHER, fb_document_get(root, "1xx"));
    fb_step_error_add(s, FB_ERROR_TIMEOUT, timeouts);
    fb_step_error_add(s, FB_ERROR_OTHER, isnan(timeouts) ? errors : fmax(0, errors - timeouts));
    mismatches_add(fb_document_get(root, "mismatches"), s);
}

static enum fb_status fill(const struct fb_json *root, struct fb_step *s, struct fb_steps *steps,
                           struct fb_err *err)
{
    static const struct {
        double point;
        const char *key;
    } percentiles[] = {{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99_9"}};
    const struct fb_json *latency = fb_json_get(root, "latency");

    (void)err;
    s->start_ns = fb_document_time(root, "start");
    s->end_ns = fb_document_time(root, "finish");
    if (s->start_ns == 0 || s->end_ns <= s->start_ns)
        s->start_ns = s->end_ns = 0;
    s->secs = fb_document_get(root, "duration");
    if (!(s->secs > 0))
        s->secs = NAN;
    s->sent = fb_document_get2(root, "requests", "sent");
    s->conns = fb_document_get(root, "connections");
    answers_add(root, s);
    if (s->errors > 0.001 * s->sent)
        fb_steps_warn(
            steps, "line %u: its percentiles are of all answers, and %.0f of %.0f requests failed",
            s->line, s->errors, s->sent);
    for (size_t i = 0; s->delivered > 0 && i < sizeof percentiles / sizeof *percentiles; i++)
        fb_step_percentile_put(s, percentiles[i].point,
                               fb_document_get(latency, percentiles[i].key) / 1e3);
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    return fb_documents_read(in, "autocannon", keys, fill, steps, err);
}

const struct fb_steps_reader fb_steps_reader_autocannon = {
    .name = "autocannon",
    .what = "the JSON of autocannon (--json)",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

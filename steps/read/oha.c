/* oha --json (or --output-format json): one document a run.
 *
 *   summary.total             s; there are no times of the day
 *   statusCodeDistribution    answers by status
 *   errorDistribution         failures by text; "aborted due to deadline" are the requests, one a
 *                             connection, that the end of the run cut off: no failures
 *   latencyPercentiles        s: p50, p90, p99, p99.9 */
#include <math.h>
#include <string.h>

#include "steps/read/document.h"
#include "steps/read/readers.h"

static const char *const keys[] = {"summary", "latencyPercentiles", "statusCodeDistribution",
                                   "errorDistribution", NULL};

static bool sniff(const char *head, size_t n)
{
    static const char *const told_by[] = {"summary", "latencyPercentiles", NULL};
    static const char *const other[] = {"summary", "responseTimeHistogram", NULL};

    return fb_document_has(head, n, told_by) || fb_document_has(head, n, other);
}

static enum fb_step_error class_of(const char *text)
{
    if (strstr(text, "timeout") || strstr(text, "timed out"))
        return FB_ERROR_TIMEOUT;
    if (strstr(text, "refused") || strstr(text, "connect"))
        return FB_ERROR_CONNECT;
    return strstr(text, "reset") ? FB_ERROR_RESET : FB_ERROR_OTHER;
}

static void answers_add(const struct fb_json *root, struct fb_steps *steps, struct fb_step *s)
{
    const struct fb_json *codes = fb_json_get(root, "statusCodeDistribution");
    const struct fb_json *errors = fb_json_get(root, "errorDistribution");
    double cut_off = 0;
    const char *text;

    if (fb_json_kind(codes) != FB_JSON_OBJECT)
        return;
    s->delivered = 0;
    s->errors = 0;
    for (size_t i = 0; i < fb_json_count(codes); i++) {
        double count = fb_document_number(fb_json_member(codes, i, &text));

        fb_step_status_add(s, fb_text_number(text, strlen(text)), count);
    }
    for (size_t i = 0; i < fb_json_count(errors); i++) {
        double count = fb_document_number(fb_json_member(errors, i, &text));

        if (strcmp(text, "aborted due to deadline") == 0)
            cut_off = isnan(count) ? 0 : count;
        else
            fb_step_error_add(s, class_of(text), count);
    }
    s->sent = s->delivered + s->errors + cut_off;
    if (cut_off > 0)
        fb_steps_warn_cut_off(steps, s, cut_off);
}

static enum fb_status fill(const struct fb_json *root, struct fb_step *s, struct fb_steps *steps,
                           struct fb_err *err)
{
    static const struct {
        double point;
        const char *key;
    } percentiles[] = {{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}};
    const struct fb_json *latency = fb_json_get(root, "latencyPercentiles");

    (void)err;
    s->secs = fb_document_get2(root, "summary", "total");
    if (!(s->secs > 0))
        s->secs = NAN;
    answers_add(root, steps, s);
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        fb_step_percentile_put(s, percentiles[i].point,
                               fb_document_get(latency, percentiles[i].key));
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    return fb_documents_read(in, "oha", keys, fill, steps, err);
}

const struct fb_steps_reader fb_steps_reader_oha = {
    .name = "oha",
    .what = "the JSON of oha (--json)",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

/* ghz -O json: one document a run; with `details` (a line a call) it may be of any size, and they
 * are passed over.
 *
 *   date                      when the run ENDED, in whole seconds; the load began `total` (ns)
 *                             before
 *   options.rps (or qps)      0 or absent: as fast as possible, no offered rate
 *   count                     calls, failed ones too
 *   statusCodeDistribution    by name: "OK" is delivered.  A run whose duration is over closes its
 *                             connections: up to options.concurrency calls are then "Canceled" or
 *                             "Unavailable", and did not fail
 *   latencyDistribution       {percentage, latency in ns}, of the calls that were OK (all with
 *                             options.count-errors) */
#include <math.h>
#include <string.h>

#include "steps/read/document.h"
#include "steps/read/readers.h"

static const char *const keys[] = {
    "date",      "options", "count", "total", "statusCodeDistribution", "latencyDistribution",
    "endReason", NULL};

static bool sniff(const char *head, size_t n)
{
    static const char *const told_by[] = {"statusCodeDistribution", "count", "total", NULL};
    static const char *const before_details[] = {"date", "options", "count", "rps", NULL};

    return fb_document_has(head, n, told_by) || fb_document_has(head, n, before_details);
}

/* Calls that were under way when the time was over; 0 where they may have failed. */
static double cut_off_of(const struct fb_json *root)
{
    const struct fb_json *codes = fb_json_get(root, "statusCodeDistribution");
    double canceled = fb_document_get(codes, "Canceled");
    double closed = fb_document_get(codes, "Unavailable");
    double count = (isnan(canceled) ? 0 : canceled) + (isnan(closed) ? 0 : closed);

    return strcmp(fb_json_string(fb_json_get(root, "endReason"), ""), "timeout") == 0 &&
                   count <= fb_document_get2(root, "options", "concurrency")
               ? count
               : 0;
}

static void codes_add(const struct fb_json *codes, bool is_cut_off, struct fb_step *s)
{
    if (fb_json_kind(codes) != FB_JSON_OBJECT)
        return;
    s->delivered = 0;
    s->errors = 0;
    for (size_t i = 0; i < fb_json_count(codes); i++) {
        const char *code;
        double count = fb_document_number(fb_json_member(codes, i, &code));

        if (isnan(count))
            continue;
        if (strcmp(code, "OK") == 0)
            s->delivered += count;
        else if (strcmp(code, "DeadlineExceeded") == 0)
            fb_step_error_add(s, FB_ERROR_TIMEOUT, count);
        else if (!is_cut_off || (strcmp(code, "Canceled") != 0 && strcmp(code, "Unavailable") != 0))
            fb_step_error_add(s, FB_ERROR_GRPC, count);
    }
}

static double rate_of(const struct fb_json *options)
{
    double rate = fb_document_get(options, "rps");

    if (isnan(rate))
        rate = fb_document_get(options, "qps");
    return rate > 0 ? rate : NAN;
}

static enum fb_status fill(const struct fb_json *root, struct fb_step *s, struct fb_steps *steps,
                           struct fb_err *err)
{
    const struct fb_json *percentiles = fb_json_get(root, "latencyDistribution");
    const struct fb_json *options = fb_json_get(root, "options");
    double total_ns = fb_document_get(root, "total"), cut_off = cut_off_of(root);

    (void)err;
    s->end_ns = fb_document_time(root, "date");
    if (total_ns > 0 && total_ns < 1e18) {
        s->secs = total_ns / 1e9;
        s->start_ns = s->end_ns ? s->end_ns - (int64_t)total_ns : 0;
    } else {
        s->end_ns = 0;
    }
    if (s->end_ns % 1000000000 == 0)
        s->grain_s = 1;
    s->offered = rate_of(options);
    s->sent = fb_document_get(root, "count");
    codes_add(fb_json_get(root, "statusCodeDistribution"), cut_off > 0, s);
    if (cut_off > 0)
        fb_steps_warn_cut_off(steps, s, cut_off);
    for (size_t i = 0; i < fb_json_count(percentiles); i++)
        fb_step_percentile_put(s, fb_document_get(fb_json_at(percentiles, i), "percentage") / 100,
                               fb_document_get(fb_json_at(percentiles, i), "latency") / 1e9);
    s->mode = fb_steps_text(steps, "grpc");
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    return fb_documents_read(in, "ghz", keys, fill, steps, err);
}

const struct fb_steps_reader fb_steps_reader_ghz = {
    .name = "ghz",
    .what = "the JSON of ghz (-O json or pretty)",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

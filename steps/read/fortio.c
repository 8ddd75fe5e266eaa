/* fortio -json: one document a run.
 *
 *   StartTime                 RFC 3339, when the load began
 *   RequestedQPS              a string; "max": as fast as possible, no offered rate
 *   ActualDuration            ns
 *   DurationHistogram         Count, Percentiles of {Percentile, Value in s}; failed requests too,
 *                             unless there is an ErrorsDurationHistogram (or the failures are few)
 *   RetCodes                  by HTTP status; "SERVING" or "OK" of gRPC, TCP and UDP; "-1": no
 * answer SocketCount               connections that were opened */
#include <math.h>
#include <string.h>

#include "steps/read/document.h"
#include "steps/read/readers.h"

static const char *const keys[] = {"RunType",     "StartTime",      "RequestedQPS",
                                   "RetCodes",    "ActualDuration", "DurationHistogram",
                                   "SocketCount", "NumThreads",     NULL};

static bool sniff(const char *head, size_t n)
{
    static const char *const told_by[] = {"RequestedQPS", "ActualDuration", NULL};

    return fb_document_has(head, n, told_by);
}

static void codes_add(const struct fb_json *codes, struct fb_step *s)
{
    if (fb_json_kind(codes) != FB_JSON_OBJECT)
        return;
    s->delivered = 0;
    s->errors = 0;
    for (size_t i = 0; i < fb_json_count(codes); i++) {
        const char *code;
        double count = fb_document_number(fb_json_member(codes, i, &code));
        double status = fb_text_number(code, strlen(code));

        if (isnan(count))
            continue;
        if (strcmp(code, "SERVING") == 0 || strcmp(code, "OK") == 0)
            s->delivered += count;
        else if (status >= 300 && status < 400) /* fortio counts a redirect as a failure */
            fb_step_error_add(s, FB_ERROR_HTTP_OTHER, count);
        else if (isnan(status))
            fb_step_error_add(s, FB_ERROR_GRPC, count);
        else
            fb_step_status_add(s, status, count);
    }
}

static enum fb_status fill(const struct fb_json *root, struct fb_step *s, struct fb_steps *steps,
                           struct fb_err *err)
{
    const struct fb_json *histogram = fb_json_get(root, "DurationHistogram");
    const struct fb_json *percentiles = fb_json_get(histogram, "Percentiles");
    double duration_ns = fb_document_get(root, "ActualDuration");

    (void)err;
    s->start_ns = fb_document_time(root, "StartTime");
    if (duration_ns > 0 && duration_ns < 1e18) {
        s->secs = duration_ns / 1e9;
        s->end_ns = s->start_ns ? s->start_ns + (int64_t)duration_ns : 0;
    }
    s->offered = fb_document_get(root, "RequestedQPS"); /* "max" is no number */
    if (s->offered == 0)
        s->offered = NAN;
    s->sent = fb_document_get(histogram, "Count");
    codes_add(fb_json_get(root, "RetCodes"), s);
    if (s->delivered + s->errors > s->sent) /* Nighthawk's histogram leaves some answers out */
        s->sent = s->delivered + s->errors;
    if (s->errors > 0.001 * s->sent)
        fb_steps_warn(steps,
                      "line %u: its percentiles are of all %.0f requests, %.0f of them failed",
                      s->line, s->sent, s->errors);
    for (size_t i = 0; i < fb_json_count(percentiles); i++)
        fb_step_percentile_put(s, fb_document_get(fb_json_at(percentiles, i), "Percentile") / 100,
                               fb_document_get(fb_json_at(percentiles, i), "Value"));
    s->conns = fb_document_get(root, "SocketCount");
    s->mode = fb_steps_text(steps, fb_json_string(fb_json_get(root, "RunType"), ""));
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    return fb_documents_read(in, "fortio", keys, fill, steps, err);
}

const struct fb_steps_reader fb_steps_reader_fortio = {
    .name = "fortio",
    .what = "the JSON of fortio (-json)",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

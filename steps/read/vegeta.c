/* vegeta report -type=json: one document a run.
 *
 *   earliest, latest          when the first and the last request was sent; `end`: the last answer
 *   duration, wait            ns: latest - earliest, end - latest
 *   rate                      requests over duration: what was sent, which an open loop holds
 *   requests, success         count, share; status_codes: by status, "0" had no answer
 *   latencies                 ns, of all requests: 50th, 90th, 95th, 99th */
#include <math.h>
#include <string.h>

#include "steps/read/document.h"
#include "steps/read/readers.h"

static const char *const keys[] = {"latencies", "earliest", "latest",       "end",     "duration",
                                   "requests",  "rate",     "status_codes", "success", NULL};

static bool sniff(const char *head, size_t n)
{
    static const char *const told_by[] = {"latencies", "status_codes", "earliest", NULL};

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

        fb_step_status_add(s, fb_text_number(code, strlen(code)), count);
    }
}

static enum fb_status fill(const struct fb_json *root, struct fb_step *s, struct fb_steps *steps,
                           struct fb_err *err)
{
    const struct fb_json *latencies = fb_json_get(root, "latencies");
    double duration_ns = fb_document_get(root, "duration");

    (void)err;
    s->start_ns = fb_document_time(root, "earliest");
    if (duration_ns > 0 && duration_ns < 1e18) {
        s->secs = duration_ns / 1e9;
        s->end_ns = fb_document_time(root, "end");
        s->load_start_ns = s->start_ns;
        s->load_end_ns = s->start_ns ? s->start_ns + (int64_t)duration_ns : 0;
    }
    if (s->start_ns == 0 || s->end_ns <= s->start_ns)
        s->start_ns = s->end_ns = s->load_start_ns = s->load_end_ns = 0;
    s->offered = fb_document_get(root, "rate");
    s->sent = fb_document_get(root, "requests");
    codes_add(fb_json_get(root, "status_codes"), s);
    if (s->errors > 0.001 * s->sent)
        fb_steps_warn(steps,
                      "line %u: its percentiles are of all %.0f requests, %.0f of them failed",
                      s->line, s->sent, s->errors);
    if (s->sent > 0) {
        fb_step_percentile_put(s, 0.5, fb_document_get(latencies, "50th") / 1e9);
        fb_step_percentile_put(s, 0.9, fb_document_get(latencies, "90th") / 1e9);
        fb_step_percentile_put(s, 0.99, fb_document_get(latencies, "99th") / 1e9);
    }
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    return fb_documents_read(in, "vegeta", keys, fill, steps, err);
}

const struct fb_steps_reader fb_steps_reader_vegeta = {
    .name = "vegeta",
    .what = "the JSON of `vegeta report -type=json`",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

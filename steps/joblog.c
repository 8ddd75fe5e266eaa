/* A job log is a container's output, so everything else that the container said is in it too.
 *
 *     #NH-STEP {"rps": 600, "warmup": false, "start": 1788725520, "end": 1788725631,
 *               "metrics_before": "<base64>", "metrics_after": "<base64>"}      (one line)
 *     { the generator's JSON, many lines }
 *     #NH-END
 *
 * Lines that begin with '[' or "run.sh:" are other programs'.  A document that is cut short makes
 * that step's values unknown, never 0: the step stays, with a warning that names the line. */
#include "steps/joblog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "steps/base64.h"
#include "steps/metrics.h"
#include "steps/nighthawk.h"

#define STEP_MARK "#NH-STEP"
#define END_MARK  "#NH-END"

enum { SPAN_WARN_PERCENT = 2 };

struct document { /* of one step; doc NULL where it could not be read */
    struct fb_json_doc *doc;
    size_t step;
};

struct reader {
    struct fb_steps *steps;
    bool is_open;         /* between #NH-STEP and #NH-END            */
    size_t line;          /* current line, 1-based                   */
    size_t step_line;     /* of the open step                        */
    size_t document_line; /* of the first line behind the header     */
    bool has_step;        /* the open section has a usable header    */
    struct fb_buf lines;  /* its document, other programs' lines cut */
    struct document *documents;
    size_t documents_count, documents_room;
};

static bool starts_with(const char *line, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);

    return len >= n && memcmp(line, prefix, n) == 0;
}

bool fb_joblog_sniff(const char *text, size_t len)
{
    return starts_with(text, len, STEP_MARK " ") || memmem(text, len, "\n" STEP_MARK " ", 10);
}

/* ---- header ---- */

/* T20 of the users' mistakes: the string "false" was true. */
static bool warmup_value(struct reader *in, const struct fb_json *v)
{
    const char *text = fb_json_string(v, NULL);

    if (v && fb_json_kind(v) != FB_JSON_BOOL)
        fb_steps_warn(in->steps, "line %zu: 'warmup' is not true or false; read as %s", in->line,
                      (text && strcmp(text, "true") == 0) ? "true" : "false");
    return text ? strcmp(text, "true") == 0 : fb_json_bool(v, false);
}

static int64_t epoch_ns(const struct fb_json *v)
{
    double seconds = fb_json_number(v, 0);

    if (!(seconds > 0) || seconds > 9e9)
        return 0;
    if (seconds == floor(seconds))
        return (int64_t)seconds * 1000000000;
    return (int64_t)(seconds * 1e9);
}

/* Whole seconds say when to within one. */
static double grain_of(const struct fb_step *s)
{
    bool whole = s->start_ns % 1000000000 == 0 && s->end_ns % 1000000000 == 0;

    return s->start_ns != 0 && whole ? 1 : 0;
}

static void metrics_read(struct reader *in, const struct fb_json *header, const char *key,
                         struct fb_metrics *ret_metrics)
{
    const char *text = fb_json_string(fb_json_get(header, key), "");
    struct fb_buf page = {0};
    struct fb_err err;

    if (fb_base64_decode(text, strlen(text), &page, &err) != FB_OK) {
        fb_steps_warn(in->steps, "line %zu: '%s': %s; this snapshot counts as failed", in->line,
                      key, err.text);
        page.len = 0;
    } else if (page.len == 0) {
        fb_steps_warn(in->steps,
                      "line %zu: '%s' is empty, the snapshot failed; what needs it "
                      "reads n/a",
                      in->line, key);
    }
    fb_metrics_parse(page.data ? page.data : "", page.len, ret_metrics);
    fb_buf_done(&page);
}

/* After less before; NAN where either is unknown or the counter began anew. */
static double growth(double before, double after)
{
    return after >= before ? after - before : NAN;
}

static void metrics_fill(struct fb_step *s, const struct fb_metrics *before,
                         const struct fb_metrics *after)
{
    s->cpu_s = growth(before->cpu_s, after->cpu_s);
    s->throttled_s = growth(before->throttled_s, after->throttled_s);
    s->heap_bytes = fmax(before->heap_bytes, after->heap_bytes); /* of the one that is known */
    s->rss_bytes = after->memory_bytes;
    s->uptime_before_s = before->uptime_s;
    s->uptime_after_s = after->uptime_s;
    s->cpu_span_s = growth(before->uptime_s, after->uptime_s);
    if (!isnan(s->cpu_s))
        s->cpu_source = "metrics";
}

static void header_read(struct reader *in, const char *text, size_t len)
{
    struct fb_metrics before, after;
    struct fb_json_doc *doc;
    const struct fb_json *header;
    struct fb_step *s;
    struct fb_err err;

    in->has_step = false;
    if (fb_json_parse(text, len, FB_JSON_WHOLE, &doc, NULL, &err) != FB_OK) {
        fb_steps_warn(in->steps,
                      "line %zu: a JSON object was expected after " STEP_MARK
                      " and it is cut or damaged: the step is left out",
                      in->line);
        return;
    }
    header = fb_json_root(doc);
    if (fb_json_kind(header) != FB_JSON_OBJECT ||
        !(fb_json_number(fb_json_get(header, "rps"), -1) >= 0)) {
        fb_steps_warn(in->steps,
                      "line %zu: " STEP_MARK " has no number 'rps': the step is left out",
                      in->line);
        fb_json_free(doc);
        return;
    }
    s = fb_steps_add(in->steps);
    in->has_step = true;
    s->line = (uint32_t)in->line;
    s->offered = fb_json_number(fb_json_get(header, "rps"), NAN);
    s->warmup = warmup_value(in, fb_json_get(header, "warmup"));
    s->start_ns = epoch_ns(fb_json_get(header, "start"));
    s->end_ns = epoch_ns(fb_json_get(header, "end"));
    if (s->start_ns == 0 || s->end_ns <= s->start_ns) {
        fb_steps_warn(in->steps,
                      "line %zu: 'start' and 'end' are not two epoch times in order; the step has "
                      "no window",
                      in->line);
        s->start_ns = s->end_ns = 0;
    }
    s->grain_s = grain_of(s);
    metrics_read(in, header, "metrics_before", &before);
    metrics_read(in, header, "metrics_after", &after);
    metrics_fill(s, &before, &after);
    fb_step_name_default(s, in->steps->count);
    fb_json_free(doc);
}

/* ---- sections ---- */

static void section_open(struct reader *in, const char *line, size_t len)
{
    size_t skip = strlen(STEP_MARK);

    in->is_open = true;
    in->step_line = in->line;
    in->document_line = in->line + 1;
    in->lines.len = 0;
    header_read(in, line + skip, len - skip);
}

/* The first line that begins with '{'; NULL if none does. */
static const char *document_start(const char *text, size_t len)
{
    const char *found;

    if (len == 0 || text[0] == '{')
        return len ? text : NULL;
    found = memmem(text, len, "\n{", 2);
    return found ? found + 1 : NULL;
}

static void section_close(struct reader *in)
{
    const char *text = in->lines.len ? in->lines.data : "",
               *brace = document_start(text, in->lines.len);
    struct fb_json_doc *doc = NULL;
    struct fb_err err;

    in->is_open = false;
    if (!in->has_step)
        return;
    if (!brace)
        fb_steps_warn(in->steps,
                      "line %zu: step %s has no document of the generator: its values are n/a",
                      in->step_line, in->steps->items[in->steps->count - 1].name);
    else if (fb_json_parse(brace, in->lines.len - (size_t)(brace - text), FB_JSON_PREFIX, &doc,
                           NULL, &err) != FB_OK)
        fb_steps_warn(in->steps,
                      "line %zu: step %s: the generator's document behind it is cut short or "
                      "damaged (%s): its values are n/a",
                      in->step_line, in->steps->items[in->steps->count - 1].name, err.text);
    fb_vec_reserve(&in->documents, &in->documents_room, in->documents_count + 1,
                   sizeof *in->documents);
    in->documents[in->documents_count++] = (struct document){doc, in->steps->count - 1};
}

static void line_read(struct reader *in, const char *line, size_t len)
{
    if (starts_with(line, len, STEP_MARK " ")) {
        if (in->is_open) {
            fb_steps_warn(in->steps, "line %zu: " END_MARK " was expected before the next step",
                          in->line);
            section_close(in);
        }
        section_open(in, line, len);
    } else if (starts_with(line, len, END_MARK)) {
        if (in->is_open)
            section_close(in);
    } else if (in->is_open && !starts_with(line, len, "[") && !starts_with(line, len, "run.sh:")) {
        fb_buf_add(&in->lines, line, len);
        fb_buf_putc(&in->lines, '\n');
    }
}

/* ---- the run ---- */

/* The load, the generator's process and the CPU counters cover three spans of time. */
static void spans_check(struct fb_steps *steps, const struct fb_step *s)
{
    double window_s = (double)(s->end_ns - s->start_ns) / 1e9, widest = s->secs, ratio;

    if (window_s > 0)
        widest = fmax(widest, window_s);
    if (!isnan(s->cpu_span_s))
        widest = fmax(widest, s->cpu_span_s);
    ratio = widest / s->secs;
    if (!(ratio > 1 + SPAN_WARN_PERCENT / 100.0))
        return;
    if (isnan(s->cpu_span_s))
        fb_steps_warn(steps,
                      "line %u: step %s: the load ran %.1f s, its window is %.0f s: they differ by "
                      "over %d %%",
                      s->line, s->name, s->secs, window_s, SPAN_WARN_PERCENT);
    else
        fb_steps_warn(steps,
                      "line %u: step %s: the load ran %.1f s, its window is %.0f s, the CPU "
                      "counters span %.1f s: they differ by over %d %%",
                      s->line, s->name, s->secs, window_s, s->cpu_span_s, SPAN_WARN_PERCENT);
}

static void documents_fill(struct reader *in)
{
    enum fb_nighthawk_mode mode = FB_NIGHTHAWK_HTTP;
    size_t none_delivered = 0, known = 0;

    for (size_t i = 0; i < in->documents_count; i++) {
        const struct document *d = &in->documents[i];
        enum fb_nighthawk_mode seen =
            d->doc ? fb_nighthawk_mode(fb_json_root(d->doc)) : FB_NIGHTHAWK_HTTP;

        mode = seen > mode ? seen : mode;
    }
    for (size_t i = 0; i < in->documents_count; i++) {
        const struct document *d = &in->documents[i];
        struct fb_step *s = &in->steps->items[d->step];
        struct fb_err err;

        if (d->doc && fb_nighthawk_fill(fb_json_root(d->doc), mode, s, &err) != FB_OK)
            fb_steps_warn(in->steps, "line %u: step %s: %s: its values are n/a", s->line, s->name,
                          err.text);
        fb_step_window_default(s);
        spans_check(in->steps, s);
        known += isnan(s->delivered) ? 0 : 1;
        none_delivered += s->delivered == 0 ? 1 : 0;
    }
    if (known > 0 && none_delivered == known)
        fb_steps_warn(in->steps, "every step of this log delivered 0: the arm had no endpoint, or "
                                 "the generator no connection");
}

enum fb_status fb_joblog_read(const char *text, size_t len, struct fb_steps *steps,
                              struct fb_err *err)
{
    struct reader in = {.steps = steps};
    const char *line;
    size_t at = 0, n;

    while (fb_text_line(text, len, &at, &line, &n) && steps->count < FB_STEPS_MAX) {
        in.line++;
        line_read(&in, line, n);
    }
    if (in.is_open) {
        fb_steps_warn(steps, "line %zu: the log ends before the " END_MARK " of its last step",
                      in.line);
        section_close(&in);
    }
    documents_fill(&in);
    for (size_t i = 0; i < in.documents_count; i++)
        fb_json_free(in.documents[i].doc);
    free(in.documents);
    fb_buf_done(&in.lines);
    if (steps->count == 0)
        return fb_fail(err, FB_EFORMAT,
                       "no step with a readable " STEP_MARK " header was found%s%s",
                       steps->warnings_count ? "; the first: " : "",
                       steps->warnings_count ? steps->warnings[0] : "");
    return FB_OK;
}

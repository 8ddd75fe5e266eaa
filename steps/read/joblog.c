/* A job log is a container's output, so everything else that the container said is in it too.
 *
 *     #NH-STEP {"rps": 600, "warmup": false, "start": 1788725520, "end": 1788725631,
 *               "metrics_before": "<base64>", "metrics_after": "<base64>"}      (one line)
 *     { the generator's JSON, many lines }
 *     #NH-END
 *
 * Lines that begin with '[' or "run.sh:" are other programs'.  A document that is cut short makes
 * that step's values unknown, never 0: the step stays, with a warning that names the line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "steps/base64.h"
#include "steps/lines.h"
#include "steps/metrics.h"
#include "steps/read/document.h"
#include "steps/read/nighthawk.h"
#include "steps/read/readers.h"

#define STEP_MARK "#NH-STEP"
#define END_MARK  "#NH-END"

struct document { /* of one step */
    struct fb_nighthawk result;
    bool is_known; /* it could be read */
};

struct reader {
    struct fb_steps *steps;
    bool is_open;               /* between #NH-STEP and #NH-END            */
    bool has_step;              /* the open section has a usable header    */
    size_t line;                /* current line, 1-based                   */
    size_t step_line;           /* of the open step                        */
    struct fb_buf lines;        /* its document, other programs' lines cut */
    struct document *documents; /* of each step */
    size_t documents_room;
};

static bool sniff(const char *head, size_t n)
{
    return fb_line_begins(head, n, STEP_MARK " ") || memmem(head, n, "\n" STEP_MARK " ", 10);
}

/* ---- header ---- */

/* T20 of the users' mistakes: the string "false" was true. */
static bool warmup_value(struct reader *in, const struct fb_json *v)
{
    const char *text = fb_json_string(v, NULL);
    bool value = fb_json_bool(v, false);

    if (!v || fb_json_kind(v) == FB_JSON_BOOL)
        return value;
    value = text ? strcmp(text, "true") == 0 || strcmp(text, "1") == 0 : fb_json_number(v, 0) != 0;
    fb_steps_warn(in->steps, "line %zu: 'warmup' is not true or false; read as %s", in->line,
                  value ? "true" : "false");
    return value;
}

static int64_t epoch_ns(const struct fb_json *v)
{
    double seconds = fb_document_number(v);

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
    s->heap_max_bytes = fmax(before->heap_max_bytes, after->heap_max_bytes);
    s->rss_bytes = after->memory_bytes;
    s->uptime_before_s = before->uptime_s;
    s->uptime_after_s = after->uptime_s;
    s->cpu_span_s = growth(before->uptime_s, after->uptime_s);
    if (!isnan(s->cpu_s))
        s->cpu_source = "metrics";
}

/* What newer logs may say beside the times. */
static void texts_read(struct fb_steps *steps, struct fb_step *s, const struct fb_json *header)
{
    s->arm = fb_steps_text(steps, fb_json_string(fb_json_get(header, "arm"), ""));
    s->mode = fb_steps_text(steps, fb_json_string(fb_json_get(header, "mode"), ""));
    s->tier = fb_steps_text(steps, fb_json_string(fb_json_get(header, "tier"), ""));
}

static void header_read(struct reader *in, const char *text, size_t len)
{
    struct fb_metrics before, after;
    struct fb_json_doc *doc;
    const struct fb_json *header;
    struct fb_step *s;
    struct fb_err err;
    double rps;

    in->has_step = false;
    if (fb_json_parse(text, len, FB_JSON_WHOLE, &doc, NULL, &err) != FB_OK) {
        fb_steps_warn(in->steps,
                      "line %zu: a JSON object was expected after " STEP_MARK
                      " and it is cut or damaged: the step is left out",
                      in->line);
        return;
    }
    header = fb_json_root(doc);
    rps = fb_document_get(header, "rps");
    if (isnan(rps)) {
        fb_steps_warn(in->steps,
                      "line %zu: " STEP_MARK " has no 'rps' that is a number from 0: the step is "
                      "left out",
                      in->line);
        fb_json_free(doc);
        return;
    }
    s = fb_steps_add(in->steps);
    in->has_step = true;
    s->line = (uint32_t)in->line;
    s->offered = rps;
    texts_read(in->steps, s, header);
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
    in->lines.len = 0;
    in->lines.overflow = false;
    header_read(in, line + skip, len - skip);
    if (!in->has_step)
        return;
    fb_vec_reserve(&in->documents, &in->documents_room, in->steps->count, sizeof *in->documents);
    in->documents[in->steps->count - 1] = (struct document){.is_known = false};
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
    struct fb_step *s;
    struct document *d;
    struct fb_err err;
    size_t used;

    in->is_open = false;
    if (!in->has_step)
        return;
    s = &in->steps->items[in->steps->count - 1];
    d = &in->documents[in->steps->count - 1];
    if (in->lines.overflow)
        fb_steps_warn(
            in->steps,
            "line %zu: step %s: the generator's document behind it has more than %d bytes: "
            "its values are n/a",
            in->step_line, s->name, FB_STEPS_TEXT_MAX);
    else if (!brace)
        fb_steps_warn(in->steps,
                      "line %zu: step %s has no document of the generator: its values are n/a",
                      in->step_line, s->name);
    else if (fb_nighthawk_parse(brace, in->lines.len - (size_t)(brace - text), in->steps, s,
                                &d->result, &used, &err) != FB_OK)
        fb_steps_warn(in->steps,
                      "line %zu: step %s: the generator's document behind it is cut short or "
                      "damaged (%s): its values are n/a",
                      in->step_line, s->name, err.text);
    else
        d->is_known = true;
}

/* How much stands before a mark in the middle of a line: a log that was cut in a line, with the
 * next one behind it, or output without a newline at its end. */
static size_t before_mark(const char *line, size_t len)
{
    const char *at = len > 1 ? memchr(line + 1, '#', len - 1) : NULL;

    for (; at; at = memchr(at + 1, '#', len - (size_t)(at + 1 - line))) {
        size_t left = len - (size_t)(at - line);

        if (fb_line_begins(at, left, STEP_MARK " {") ||
            (left == strlen(END_MARK) && fb_line_begins(at, left, END_MARK)))
            return (size_t)(at - line);
    }
    return len;
}

static void line_read(struct reader *in, const char *line, size_t len)
{
    if (len > 0 && line[0] == '#' && fb_line_begins(line, len, STEP_MARK " ")) {
        if (in->is_open) {
            fb_steps_warn(in->steps, "line %zu: " END_MARK " was expected before the next step",
                          in->line);
            section_close(in);
        }
        section_open(in, line, len);
    } else if (len > 0 && line[0] == '#' && fb_line_begins(line, len, END_MARK)) {
        if (in->is_open)
            section_close(in);
    } else if (in->is_open && (len == 0 || line[0] != '[') &&
               !fb_line_begins(line, len, "run.sh:")) {
        fb_buf_add(&in->lines, line, len);
        fb_buf_putc(&in->lines, '\n');
    }
}

/* ---- the run ---- */

static void documents_fill(struct reader *in)
{
    enum fb_nighthawk_mode mode = FB_NIGHTHAWK_HTTP;
    size_t known = 0, none_delivered = 0;

    for (size_t i = 0; i < in->steps->count; i++)
        if (in->documents[i].is_known && in->documents[i].result.mode > mode)
            mode = in->documents[i].result.mode;
    for (size_t i = 0; i < in->steps->count; i++) {
        struct fb_step *s = &in->steps->items[i];

        if (in->documents[i].is_known)
            fb_nighthawk_apply(&in->documents[i].result, mode, in->steps, s);
        fb_step_window_default(s);
        known += isnan(s->delivered) ? 0 : 1;
        none_delivered += s->delivered == 0 ? 1 : 0;
    }
    if (known > 0 && none_delivered == known)
        fb_steps_warn(in->steps, "every step of this log delivered 0: the arm had no endpoint, or "
                                 "the generator no connection");
}

static enum fb_status lines_read(struct reader *in, struct fb_source *source, struct fb_err *err)
{
    struct fb_lines lines;
    enum fb_status r = FB_OK;
    char *line;
    size_t n;

    fb_lines_init(&lines, source, err);
    while (r == FB_OK && fb_lines_next(&lines, &line, &n)) {
        size_t first = before_mark(line, n);

        in->line = lines.number;
        line_read(in, line, first);
        if (first < n)
            line_read(in, line + first, n - first);
        r = fb_steps_room(in->steps, err);
    }
    if (r != FB_OK)
        (void)fb_lines_done(&lines);
    else
        r = fb_lines_done(&lines);
    return r;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps, .lines = {.max = FB_STEPS_TEXT_MAX}};
    enum fb_status r = lines_read(&in, source, err);

    if (r == FB_OK && in.is_open) {
        fb_steps_warn(steps, "line %zu: the log ends before the " END_MARK " of its last step",
                      in.line);
        section_close(&in);
    }
    if (r == FB_OK)
        documents_fill(&in);
    free(in.documents);
    fb_buf_done(&in.lines);
    if (r == FB_OK && steps->count == 0)
        return fb_fail(err, FB_EFORMAT,
                       "no step with a readable " STEP_MARK " header was found%s%s",
                       steps->warnings_count ? "; the first: " : "",
                       steps->warnings_count ? steps->warnings[0] : "");
    return r;
}

const struct fb_steps_reader fb_steps_reader_joblog = {
    .name = "job-log",
    .what = "a job log with #NH-STEP lines",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

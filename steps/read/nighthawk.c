/* Facts of the document: counters and durations are strings, percentiles lie on a fixed grid (its
 * "p99" is 0.990625), and only the result named "global" is the sum of the workers, whose results
 * are most of the text: they are passed over unread as soon as their name is known. */
#include "steps/read/nighthawk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/vec.h"
#include "steps/read/document.h"
#include "steps/read/readers.h"
#include "steps/times.h"

enum { NAME_MAX_BYTES = 200 };

static const struct mode_row {
    const char *name, *latency, *delivered, *not_sent, *sent;
} modes[FB_NIGHTHAWK_MODES] = {
    [FB_NIGHTHAWK_HTTP] = {"http", "benchmark_http_client.latency_2xx", "http_2xx", "pool_overflow",
                           "upstream_rq_total"},
    [FB_NIGHTHAWK_GRPC_UNARY] = {"grpc-unary", "benchmark_http_client.latency_grpc_ok",
                                 "grpc_status.0", "pool_overflow", "upstream_rq_total"},
    [FB_NIGHTHAWK_GRPC_STREAM] = {"grpc-stream", "benchmark_stream.message_latency",
                                  "stream_messages_received", "stream_deferred",
                                  "stream_messages_sent"},
};

static const double wanted_points[FB_NIGHTHAWK_POINTS] = {0.5, 0.9, 0.99, 0.999};

#define STATUS_PREFIX "grpc_status."

struct result { /* of one entry of "results" */
    bool is_global, is_other;
    double secs;
    int64_t start_ns;
    enum fb_nighthawk_mode mode;
    struct fb_nighthawk_latency latency[FB_NIGHTHAWK_MODES];
    struct fb_step_counter *counters;
    size_t count, room;
};

/* Names are written with and without this prefix by different versions. */
static const char *bare(const char *name)
{
    return strncmp(name, "benchmark.", 10) == 0 ? name + 10 : name;
}

/* ---- values ---- */

/* A text that is NUL-terminated, cut to what fits. */
static void text_read(struct fb_json_in *in, char out[NAME_MAX_BYTES])
{
    struct fb_json_text text;
    size_t n;

    fb_json_in_string_or(in, &text);
    n = text.len < NAME_MAX_BYTES ? text.len : NAME_MAX_BYTES - 1;
    if (n > 0)
        memcpy(out, text.text, n);
    out[n] = '\0';
}

/* A number, or a string that is one; NAN otherwise. */
static double loose_number(struct fb_json_in *in)
{
    struct fb_json_text text;

    if (fb_json_in_peek(in) != FB_JSON_STRING)
        return fb_json_in_double_or(in, NAN);
    fb_json_in_string_or(in, &text);
    return fb_text_number(text.text, text.len);
}

/* A member "value" of an object, or the number itself. */
static double wrapped_number(struct fb_json_in *in)
{
    struct fb_json_text key;
    double value = NAN;

    if (fb_json_in_peek(in) != FB_JSON_OBJECT)
        return loose_number(in);
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "value"))
            value = loose_number(in);
        else
            fb_json_in_skip(in);
    }
    return value;
}

static void wrapped_text(struct fb_json_in *in, char out[NAME_MAX_BYTES])
{
    struct fb_json_text key;

    out[0] = '\0';
    if (fb_json_in_peek(in) != FB_JSON_OBJECT) {
        text_read(in, out);
        return;
    }
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "value"))
            text_read(in, out);
        else
            fb_json_in_skip(in);
    }
}

/* ---- counters and latency ---- */

static void counter_read(struct fb_json_in *in, struct fb_steps *steps, struct result *r)
{
    struct fb_json_text key;
    char name[NAME_MAX_BYTES] = "";
    double value = NAN;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "name"))
            text_read(in, name);
        else if (fb_json_text_is(&key, "value"))
            value = loose_number(in);
        else
            fb_json_in_skip(in);
    }
    if (*name == '\0' || r->count >= FB_STEP_COUNTERS_MAX)
        return;
    fb_vec_reserve(&r->counters, &r->room, r->count + 1, sizeof *r->counters);
    r->counters[r->count++] = (struct fb_step_counter){fb_steps_text(steps, bare(name)), value};
}

static void latency_clear(struct fb_nighthawk_latency *latency)
{
    for (size_t i = 0; i < FB_NIGHTHAWK_POINTS; i++)
        latency->seconds[i] = latency->points[i] = NAN;
}

/* Keeps the point of the grid that is nearest to each wanted one. */
static void percentile_read(struct fb_json_in *in, struct fb_nighthawk_latency *latency)
{
    struct fb_json_text key;
    char text[NAME_MAX_BYTES];
    double point = NAN, duration = NAN, raw = NAN;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "percentile")) {
            point = loose_number(in);
        } else if (fb_json_text_is(&key, "duration")) {
            text_read(in, text);
            if (!fb_duration_parse(text, &duration))
                duration = NAN;
        } else if (fb_json_text_is(&key, "raw_value")) {
            raw = loose_number(in) / 1e9; /* in its own unit, ns */
        } else {
            fb_json_in_skip(in);
        }
    }
    duration = isnan(duration) ? raw : duration;
    if (isnan(point) || isnan(duration))
        return;
    for (size_t i = 0; i < FB_NIGHTHAWK_POINTS; i++) {
        double best = fabs(latency->points[i] - wanted_points[i]);

        if (fabs(point - wanted_points[i]) >= best)
            continue;
        latency->points[i] = point;
        latency->seconds[i] = duration;
    }
}

static void statistic_read(struct fb_json_in *in, struct result *r)
{
    struct fb_nighthawk_latency latency;
    struct fb_json_text key;
    char id[NAME_MAX_BYTES] = "";
    bool is_empty = false;

    latency_clear(&latency);
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "id"))
            text_read(in, id);
        else if (fb_json_text_is(&key, "count"))
            is_empty = loose_number(in) == 0; /* its percentiles would read 0 */
        else if (fb_json_text_is(&key, "percentiles") && fb_json_in_peek(in) == FB_JSON_ARRAY)
            for (fb_json_in_array(in); fb_json_in_item(in);)
                percentile_read(in, &latency);
        else
            fb_json_in_skip(in);
    }
    for (size_t m = 0; m < FB_NIGHTHAWK_MODES; m++) {
        if (strcmp(id, modes[m].latency) != 0)
            continue;
        if (m > r->mode)
            r->mode = (enum fb_nighthawk_mode)m;
        if (!is_empty)
            r->latency[m] = latency;
    }
}

/* ---- results ---- */

/* Objects of an array; what is no object is skipped. */
static bool next_object(struct fb_json_in *in)
{
    while (fb_json_in_item(in)) {
        if (fb_json_in_peek(in) == FB_JSON_OBJECT)
            return true;
        fb_json_in_skip(in);
    }
    return false;
}

static void result_member(struct fb_json_in *in, const struct fb_json_text *key,
                          struct fb_steps *steps, struct result *r)
{
    char text[NAME_MAX_BYTES];
    bool is_array = fb_json_in_peek(in) == FB_JSON_ARRAY;

    if (fb_json_text_is(key, "name")) {
        text_read(in, text);
        r->is_global = strcmp(text, "global") == 0;
        r->is_other = !r->is_global;
    } else if (r->is_other) {
        fb_json_in_skip(in);
    } else if (fb_json_text_is(key, "counters") && is_array) {
        for (fb_json_in_array(in); next_object(in);)
            counter_read(in, steps, r);
    } else if (fb_json_text_is(key, "statistics") && is_array) {
        for (fb_json_in_array(in); next_object(in);)
            statistic_read(in, r);
    } else if (fb_json_text_is(key, "execution_duration")) {
        text_read(in, text);
        if (!fb_duration_parse(text, &r->secs) || !(r->secs > 0))
            r->secs = NAN;
    } else if (fb_json_text_is(key, "execution_start")) {
        text_read(in, text);
        if (!fb_time_parse(text, &r->start_ns))
            r->start_ns = 0;
    } else {
        fb_json_in_skip(in);
    }
}

static void evidence_of_counters(struct result *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *name = r->counters[i].name;
        enum fb_nighthawk_mode mode = FB_NIGHTHAWK_HTTP;

        if (strcmp(name, "stream_messages_received") == 0 ||
            strcmp(name, "stream_messages_sent") == 0)
            mode = FB_NIGHTHAWK_GRPC_STREAM;
        else if (strncmp(name, STATUS_PREFIX, strlen(STATUS_PREFIX)) == 0)
            mode = FB_NIGHTHAWK_GRPC_UNARY;
        if (mode > r->mode)
            r->mode = mode;
    }
}

/* Reads one result; keeps it in *ret if it is the global one and the first. */
static void result_read(struct fb_json_in *in, struct fb_steps *steps, struct result *ret)
{
    struct result r = {.secs = NAN};
    struct fb_json_text key;

    for (size_t m = 0; m < FB_NIGHTHAWK_MODES; m++)
        latency_clear(&r.latency[m]);
    for (fb_json_in_object(in); fb_json_in_key(in, &key);)
        result_member(in, &key, steps, &r);
    if (!r.is_global || ret->is_global) {
        free(r.counters);
        return;
    }
    evidence_of_counters(&r);
    *ret = r;
}

static void options_read(struct fb_json_in *in, struct fb_nighthawk *ret)
{
    struct fb_json_text key;
    char protocol[NAME_MAX_BYTES] = "";
    bool is_h2 = false, has_h2 = false;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "requests_per_second")) {
            ret->rps = wrapped_number(in);
        } else if (fb_json_text_is(&key, "concurrency")) {
            ret->workers = wrapped_number(in);
        } else if (fb_json_text_is(&key, "protocol")) {
            wrapped_text(in, protocol);
        } else if (fb_json_text_is(&key, "h2")) {
            struct fb_buf raw = {0};

            has_h2 = true;
            fb_json_in_raw(in, &raw);
            is_h2 = raw.len > 0 && strstr(raw.data, "true");
            fb_buf_done(&raw);
        } else {
            fb_json_in_skip(in);
        }
    }
    if (strcmp(protocol, "HTTP2") == 0 || is_h2)
        ret->http = "http2";
    else if (strcmp(protocol, "HTTP1") == 0 || has_h2)
        ret->http = "http1";
}

/* ---- the whole document ---- */

static void document_read(struct fb_json_in *in, struct fb_steps *steps, struct fb_nighthawk *ret,
                          struct result *global)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        enum fb_json_kind kind = fb_json_in_peek(in);

        if (fb_json_text_is(&key, "results") && kind == FB_JSON_ARRAY)
            for (fb_json_in_array(in); next_object(in);)
                result_read(in, steps, global);
        else if (fb_json_text_is(&key, "options") && kind == FB_JSON_OBJECT)
            options_read(in, ret);
        else
            fb_json_in_skip(in);
    }
}

enum fb_status fb_nighthawk_parse(const char *text, size_t n, struct fb_steps *steps,
                                  struct fb_step *s, struct fb_nighthawk *ret_result,
                                  size_t *ret_used, struct fb_err *err)
{
    struct fb_nighthawk read = {.http = "http", .secs = NAN, .rps = NAN, .workers = NAN};
    struct result global = {.is_global = false};
    struct fb_json_in in;
    enum fb_status r = FB_OK;

    fb_json_in_start(&in, text, n);
    document_read(&in, steps, &read, &global);
    if (fb_json_in_failed(&in))
        r = fb_fail(err, FB_EFORMAT, "%s", in.err.text);
    else if (!global.is_global)
        r = fb_fail(err, FB_EFORMAT,
                    "the generator's document has no result named 'global' in 'results'");
    *ret_used = (size_t)fb_json_in_taken(&in);
    fb_json_in_done(&in);
    if (r != FB_OK) {
        free(global.counters);
        return r;
    }
    read.mode = global.mode;
    read.secs = global.secs;
    read.start_ns = global.start_ns;
    memcpy(read.latency, global.latency, sizeof read.latency);
    free(s->counters);
    s->counters = global.counters;
    s->counters_count = global.count;
    s->counters_room = global.room;
    *ret_result = read;
    return FB_OK;
}

/* The counter's value; `absent` where the document has no such counter. */
static double counter_or(const struct fb_step *s, const char *name, double absent)
{
    for (size_t i = 0; i < s->counters_count; i++)
        if (strcmp(s->counters[i].name, name) == 0)
            return s->counters[i].value;
    return absent;
}

/* Requests or streams that failed: what the server refused, and streams without an end. */
static void errors_fill(struct fb_step *s)
{
    fb_step_error_add(s, FB_ERROR_HTTP_4XX, counter_or(s, "http_4xx", 0));
    fb_step_error_add(s, FB_ERROR_HTTP_5XX, counter_or(s, "http_5xx", 0));
    fb_step_error_add(s, FB_ERROR_RESET, counter_or(s, "stream_resets", 0));
    for (size_t i = 0; i < s->counters_count; i++) {
        const char *name = s->counters[i].name;

        if (strncmp(name, STATUS_PREFIX, strlen(STATUS_PREFIX)) == 0 &&
            strcmp(name, STATUS_PREFIX "0") != 0)
            fb_step_error_add(s, FB_ERROR_GRPC, s->counters[i].value);
    }
}

void fb_nighthawk_apply(const struct fb_nighthawk *result, enum fb_nighthawk_mode mode,
                        struct fb_steps *steps, struct fb_step *s)
{
    const struct mode_row *row = &modes[mode];
    const struct fb_nighthawk_latency *latency = &result->latency[mode];
    double *const values[] = {&s->p50_s, &s->p90_s, &s->p99_s, &s->p999_s};
    double *const points[] = {&s->p50_point, &s->p90_point, &s->p99_point, &s->p999_point};

    s->secs = result->secs;
    s->delivered = counter_or(s, row->delivered, 0);
    s->not_sent = counter_or(s, row->not_sent, 0);
    s->sent = counter_or(s, row->sent, NAN);
    s->conns = counter_or(s, "upstream_cx_total", NAN);
    errors_fill(s);
    for (size_t i = 0; i < FB_NIGHTHAWK_POINTS; i++) {
        *values[i] = latency->seconds[i];
        *points[i] = latency->points[i];
    }
    if (*s->mode == '\0')
        s->mode = fb_steps_text(steps, mode == FB_NIGHTHAWK_HTTP ? result->http : row->name);
}

/* ---- a file of documents ---- */

static bool sniff(const char *head, size_t n)
{
    return fb_document_has(head, n, (const char *[]){"results", NULL}) ||
           fb_document_has(head, n, (const char *[]){"options", "version", NULL});
}

struct reader {
    struct fb_nighthawk *results; /* of each step */
    size_t room;
};

static enum fb_status document_parse(void *context, const char *text, size_t n,
                                     struct fb_steps *steps, struct fb_step *s, size_t *ret_used,
                                     struct fb_err *err)
{
    struct reader *reader = context;
    struct fb_nighthawk result;
    enum fb_status r = fb_nighthawk_parse(text, n, steps, s, &result, ret_used, err);

    if (r != FB_OK)
        return r;
    fb_vec_reserve(&reader->results, &reader->room, steps->count, sizeof *reader->results);
    reader->results[steps->count - 1] = result;
    /* the option is one worker's */
    if (result.workers >= 1)
        s->offered = result.rps * result.workers;
    if (result.secs > 0 && result.secs < 1e9 && result.start_ns != 0) {
        s->start_ns = result.start_ns;
        s->end_ns = s->start_ns + (int64_t)(result.secs * 1e9);
    }
    s->secs = result.secs;
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    struct reader reader = {0};
    enum fb_nighthawk_mode mode = FB_NIGHTHAWK_HTTP;
    enum fb_status r = fb_documents_each(in, "Nighthawk", document_parse, &reader, steps, err);

    for (size_t i = 0; i < steps->count && r == FB_OK; i++)
        if (reader.results[i].mode > mode)
            mode = reader.results[i].mode;
    for (size_t i = 0; i < steps->count && r == FB_OK; i++)
        fb_nighthawk_apply(&reader.results[i], mode, steps, &steps->items[i]);
    free(reader.results);
    return r;
}

const struct fb_steps_reader fb_steps_reader_nighthawk = {
    .name = "nighthawk",
    .what = "the JSON of Nighthawk, alone",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

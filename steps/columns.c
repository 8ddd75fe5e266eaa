#include "steps/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "steps/times.h"

enum column_type { NUMBER, TIME, YES_NO, NAME, TEXT, ROW, IGNORED };

struct fb_column {
    const char *name;
    enum column_type type;
    size_t offset; /* of a NUMBER or TIME in struct fb_step  */
    double scale;  /* of a NUMBER: cell x scale is the value */
};

#define FIELD(field) offsetof(struct fb_step, field)
#define MIB          1048576.0

static const struct fb_column columns[] = {
    {"name", NAME, 0, 0},
    {"label", NAME, 0, 0},
    {"step", ROW, 0, 0},
    {"arm", TEXT, FIELD(arm), 0},
    {"mode", TEXT, FIELD(mode), 0},
    {"tier", TEXT, FIELD(tier), 0},
    {"generator", TEXT, FIELD(generator), 0},
    {"warmup", YES_NO, 0, 0},
    {"start", TIME, FIELD(start_ns), 0},
    {"start_s", TIME, FIELD(start_ns), 0},
    {"end", TIME, FIELD(end_ns), 0},
    {"end_s", TIME, FIELD(end_ns), 0},
    {"load_start", TIME, FIELD(load_start_ns), 0},
    {"load_end", TIME, FIELD(load_end_ns), 0},
    {"secs", NUMBER, FIELD(secs), 1},
    {"duration_s", NUMBER, FIELD(secs), 1},
    {"offered", NUMBER, FIELD(offered), 1},
    {"offered_per_s", NUMBER, FIELD(offered), 1},
    {"rps", NUMBER, FIELD(offered), 1},
    {"delivered", NUMBER, FIELD(stated_delivered_per_s), 1},
    {"delivered_per_s", NUMBER, FIELD(stated_delivered_per_s), 1},
    {"delivered_count", NUMBER, FIELD(delivered), 1},
    {"knee_per_s", NUMBER, FIELD(stated_knee_per_s), 1},
    {"not_sent_per_s", NUMBER, FIELD(stated_knee_per_s), 1},
    {"not_sent_count", NUMBER, FIELD(not_sent), 1},
    {"not_sent", NUMBER, FIELD(not_sent), 1},
    {"sent_count", NUMBER, FIELD(sent), 1},
    {"sent", NUMBER, FIELD(sent), 1},
    {"errors_count", NUMBER, FIELD(errors), 1},
    {"errors", NUMBER, FIELD(errors), 1},
    {"p50_ms", NUMBER, FIELD(p50_s), 1e-3},
    {"p90_ms", NUMBER, FIELD(p90_s), 1e-3},
    {"p99_ms", NUMBER, FIELD(p99_s), 1e-3},
    {"p999_ms", NUMBER, FIELD(p999_s), 1e-3},
    {"p50_us", NUMBER, FIELD(p50_s), 1e-6},
    {"p90_us", NUMBER, FIELD(p90_s), 1e-6},
    {"p99_us", NUMBER, FIELD(p99_s), 1e-6},
    {"p999_us", NUMBER, FIELD(p999_s), 1e-6},
    {"cpu_ms_per_req", NUMBER, FIELD(stated_ms_per_request), 1},
    {"cpu_s", NUMBER, FIELD(cpu_s), 1},
    {"cpu_span_s", NUMBER, FIELD(cpu_span_s), 1},
    {"throttled_s", NUMBER, FIELD(throttled_s), 1},
    {"client_throttled_s", NUMBER, FIELD(client_throttled_s), 1},
    {"heap_mb", NUMBER, FIELD(heap_bytes), MIB},
    {"heap_bytes", NUMBER, FIELD(heap_bytes), 1},
    {"rss_mb", NUMBER, FIELD(rss_bytes), MIB},
    {"rss_bytes", NUMBER, FIELD(rss_bytes), 1},
    {"conns", NUMBER, FIELD(conns), 1},
    {"node_busy", NUMBER, FIELD(node_busy), 1},
    {"node_softirq", NUMBER, FIELD(node_softirq), 1},
    {"client_cpu_s", NUMBER, FIELD(client_cpu_s), 1},
    {"p50_point", NUMBER, FIELD(p50_point), 1},
    {"p90_point", NUMBER, FIELD(p90_point), 1},
    {"p99_point", NUMBER, FIELD(p99_point), 1},
    {"p999_point", NUMBER, FIELD(p999_point), 1},
    {"uptime_before_s", NUMBER, FIELD(uptime_before_s), 1},
    {"uptime_after_s", NUMBER, FIELD(uptime_after_s), 1},
    /* what our own tables have beside, which follows from the rest or is of another file */
    {"health", IGNORED, 0, 0},
    {"why", IGNORED, 0, 0},
    {"muted", IGNORED, 0, 0},
    {"cores", IGNORED, 0, 0},
    {"cpu_source", IGNORED, 0, 0},
    {"samples", IGNORED, 0, 0},
    {"yield", IGNORED, 0, 0},
    {"source", IGNORED, 0, 0},
    {"line", IGNORED, 0, 0},
};

static const struct fb_column *column_find(const char *name)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcasecmp(columns[i].name, name) == 0)
            return &columns[i];
    return NULL;
}

bool fb_column_known(const char *name)
{
    return column_find(name) != NULL;
}

static bool is_named(const struct fb_column *c, const char *name)
{
    return c && strcmp(c->name, name) == 0;
}

/* 'delivered' is a rate; beside 'delivered_per_s' it is the count, as in our own tables. */
static const struct fb_column *delivered_settle(struct fb_columns *columns_so_far,
                                                const struct fb_column *c)
{
    bool adds_rate = is_named(c, "delivered_per_s"), adds_plain = is_named(c, "delivered");

    for (size_t i = 0; i < columns_so_far->count; i++) {
        const struct fb_column **other = &columns_so_far->items[i];

        if (adds_rate && is_named(*other, "delivered"))
            *other = column_find("delivered_count");
        if (adds_plain && is_named(*other, "delivered_per_s"))
            return column_find("delivered_count");
    }
    return c;
}

enum fb_status fb_columns_add(struct fb_columns *c, const char *name, struct fb_steps *steps,
                              struct fb_err *err)
{
    const struct fb_column *column = column_find(name);

    if (c->count == FB_COLUMNS_MAX)
        return fb_fail(err, FB_ELIMIT, "more than %d columns", FB_COLUMNS_MAX);
    if (!column && steps)
        fb_steps_warn(steps, "column '%.60s' is not known and was left out", name);
    column = delivered_settle(c, column);
    for (size_t i = 0; column && column->type != IGNORED && i < c->count; i++) {
        const struct fb_column *other = c->items[i];

        if (other && other->type == column->type && other->offset == column->offset)
            return fb_fail(err, FB_EFORMAT, "column '%s' and column '%s' say the same thing",
                           other->name, column->name);
    }
    c->items[c->count++] = column;
    return FB_OK;
}

static bool has_column(const struct fb_columns *c, const char *name)
{
    const struct fb_column *wanted = column_find(name);

    for (size_t i = 0; i < c->count; i++)
        if (c->items[i] && c->items[i]->type == wanted->type &&
            c->items[i]->offset == wanted->offset)
            return true;
    return false;
}

enum fb_status fb_columns_check(const struct fb_columns *c, struct fb_err *err)
{
    if (has_column(c, "offered") || has_column(c, "start") || has_column(c, "load_start"))
        return FB_OK;
    return fb_fail(err, FB_EFORMAT, "a column 'offered' or 'start' was expected beside the others");
}

/* ---- cells ---- */

enum { COLUMNS_COUNT = sizeof columns / sizeof *columns };

static bool is_unknown(const char *cell)
{
    return *cell == '\0' || strcmp(cell, "-") == 0 || strcasecmp(cell, "n/a") == 0 ||
           strcasecmp(cell, "nan") == 0 || strcmp(cell, "null") == 0;
}

static enum fb_status number_read(const char *cell, const struct fb_column *c, struct fb_step *s,
                                  struct fb_err *err)
{
    double value = fb_text_number(cell, strlen(cell));

    if (!(value >= 0))
        return fb_fail(err, FB_EFORMAT,
                       "column '%s' is '%.60s'; a number from 0 or n/a was expected", c->name,
                       cell);
    *(double *)(void *)((char *)s + c->offset) = value * c->scale;
    return FB_OK;
}

static enum fb_status warmup_read(const char *cell, struct fb_step *s, struct fb_err *err)
{
    static const char *const words[] = {"0", "no", "false", "1", "yes", "true"};

    for (size_t i = 0; i < 6; i++) {
        if (strcasecmp(cell, words[i]) == 0) {
            s->warmup = i >= 3;
            return FB_OK;
        }
    }
    return fb_fail(err, FB_EFORMAT,
                   "column 'warmup' is '%.60s'; 0, 1, no, yes, false or true was expected", cell);
}

enum fb_status fb_columns_cell(const struct fb_columns *row, size_t i, const char *cell,
                               struct fb_steps *steps, struct fb_step *s, struct fb_err *err)
{
    const struct fb_column *c = i < row->count ? row->items[i] : NULL;

    if (!c || is_unknown(cell))
        return FB_OK;
    switch (c->type) {
    case NUMBER:
        return number_read(cell, c, s, err);
    case TIME:
        if (fb_time_parse(cell, (int64_t *)(void *)((char *)s + c->offset)))
            return FB_OK;
        return fb_fail(err, FB_EFORMAT,
                       "column '%s' is '%.60s'; a time was expected: epoch seconds, milliseconds "
                       "or nanoseconds, or 2026-09-06T20:27:00Z",
                       c->name, cell);
    case YES_NO:
        return warmup_read(cell, s, err);
    case NAME:
        free(s->name);
        s->name = fb_strdup(cell);
        return FB_OK;
    case TEXT:
        *(const char **)(void *)((char *)s + c->offset) = fb_steps_text(steps, cell);
        return FB_OK;
    case ROW: /* a row's number is no name; a word is, where the table has no better one */
        if (!s->name && strspn(cell, "0123456789") != strlen(cell))
            s->name = fb_strdup(cell);
        return FB_OK;
    case IGNORED:
        return FB_OK;
    }
    return FB_OK;
}

/* A count in the column of a rate would pass for a generator that went wild. */
static void rate_check(struct fb_steps *steps, const struct fb_step *s)
{
    double rate = s->stated_delivered_per_s;

    if (rate > 2 * s->offered && rate <= 1.01 * s->offered * s->secs)
        fb_steps_warn(steps,
                      "line %u: 'delivered' is %.10g with %.10g offered: it is a rate per second; "
                      "a count belongs into 'delivered_count'",
                      s->line, rate, s->offered);
}

/* What follows from the cells together. */
enum fb_status fb_columns_finish(struct fb_steps *steps, struct fb_step *s, struct fb_err *err)
{
    if ((s->start_ns == 0) != (s->end_ns == 0) && !(s->secs > 0 && s->secs < 1e9))
        return fb_fail(err, FB_EFORMAT, "'%s' is known and '%s' is not; both were expected",
                       s->start_ns ? "start" : "end", s->start_ns ? "end" : "start");
    if (s->start_ns == 0 && s->end_ns != 0)
        s->start_ns = s->end_ns - (int64_t)(s->secs * 1e9);
    if (s->end_ns == 0 && s->start_ns != 0)
        s->end_ns = s->start_ns + (int64_t)(s->secs * 1e9);
    if (s->start_ns != 0 && s->end_ns <= s->start_ns)
        return fb_fail(err, FB_EFORMAT, "'end' is not after 'start'");
    if (s->load_start_ns != 0 && s->load_end_ns > s->load_start_ns) {
        s->start_ns = s->start_ns ? s->start_ns : s->load_start_ns;
        s->end_ns = s->end_ns ? s->end_ns : s->load_end_ns;
    } else {
        s->load_start_ns = s->load_end_ns = 0;
        fb_step_window_default(s);
    }
    if (isnan(s->secs) && s->load_start_ns != 0)
        s->secs = (double)(s->load_end_ns - s->load_start_ns) / 1e9;
    if (isnan(s->delivered))
        s->delivered = s->stated_delivered_per_s * s->secs;
    if (isnan(s->not_sent))
        s->not_sent = s->stated_knee_per_s * s->secs;
    if (isnan(s->cpu_s))
        s->cpu_s = s->stated_ms_per_request * s->delivered / 1000;
    if (!isnan(s->cpu_s) || !isnan(s->stated_ms_per_request))
        s->cpu_source = "table";
    fb_step_name_default(s, steps->count);
    rate_check(steps, s);
    return FB_OK;
}

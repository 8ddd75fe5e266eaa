/* Columns are found by name, in any order.  An empty cell, "n/a", "-" and "nan" are unknown. */
#include "steps/tsv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "steps/times.h"

enum { COLUMNS_MAX = 200, CELL_MAX = 300 };

enum type { NUMBER, TIME, YES_NO, NAME, MODE, ROW };

struct column {
    const char *name;
    enum type type;
    size_t offset; /* of a NUMBER or TIME in struct fb_step  */
    double scale;  /* of a NUMBER: cell x scale is the value */
};

#define FIELD(field) offsetof(struct fb_step, field)
#define MIB          1048576.0

static const struct column columns[] = {
    {"name", NAME, 0, 0},
    {"label", NAME, 0, 0},
    {"step", ROW, 0, 0},
    {"mode", MODE, 0, 0},
    {"warmup", YES_NO, 0, 0},
    {"start", TIME, FIELD(start_ns), 0},
    {"end", TIME, FIELD(end_ns), 0},
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
    {"sent_count", NUMBER, FIELD(sent), 1},
    {"errors_count", NUMBER, FIELD(errors), 1},
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
    {"uptime_before_s", NUMBER, FIELD(uptime_before_s), 1},
    {"uptime_after_s", NUMBER, FIELD(uptime_after_s), 1},
};

enum { COLUMNS_COUNT = sizeof columns / sizeof *columns };

struct header {
    const struct column *columns[COLUMNS_MAX]; /* NULL: not known, left out */
    size_t count;
};

static const struct column *column_find(const char *name)
{
    for (size_t i = 0; i < COLUMNS_COUNT; i++)
        if (strcasecmp(columns[i].name, name) == 0)
            return &columns[i];
    return NULL;
}

/* The next cell of a line, blanks around it cut, into out; false at the end of the line. */
static bool cell_next(const char *line, size_t len, size_t *at, char out[CELL_MAX])
{
    const char *cell = line + *at, *tab;
    size_t n;

    if (*at > len)
        return false;
    tab = memchr(cell, '\t', len - *at);
    n = tab ? (size_t)(tab - cell) : len - *at;
    *at += n + 1;
    for (; n > 0 && *cell == ' '; n--)
        cell++;
    while (n > 0 && cell[n - 1] == ' ')
        n--;
    if (n >= CELL_MAX)
        n = CELL_MAX - 1;
    memcpy(out, cell, n);
    out[n] = '\0';
    return true;
}

static bool is_content(const char *line, size_t len)
{
    if (len > 0 && line[0] == '#')
        return false;
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t')
            return true;
    return false;
}

/* The first line that is neither empty nor a comment; a byte order mark is skipped. */
static bool header_line(const char *text, size_t len, size_t *at, size_t *ret_number,
                        const char **ret_line, size_t *ret_len)
{
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        *at = 3;
    for (*ret_number = 1; fb_text_line(text, len, at, ret_line, ret_len); ++*ret_number)
        if (is_content(*ret_line, *ret_len))
            return true;
    return false;
}

bool fb_tsv_sniff(const char *text, size_t len)
{
    char cell[CELL_MAX];
    const char *line;
    size_t at = 0, number, n, in_line = 0;

    if (!header_line(text, len, &at, &number, &line, &n) || !memchr(line, '\t', n))
        return false;
    while (cell_next(line, n, &in_line, cell))
        if (column_find(cell))
            return true;
    return false;
}

static enum fb_status header_read(const char *line, size_t len, struct header *h,
                                  struct fb_steps *steps, struct fb_err *err)
{
    char cell[CELL_MAX];
    size_t at = 0;

    while (cell_next(line, len, &at, cell)) {
        const struct column *c = column_find(cell);

        if (h->count == COLUMNS_MAX)
            return fb_fail(err, FB_ELIMIT, "more than %d columns", COLUMNS_MAX);
        if (!c)
            fb_steps_warn(steps, "column '%.60s' is not known and was left out", cell);
        for (size_t i = 0; c && i < h->count; i++) {
            const struct column *other = h->columns[i];

            if (other && other->type == c->type && other->offset == c->offset)
                return fb_fail(err, FB_EFORMAT, "column '%s' and column '%s' say the same thing",
                               other->name, c->name);
        }
        h->columns[h->count++] = c;
    }
    return FB_OK;
}

static bool is_unknown(const char *cell)
{
    return *cell == '\0' || strcmp(cell, "-") == 0 || strcasecmp(cell, "n/a") == 0 ||
           strcasecmp(cell, "nan") == 0;
}

static enum fb_status number_read(const char *cell, const struct column *c, struct fb_step *s,
                                  struct fb_err *err)
{
    char *end;
    double value = strtod(cell, &end);

    if (end == cell || *end != '\0' || !isfinite(value) || value < 0)
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

static enum fb_status cell_read(const char *cell, const struct column *c, struct fb_step *s,
                                struct fb_err *err)
{
    if (is_unknown(cell))
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
    case MODE:
        free(s->mode);
        s->mode = fb_strdup(cell);
        return FB_OK;
    case ROW: /* a row's number is no name; a word is, where the table has no better one */
        if (!s->name && strspn(cell, "0123456789") != strlen(cell))
            s->name = fb_strdup(cell);
        return FB_OK;
    }
    return FB_OK;
}

/* A count in the column of a rate would pass for a generator that went wild. */
static void rate_check(struct fb_steps *steps, const struct fb_step *s, size_t number)
{
    double rate = s->stated_delivered_per_s;

    if (rate > 2 * s->offered && rate <= 1.01 * s->offered * s->secs)
        fb_steps_warn(steps,
                      "line %zu: 'delivered' is %.10g with %.10g offered: it is a rate per second; "
                      "a count belongs into 'delivered_count'",
                      number, rate, s->offered);
}

/* What follows from the cells together. */
static enum fb_status row_finish(struct fb_step *s, size_t number, struct fb_err *err)
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
    fb_step_name_default(s, number);
    return FB_OK;
}

static enum fb_status row_read(const char *line, size_t len, const struct header *h,
                               struct fb_steps *steps, size_t number, struct fb_err *err)
{
    struct fb_step *s = fb_steps_add(steps);
    char cell[CELL_MAX];
    size_t at = 0, i = 0;

    s->line = (uint32_t)number;
    if (h->count > 1 && !memchr(line, '\t', len))
        return fb_fail(err, FB_EFORMAT, "one cell; %zu cells between tabs were expected", h->count);
    for (; cell_next(line, len, &at, cell); i++) {
        enum fb_status r = FB_OK;

        if (i >= h->count && *cell)
            return fb_fail(err, FB_EFORMAT, "more cells than the %zu of the header row", h->count);
        if (i < h->count && h->columns[i])
            r = cell_read(cell, h->columns[i], s, err);
        if (r != FB_OK)
            return r;
    }
    if (row_finish(s, steps->count, err) != FB_OK)
        return err->status;
    rate_check(steps, s, number);
    return FB_OK;
}

static bool has_column(const struct header *h, const char *name)
{
    const struct column *wanted = column_find(name);

    for (size_t i = 0; i < h->count; i++)
        if (h->columns[i] && h->columns[i]->type == wanted->type &&
            h->columns[i]->offset == wanted->offset)
            return true;
    return false;
}

enum fb_status fb_tsv_read(const char *text, size_t len, struct fb_steps *steps, struct fb_err *err)
{
    struct header h = {.count = 0};
    const char *line;
    size_t at = 0, number, n;
    enum fb_status r;

    if (!header_line(text, len, &at, &number, &line, &n))
        return fb_fail(err, FB_EFORMAT, "a header row was expected");
    r = header_read(line, n, &h, steps, err);
    if (r != FB_OK)
        return fb_within(err, "line %zu", number);
    if (!has_column(&h, "offered") && !has_column(&h, "start") && !has_column(&h, "load_start"))
        return fb_fail(err, FB_EFORMAT,
                       "line %zu: a column 'offered' or 'start' was expected beside the others",
                       number);
    while (fb_text_line(text, len, &at, &line, &n) && steps->count < FB_STEPS_MAX) {
        number++;
        if (!is_content(line, n))
            continue;
        r = row_read(line, n, &h, steps, number, err);
        if (r != FB_OK)
            return fb_within(err, "line %zu", number);
    }
    if (steps->count == 0)
        return fb_fail(err, FB_EFORMAT, "a header row and no step under it");
    return FB_OK;
}

/* hey -o csv: a row an answer, in seconds; a header row begins a run, of which a file may have
 * more.
 *
 *     response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset
 *     0.0003,0.0001,0.0000,0.0001,0.0001,0.0000,200,0.0210
 *
 * `offset` is when the request was sent, from the beginning of the run: there is no time of the
 * day. Requests that got no answer are not in it, and of a run those after the first million. */
#include <math.h>
#include <string.h>

#include "steps/csv.h"
#include "steps/read/readers.h"
#include "steps/requests.h"

/* Times from here on stand for "so long after the beginning"; they do not leave this file. */
static const double beginning_s = 1000;

/* It writes no more rows of a run. */
enum { ROWS_MAX = 1000000 };

struct columns {
    int latency, status, offset;
    size_t line; /* of the header */
};

static bool is_header(const struct fb_csv_row *row, struct columns *ret)
{
    *ret = (struct columns){fb_csv_find(row, "response-time"), fb_csv_find(row, "status-code"),
                            fb_csv_find(row, "offset"), 0};
    return ret->latency >= 0 && ret->status >= 0 && ret->offset >= 0;
}

static bool sniff(const char *head, size_t n)
{
    return fb_line_begins(head, n, "response-time,") &&
           memmem(head, n < 400 ? n : 400, "offset", 6);
}

static enum fb_status run_finish(struct fb_requests *q, size_t line, struct fb_err *err)
{
    struct fb_steps *steps = q->steps;
    size_t before = steps->count;
    enum fb_status r = fb_requests_finish(q, err);

    fb_requests_done(q);
    if (r == FB_OK && steps->count == before) { /* a header and no answer */
        struct fb_step *s = fb_steps_add(steps);

        s->delivered = 0;
        fb_step_name_default(s, steps->count);
    }
    for (size_t i = before; i < steps->count; i++) {
        struct fb_step *s = &steps->items[i];

        s->line = (uint32_t)line;
        if (s->sent >= ROWS_MAX)
            fb_steps_warn(steps,
                          "line %zu: hey writes %d rows and no more: what came after them is "
                          "unknown",
                          line, ROWS_MAX);
        s->start_ns = s->end_ns = s->load_start_ns = s->load_end_ns = 0;
    }
    return r;
}

static enum fb_status row_read(struct fb_requests *q, const struct fb_csv_row *row,
                               const struct columns *c, size_t number, struct fb_err *err)
{
    double values[3];
    const int at[3] = {c->latency, c->status, c->offset};

    for (size_t i = 0; i < 3; i++) {
        const struct fb_csv_cell *cell = &row->cells[at[i]];

        values[i] = (size_t)at[i] < row->count ? fb_text_number(cell->text, cell->len) : NAN;
        if (isnan(values[i]) || values[i] > 1e6) {
            fb_steps_warn(q->steps, "line %zu: seconds and a status were expected: left out",
                          number);
            return FB_OK;
        }
    }
    return fb_requests_add(q, (int64_t)((beginning_s + values[2]) * 1e9), values[0],
                           fb_request_outcome(values[1]), err);
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct columns columns = {0}, again;
    struct fb_requests q;
    struct fb_csv in;
    enum fb_status r = FB_OK, done;

    fb_csv_init(&in, source, ',', err);
    fb_requests_init(&q, steps);
    q.plan = NULL; /* without times nothing is cut by it; fb_steps_plan() sets the window */
    while (r == FB_OK && fb_csv_line(&in)) {
        struct fb_csv_row *row = in.len > 0 ? fb_csv_row(&in) : NULL;

        if (!row)
            continue;
        if (is_header(row, &again)) {
            r = columns.line > 0 ? run_finish(&q, columns.line, err) : FB_OK;
            if (columns.line > 0)
                fb_requests_init(&q, steps);
            q.plan = NULL;
            columns = again;
            columns.line = in.row_line;
        } else if (columns.line > 0) {
            r = row_read(&q, row, &columns, in.row_line, err);
        }
    }
    fb_csv_warn_cut(&in, steps);
    done = fb_csv_done(&in);
    r = r == FB_OK ? done : r;
    if (r == FB_OK)
        r = run_finish(&q, columns.line, err);
    fb_requests_done(&q);
    if (r == FB_OK)
        fb_steps_warn(steps, "hey's rows are of answers alone: requests that got none are unknown");
    return r;
}

const struct fb_steps_reader fb_steps_reader_hey_csv = {
    .name = "hey-csv",
    .what = "the rows of `hey -o csv`",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

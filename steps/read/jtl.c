/* JMeter's results as CSV (.jtl): a row a sample; which columns there are, and what is between
 * them, is the user's choice, said by the header row (without one: JMeter's own order).
 *
 *     timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,...
 *     1788725520123,45,GET /,200,OK,Thread 1-1,text,true,...
 *
 * timeStamp is when the sample began (ms of the epoch), elapsed ms.  A transaction controller's row
 * repeats the requests inside it ("Number of samples in transaction : 3 ..."): it counts only where
 * the file has nothing else. */
#include <math.h>
#include <string.h>

#include "steps/csv.h"
#include "steps/read/readers.h"
#include "steps/requests.h"
#include "steps/times.h"

#define PARENT "Number of samples in transaction"

struct reader {
    struct fb_steps *steps;
    int time, elapsed, code, message, success;
    bool has_header;
    struct fb_requests requests, parents;
    double requests_count, parents_count;
};

/* ---- what it looks like ---- */

static char separator_of(const char *line, size_t n)
{
    static const char separators[] = {',', '\t', ';', '|'};

    for (size_t i = 0; i < sizeof separators; i++)
        if (memchr(line, separators[i], n))
            return separators[i];
    return ',';
}

static size_t first_line(const char *head, size_t n)
{
    const char *end = memchr(head, '\n', n);

    return end ? (size_t)(end - head) : n;
}

static bool is_header(const char *line, size_t n)
{
    return memmem(line, n, "timeStamp", 9) && memmem(line, n, "elapsed", 7);
}

/* "1788725520123,45,label,200,OK,thread,text,true" */
static bool is_bare_row(const char *line, size_t n)
{
    size_t digits = 0, more = 14;

    while (digits < n && line[digits] >= '0' && line[digits] <= '9')
        digits++;
    if (digits != 13 || n < 20 || line[13] != ',')
        return false;
    while (more < n && line[more] >= '0' && line[more] <= '9')
        more++;
    return more > 14 && more < n && line[more] == ',' &&
           (memmem(line, n, ",true", 5) || memmem(line, n, ",false", 6));
}

static bool sniff(const char *head, size_t n)
{
    size_t len = first_line(head, n);

    return is_header(head, len) || is_bare_row(head, len);
}

/* ---- rows ---- */

static enum fb_status header_read(struct reader *in, const struct fb_csv_row *row,
                                  struct fb_err *err)
{
    in->time = fb_csv_find(row, "timeStamp");
    in->elapsed = fb_csv_find(row, "elapsed");
    in->code = fb_csv_find(row, "responseCode");
    in->message = fb_csv_find(row, "responseMessage");
    in->success = fb_csv_find(row, "success");
    if (in->time < 0 || in->elapsed < 0 || (in->success < 0 && in->code < 0))
        return fb_fail(err, FB_EFORMAT,
                       "columns timeStamp, elapsed, and success or responseCode were expected");
    return FB_OK;
}

static const struct fb_csv_cell *cell(const struct fb_csv_row *row, int i)
{
    static const struct fb_csv_cell none = {(char *)(size_t) "", 0};

    return i >= 0 && (size_t)i < row->count ? &row->cells[i] : &none;
}

static int outcome_of(const struct reader *in, const struct fb_csv_row *row)
{
    const struct fb_csv_cell *success = cell(row, in->success), *code = cell(row, in->code);
    double status = fb_text_number(code->text, code->len);
    int outcome = fb_request_outcome(isnan(status) ? 0 : status);

    if (strcmp(success->text, "true") == 0)
        return FB_REQUEST_OK;
    if (in->success < 0 || outcome != FB_REQUEST_OK) {
        if (isnan(status) && strstr(code->text, "Timeout"))
            return FB_ERROR_TIMEOUT;
        return outcome;
    }
    return FB_ERROR_CHECK; /* an assertion refused a good answer */
}

static enum fb_status row_read(struct reader *in, const struct fb_csv_row *row, size_t number,
                               struct fb_err *err)
{
    const struct fb_csv_cell *elapsed = cell(row, in->elapsed);
    double ms = fb_text_number(elapsed->text, elapsed->len);
    bool is_parent = strncmp(cell(row, in->message)->text, PARENT, strlen(PARENT)) == 0;
    int64_t time_ns;

    if (!(ms >= 0 && ms < 1e12) || !fb_time_parse(cell(row, in->time)->text, &time_ns) ||
        (in->success >= 0 && cell(row, in->success)->len == 0)) {
        fb_steps_warn(in->steps,
                      "line %zu: a time (epoch), a number of milliseconds and a result were "
                      "expected: left out",
                      number);
        return FB_OK;
    }
    *(is_parent ? &in->parents_count : &in->requests_count) += 1;
    return fb_requests_add(is_parent ? &in->parents : &in->requests, time_ns, ms / 1e3,
                           outcome_of(in, row), err);
}

static enum fb_status first_read(struct reader *in, struct fb_csv *csv, struct fb_err *err)
{
    bool named = is_header(csv->line, csv->len);
    struct fb_csv_row *row;
    enum fb_status r;

    csv->separator = separator_of(csv->line, csv->len);
    row = fb_csv_row(csv);
    if (!row)
        return FB_OK;
    in->has_header = true;
    if (named)
        return header_read(in, row, err);
    in->time = 0;
    in->elapsed = 1;
    in->code = 3;
    in->message = 4;
    in->success = 7;
    r = row_read(in, row, csv->row_line, err);
    return r;
}

static enum fb_status finish(struct reader *in, struct fb_err *err)
{
    bool by_parents = !(in->requests_count > 0);
    enum fb_status r = fb_requests_finish(by_parents ? &in->parents : &in->requests, err);

    if (r == FB_OK && !by_parents && in->parents_count > 0)
        fb_steps_warn(in->steps,
                      "%.0f rows of transactions were left out: the requests inside them have rows "
                      "of their own",
                      in->parents_count);
    if (r == FB_OK && in->steps->count == 0)
        r = fb_fail(err, FB_EFORMAT, "a header row and no sample under it that can be read%s%s",
                    in->steps->warnings_count ? "; the first: " : "",
                    in->steps->warnings_count ? in->steps->warnings[0] : "");
    return r;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps};
    struct fb_csv csv;
    enum fb_status r = FB_OK, done;

    fb_requests_init(&in.requests, steps);
    fb_requests_init(&in.parents, steps);
    fb_csv_init(&csv, source, ',', err);
    while (r == FB_OK && fb_csv_line(&csv)) {
        struct fb_csv_row *row;

        if (csv.len == 0 || (in.has_header && csv.line[0] == 't' && is_header(csv.line, csv.len)))
            continue; /* files put together */
        if (!in.has_header) {
            r = first_read(&in, &csv, err);
            continue;
        }
        row = fb_csv_row(&csv);
        if (!row)
            break;
        r = row_read(&in, row, csv.row_line, err);
    }
    fb_csv_warn_cut(&csv, steps);
    done = fb_csv_done(&csv);
    r = r == FB_OK ? done : r;
    if (r == FB_OK)
        r = finish(&in, err);
    fb_requests_done(&in.requests);
    fb_requests_done(&in.parents);
    return r;
}

const struct fb_steps_reader fb_steps_reader_jtl = {
    .name = "jtl",
    .what = "JMeter's results as CSV",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

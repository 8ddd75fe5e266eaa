/* k6 --out csv: a row a measurement; those named http_req_duration (or grpc_req_duration) are the
 * requests, their value in ms, their time that of the answer, in whole seconds unless asked
 * otherwise.  Rows of dropped_iterations are what an arrival-rate executor could not send.  Where a
 * script makes neither kind of request, its iterations are what was delivered.
 *
 *     metric_name,timestamp,metric_value,check,error,error_code,expected_response,...,status,... */
#include <math.h>
#include <string.h>

#include "steps/csv.h"
#include "steps/read/readers.h"
#include "steps/requests.h"
#include "steps/times.h"

struct reader {
    int metric, time, value, status, expected;
    size_t columns;
    struct fb_requests requests, iterations;
    double requests_count;
    bool is_whole; /* all times in whole seconds */
    struct fb_steps *steps;
};

static bool sniff(const char *head, size_t n)
{
    return fb_line_begins(head, n, "metric_name,timestamp,metric_value");
}

static enum fb_status header_read(struct reader *in, const struct fb_csv_row *row,
                                  struct fb_err *err)
{
    in->metric = fb_csv_find(row, "metric_name");
    in->time = fb_csv_find(row, "timestamp");
    in->value = fb_csv_find(row, "metric_value");
    in->status = fb_csv_find(row, "status");
    in->expected = fb_csv_find(row, "expected_response");
    in->columns = row->count;
    if (in->metric < 0 || in->time < 0 || in->value < 0)
        return fb_fail(err, FB_EFORMAT,
                       "columns metric_name, timestamp and metric_value were expected");
    return FB_OK;
}

static const char *cell(const struct fb_csv_row *row, int i)
{
    return i >= 0 && (size_t)i < row->count ? row->cells[i].text : "";
}

static int outcome_of(const struct reader *in, const struct fb_csv_row *row, bool is_grpc)
{
    const char *text = cell(row, in->status);
    double status = fb_text_number(text, strlen(text));

    if (is_grpc)
        return status == 0 ? FB_REQUEST_OK : FB_ERROR_GRPC;
    if (isnan(status))
        status = strcmp(cell(row, in->expected), "true") == 0 ? 200 : 0;
    return fb_request_outcome(status);
}

static enum fb_status row_read(struct reader *in, const struct fb_csv_row *row, size_t number,
                               struct fb_err *err)
{
    const char *metric = cell(row, in->metric), *text = cell(row, in->value);
    bool is_http = strcmp(metric, "http_req_duration") == 0;
    bool is_grpc = !is_http && strcmp(metric, "grpc_req_duration") == 0;
    bool is_iteration = !is_http && !is_grpc && strcmp(metric, "iteration_duration") == 0;
    bool is_dropped = !is_http && !is_grpc && strcmp(metric, "dropped_iterations") == 0;
    double value;
    int64_t time_ns;

    if (!is_http && !is_grpc && !is_iteration && !is_dropped)
        return FB_OK;
    value = fb_text_number(text, strlen(text));
    if (row->count < in->columns || !(value >= 0 && value < 1e12) ||
        !fb_time_parse(cell(row, in->time), &time_ns)) {
        fb_steps_warn(in->steps, "line %zu: a time and a value of '%.30s' were expected: left out",
                      number, metric);
        return FB_OK;
    }
    in->is_whole = in->is_whole && time_ns % 1000000000 == 0;
    if (is_dropped)
        return fb_requests_not_sent(&in->requests, time_ns, value, err);
    if (is_iteration)
        return fb_requests_add(&in->iterations, time_ns - (int64_t)(value * 1e6), value / 1e3,
                               FB_REQUEST_OK, err);
    in->requests_count++;
    return fb_requests_add(&in->requests, time_ns - (int64_t)(value * 1e6), value / 1e3,
                           outcome_of(in, row, is_grpc), err);
}

static enum fb_status finish(struct reader *in, struct fb_err *err)
{
    bool by_iterations = !(in->requests_count > 0);
    enum fb_status r = fb_requests_finish(by_iterations ? &in->iterations : &in->requests, err);

    for (size_t i = 0; i < in->steps->count; i++)
        in->steps->items[i].grain_s = in->is_whole ? 1 : 0;
    if (r == FB_OK && in->steps->count == 0)
        r = fb_fail(err, FB_EFORMAT, "no row of a request or an iteration was found%s%s",
                    in->steps->warnings_count ? "; the first: " : "",
                    in->steps->warnings_count ? in->steps->warnings[0] : "");
    return r;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps, .is_whole = true};
    struct fb_csv csv;
    enum fb_status r = FB_OK, done;

    fb_requests_init(&in.requests, steps);
    fb_requests_init(&in.iterations, steps);
    fb_csv_init(&csv, source, ',', err);
    while (r == FB_OK && fb_csv_line(&csv)) {
        struct fb_csv_row *row;

        if (csv.len == 0 || (in.columns > 0 && csv.line[0] == 'm' &&
                             sniff(csv.line, csv.len))) /* a header again: files put together */
            continue;
        row = fb_csv_row(&csv);
        if (!row)
            break;
        r = in.columns == 0 ? header_read(&in, row, err) : row_read(&in, row, csv.row_line, err);
    }
    fb_csv_warn_cut(&csv, steps);
    done = fb_csv_done(&csv);
    r = r == FB_OK ? done : r;
    if (r == FB_OK)
        r = finish(&in, err);
    fb_requests_done(&in.requests);
    fb_requests_done(&in.iterations);
    return r;
}

const struct fb_steps_reader fb_steps_reader_k6_csv = {
    .name = "k6-csv",
    .what = "the rows of `k6 run --out csv`",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

/* wrk and wrk2, text; several runs in one file.
 *
 *     Running 30s test @ http://127.0.0.1:80/
 *       2 threads and 100 connections
 *       Latency Distribution                  (wrk; wrk2: "... (HdrHistogram - Recorded Latency)")
 *          50%    1.20ms                      (wrk2: " 50.000%    1.20ms")
 *       60018 requests in 30.00s, 19.81MB read
 *       Socket errors: connect 0, read 1, write 0, timeout 2
 *       Non-2xx or 3xx responses: 3
 *     Requests/sec:   2000.15
 *
 * `requests` are answers, refused ones too; the latencies are of all of them.  With -u, wrk2 prints
 * a second distribution, "Uncorrected", which is not the one that users wait through. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "steps/lines.h"
#include "steps/list.h"
#include "steps/read/readers.h"
#include "steps/times.h"

struct reader {
    struct fb_steps *steps;
    struct fb_step *s; /* of the run that is open; NULL before the first */
    bool in_latency;
    bool is_wrk2;
    double answers;
};

static bool sniff(const char *head, size_t n)
{
    return fb_text_has_line(head, n, "Running ") && memmem(head, n, " test @ ", 8);
}

/* Whether the line is one of a distribution. */
static bool percentile_line(struct reader *in, const char *line)
{
    char duration[32];
    double percent, seconds;
    int n = 0;

    if (*line == '\0' || sscanf(line, " %lf%%%n", &percent, &n) != 1 || n == 0)
        return false;
    if (sscanf(line + n, " %31s", duration) == 1 && fb_duration_parse(duration, &seconds))
        fb_step_percentile_put(in->s, percent / 100, seconds);
    return true;
}

static void socket_errors(struct fb_step *s, const char *line)
{
    double connect, reads, writes, timeout;

    if (sscanf(line, " Socket errors: connect %lf, read %lf, write %lf, timeout %lf", &connect,
               &reads, &writes, &timeout) != 4)
        return;
    fb_step_error_add(s, FB_ERROR_CONNECT, connect);
    fb_step_error_add(s, FB_ERROR_RESET, reads + writes);
    fb_step_error_add(s, FB_ERROR_TIMEOUT, timeout);
}

static void totals_line(struct reader *in, const char *line)
{
    struct fb_step *s = in->s;
    char duration[32];
    double value, seconds;

    if (sscanf(line, " %lf requests in %31[^,],", &value, duration) == 2 &&
        fb_duration_parse(duration, &seconds) && seconds > 0) {
        in->answers = s->delivered = value;
        s->secs = seconds;
        s->errors = 0;
    } else if (sscanf(line, " Non-2xx or 3xx responses: %lf", &value) == 1) {
        s->delivered = fmax(0, s->delivered - value);
        fb_step_error_add(s, FB_ERROR_HTTP_OTHER, value);
    } else if (sscanf(line, "Requests/sec: %lf", &value) == 1) {
        /* says the time better than its two decimals do */
        if (value > 0 && fabs(in->answers / value - s->secs) < 0.011)
            s->secs = in->answers / value;
    } else {
        socket_errors(s, line);
    }
}

static enum fb_status line_read(void *context, const char *line, size_t number, struct fb_err *err)
{
    struct reader *in = context;
    double threads, conns;
    enum fb_status r = FB_OK;

    if (fb_line_begins(line, strlen(line), "Running ") && strstr(line, " test @ ")) {
        r = fb_steps_room(in->steps, err);
        if (r != FB_OK)
            return r;
        in->s = fb_steps_add(in->steps);
        in->s->line = (uint32_t)number;
        in->in_latency = false;
        in->answers = NAN;
    } else if (!in->s) {
        return FB_OK;
    } else if (strstr(line, "Latency Distribution")) {
        in->in_latency = !strstr(line, "Uncorrect");
        in->is_wrk2 = in->is_wrk2 || strstr(line, "HdrHistogram");
    } else if (in->in_latency && percentile_line(in, line)) {
        return FB_OK;
    } else if (sscanf(line, " %lf threads and %lf connections", &threads, &conns) == 2) {
        in->s->conns = conns;
    } else {
        in->in_latency = false;
        totals_line(in, line);
    }
    return r;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps};
    enum fb_status r = fb_lines_each(source, line_read, &in, err);

    for (size_t i = 0; i < steps->count && r == FB_OK; i++) {
        steps->items[i].sent = steps->items[i].delivered + steps->items[i].errors;
        fb_step_name_default(&steps->items[i], i + 1);
    }
    if (r == FB_OK && !in.is_wrk2)
        fb_steps_warn_closed_loop(steps, "wrk");
    return r;
}

const struct fb_steps_reader fb_steps_reader_wrk = {
    .name = "wrk",
    .what = "what wrk and wrk2 print",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

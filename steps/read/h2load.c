/* h2load, text; several runs in one file.
 *
 *     starting benchmark...
 *     spawning thread #0: 4 total client(s). Timing-based test with 1s of warm-up time and 2s of
 *         main duration for measurements.                         (one line; or "2000 total
 * requests") Application protocol: h2c finished in 5.02s, 2000.00 req/s, 1.23MB/s requests: 10000
 * total, 10000 started, 10000 done, 9990 succeeded, 10 failed, 0 errored, 0 timeout status codes:
 * 9990 2xx, 0 3xx, 0 4xx, 10 5xx min         max         mean         sd        +/- sd time for
 * request:   123us      4.56ms       230us       101us    85.00%
 *
 * `done` has the failed ones in it: `succeeded` is what was delivered.  The time of a timing-based
 * run has the warm-up in it, its counts have not.  There are no percentiles, but for newer
 * versions, whose heading names them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "steps/lines.h"
#include "steps/list.h"
#include "steps/read/readers.h"
#include "steps/times.h"

enum { HEADING_MAX = 256 };

struct reader {
    struct fb_steps *steps;
    struct fb_step *s;         /* of the run that is open; NULL before the first */
    bool is_finished;          /* its "finished in" was seen                     */
    char heading[HEADING_MAX]; /* of the table of times                          */
};

static bool sniff(const char *head, size_t n)
{
    return fb_text_has_line(head, n, "finished in ")
               ? memmem(head, n, " req/s", 6) != NULL
               : memmem(head, n, "total client(s).", 16) != NULL;
}

static enum fb_status run_begin(struct reader *in, size_t number, struct fb_err *err)
{
    enum fb_status r = fb_steps_room(in->steps, err);

    if (r != FB_OK)
        return r;
    in->s = fb_steps_add(in->steps);
    in->s->line = (uint32_t)number;
    in->is_finished = false;
    in->heading[0] = '\0';
    return FB_OK;
}

static void spawning_line(struct fb_step *s, const char *line)
{
    const char *main_duration = strstr(line, "warm-up time and ");
    char duration[32];
    double clients, seconds;

    if (sscanf(line, "spawning thread #%*u: %lf total client(s)", &clients) == 1)
        s->conns = (isnan(s->conns) ? 0 : s->conns) + clients;
    if (main_duration && sscanf(main_duration, "warm-up time and %31s", duration) == 1 &&
        fb_duration_parse(duration, &seconds) && seconds > 0)
        s->secs = seconds;
}

static void requests_line(struct fb_step *s, const char *line)
{
    double total, started, done, succeeded, failed, errored, timeout;

    if (sscanf(
            line,
            "requests: %lf total, %lf started, %lf done, %lf succeeded, %lf failed, %lf errored, "
            "%lf timeout",
            &total, &started, &done, &succeeded, &failed, &errored, &timeout) != 7)
        return;
    s->sent = started;
    s->delivered = succeeded;
    s->errors = 0;
    fb_step_error_add(s, FB_ERROR_TIMEOUT, timeout);
    fb_step_error_add(s, FB_ERROR_CONNECT, fmax(0, errored - timeout));
    fb_step_error_add(s, FB_ERROR_OTHER, fmax(0, failed - fmax(errored, timeout)));
}

/* Failures with a status have a better class than "other". */
static void status_line(struct fb_step *s, const char *line)
{
    double ok, moved, refused, broken, other = s->errors_by[FB_ERROR_OTHER];

    if (sscanf(line, "status codes: %lf 2xx, %lf 3xx, %lf 4xx, %lf 5xx", &ok, &moved, &refused,
               &broken) != 4 ||
        !(other >= refused + broken))
        return;
    s->errors_by[FB_ERROR_HTTP_4XX] = refused;
    s->errors_by[FB_ERROR_HTTP_5XX] = broken;
    s->errors_by[FB_ERROR_OTHER] = other - refused - broken;
}

/* The values stand under the words of the heading. */
static void times_line(struct reader *in, const char *line)
{
    static const struct {
        const char *word;
        double point;
    } points[] = {{"median", 0.5}, {"p50", 0.5},     {"p90", 0.9},
                  {"p99", 0.99},   {"p99.9", 0.999}, {"p999", 0.999}};
    const char *heading = in->heading, *value = strchr(line, ':');
    char word[24], text[24];
    double seconds;
    int n;

    value = value ? value + 1 : line;
    while (sscanf(heading, " %23s%n", word, &n) == 1) {
        heading += n;
        if (sscanf(value, " %23s%n", text, &n) != 1)
            return;
        value += n;
        for (size_t i = 0; i < sizeof points / sizeof *points; i++)
            if (strcmp(word, points[i].word) == 0 && fb_duration_parse(text, &seconds))
                fb_step_percentile_put(in->s, points[i].point, seconds);
    }
}

static void protocol_line(struct reader *in, const char *line)
{
    char word[32];

    if (sscanf(line, "Application protocol: %31s", word) == 1)
        in->s->mode = fb_steps_text(in->steps, word);
}

static void finished_line(struct reader *in, const char *line)
{
    char duration[32];
    double seconds, rate;

    in->is_finished = true;
    if (sscanf(line, "finished in %31[^,], %lf req/s", duration, &rate) == 2 &&
        isnan(in->s->secs) && fb_duration_parse(duration, &seconds) && seconds > 0)
        in->s->secs = seconds;
}

static enum fb_status line_read(void *context, const char *line, size_t number, struct fb_err *err)
{
    struct reader *in = context;
    size_t n = strlen(line);
    bool finished = fb_line_begins(line, n, "finished in ");
    bool spawning = fb_line_begins(line, n, "spawning thread #");
    enum fb_status r = FB_OK;

    if (fb_line_begins(line, n, "starting benchmark") ||
        ((finished || spawning) && (!in->s || in->is_finished)))
        r = run_begin(in, number, err);
    if (r != FB_OK || !in->s)
        return r;
    if (finished)
        finished_line(in, line);
    else if (spawning)
        spawning_line(in->s, line);
    else if (fb_line_begins(line, n, "requests: "))
        requests_line(in->s, line);
    else if (fb_line_begins(line, n, "status codes: "))
        status_line(in->s, line);
    else if (fb_line_begins(line, n, "Application protocol: "))
        protocol_line(in, line);
    else if (strstr(line, " min ") && strstr(line, "sd"))
        (void)snprintf(in->heading, sizeof in->heading, "%s", line);
    else if (fb_line_begins(line, n, "time for request:"))
        times_line(in, line);
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps};
    enum fb_status r = fb_lines_each(source, line_read, &in, err);

    for (size_t i = 0; i < steps->count && r == FB_OK; i++)
        fb_step_name_default(&steps->items[i], i + 1);
    if (r == FB_OK && steps->count == 0)
        return fb_fail(err, FB_EFORMAT, "a run of h2load ('starting benchmark...') was expected");
    if (r == FB_OK)
        fb_steps_warn_closed_loop(steps, "h2load");
    return r;
}

const struct fb_steps_reader fb_steps_reader_h2load = {
    .name = "h2load",
    .what = "what h2load prints",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

#include "cli/run_state.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "steps/steps.h"

#define FIRST_LINE "# flamebank run: "

char *fb_run_path(const struct fb_run_plan *plan, size_t ramp, const char *ending)
{
    return fb_format("%s/%s%s", plan->out, plan->ramps[ramp].name, ending);
}

/* Of a name what a file's name may well have, with '-' for the rest; yours. */
static char *plain_name(const char *name)
{
    struct fb_buf out = {0};

    for (; *name; name++) {
        bool plain = isalnum((unsigned char)*name) || *name == '.' || *name == '_';

        if (plain)
            fb_buf_putc(&out, *name);
        else if (out.len > 0 && out.data[out.len - 1] != '-' && name[1] != '\0')
            fb_buf_putc(&out, '-');
    }
    return fb_buf_take(&out);
}

char *fb_run_output(const struct fb_run_plan *plan, const struct fb_run_segment *s,
                    const char *ending)
{
    char *name = plain_name(s->name);
    char *path = fb_format("%s/%s.%02zu-%s%s", plan->out, plan->ramps[s->ramp].name, s->number + 1,
                           name, ending);

    free(name);
    return path;
}

/* ---- what is done ---- */

static char *state_path(const struct fb_run_plan *plan)
{
    return fb_format("%s/run.tsv", plan->out);
}

static struct fb_run_done *done_of(const struct fb_run_plan *plan, struct fb_run_done *done,
                                   const char *ramp, size_t number)
{
    for (size_t i = 0; i < plan->segments_count; i++)
        if (plan->segments[i].number == number &&
            strcmp(plan->ramps[plan->segments[i].ramp].name, ramp) == 0)
            return &done[i];
    return NULL;
}

/* A line that was cut when the run ended is passed over. */
static void line_read(const struct fb_run_plan *plan, struct fb_run_done *done, const char *line)
{
    struct fb_run_done read = {.is_done = true}, *at;
    char ramp[200];
    size_t number;
    int n = 0;

    if (sscanf(line, "%199s %zu %" SCNd64 " %" SCNd64 " %d%n", ramp, &number, &read.start_ns,
               &read.end_ns, &read.status, &n) != 5 ||
        line[n] != '\n')
        return;
    at = done_of(plan, done, ramp, number);
    if (at)
        *at = read;
}

static enum fb_status state_read(const struct fb_run_plan *plan, const char *path, const char *text,
                                 struct fb_run_done *done, struct fb_err *err)
{
    char *mine = fb_run_plan_text(plan);
    size_t skip = strlen(FIRST_LINE), n = strlen(mine);
    bool same = strncmp(text, FIRST_LINE, skip) == 0 && strncmp(text + skip, mine, n) == 0 &&
                text[skip + n] == '\n';
    const char *line;

    free(mine);
    if (!same)
        return fb_fail(
            err, FB_EUSAGE,
            "%s: is of a run with other arms, rates or command; give another folder, or the "
            "same command line to go on with it",
            path);
    for (line = strchr(text, '\n'); line && line[1] != '\0'; line = strchr(line + 1, '\n'))
        line_read(plan, done, line + 1);
    return FB_OK;
}

static enum fb_status line_append(const struct fb_run_plan *plan, const char *line,
                                  struct fb_err *err)
{
    char *path = state_path(plan);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    enum fb_status r = fd < 0 ? fb_fail_errno(err, "%s: cannot be written", path)
                              : fb_fd_write(fd, path, line, strlen(line), err);

    if (fd >= 0)
        (void)close(fd);
    free(path);
    return r;
}

enum fb_status fb_run_state_open(const struct fb_run_plan *plan, struct fb_run_done **ret_done,
                                 struct fb_err *err)
{
    struct fb_run_done *done = fb_alloc_array(plan->segments_count, sizeof *done);
    char *path = state_path(plan);
    struct fb_buf text = {.max = 1 << 26};
    enum fb_status r = FB_OK;

    if (mkdir(plan->out, 0777) != 0 && errno != EEXIST) {
        r = fb_fail_errno(err, "%s: cannot be made", plan->out);
    } else if (access(path, F_OK) == 0) {
        r = fb_file_read(path, &text, err);
        if (r == FB_OK)
            r = state_read(plan, path, text.data ? text.data : "", done, err);
    } else {
        char *mine = fb_run_plan_text(plan), *line = fb_format(FIRST_LINE "%s\n", mine);

        r = line_append(plan, line, err);
        free(line);
        free(mine);
    }
    free(path);
    fb_buf_done(&text);
    if (r == FB_OK)
        *ret_done = done;
    else
        free(done);
    return r;
}

enum fb_status fb_run_state_add(const struct fb_run_plan *plan, const struct fb_run_segment *s,
                                const struct fb_run_done *done, struct fb_err *err)
{
    char *line = fb_format("%s\t%zu\t%" PRId64 "\t%" PRId64 "\t%d\n", plan->ramps[s->ramp].name,
                           s->number, done->start_ns, done->end_ns, done->status);
    enum fb_status r = line_append(plan, line, err);

    free(line);
    return r;
}

/* ---- tables ---- */

static void put_number(struct fb_buf *out, double value)
{
    if (isfinite(value))
        fb_buf_printf(out, "\t%.12g", value);
    else
        fb_buf_puts(out, "\tn/a");
}

/* The window is the generator's own, where it states one to better than a second: it has begun
 * before its load, and may have gone on after it. */
static void row_put(struct fb_buf *out, const struct fb_run_segment *s,
                    const struct fb_run_done *done, const struct fb_step *g)
{
    bool states_it = g && g->grain_s < 1 && g->start_ns >= done->start_ns &&
                     g->start_ns < g->end_ns && g->end_ns <= done->end_ns;

    fb_buf_printf(out, "%s\t%" PRId64 "\t%" PRId64 "\t%d", s->name,
                  states_it ? g->start_ns : done->start_ns, states_it ? g->end_ns : done->end_ns,
                  s->warmup ? 1 : 0);
    put_number(out, s->rate);
    put_number(out, g && isfinite(g->secs) ? g->secs : s->seconds);
    put_number(out, g ? g->sent : NAN);
    put_number(out, g ? g->delivered : NAN);
    put_number(out, g ? g->not_sent : NAN);
    put_number(out, g ? g->errors : NAN);
    put_number(out, g ? g->p50_s * 1e3 : NAN);
    put_number(out, g ? g->p90_s * 1e3 : NAN);
    put_number(out, g ? g->p99_s * 1e3 : NAN);
    put_number(out, g ? g->p999_s * 1e3 : NAN);
    put_number(out, g ? g->conns : NAN);
    put_number(out, g ? g->client_cpu_s : NAN);
    put_number(out, g ? g->client_throttled_s : NAN);
    fb_buf_printf(out, "\t%s", g && g->mode && !strpbrk(g->mode, "\t\r\n") ? g->mode : "");
}

/* What the generator said of its one step; NULL where no reader takes it. */
static struct fb_steps *result_read(const struct fb_run_plan *plan, const struct fb_run_segment *s)
{
    char *path = fb_run_output(plan, s, ".out");
    struct fb_steps *steps = NULL;
    struct fb_err err;

    if (fb_steps_read(path, &steps, &err) == FB_OK && steps->count != 1) {
        fb_steps_free(steps);
        steps = NULL;
    }
    free(path);
    return steps;
}

/* state: -1 all segments, else those of that state of the lever. */
static enum fb_status table_write(const struct fb_run_plan *plan, size_t ramp, int state,
                                  const char *ending, const struct fb_run_done *done,
                                  size_t *ret_unknown, struct fb_err *err)
{
    struct fb_buf out = {0};
    char *path = fb_run_path(plan, ramp, ending), *generator = fb_run_generator(plan);
    size_t rows = 0, unknown = 0;
    enum fb_status r;

    fb_buf_puts(
        &out, "name\tstart\tend\twarmup\toffered\tsecs\tsent_count\tdelivered_count\t"
              "not_sent_count\terrors_count\tp50_ms\tp90_ms\tp99_ms\tp999_ms\tconns\tclient_cpu_s\t"
              "client_throttled_s\tmode\tgenerator\n");
    for (size_t i = 0; i < plan->segments_count; i++) {
        const struct fb_run_segment *s = &plan->segments[i];
        struct fb_steps *result;

        if (s->ramp != ramp || !done[i].is_done || (state >= 0 && s->state != state))
            continue;
        result = done[i].status == 0 ? result_read(plan, s) : NULL;
        row_put(&out, s, &done[i], result ? &result->items[0] : NULL);
        fb_buf_printf(&out, "\t%s\n", generator);
        unknown += result ? 0 : 1;
        rows++;
        fb_steps_free(result);
    }
    r = rows > 0 ? fb_file_write(path, out.data, out.len, err) : FB_OK;
    fb_buf_done(&out);
    free(path);
    free(generator);
    if (ret_unknown)
        *ret_unknown = unknown;
    return r;
}

enum fb_status fb_run_tables_write(const struct fb_run_plan *plan, size_t ramp,
                                   const struct fb_run_done *done, size_t *ret_unknown,
                                   struct fb_err *err)
{
    enum fb_status r = table_write(plan, ramp, -1, ".tsv", done, ret_unknown, err);

    if (r == FB_OK && plan->on)
        r = table_write(plan, ramp, 0, ".off.tsv", done, NULL, err);
    if (r == FB_OK && plan->on)
        r = table_write(plan, ramp, 1, ".on.tsv", done, NULL, err);
    return r;
}

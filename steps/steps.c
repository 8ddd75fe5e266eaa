/* The list itself, the table of formats, and the values that follow from a record. */
#include "steps/steps.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "steps/joblog.h"
#include "steps/list.h"
#include "steps/nighthawk.h"
#include "steps/tsv.h"

static const struct fb_steps_reader readers[] = {
    {"job-log", "a job log with #NH-STEP lines", true, fb_joblog_sniff, fb_joblog_read},
    {"nighthawk", "the JSON of the load generator Nighthawk", true, fb_nighthawk_sniff,
     fb_nighthawk_read},
    {"tsv", "a table with a header row of column names, separated by tabs", false, fb_tsv_sniff,
     fb_tsv_read},
};

/* ---- reading ---- */

static enum fb_status unknown_format(const char *name, size_t len, struct fb_err *err)
{
    if (len == 0)
        return fb_fail(err, FB_EFORMAT, "%s: the file is empty; the steps of a run were expected",
                       name);
    return fb_fail(err, FB_EFORMAT,
                   "%s: no steps were found: a job log with '#NH-STEP' lines, a Nighthawk JSON "
                   "document, or a table with tabs between the names in its first row (name, "
                   "start, end, offered, delivered, warmup ...) was expected",
                   name);
}

/* Samples of a moment that two steps share would count twice; headers in whole seconds may touch.
 */
static void overlaps_check(struct fb_steps *steps)
{
    static const int64_t grain_ns = 1000000000;

    for (size_t i = 1; i < steps->count; i++) {
        const struct fb_step *before = &steps->items[i - 1], *s = &steps->items[i];

        if (before->start_ns != 0 && s->start_ns != 0 && s->start_ns < before->end_ns - grain_ns &&
            before->start_ns < s->end_ns - grain_ns)
            fb_steps_warn(steps, "line %u: step %s begins %.1f s before step %s ends", s->line,
                          s->name, (double)(before->end_ns - s->start_ns) / 1e9, before->name);
    }
}

bool fb_steps_sniff(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (readers[i].sniff(text, len))
            return true;
    }
    return false;
}

enum fb_status fb_steps_parse(const char *text, size_t len, const char *name,
                              struct fb_steps **ret_steps, struct fb_err *err)
{
    if (len > FB_STEPS_TEXT_MAX)
        return fb_fail(err, FB_ELIMIT, "%s: %zu bytes; a file of steps has at most %d", name, len,
                       FB_STEPS_TEXT_MAX);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        struct fb_steps *steps;
        enum fb_status r;

        if (!readers[i].sniff(text, len))
            continue;
        steps = fb_steps_new(name, readers[i].name);
        steps->has_generator = readers[i].has_generator;
        r = readers[i].read(text, len, steps, err);
        if (r != FB_OK) {
            fb_steps_free(steps);
            return fb_within(err, "%s", name);
        }
        for (size_t k = 0; k < steps->count; k++)
            fb_step_text_put(&steps->items[k].source, name);
        overlaps_check(steps);
        *ret_steps = steps;
        return FB_OK;
    }
    return unknown_format(name, len, err);
}

enum fb_status fb_steps_read(const char *path, struct fb_steps **ret_steps, struct fb_err *err)
{
    struct fb_buf text = {.max = FB_STEPS_TEXT_MAX};
    enum fb_status r = fb_file_read_unpacked(path, &text, err);

    if (r == FB_OK)
        r = fb_steps_parse(text.data ? text.data : "", text.len, path, ret_steps, err);
    fb_buf_done(&text);
    return r;
}

/* ---- derived values ---- */

double fb_step_delivered_per_s(const struct fb_step *s)
{
    double rate = s->delivered / s->secs;

    return isfinite(rate) ? rate : s->stated_delivered_per_s;
}

double fb_step_knee_per_s(const struct fb_step *s)
{
    double rate = s->not_sent / s->secs;

    return isfinite(rate) ? rate : s->stated_knee_per_s;
}

double fb_step_ms_per_request(const struct fb_step *s)
{
    double ms = s->cpu_s * 1000 / s->delivered;

    return isfinite(ms) ? ms : s->stated_ms_per_request;
}

double fb_step_cores(const struct fb_step *s)
{
    double cores = fb_step_ms_per_request(s) * fb_step_delivered_per_s(s) / 1000;

    if (isnan(cores)) /* a source that counts no requests */
        cores = s->cpu_s / (isnan(s->cpu_span_s) ? s->secs : s->cpu_span_s);
    return cores;
}

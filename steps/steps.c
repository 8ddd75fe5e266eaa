/* The table of formats, and the values that follow from a record. */
#include "steps/steps.h"

#include <math.h>
#include <string.h>

#include "steps/list.h"
#include "steps/read/readers.h"
#include "steps/windows.h"

/* In the order of preference: what is told by more comes first. */
static const struct fb_steps_reader *const readers[] = {
    &fb_steps_reader_joblog,     &fb_steps_reader_fortio,     &fb_steps_reader_ghz,
    &fb_steps_reader_vegeta,     &fb_steps_reader_autocannon, &fb_steps_reader_oha,
    &fb_steps_reader_k6_summary, &fb_steps_reader_json,       &fb_steps_reader_nighthawk,
    &fb_steps_reader_h2load,     &fb_steps_reader_wrk,        &fb_steps_reader_hey,
    &fb_steps_reader_k6_csv,     &fb_steps_reader_hey_csv,    &fb_steps_reader_jtl,
    &fb_steps_reader_jtl_xml,    &fb_steps_reader_h2load_log, &fb_steps_reader_tsv,
};

enum { READERS = sizeof readers / sizeof *readers };

const char *fb_steps_format(size_t i, const char **ret_what)
{
    if (i >= READERS)
        return NULL;
    *ret_what = readers[i]->what;
    return readers[i]->name;
}

/* ---- reading ---- */

static enum fb_status unknown_format(const char *name, size_t len, struct fb_err *err)
{
    if (len == 0)
        return fb_fail(err, FB_EFORMAT, "%s: the file is empty; the steps of a run were expected",
                       name);
    return fb_fail(err, FB_EFORMAT,
                   "%s: no steps were found: a job log with '#NH-STEP' lines, the result of a load "
                   "generator, or a table with tabs between the names in its first row (name, "
                   "start, end, offered, delivered, warmup ...) was expected",
                   name);
}

static const struct fb_steps_reader *reader_find(const char *head, size_t n)
{
    for (size_t i = 0; i < READERS; i++)
        if (readers[i]->sniff(head, n))
            return readers[i];
    return NULL;
}

bool fb_steps_sniff(const char *head, size_t n)
{
    return reader_find(head, n) != NULL;
}

/* Errors of the source name it already, those of a reader do not. */
static enum fb_status within_source(const char *name, struct fb_err *err)
{
    size_t n = strlen(name);

    if (strncmp(err->text, name, n) == 0 && err->text[n] == ':')
        return err->status;
    return fb_within(err, "%s", name);
}

enum fb_status fb_steps_read_source(struct fb_source *in, const struct fb_plan *plan,
                                    struct fb_steps **ret_steps, struct fb_err *err)
{
    const char *name = fb_source_name(in), *head;
    const struct fb_steps_reader *reader;
    struct fb_steps *steps;
    size_t n;
    enum fb_status r = fb_source_head(in, FB_STEPS_HEAD, &head, &n, err);

    if (r != FB_OK)
        return r;
    reader = reader_find(head, n);
    if (!reader && n < FB_STEPS_HEAD)
        return unknown_format(name, n, err);
    if (!reader) /* other programs may have said a lot before the first step */
        reader = &fb_steps_reader_joblog;
    steps = fb_steps_new(name, reader->name);
    steps->has_generator = reader->has_generator;
    steps->plan = plan;
    r = reader->read(in, steps, err);
    steps->plan = NULL;
    if (r != FB_OK) {
        fb_steps_free(steps);
        return within_source(name, err);
    }
    for (size_t k = 0; k < steps->count; k++)
        steps->items[k].source = fb_steps_text(steps, name);
    fb_steps_windows_check(steps);
    *ret_steps = steps;
    return FB_OK;
}

enum fb_status fb_steps_read(const char *path, struct fb_steps **ret_steps, struct fb_err *err)
{
    struct fb_source *in;
    enum fb_status r = fb_source_open(path, &in, err);

    if (r != FB_OK)
        return r;
    r = fb_steps_read_source(in, NULL, ret_steps, err);
    fb_source_close(in);
    return r;
}

enum fb_status fb_steps_parse(const char *text, size_t len, const char *name,
                              struct fb_steps **ret_steps, struct fb_err *err)
{
    struct fb_source *in = fb_source_of_bytes(text, len, name);
    enum fb_status r = fb_steps_read_source(in, NULL, ret_steps, err);

    fb_source_close(in);
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

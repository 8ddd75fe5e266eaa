/* JMeter's results as XML (.jtl): elements <httpSample> and <sample>, one inside the other.
 *
 *     <httpSample t="45" lt="44" ts="1788725520123" s="true" lb="GET /" rc="200" rm="OK" .../>
 *
 * t: ms, ts: ms of the epoch, s: success, rc: status.  A sample with samples inside it (a
 * transaction, a redirect, a page with its parts) repeats them: those without any are the requests.
 * Read by its tags alone; the texts between them are passed over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steps/lines.h"
#include "steps/read/readers.h"
#include "steps/requests.h"

enum { DEPTH_MAX = 200, TAG_MAX = 64 * 1024, VALUE_MAX = 100 };

struct sample {
    int64_t start_ns;
    double latency_s;
    int outcome;
    bool has_child;
};

struct reader {
    struct fb_steps *steps;
    struct fb_requests requests;
    struct sample stack[DEPTH_MAX];
    size_t depth;
    struct fb_buf tag; /* from its '<' on, until its '>' has come */
    bool in_tag;
    char quote; /* inside a value: its quote */
    double parents;
    size_t line;
};

static bool sniff(const char *head, size_t n)
{
    return memmem(head, n, "<testResults", 12) != NULL;
}

/* The value of an attribute, or "". */
static void attribute(const char *tag, const char *name, char out[VALUE_MAX])
{
    size_t n = strlen(name), len = 0;

    out[0] = '\0';
    for (const char *at = tag; (at = strstr(at, name)) != NULL; at += n) {
        if (at == tag || (at[-1] != ' ' && at[-1] != '\t' && at[-1] != '\n') || at[n] != '=' ||
            (at[n + 1] != '"' && at[n + 1] != '\''))
            continue;
        for (const char *from = at + n + 2; *from && *from != at[n + 1] && len + 1 < VALUE_MAX;)
            out[len++] = *from++;
        out[len] = '\0';
        return;
    }
}

static bool sample_of(const char *tag, struct sample *ret)
{
    char ms[VALUE_MAX], time[VALUE_MAX], success[VALUE_MAX], code[VALUE_MAX];
    double at, status;

    attribute(tag, "t", ms);
    attribute(tag, "ts", time);
    attribute(tag, "s", success);
    attribute(tag, "rc", code);
    at = fb_text_number(time, strlen(time));
    *ret = (struct sample){.latency_s = fb_text_number(ms, strlen(ms)) / 1e3};
    if (!(at > 0 && at < 9e12) || !(ret->latency_s >= 0 && ret->latency_s < 1e9))
        return false;
    ret->start_ns = (int64_t)at * 1000000;
    status = fb_text_number(code, strlen(code));
    ret->outcome =
        strstr(code, "Timeout") ? FB_ERROR_TIMEOUT : fb_request_outcome(isnan(status) ? 0 : status);
    if (strcmp(success, "true") == 0)
        ret->outcome = FB_REQUEST_OK;
    else if (ret->outcome == FB_REQUEST_OK)
        ret->outcome = FB_ERROR_CHECK;
    return true;
}

static enum fb_status leaf_add(struct reader *in, const struct sample *s, struct fb_err *err)
{
    if (s->start_ns == 0) /* one that could not be read */
        return FB_OK;
    return fb_requests_add(&in->requests, s->start_ns, s->latency_s, s->outcome, err);
}

/* One tag, from its '<' to before its '>'. */
static enum fb_status tag_read(struct reader *in, const char *tag, size_t n, struct fb_err *err)
{
    bool closes = fb_line_begins(tag, n, "</httpSample") || fb_line_begins(tag, n, "</sample");
    bool opens = fb_line_begins(tag, n, "<httpSample ") || fb_line_begins(tag, n, "<sample ");
    struct sample s;

    if (closes && in->depth > 0) {
        in->depth--;
        if (!in->stack[in->depth].has_child)
            return leaf_add(in, &in->stack[in->depth], err);
        in->parents++;
    }
    if (!opens)
        return FB_OK;
    if (!sample_of(tag, &s)) {
        fb_steps_warn(in->steps,
                      "line %zu: a sample with numbers 't' and 'ts' was expected: left out",
                      in->line);
        s = (struct sample){.start_ns = 0};
    }
    if (in->depth > 0)
        in->stack[in->depth - 1].has_child = true;
    if (tag[n - 1] == '/')
        return leaf_add(in, &s, err);
    if (in->depth == DEPTH_MAX)
        return fb_fail(err, FB_ELIMIT, "samples nested over %d deep", DEPTH_MAX);
    in->stack[in->depth++] = s;
    return FB_OK;
}

static enum fb_status line_read(void *context, const char *line, size_t number, struct fb_err *err)
{
    struct reader *in = context;
    enum fb_status r = FB_OK;

    in->line = number;
    for (const char *at = line; *at && r == FB_OK;) {
        size_t n;

        if (!in->in_tag) {
            at = strchr(at, '<');
            if (!at)
                break;
            in->in_tag = true;
            in->quote = '\0';
            in->tag.len = 0;
            in->tag.overflow = false;
        }
        for (n = 0; at[n] && (in->quote || at[n] != '>'); n++) {
            if (in->quote ? at[n] == in->quote : at[n] == '"' || at[n] == '\'')
                in->quote = in->quote ? '\0' : at[n];
        }
        fb_buf_add(&in->tag, at, n);
        at += n;
        if (*at == '>') {
            in->in_tag = false;
            at++;
            if (!in->tag.overflow)
                r = tag_read(in, in->tag.data, in->tag.len, err);
        }
    }
    if (in->in_tag)
        fb_buf_putc(&in->tag, '\n');
    return r;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps, .tag = {.max = TAG_MAX}};
    enum fb_status r;

    fb_requests_init(&in.requests, steps);
    r = fb_lines_each(source, line_read, &in, err);
    if (r == FB_OK)
        r = fb_requests_finish(&in.requests, err);
    if (r == FB_OK && in.parents > 0)
        fb_steps_warn(steps,
                      "%.0f samples with samples inside them were left out: they repeat them",
                      in.parents);
    if (r == FB_OK && steps->count == 0)
        r = fb_fail(err, FB_EFORMAT, "a <testResults> and no sample in it");
    fb_requests_done(&in.requests);
    fb_buf_done(&in.tag);
    return r;
}

const struct fb_steps_reader fb_steps_reader_jtl_xml = {
    .name = "jtl-xml",
    .what = "JMeter's results as XML",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

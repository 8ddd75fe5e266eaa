/* hey, the summary that it prints; several runs in one file.
 *
 *     Summary:
 *       Total:        2.0034 secs
 *       Requests/sec: 199.6
 *     Latency distribution:
 *       50% in 0.0012 secs
 *     Status code distribution:
 *       [200] 380 responses
 *     Error distribution:
 *       [20] Get "http://...": dial tcp ...: connect: connection refused
 *
 * Requests/sec counts the failures too, so what was delivered comes from the status codes.  The
 * latencies are of all answers, refused ones too, to 0.1 ms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "steps/lines.h"
#include "steps/list.h"
#include "steps/read/readers.h"

enum section { NONE, LATENCY, STATUS, ERRORS };

struct reader {
    struct fb_steps *steps;
    struct fb_step *s;
    enum section section;
};

static bool sniff(const char *head, size_t n)
{
    return fb_text_has_line(head, n, "Summary:") && fb_text_has_line(head, n, "  Total:\t") &&
           fb_text_has_line(head, n, "  Slowest:\t");
}

static enum fb_step_error class_of(const char *text)
{
    if (strstr(text, "imeout") || strstr(text, "deadline"))
        return FB_ERROR_TIMEOUT;
    if (strstr(text, "reset") || strstr(text, "EOF"))
        return FB_ERROR_RESET;
    return strstr(text, "dial") || strstr(text, "connect") ? FB_ERROR_CONNECT : FB_ERROR_OTHER;
}

static void value_line(struct reader *in, const char *line)
{
    struct fb_step *s = in->s;
    double a, b;

    if (sscanf(line, "  Total: %lf secs", &a) == 1 && isfinite(a) && a > 0) {
        s->secs = a;
    } else if (in->section == LATENCY && sscanf(line, " %lf%% in %lf secs", &a, &b) == 2) {
        fb_step_percentile_put(s, a / 100, b);
    } else if (in->section == STATUS && sscanf(line, " [%lf] %lf responses", &a, &b) == 2) {
        fb_step_status_add(s, a, b);
    } else if (in->section == ERRORS && sscanf(line, " [%lf]", &a) == 1) {
        fb_step_error_add(s, class_of(line), a);
    }
}

static enum fb_status line_read(void *context, const char *line, size_t number, struct fb_err *err)
{
    static const struct {
        const char *heading;
        enum section section;
    } sections[] = {{"Response time histogram:", NONE},
                    {"Latency distribution:", LATENCY},
                    {"Details ", NONE},
                    {"Status code distribution:", STATUS},
                    {"Error distribution:", ERRORS}};
    struct reader *in = context;
    size_t n = strlen(line);
    enum fb_status r = FB_OK;

    if (fb_line_begins(line, n, "Summary:")) {
        r = fb_steps_room(in->steps, err);
        if (r != FB_OK)
            return r;
        in->s = fb_steps_add(in->steps);
        in->s->line = (uint32_t)number;
        in->section = NONE;
        return FB_OK;
    }
    if (!in->s)
        return FB_OK;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!fb_line_begins(line, n, sections[i].heading))
            continue;
        in->section = sections[i].section;
        if (in->section == STATUS) /* what is not in the list is none */
            in->s->delivered = in->s->errors = 0;
    }
    value_line(in, line);
    return FB_OK;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct reader in = {.steps = steps};
    enum fb_status r = fb_lines_each(source, line_read, &in, err);

    for (size_t i = 0; i < steps->count && r == FB_OK; i++) {
        struct fb_step *s = &steps->items[i];

        s->sent = s->delivered + s->errors;
        fb_step_name_default(s, i + 1);
    }
    if (r == FB_OK)
        fb_steps_warn_closed_loop(steps, "hey");
    return r;
}

const struct fb_steps_reader fb_steps_reader_hey = {
    .name = "hey",
    .what = "the summary that hey prints",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};

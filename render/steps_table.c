/* The per-step table: columns and decimals as users publish them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/render.h"

#define MIB 1048576.0

/* "200", "200 (warmup)"; the name of the step where no rate is known. */
static char *offered_text(const struct fb_step *s)
{
    if (isnan(s->offered))
        return fb_strdup(s->name);
    return fb_format("%.10g%s", s->offered, s->warmup ? " (warmup)" : "");
}

/* Whether a name says more than the offered rate does. */
static bool has_names(const struct fb_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        char *offered = offered_text(&steps->items[i]);
        char *bare = fb_format("%.10g", steps->items[i].offered);
        bool same =
            !isnan(steps->items[i].offered) &&
            (strcmp(steps->items[i].name, offered) == 0 || strcmp(steps->items[i].name, bare) == 0);

        free(offered);
        free(bare);
        if (!same)
            return true;
    }
    return false;
}

static bool has_conns(const struct fb_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++)
        if (!isnan(steps->items[i].conns))
            return true;
    return false;
}

static void columns_add(struct fb_table *t, bool names, bool conns)
{
    static const struct {
        const char *key, *heading;
    } columns[] = {
        {"offered", "offered"},
        {"delivered_per_s", "delivered/s"},
        {"p50_ms", "p50 ms"},
        {"p99_ms", "p99 ms"},
        {"p999_ms", "p999 ms"},
        {"knee_per_s", "knee/s"},
        {"cpu_ms_per_req", "cpu ms/req"},
        {"throttled_s", "throttled s"},
        {"heap_mb", "heap MB"},
        {"rss_mb", "rss MB"},
    };
    static const char *const data[] = {"name",
                                       "mode",
                                       "warmup",
                                       "start_s",
                                       "end_s",
                                       "secs",
                                       "sent",
                                       "delivered",
                                       "not_sent",
                                       "errors",
                                       "p90_ms",
                                       "p99_point",
                                       "cpu_s",
                                       "cpu_span_s",
                                       "cpu_source",
                                       "bank_cpu_s",
                                       "node_busy",
                                       "node_softirq",
                                       "client_throttled_s",
                                       "gc_share",
                                       "samples",
                                       "yield",
                                       "source",
                                       "line",
                                       "why"};

    if (names)
        fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        fb_table_column(t, columns[i].key, columns[i].heading, FB_ALIGN_RIGHT);
    if (conns)
        fb_table_column(t, "conns", "conns", FB_ALIGN_RIGHT);
    fb_table_column(t, "cores", "cores", FB_ALIGN_RIGHT);
    fb_table_column(t, "health", "health", FB_ALIGN_LEFT);
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++)
        fb_table_data_column(t, data[i]);
}

static void data_add(struct fb_table *t, const struct fb_step *s)
{
    fb_table_text(t, s->name);
    fb_table_text(t, s->mode ? s->mode : "");
    fb_table_number(t, s->warmup ? 1 : 0, 0);
    fb_table_number(t, s->start_ns ? (double)s->start_ns / 1e9 : NAN, 3);
    fb_table_number(t, s->end_ns ? (double)s->end_ns / 1e9 : NAN, 3);
    fb_table_number(t, s->secs, 3);
    fb_table_number(t, s->sent, 0);
    fb_table_number(t, s->delivered, 0);
    fb_table_number(t, s->not_sent, 0);
    fb_table_number(t, s->errors, 0);
    fb_table_number(t, s->p90_s * 1e3, 2);
    fb_table_number(t, s->p99_point, 6);
    fb_table_number(t, s->cpu_s, 3);
    fb_table_number(t, s->cpu_span_s, 3);
    fb_table_text(t, s->cpu_source ? s->cpu_source : "");
    fb_table_number(t, s->bank_cpu_s, 3);
    fb_table_number(t, s->node_busy, 3);
    fb_table_number(t, s->node_softirq, 3);
    fb_table_number(t, s->client_throttled_s, 1);
    fb_table_number(t, s->gc_share, 3);
    fb_table_number(t, s->samples, 0);
    fb_table_number(t, s->yield, 3);
    fb_table_text(t, s->source ? s->source : "");
    fb_table_number(t, s->line > 0 ? (double)s->line : NAN, 0);
    fb_table_text(t, s->why ? s->why : "");
}

/* Two digits of the smallest: a request may take a microsecond. */
static int ms_decimals(const struct fb_steps *steps)
{
    int decimals = 3;

    for (size_t i = 0; i < steps->count; i++) {
        double ms = fb_step_ms_per_request(&steps->items[i]);

        while (ms > 0 && decimals < 7 && ms * pow(10, decimals) < 9.5)
            decimals++;
    }
    return decimals;
}

static void row_add(struct fb_table *t, const struct fb_step *s, bool names, bool conns,
                    int decimals)
{
    struct fb_buf health = {0};
    char *offered = offered_text(s);

    fb_table_row(t);
    if (names)
        fb_table_text(t, s->name);
    fb_table_textf(t, s->offered, "%s", names && isnan(s->offered) ? "n/a" : offered);
    fb_table_number(t, fb_step_delivered_per_s(s), 1);
    fb_table_number(t, s->p50_s * 1e3, 2);
    fb_table_number(t, s->p99_s * 1e3, 2);
    fb_table_number(t, s->p999_s * 1e3, 2);
    fb_table_number(t, fb_step_knee_per_s(s), 1);
    fb_table_number(t, fb_step_ms_per_request(s), decimals);
    fb_table_number(t, s->throttled_s, 1);
    fb_table_number(t, s->heap_bytes / MIB, 0);
    fb_table_number(t, s->rss_bytes / MIB, 0);
    if (conns)
        fb_table_number(t, s->conns, 0);
    fb_table_number(t, fb_step_cores(s), 2);
    fb_step_health_text(s->health, &health);
    fb_table_text_n(t, health.data ? health.data : "", health.len);
    if (s->health & FB_STEP_SICK)
        fb_table_mute(t);
    data_add(t, s);
    fb_buf_done(&health);
    free(offered);
}

/* One sentence a distinct source of CPU time: shares of an arm's CPU mean different things. */
static void source_note(struct fb_table *t, const struct fb_steps *steps)
{
    struct fb_buf b = {0};

    for (size_t i = 0; i < steps->count; i++) {
        const char *source = steps->items[i].cpu_source;
        bool seen = source == NULL;

        for (size_t j = 0; j < i && !seen; j++)
            seen = steps->items[j].cpu_source && strcmp(steps->items[j].cpu_source, source) == 0;
        if (!seen)
            fb_buf_printf(&b, "%s%s", b.len > 0 ? ", " : "cpu ms/req from: ", source);
    }
    if (b.len > 0) {
        fb_buf_putc(&b, '.');
        fb_table_note(t, b.data);
    }
    fb_buf_done(&b);
}

static void onset_note(struct fb_table *t, const struct fb_steps *steps)
{
    char text[160];

    if (isnan(steps->onset_s) || strcmp(steps->format, "marks") == 0)
        return;
    (void)snprintf(text, sizeof text,
                   "clock: the arm's CPU follows the steps best with a shift of %+.1f s (not "
                   "applied).",
                   steps->onset_s);
    fb_table_note(t, text);
}

struct fb_table *fb_render_steps(const struct fb_steps *steps)
{
    bool names = has_names(steps), conns = has_conns(steps);
    char *title = fb_format("Steps of %s", steps->source);
    struct fb_table *t = fb_table_new(title);
    int decimals = ms_decimals(steps);

    columns_add(t, names, conns);
    for (size_t i = 0; i < steps->count; i++)
        row_add(t, &steps->items[i], names, conns, decimals);
    for (size_t i = 0; i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];
        char *offered = offered_text(s);

        if (s->why && s->why[0] != '\0') {
            char *note = fb_format("%s: %s", names ? s->name : offered, s->why);

            fb_table_note(t, note);
            free(note);
        }
        free(offered);
    }
    source_note(t, steps);
    onset_note(t, steps);
    for (size_t i = 0; i < steps->warnings_count; i++)
        fb_table_note(t, steps->warnings[i]);
    free(title);
    return t;
}

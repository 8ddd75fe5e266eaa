/* N arms side by side: the ladder, one value by rate, changes against the first arm, the
 * generator's counters, and the attribution of one step. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/cells.h"
#include "render/render.h"

#define MIB 1048576.0

static const char sick_note[] =
    "* carries no verdict of its own (first step, past the knee, sick): "
    "'flamebank steps' says why.";

static const struct fb_step *step_at(const struct fb_compare *c, size_t arm)
{
    return c->row != SIZE_MAX ? c->matched->rows[c->row].steps[arm] : NULL;
}

static bool is_sick(const struct fb_step *s)
{
    return s && (s->health & FB_STEP_SICK);
}

/* A value with the mark of a step that carries no verdict. */
static void value_cell(struct fb_table *t, const struct fb_step *s, double value, int decimals)
{
    if (isnan(value) || !is_sick(s))
        fb_table_number(t, value, decimals);
    else
        fb_table_textf(t, value, "%.*f*", decimals, value);
}

static double p50_of(const struct fb_step *s)
{
    return s->p50_s * 1e3;
}

static double p99_of(const struct fb_step *s)
{
    return s->p99_s * 1e3;
}

/* ---- ladder ---- */

static void knee_cell(struct fb_table *t, const struct fb_ramp *r)
{
    if (!r->knee)
        fb_table_number(t, NAN, 0);
    else if (r->knee_is_open)
        fb_table_textf(t, r->knee->offered, "over %.10g", r->knee->offered);
    else
        fb_table_number(t, r->knee->offered, 0);
}

static void ladder_row(struct fb_table *t, const struct fb_compare *c, size_t arm)
{
    const struct fb_ramp *r = &c->arms[arm].ramp;
    const struct fb_step *s = step_at(c, arm);

    fb_table_row(t);
    fb_table_text(t, c->arms[arm].name);
    knee_cell(t, r);
    fb_table_number(t, r->plateau, 1);
    fb_table_number(t, r->most ? fb_step_delivered_per_s(r->most) : NAN, 1);
    value_cell(t, s, s ? fb_step_ms_per_request(s) : NAN, 3);
    value_cell(t, s, s ? s->p50_s * 1e3 : NAN, 2);
    value_cell(t, s, s ? s->p99_s * 1e3 : NAN, 2);
    value_cell(t, s, s ? fb_step_cores(s) : NAN, 2);
    fb_table_number(t, s ? s->rss_bytes / MIB : NAN, 0);
    fb_table_number(t, r->fixed_cores, 2);
    fb_table_number(t, r->marginal_ms, 3);
}

static void ladder_notes(struct fb_table *t, const struct fb_compare *c)
{
    char words[80], *text;

    text = fb_format("Knee: the last step with %s.", fb_knee_words(c->knee, words));
    fb_table_note(t, text);
    free(text);
    for (size_t a = 0; a < c->count; a++) {
        if (c->arms[a].ramp.no_plateau[0] == '\0')
            continue;
        text = fb_format("%s: no plateau: %s.", c->arms[a].name, c->arms[a].ramp.no_plateau);
        fb_table_note(t, text);
        free(text);
    }
    fb_table_note(t, "At no load, and each further request: the line through the sound steps' "
                     "cores over their delivered rates.");
}

struct fb_table *fb_render_compare_ladder(const struct fb_compare *c)
{
    struct fb_table *t = fb_table_new("Ladder");
    char *at;
    bool any_sick = false;

    at = c->row == SIZE_MAX ? fb_strdup("no rate in common")
                            : fb_format("at %.10g/s", c->matched->rows[c->row].offered);
    fb_table_column(t, "arm", "arm", FB_ALIGN_LEFT);
    fb_table_column(t, "knee_rate_per_s", "knee rate/s", FB_ALIGN_RIGHT);
    fb_table_column(t, "plateau_per_s", "plateau/s", FB_ALIGN_RIGHT);
    fb_table_column(t, "most_per_s", "most/s", FB_ALIGN_RIGHT);
    fb_table_group(t, at);
    fb_table_column(t, "cpu_ms_per_req", "cpu ms/req", FB_ALIGN_RIGHT);
    fb_table_column(t, "p50_ms", "p50 ms", FB_ALIGN_RIGHT);
    fb_table_column(t, "p99_ms", "p99 ms", FB_ALIGN_RIGHT);
    fb_table_column(t, "cores", "cores", FB_ALIGN_RIGHT);
    fb_table_column(t, "rss_mb", "rss MB", FB_ALIGN_RIGHT);
    fb_table_group(t, "cost");
    fb_table_column(t, "fixed_cores", "cores at no load", FB_ALIGN_RIGHT);
    fb_table_column(t, "marginal_ms", "ms a further request", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    for (size_t a = 0; a < c->count; a++) {
        ladder_row(t, c, a);
        any_sick = any_sick || is_sick(step_at(c, a));
    }
    ladder_notes(t, c);
    if (any_sick)
        fb_table_note(t, sick_note);
    free(at);
    return t;
}

/* ---- saturated ---- */

struct fb_table *fb_render_compare_saturated(const struct fb_compare *c)
{
    struct fb_table *t = fb_table_new("Saturated: throughput per core");

    fb_table_column(t, "arm", "arm", FB_ALIGN_LEFT);
    fb_table_column(t, "conns", "conns", FB_ALIGN_RIGHT);
    fb_table_column(t, "delivered_per_s", "delivered/s", FB_ALIGN_RIGHT);
    fb_table_column(t, "cores", "cores", FB_ALIGN_RIGHT);
    fb_table_column(t, "per_core", "per core", FB_ALIGN_RIGHT);
    fb_table_column(t, "from", "from", FB_ALIGN_LEFT);
    for (size_t a = 0; a < c->count; a++) {
        const struct fb_ramp *r = &c->arms[a].ramp;
        bool has_plateau = !isnan(r->plateau);
        double rate = has_plateau ? r->plateau : r->most ? fb_step_delivered_per_s(r->most) : NAN;
        double cores = has_plateau ? r->plateau_cores : r->most ? fb_step_cores(r->most) : NAN;
        bool is_full = r->most && (r->most->health & FB_STEP_OVER);
        char from[80];

        if (has_plateau)
            (void)snprintf(from, sizeof from, "plateau of %zu steps", r->plateau_steps);
        else
            (void)snprintf(from, sizeof from, "%s: one step, %.10g/s offered",
                           is_full ? "no plateau" : "not saturated",
                           r->most ? r->most->offered : 0);
        fb_table_row(t);
        fb_table_text(t, c->arms[a].name);
        fb_table_number(t, r->most ? r->most->conns : NAN, 0);
        fb_table_number(t, rate, 1);
        fb_table_number(t, cores, 2);
        fb_table_number(t, rate / cores, 0);
        fb_table_text(t, r->most ? from : "");
    }
    return t;
}

/* ---- one value by rate ---- */

const struct fb_compare_value fb_compare_values[] = {
    {"delivered", "Delivered per second by offered rate", fb_step_delivered_per_s, 1},
    {"cpu", "CPU per request, ms, by offered rate", fb_step_ms_per_request, 3},
    {"p99", "p99, ms, by offered rate", p99_of, 2},
    {"cores", "Cores by offered rate", fb_step_cores, 2},
    {0},
};

struct fb_table *fb_render_compare_by_rate(const struct fb_compare *c,
                                           const struct fb_compare_value *value)
{
    struct fb_table *t = fb_table_new(value->title);
    bool any_sick = false;

    fb_table_column(t, "offered", "offered", FB_ALIGN_RIGHT);
    for (size_t a = 0; a < c->count; a++)
        fb_table_column(t, c->arms[a].name, c->arms[a].name, FB_ALIGN_RIGHT);
    for (size_t i = 0; i < c->matched->count; i++) {
        const struct fb_matched_row *row = &c->matched->rows[i];

        fb_table_row(t);
        fb_table_number(t, row->offered, 0);
        for (size_t a = 0; a < c->count; a++) {
            const struct fb_step *s = row->steps[a];

            any_sick = any_sick || is_sick(s);
            if (s)
                value_cell(t, s, value->of(s), value->decimals);
            else
                fb_table_text(t, "");
        }
    }
    if (any_sick)
        fb_table_note(t, sick_note);
    return t;
}

/* ---- switches: every arm against the first ---- */

static const fb_step_value switched[] = {fb_step_delivered_per_s, fb_step_ms_per_request, p50_of,
                                         p99_of, fb_step_cores};
enum { SWITCHED = sizeof switched / sizeof *switched };

static void change_cell(struct fb_table *t, double change, bool is_marked)
{
    if (isnan(change))
        fb_table_number(t, NAN, 1);
    else
        fb_table_textf(t, change * 100, "%+.1f%s", change * 100, is_marked ? "*" : "");
}

static void medians_row(struct fb_table *t, const struct fb_compare *c, size_t arm, bool only_sound)
{
    char *label;
    struct fb_matched_median m =
        fb_matched_median_of(c->matched, arm, fb_step_ms_per_request, only_sound);

    if (m.rows == 0)
        return;
    label = fb_format("median, %zu %s", m.rows, only_sound ? "sound" : "all");
    if (only_sound)
        fb_table_rule(t);
    fb_table_row(t);
    fb_table_text(t, label);
    for (size_t v = 0; v < SWITCHED; v++)
        change_cell(t, fb_matched_median_of(c->matched, arm, switched[v], only_sound).median,
                    false);
    free(label);
}

struct fb_table *fb_render_compare_switch(const struct fb_compare *c, size_t arm)
{
    char *title = fb_format("From %s to %s: change in %%, by offered rate", c->arms[0].name,
                            c->arms[arm].name);
    struct fb_table *t = fb_table_new(title);
    static const char *const keys[] = {"delivered", "cpu_ms_per_req", "p50", "p99", "cores"};
    static const char *const heads[] = {"delivered", "cpu/req", "p50", "p99", "cores"};
    bool any_sick = false;

    fb_table_column(t, "offered", "offered", FB_ALIGN_RIGHT);
    for (size_t v = 0; v < SWITCHED; v++)
        fb_table_column(t, keys[v], heads[v], FB_ALIGN_RIGHT);
    for (size_t i = 0; i < c->matched->count; i++) {
        const struct fb_matched_row *row = &c->matched->rows[i];
        bool is_marked = is_sick(row->steps[0]) || is_sick(row->steps[arm]);

        if (!row->steps[0] || !row->steps[arm])
            continue;
        any_sick = any_sick || is_marked;
        fb_table_row(t);
        fb_table_number(t, row->offered, 0);
        for (size_t v = 0; v < SWITCHED; v++)
            change_cell(t, fb_matched_change(row, arm, switched[v]), is_marked);
    }
    medians_row(t, c, arm, true);
    medians_row(t, c, arm, false);
    fb_table_note(t, "A change is (arm - first arm) / first arm. One run each: 'flamebank diff' "
                     "says which changes are real.");
    if (any_sick)
        fb_table_note(t, sick_note);
    free(title);
    return t;
}

/* ---- the generator's counters of one step ---- */

static bool is_named(const struct fb_compare *c, size_t arm, size_t counter)
{
    const char *name = step_at(c, arm)->counters[counter].name;

    for (size_t a = 0; a < arm; a++)
        if (step_at(c, a) && !isnan(fb_step_counter(step_at(c, a), name)))
            return true;
    return false;
}

struct fb_table *fb_render_compare_counters(const struct fb_compare *c)
{
    struct fb_table *t = NULL;

    for (size_t a = 0; a < c->count; a++) {
        const struct fb_step *s = step_at(c, a);

        for (size_t i = 0; s && i < s->counters_count; i++) {
            if (is_named(c, a, i))
                continue;
            if (!t) {
                char *title = fb_format("The generator's counters at %.10g/s",
                                        c->matched->rows[c->row].offered);

                t = fb_table_new(title);
                free(title);
                fb_table_column(t, "counter", "counter", FB_ALIGN_LEFT);
                for (size_t k = 0; k < c->count; k++)
                    fb_table_column(t, c->arms[k].name, c->arms[k].name, FB_ALIGN_RIGHT);
            }
            fb_table_row(t);
            fb_table_text(t, s->counters[i].name);
            for (size_t k = 0; k < c->count; k++)
                fb_table_number(
                    t, step_at(c, k) ? fb_step_counter(step_at(c, k), s->counters[i].name) : NAN,
                    0);
        }
    }
    return t;
}

/* ---- attribution ---- */

static void attribution_columns(struct fb_table *t, const struct fb_compare *c)
{
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    for (size_t a = 0; a < c->count; a++) {
        char *share = fb_format("%s_share", c->arms[a].name);
        char *ms = fb_format("%s_ms", c->arms[a].name);

        fb_table_group(t, c->arms[a].name);
        fb_table_column(t, share, "share %", FB_ALIGN_RIGHT);
        fb_table_column(t, ms, "ms/req", FB_ALIGN_RIGHT);
        free(share);
        free(ms);
    }
    fb_table_group(t, NULL);
}

static void attribution_cells(struct fb_table *t, const struct fb_compare *c, size_t arm,
                              double share)
{
    const struct fb_step *s = step_at(c, arm);
    bool known = c->arms[arm].shares && s;

    value_cell(t, s, known ? share * 100 : NAN, 1);
    value_cell(t, s, known ? share * fb_step_ms_per_request(s) : NAN, 4);
}

struct fb_table *fb_render_compare_attribution(const struct fb_compare *c)
{
    struct fb_table *t;
    size_t layers = c->layers ? fb_layers_count(c->layers) : 0, known = 0;
    char *title;

    for (size_t a = 0; a < c->count; a++)
        known += c->arms[a].shares ? 1 : 0;
    if (known == 0 || layers == 0)
        return NULL;
    title = fb_format("Attribution at %.10g/s: share of samples and ms of CPU per request",
                      c->matched->rows[c->row].offered);
    t = fb_table_new(title);
    free(title);
    attribution_columns(t, c);
    for (size_t l = 0; l < layers; l++) {
        bool any = false;

        for (size_t a = 0; a < c->count; a++)
            any = any || (c->arms[a].shares && c->arms[a].shares[l] > 0);
        if (!any)
            continue;
        fb_table_row(t);
        fb_table_text(t, fb_layers_get(c->layers, l)->name);
        for (size_t a = 0; a < c->count; a++)
            attribution_cells(t, c, a, c->arms[a].shares ? c->arms[a].shares[l] : NAN);
    }
    fb_table_rule(t);
    fb_table_row(t);
    fb_table_text(t, "total");
    for (size_t a = 0; a < c->count; a++)
        attribution_cells(t, c, a, 1);
    return t;
}

/* The tables of one step of a diff.  Every figure comes from diff/; here it only gets its words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/render.h"

enum { FRAME_WIDTH = 48 };

static const int metric_decimals[FB_METRIC_COUNT] = {
    [FB_METRIC_OFFERED] = 0, [FB_METRIC_DELIVERED] = 1, [FB_METRIC_NOT_SENT] = 1,
    [FB_METRIC_P50] = 2,     [FB_METRIC_P99] = 2,       [FB_METRIC_P999] = 2,
    [FB_METRIC_CORES] = 3,   [FB_METRIC_THROTTLED] = 1, [FB_METRIC_HEAP] = 0,
    [FB_METRIC_RSS] = 0,
};

/* The larger half of an interval, so that value ± half covers it. */
static double half_of(double value, double lo, double hi)
{
    return fmax(value - lo, hi - value);
}

static void percent_text(struct fb_buf *b, double ratio)
{
    double p = 100 * ratio;
    int decimals = fabs(p) >= 1000 ? 0 : 1;

    fb_buf_printf(b, "%+.*f", decimals, fabs(p) < 0.05 ? 0.0 : p);
}

/* Decimals that give a bound below 10 two significant digits. */
static int bound_decimals(double bound)
{
    int decimals = bound > 0 ? 1 - (int)floor(log10(bound)) : 1;

    return decimals < 0 ? 0 : decimals > 8 ? 8 : decimals;
}

static void share_cell(struct fb_table *t, const struct fb_diff_side *s)
{
    double half = half_of(s->share, s->share_lo, s->share_hi);

    if (isnan(s->share))
        fb_table_number(t, NAN, 1);
    else if (!(s->share > 0) && s->share_hi > 0)
        fb_table_textf(t, 0, "0 (<%.*f)%s", bound_decimals(100 * s->share_hi), 100 * s->share_hi,
                       s->deff_assumed ? "*" : "");
    else if (isnan(half))
        fb_table_textf(t, 100 * s->share, "%.1f", 100 * s->share);
    else
        fb_table_textf(t, 100 * s->share, "%.1f ±%.1f%s", 100 * s->share, 100 * half,
                       s->deff_assumed ? "*" : "");
}

/* Decimals that give four digits to `largest`, at least three and at most eight. */
static int decimals_for(double largest)
{
    int decimals = largest > 0 ? 3 - (int)floor(log10(largest)) : 4;

    return decimals < 3 ? 3 : decimals > 8 ? 8 : decimals;
}

/* One number of decimals for all ms of a step: that of the whole cost of a request. */
static int ms_decimals(const struct fb_diff_step *s)
{
    double largest = 0;

    for (size_t i = 0; i < s->layers_count; i++)
        largest = fmax(largest, fmax(s->layers[i].control.ms, s->layers[i].variant.ms));
    return decimals_for(largest);
}

static void ms_cell(struct fb_table *t, const struct fb_diff_side *s, int decimals)
{
    double half = half_of(s->ms, s->ms_lo, s->ms_hi);

    if (isnan(s->ms) || isnan(half))
        fb_table_number(t, s->ms, decimals);
    else if (!(s->ms > 0))
        fb_table_textf(t, 0, "0 (<%.*f)", bound_decimals(s->ms_hi), s->ms_hi);
    else
        fb_table_textf(t, s->ms, "%.*f ±%.*f", decimals, s->ms, decimals, half);
}

/* +1: only the variant has it; -1: only the control has it; 0: both or neither. */
static int presence(const struct fb_diff_row *r)
{
    bool control = r->control.share > 0, variant = r->variant.share > 0;

    return control == variant ? 0 : variant ? 1 : -1;
}

static enum fb_tone tone_of(const struct fb_diff_row *r, int side)
{
    if (r->verdict != FB_VERDICT_DIFF && r->verdict != FB_VERDICT_ABSENT)
        return FB_TONE_PLAIN;
    if (side != 0)
        return side > 0 ? FB_TONE_MORE : FB_TONE_LESS;
    return isnan(r->change) ? FB_TONE_STRONG : r->change > 0 ? FB_TONE_MORE : FB_TONE_LESS;
}

static void change_cells(struct fb_table *t, const struct fb_diff_row *r, int side)
{
    struct fb_buf b = {0};

    fb_buf_puts(&b, "");
    if (side != 0)
        fb_table_textf(t, NAN, side > 0 ? "new" : "gone");
    else if (isnan(r->change))
        fb_table_number(t, NAN, 1);
    else {
        percent_text(&b, r->change);
        fb_table_textf(t, 100 * r->change, "%s", b.data);
    }
    fb_table_tone(t, tone_of(r, side));
    b.len = 0;
    if (side == 0 && !isnan(r->d_lo) && !isnan(r->d_hi)) {
        percent_text(&b, exp(r->d_lo) - 1);
        fb_buf_puts(&b, " to ");
        percent_text(&b, exp(r->d_hi) - 1);
    }
    fb_table_text_n(t, b.data, b.len);
    fb_buf_done(&b);
}

/* The reason of rows that are facts beside the verdicts (diff/metric_rows.c). */
static const char only_shown[] = "shown, not judged";

static void why_add(struct fb_buf *why, const char *text)
{
    fb_buf_puts(why, why->len > 0 ? "; " : "");
    fb_buf_puts(why, text);
}

/* Verdict and why.  What denies the whole step a verdict stands once, under the table. */
static void verdict_cells(struct fb_table *t, const struct fb_diff_row *r, int side,
                          const char *denial)
{
    struct fb_buf why = {0}, verdict = {0};
    bool is_one_sided = r->verdict == FB_VERDICT_ABSENT || r->verdict == FB_VERDICT_NOT_SEEN;

    if (r->verdict == FB_VERDICT_NONE && r->reason && strcmp(r->reason, only_shown) == 0) {
        fb_table_text(t, "-");
        fb_table_text(t, "");
        return;
    }
    fb_buf_puts(&why, "");
    fb_buf_puts(&verdict, fb_verdict_word(r->verdict));
    if (is_one_sided && side != 0)
        fb_buf_printf(&verdict, " in %s", side > 0 ? "control" : "variant");
    fb_table_text_n(t, verdict.data, verdict.len);
    fb_table_tone(t, tone_of(r, side));
    if (is_one_sided && !isnan(r->bound))
        fb_buf_printf(&why, "at most %.2g %% there", 100 * r->bound);
    if (r->reason && r->reason[0] != '\0' && (!denial || strcmp(r->reason, denial) != 0))
        why_add(&why, r->reason);
    if (r->verdict == FB_VERDICT_UNRESOLVED && !isnan(r->mde)) {
        char *text = fb_format("could hide ±%.*f %%", r->mde < 0.1 ? 1 : 0, 100 * r->mde);

        why_add(&why, text);
        free(text);
    }
    if (r->within_delta)
        why_add(&why, "smaller than the margin that counts");
    if (r->is_moved)
        why_add(&why, "moved by inlining: its boundary did not follow");
    fb_table_text_n(t, why.data, why.len);
    fb_buf_done(&why);
    fb_buf_done(&verdict);
    if (r->verdict != FB_VERDICT_DIFF && r->verdict != FB_VERDICT_SAME &&
        r->verdict != FB_VERDICT_ABSENT)
        fb_table_mute(t);
}

static void side_data(struct fb_table *t, const struct fb_diff_side *s)
{
    fb_table_number(t, 100 * s->share_lo, 3);
    fb_table_number(t, 100 * s->share_hi, 3);
    fb_table_number(t, s->ms_lo, 6);
    fb_table_number(t, s->ms_hi, 6);
    fb_table_number(t, s->samples, 0);
    fb_table_number(t, s->cores, 4);
    fb_table_number(t, s->deff, 2);
    fb_table_number(t, s->deff_assumed ? 1 : 0, 0);
}

static void change_data(struct fb_table *t, const struct fb_diff_row *r)
{
    fb_table_number(t, 100 * (exp(r->d_lo) - 1), 3);
    fb_table_number(t, 100 * (exp(r->d_hi) - 1), 3);
    fb_table_number(t, r->change_ms, 6);
    fb_table_number(t, 100 * r->floor, 3);
    fb_table_number(t, 100 * r->mde, 3);
    fb_table_number(t, 100 * r->bound, 4);
    fb_table_text(t, r->reason ? r->reason : "");
    fb_table_text(t, r->on_share ? "share" : "ms");
}

static void change_columns(struct fb_table *t, const char *rule)
{
    fb_table_group(t, rule);
    fb_table_column(t, "change_percent", "%", FB_ALIGN_RIGHT);
    fb_table_column(t, "interval_text", "95 % interval", FB_ALIGN_LEFT);
}

static void verdict_columns(struct fb_table *t)
{
    fb_table_group(t, NULL);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_column(t, "why", "", FB_ALIGN_LEFT);
}

static void change_data_columns(struct fb_table *t)
{
    static const char *const keys[] = {
        "change_lo_percent", "change_hi_percent", "change_ms", "floor_percent",
        "mde_percent",       "bound_percent",     "reason",    "judged_on"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        fb_table_data_column(t, keys[i]);
}

/* The columns that a table of shares has after its names. */
static void share_columns(struct fb_table *t, bool has_ms, bool on_ms)
{
    static const char *const arms[] = {"control", "variant"};
    static const char *const keys[] = {
        "share_lo_percent", "share_hi_percent", "ms_lo", "ms_hi", "samples", "cores", "deff",
        "deff_assumed"};

    for (size_t a = 0; a < 2; a++) {
        char *share = fb_format("%s_share_percent", arms[a]), *ms = fb_format("%s_ms", arms[a]);

        fb_table_group(t, arms[a]);
        fb_table_column(t, share, "share %", FB_ALIGN_RIGHT);
        if (has_ms)
            fb_table_column(t, ms, "ms/req", FB_ALIGN_RIGHT);
        free(share);
        free(ms);
    }
    change_columns(t, on_ms ? "change of ms/req" : "change of share");
    fb_table_column(t, "change_points", "points", FB_ALIGN_RIGHT);
    verdict_columns(t);
    change_data_columns(t);
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            char *key = fb_format("%s_%s", arms[a], keys[i]);

            fb_table_data_column(t, key);
            free(key);
        }
}

/* decimals < 0: without ms. */
static void share_cells(struct fb_table *t, const struct fb_diff_row *r, int decimals,
                        const char *denial)
{
    int side = presence(r);
    struct fb_buf b = {0};

    share_cell(t, &r->control);
    if (decimals >= 0)
        ms_cell(t, &r->control, decimals);
    share_cell(t, &r->variant);
    if (decimals >= 0)
        ms_cell(t, &r->variant, decimals);
    change_cells(t, r, side);
    percent_text(&b, r->change_points);
    fb_table_textf(t, 100 * r->change_points, "%s", isnan(r->change_points) ? "n/a" : b.data);
    verdict_cells(t, r, side, denial);
    change_data(t, r);
    side_data(t, &r->control);
    side_data(t, &r->variant);
    fb_buf_done(&b);
}

/* The label of the first run of one arm in the step, "" if there is none. */
static const char *label_of(const struct fb_diff_step *s, bool is_variant)
{
    for (size_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].arm->is_variant == is_variant)
            return s->runs[i].arm->label;
    return "";
}

/* Bytes of the folders that both labels begin with: they tell the arms not apart. */
static size_t common_folders(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    return common;
}

static struct fb_table *new_table(const char *what, const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    const char *control = label_of(s, false), *variant = label_of(s, true);
    size_t skip = common_folders(control, variant);
    struct fb_buf title = {0};
    struct fb_table *t;

    fb_buf_printf(&title, "%s, step %s: control %s, variant %s", what, s->name, control + skip,
                  variant + skip);
    if (s->pairs > 1)
        fb_buf_printf(&title, ", %zu pairs", s->pairs);
    fb_buf_puts(&title, "; change = (variant - control) / control");
    t = fb_table_new(title.data);
    fb_buf_done(&title);
    return t;
}

/* "<before><text>." as a note; nothing for an empty text. */
static void sentence_add(struct fb_table *t, const char *before, const char *text)
{
    size_t len = text ? strlen(text) : 0;
    char *note;

    if (len == 0)
        return;
    note = fb_format("%s%s%s", before, text, text[len - 1] == '.' ? "" : ".");
    fb_table_note(t, note);
    free(note);
}

static void denial_note(struct fb_table *t, const struct fb_diff_step *s)
{
    sentence_add(t, "No verdicts in this step: ", s->denial);
}

/* What concerns the whole step stands once, under its metrics. */
static void step_notes(struct fb_table *t, const struct fb_diff_step *s)
{
    sentence_add(t, "Health of the step: ", s->why);
    denial_note(t, s);
    if (!s->is_comparable)
        fb_table_note(t, "The delivered rates differ by more than 0.5 %: cost per request depends "
                         "on the rate, so the arms are not compared at equal load.");
}

/* What follows "step NAME: " in a note about one step, else NULL. */
static const char *after_step(const struct fb_diff *diff, size_t step, const char *note)
{
    size_t len = strlen(diff->steps[step].name);

    if (strncmp(note, "step ", 5) != 0 || strncmp(note + 5, diff->steps[step].name, len) != 0 ||
        strncmp(note + 5 + len, ": ", 2) != 0)
        return NULL;
    return note + 5 + len + 2;
}

static void step_own_notes(struct fb_table *t, const struct fb_diff *diff, size_t step)
{
    for (size_t i = 0; i < diff->notes_count; i++)
        sentence_add(t, "", after_step(diff, step, diff->notes[i]));
}

static bool is_of_a_step(const struct fb_diff *diff, const char *note)
{
    for (size_t i = 0; i < diff->steps_count; i++)
        if (after_step(diff, i, note))
            return true;
    return false;
}

static bool is_empty(const struct fb_diff_row *r)
{
    return !r->is_total && !(r->control.samples > 0) && !(r->variant.samples > 0);
}

/* Layers without a sample in either arm are one sentence and not a row each. */
static void absent_note(struct fb_table *t, const struct fb_diff_step *s)
{
    struct fb_buf names = {0};

    for (size_t i = 0; i < s->layers_count; i++)
        if (is_empty(&s->layers[i]))
            fb_buf_printf(&names, "%s%s", names.len > 0 ? ", " : "", s->layers[i].name);
    if (names.len > 0)
        sentence_add(t, "No sample in either arm: ", names.data);
    fb_buf_done(&names);
}

/* What the signs of the tables mean, and what no table can hold. */
static void share_notes(struct fb_table *t, const struct fb_diff *diff)
{
    bool assumed = false;

    for (size_t k = 0; k < diff->steps_count; k++)
        for (size_t i = 0; i < diff->steps[k].layers_count; i++)
            assumed |= diff->steps[k].layers[i].control.deff_assumed ||
                       diff->steps[k].layers[i].variant.deff_assumed;
    fb_table_note(t,
                  diff->is_wall
                      ? "± is the larger half of the 95 % interval; points are of share. Time of "
                        "all threads of the profiled processes, running or waiting ([parked], "
                        "[runnable]): it is no CPU time."
                      : "± is the larger half of the 95 % interval; points are of share. On-CPU "
                        "time of the profiled processes only: waiting and parked threads, CPU "
                        "outside them (kernel work on other CPUs, softirq of the node) and lost "
                        "samples are in no row.");
    if (assumed)
        fb_table_note(
            t, "* no times, or a window under 5 s: the correlation of the samples is assumed.");
}

static void metric_row(struct fb_table *t, const struct fb_diff_row *r, const char *denial)
{
    int decimals = r->id < FB_METRIC_COUNT ? metric_decimals[r->id] : 3;

    if (r->id == FB_METRIC_CPU_PER_REQUEST)
        decimals = decimals_for(fmax(r->value_control, r->value_variant));
    fb_table_row(t);
    fb_table_text(t, r->name);
    fb_table_text(t, r->unit ? r->unit : "");
    fb_table_number(t, r->value_control, decimals);
    fb_table_number(t, r->value_variant, decimals);
    change_cells(t, r, 0);
    verdict_cells(t, r, 0, denial);
    change_data(t, r);
}

/* What neither arm knows is one sentence and not eleven rows of n/a. */
struct fb_table *fb_render_diff_metrics(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    struct fb_buf unknown = {0};
    struct fb_table *t = new_table("Metrics", diff, step);

    fb_table_column(t, "metric", "metric", FB_ALIGN_LEFT);
    fb_table_column(t, "unit", "unit", FB_ALIGN_LEFT);
    fb_table_column(t, "control", "control", FB_ALIGN_RIGHT);
    fb_table_column(t, "variant", "variant", FB_ALIGN_RIGHT);
    change_columns(t, "change");
    verdict_columns(t);
    change_data_columns(t);
    for (size_t i = 0; i < s->metrics_count; i++) {
        const struct fb_diff_row *r = &s->metrics[i];

        if (isnan(r->value_control) && isnan(r->value_variant))
            fb_buf_printf(&unknown, "%s%s",
                          unknown.len > 0 ? ", " : "Unknown in both arms: ", r->name);
        else
            metric_row(t, r, s->denial);
    }
    sentence_add(t, "", unknown.data);
    fb_buf_done(&unknown);
    step_notes(t, s);
    step_own_notes(t, diff, step);
    return t;
}

/* ---- all steps ---- */

static const struct fb_diff_row *metric_of(const struct fb_diff_step *s, enum fb_diff_metric id)
{
    for (size_t i = 0; i < s->metrics_count; i++)
        if (s->metrics[i].id == id)
            return &s->metrics[i];
    return NULL;
}

/* "codec absent in control; syscalls +30 %": the layers that differ. */
static void differing_layers(const struct fb_diff_step *s, struct fb_buf *out)
{
    for (size_t i = 0; i < s->layers_count; i++) {
        const struct fb_diff_row *r = &s->layers[i];

        if (r->is_total || (r->verdict != FB_VERDICT_DIFF && r->verdict != FB_VERDICT_ABSENT))
            continue;
        fb_buf_printf(out, "%s%s ", out->len > 0 ? ", " : "", r->name);
        if (presence(r) != 0)
            fb_buf_puts(out, presence(r) > 0 ? "new" : "gone");
        else
            percent_text(out, r->change);
        if (presence(r) == 0)
            fb_buf_puts(out, " %");
        if (r->is_moved)
            fb_buf_puts(out, " (moved by inlining)");
    }
    if (out->len == 0)
        fb_buf_puts(out, "");
}

static void summary_row(struct fb_table *t, const struct fb_diff_step *s)
{
    const struct fb_diff_row *cpu = metric_of(s, FB_METRIC_CPU_PER_REQUEST);
    struct fb_buf text = {0};
    int decimals = cpu ? decimals_for(fmax(cpu->value_control, cpu->value_variant)) : 4;

    fb_table_row(t);
    fb_table_text(t, s->name);
    fb_table_number(t, cpu ? cpu->value_control : NAN, decimals);
    fb_table_number(t, cpu ? cpu->value_variant : NAN, decimals);
    if (cpu)
        change_cells(t, cpu, 0);
    else {
        fb_table_number(t, NAN, 1);
        fb_table_text(t, "");
    }
    fb_table_text(t, cpu ? fb_verdict_word(cpu->verdict) : fb_verdict_word(FB_VERDICT_NONE));
    if (cpu)
        fb_table_tone(t, tone_of(cpu, 0));
    differing_layers(s, &text);
    fb_table_text_n(t, text.data, text.len);
    text.len = 0;
    fb_step_health_text(s->health, &text);
    fb_table_text_n(t, text.data, text.len);
    if (s->denial[0] != '\0')
        fb_table_mute(t);
    fb_buf_done(&text);
}

struct fb_table *fb_render_diff_summary(const struct fb_diff *diff)
{
    struct fb_table *t;
    struct fb_buf title = {0};
    bool is_known = false;

    fb_buf_puts(&title, "CPU per request by step: ");
    if (diff->steps_count > 0) {
        const char *control = label_of(&diff->steps[0], false);
        const char *variant = label_of(&diff->steps[0], true);
        size_t skip = common_folders(control, variant);

        fb_buf_printf(&title, "control %s, variant %s", control + skip, variant + skip);
    }
    if (diff->pairs > 1)
        fb_buf_printf(&title, ", %zu pairs", diff->pairs);
    fb_buf_puts(&title, "; change = (variant - control) / control");
    t = fb_table_new(title.data);
    fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    fb_table_group(t, "ms per request");
    fb_table_column(t, "control", "control", FB_ALIGN_RIGHT);
    fb_table_column(t, "variant", "variant", FB_ALIGN_RIGHT);
    change_columns(t, "change");
    fb_table_group(t, NULL);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_column(t, "layers", "layers that differ", FB_ALIGN_LEFT);
    fb_table_column(t, "health", "health", FB_ALIGN_LEFT);
    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_diff_row *cpu = metric_of(&diff->steps[i], FB_METRIC_CPU_PER_REQUEST);

        summary_row(t, &diff->steps[i]);
        is_known |= cpu && !(isnan(cpu->value_control) && isnan(cpu->value_variant));
    }
    if (!is_known && diff->steps_count > 0)
        fb_table_note(t, "Neither arm says how many requests it served, so that no cost per "
                         "request is known, and layers and frames are compared by share alone. "
                         "Steps with 'delivered' (BANK,STEPS) tell it: docs/steps.md.");
    fb_buf_done(&title);
    return t;
}

struct fb_table *fb_render_diff_notes(const struct fb_diff *diff)
{
    struct fb_table *t = fb_table_new("Notes");

    for (size_t i = 0; i < diff->notes_count; i++)
        if (!is_of_a_step(diff, diff->notes[i]))
            sentence_add(t, "", diff->notes[i]);
    share_notes(t, diff);
    return t;
}

struct fb_table *fb_render_diff_layers(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    struct fb_table *t = new_table("Layers by self time", diff, step);
    int decimals = diff->has_ms ? ms_decimals(s) : -1;
    char *note;

    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->layers_count; i++) {
        if (is_empty(&s->layers[i]))
            continue;
        if (s->layers[i].is_total)
            fb_table_rule(t);
        fb_table_row(t);
        fb_table_text(t, s->layers[i].name);
        share_cells(t, &s->layers[i], decimals, s->denial);
    }
    note = fb_format("%.0f sample%s in the control and %.0f in the variant, of which %.1f %% and "
                     "%.1f %% end in a frame without a name.",
                     s->samples_control, s->samples_control == 1 ? "" : "s", s->samples_variant,
                     100 * s->unknown_control, 100 * s->unknown_variant);
    fb_table_note(t, note);
    free(note);
    absent_note(t, s);
    return t;
}

struct fb_table *fb_render_diff_boundaries(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    const struct fb_layers *layers = diff->input->layers;
    struct fb_table *t = new_table("Boundary layers, inclusive, rows overlap", diff, step);
    int decimals = diff->has_ms ? ms_decimals(s) : -1;

    fb_table_column(t, "boundary", "boundary", FB_ALIGN_LEFT);
    fb_table_column(t, "layer", "beside layer", FB_ALIGN_LEFT);
    share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->boundaries_count; i++) {
        const struct fb_diff_row *r = &s->boundaries[i];

        if (is_empty(r))
            continue;
        fb_table_row(t);
        fb_table_text(t, r->name);
        fb_table_text(t, r->layer < fb_layers_count(layers) ? fb_layers_get(layers, r->layer)->name
                                                            : "");
        share_cells(t, r, decimals, s->denial);
    }
    fb_table_note(t, "Stacks with a frame that inlining does not cross, each once. Never add the "
                     "rows up. A layer that differs while its boundary does not was moved by "
                     "inlining.");
    return t;
}

/* "syscalls -9.8 %, codec +33.3 %": the parts that differ; how many. */
static size_t moved_parts(const struct fb_diff_step *s, const struct fb_diff_sum *sum,
                          struct fb_buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < sum->layers_count; i++) {
        const struct fb_diff_row *part = &s->layers[sum->layers[i]];

        if (part->verdict != FB_VERDICT_DIFF)
            continue;
        fb_buf_printf(out, "%s%s ", n++ > 0 ? ", " : "", part->name);
        percent_text(out, part->change);
        fb_buf_puts(out, " %");
    }
    return n;
}

/* Whether the work only moved within the sum; silent where no part differs. */
static void conservation_note(struct fb_table *t, const struct fb_diff_step *s,
                              const struct fb_diff_sum *sum, const struct fb_diff_row *row)
{
    struct fb_buf parts = {0}, text = {0};

    if (moved_parts(s, sum, &parts) == 0)
        return;
    fb_buf_printf(&text, "%s: %s differ%s, ", sum->name, parts.data,
                  strchr(parts.data, ',') == NULL ? "s" : "");
    if (row->verdict == FB_VERDICT_SAME)
        fb_buf_puts(&text, "and the sum is the same: the work moved within it.");
    else if (row->verdict == FB_VERDICT_DIFF)
        fb_buf_puts(&text, "and so does the sum: the work did not just move within it.");
    else
        fb_buf_puts(&text, "and whether the sum stayed is not resolved.");
    fb_table_note(t, text.data);
    fb_buf_done(&parts);
    fb_buf_done(&text);
}

struct fb_table *fb_render_diff_sums(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    struct fb_table *t = new_table("Sums of self time, rows may overlap", diff, step);
    int decimals = diff->has_ms ? ms_decimals(s) : -1;

    fb_table_column(t, "sum", "sum", FB_ALIGN_LEFT);
    fb_table_clip(t, FRAME_WIDTH);
    share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->sums_count; i++) {
        fb_table_row(t);
        fb_table_text(t, s->sums[i].name);
        share_cells(t, &s->sums[i], decimals, s->denial);
        conservation_note(t, s, &diff->input->sums[i], &s->sums[i]);
    }
    return t;
}

bool fb_render_diff_has_boundaries(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];

    for (size_t i = 0; i < s->boundaries_count; i++)
        if (!is_empty(&s->boundaries[i]))
            return true;
    return false;
}

static const char *keys_title(const struct fb_diff_keys *keys)
{
    return strcmp(keys->what, "package") == 0  ? "Packages by self time"
           : strcmp(keys->what, "thread") == 0 ? "Threads"
                                               : "Modules by self time";
}

struct fb_table *fb_render_diff_frames(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    const struct fb_layers *layers = diff->input->layers;
    const struct fb_diff_keys *keys = diff->input->keys;
    struct fb_table *t = new_table(keys ? keys_title(keys) : "Frames by self time", diff, step);
    int decimals = diff->has_ms ? ms_decimals(s) : -1;
    char *note;

    fb_table_column(t, keys ? keys->what : "frame", keys ? keys->what : "frame", FB_ALIGN_LEFT);
    fb_table_clip(t, FRAME_WIDTH);
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->frames_count; i++) {
        const struct fb_diff_row *r = &s->frames[i];

        fb_table_row(t);
        fb_table_text(t, r->name);
        fb_table_text(t, r->layer < fb_layers_count(layers) ? fb_layers_get(layers, r->layer)->name
                                                            : "");
        share_cells(t, r, decimals, s->denial);
    }
    if (s->frames_tested > 0 && !(s->denial && s->denial[0] != '\0'))
        note = fb_format("%zu %s%s, the largest changes first; %zu had enough samples to be "
                         "tested, and of their DIFF verdicts %.0f %% at most are false in the "
                         "long run (false discovery rate).",
                         s->frames_count, keys ? keys->what : "frame",
                         s->frames_count == 1 ? "" : "s", s->frames_tested, 100 * diff->options.q);
    else
        note = fb_format("%zu %s%s, the largest changes first.", s->frames_count,
                         keys ? keys->what : "frame", s->frames_count == 1 ? "" : "s");
    fb_table_note(t, note);
    free(note);
    return t;
}

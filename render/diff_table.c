/* The tables of one step of a diff.  Every figure comes from diff/; here it only gets its words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/diff_cells.h"

static const int metric_decimals[FB_METRIC_COUNT] = {
    [FB_METRIC_OFFERED] = 0, [FB_METRIC_DELIVERED] = 1, [FB_METRIC_NOT_SENT] = 1,
    [FB_METRIC_P50] = 2,     [FB_METRIC_P99] = 2,       [FB_METRIC_P999] = 2,
    [FB_METRIC_CORES] = 3,   [FB_METRIC_THROTTLED] = 1, [FB_METRIC_HEAP] = 0,
    [FB_METRIC_RSS] = 0,
};

static void denial_note(struct fb_table *t, const struct fb_diff_step *s)
{
    fb_diff_sentence(t, "No verdicts in this step: ", s->denial);
}

/* What concerns the whole step stands once, under its metrics. */
static void step_notes(struct fb_table *t, const struct fb_diff_step *s)
{
    fb_diff_sentence(t, "Health of the step: ", s->why);
    denial_note(t, s);
    if (!s->is_comparable)
        fb_table_note(t, "The delivered rates differ by more than 0.5 %: cost per request depends "
                         "on the rate, so the arms are not compared at equal load.");
}

static void step_own_notes(struct fb_table *t, const struct fb_diff_step *s)
{
    for (size_t i = 0; i < s->notes_count; i++)
        fb_diff_sentence(t, "", s->notes[i]);
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
        fb_diff_sentence(t, "No sample in either arm: ", names.data);
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
    fb_table_note(t, "UNRESOLVED ±x %: a change of up to x could hide there (4 times of 5 a larger "
                     "one is found). Absent, not seen ≤x %: what the arm that lacks the row may "
                     "have of it at most.");
    if (assumed)
        fb_table_note(
            t, "* no times, or a window under 5 s: the correlation of the samples is assumed.");
}

static void metric_row(struct fb_table *t, const struct fb_diff_row *r, const char *denial)
{
    int decimals = r->id < FB_METRIC_COUNT ? metric_decimals[r->id] : 3;

    if (r->id == FB_METRIC_CPU_PER_REQUEST)
        decimals = fb_diff_decimals(fmax(r->value_control, r->value_variant));
    fb_table_row(t);
    fb_table_text(t, r->name);
    fb_table_text(t, r->unit ? r->unit : "");
    fb_table_number(t, r->value_control, decimals);
    fb_table_number(t, r->value_variant, decimals);
    fb_diff_change_cells(t, r, 0);
    fb_diff_verdict_cells(t, r, 0, denial);
    fb_diff_change_data(t, r);
}

/* What neither arm knows is one sentence and not eleven rows of n/a. */
struct fb_table *fb_render_diff_metrics(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    struct fb_buf unknown = {0};
    struct fb_table *t = fb_diff_table_new("Metrics", diff, step);

    fb_table_column(t, "metric", "metric", FB_ALIGN_LEFT);
    fb_table_column(t, "unit", "unit", FB_ALIGN_LEFT);
    fb_table_column(t, "control", "control", FB_ALIGN_RIGHT);
    fb_table_column(t, "variant", "variant", FB_ALIGN_RIGHT);
    fb_diff_change_columns(t, "change");
    fb_diff_verdict_columns(t);
    fb_diff_change_data_columns(t);
    for (size_t i = 0; i < s->metrics_count; i++) {
        const struct fb_diff_row *r = &s->metrics[i];

        if (isnan(r->value_control) && isnan(r->value_variant))
            fb_buf_printf(&unknown, "%s%s",
                          unknown.len > 0 ? ", " : "Unknown in both arms: ", r->name);
        else
            metric_row(t, r, s->denial);
    }
    fb_diff_sentence(t, "", unknown.data);
    fb_buf_done(&unknown);
    step_notes(t, s);
    step_own_notes(t, s);
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

static bool is_metric_known(const struct fb_diff_step *s, enum fb_diff_metric id)
{
    const struct fb_diff_row *r = metric_of(s, id);

    return r && !(isnan(r->value_control) && isnan(r->value_variant));
}

/* "codec absent in control; syscalls +30 %": the layers that differ. */
static void differing_layers(const struct fb_diff_step *s, struct fb_buf *out)
{
    for (size_t i = 0; i < s->layers_count; i++) {
        const struct fb_diff_row *r = &s->layers[i];

        if (r->is_total || (r->verdict != FB_VERDICT_DIFF && r->verdict != FB_VERDICT_ABSENT))
            continue;
        fb_buf_printf(out, "%s%s ", out->len > 0 ? ", " : "", r->name);
        if (fb_diff_presence(r) != 0)
            fb_buf_puts(out, fb_diff_presence(r) > 0 ? "new" : "gone");
        else
            fb_diff_percent_put(out, r->change);
        if (fb_diff_presence(r) == 0)
            fb_buf_puts(out, " %");
        if (r->is_moved)
            fb_buf_puts(out, " (moved by inlining)");
        if (r->is_moved_in_part)
            fb_buf_puts(out, " (moved in part by inlining)");
    }
    if (out->len == 0)
        fb_buf_puts(out, "");
}

static void summary_row(struct fb_table *t, const struct fb_diff_step *s)
{
    const struct fb_diff_row *cpu = metric_of(s, FB_METRIC_CPU_PER_REQUEST);
    struct fb_buf text = {0};
    int decimals = cpu ? fb_diff_decimals(fmax(cpu->value_control, cpu->value_variant)) : 4;

    fb_table_row(t);
    fb_table_text(t, s->name);
    fb_table_number(t, cpu ? cpu->value_control : NAN, decimals);
    fb_table_number(t, cpu ? cpu->value_variant : NAN, decimals);
    if (cpu)
        fb_diff_change_cells(t, cpu, 0);
    else {
        fb_table_number(t, NAN, 1);
        fb_table_text(t, "");
    }
    fb_table_text(t, cpu ? fb_verdict_word(cpu->verdict) : fb_verdict_word(FB_VERDICT_NONE));
    if (cpu)
        fb_table_tone(t, fb_diff_tone(cpu, 0));
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
    bool is_known = false, is_delivered = false;

    fb_buf_puts(&title, "CPU per request by step: ");
    if (diff->steps_count > 0) {
        const char *control = fb_diff_label(&diff->steps[0], false);
        const char *variant = fb_diff_label(&diff->steps[0], true);
        size_t skip = fb_diff_common_folders(control, variant);

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
    fb_diff_change_columns(t, "change");
    fb_table_group(t, NULL);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_column(t, "layers", "layers that differ", FB_ALIGN_LEFT);
    fb_table_column(t, "health", "health", FB_ALIGN_LEFT);
    for (size_t i = 0; i < diff->steps_count; i++) {
        const struct fb_diff_row *cpu = metric_of(&diff->steps[i], FB_METRIC_CPU_PER_REQUEST);

        summary_row(t, &diff->steps[i]);
        is_known |= cpu && !(isnan(cpu->value_control) && isnan(cpu->value_variant));
        is_delivered |= is_metric_known(&diff->steps[i], FB_METRIC_DELIVERED);
    }
    if (!is_known && diff->steps_count > 0)
        fb_table_note(t, is_delivered
                             ? "Neither arm says what CPU its requests took, so that no cost per "
                               "request is known. A bank, or steps with 'cpu_s' or "
                               "'cpu_ms_per_req', tell it: docs/steps.md."
                             : "Neither arm says how many requests it served, so that no cost per "
                               "request is known, and layers and frames are compared by share "
                               "alone. Steps with 'delivered' (BANK,STEPS) tell it: "
                               "docs/steps.md.");
    fb_buf_done(&title);
    return t;
}

struct fb_table *fb_render_diff_notes(const struct fb_diff *diff)
{
    struct fb_table *t = fb_table_new("Notes");

    for (size_t i = 0; i < diff->notes_count; i++)
        fb_diff_sentence(t, "", diff->notes[i]);
    share_notes(t, diff);
    return t;
}

struct fb_table *fb_render_diff_layers(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    struct fb_table *t = fb_diff_table_new("Layers by self time", diff, step);
    int decimals = diff->has_ms ? fb_diff_ms_decimals(s) : -1;
    char *note;

    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_diff_share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->layers_count; i++) {
        if (is_empty(&s->layers[i]))
            continue;
        if (s->layers[i].is_total)
            fb_table_rule(t);
        fb_table_row(t);
        fb_table_text(t, s->layers[i].name);
        fb_diff_share_cells(t, &s->layers[i], decimals, s->denial);
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
    struct fb_table *t = fb_diff_table_new("Boundary layers, inclusive, rows overlap", diff, step);
    int decimals = diff->has_ms ? fb_diff_ms_decimals(s) : -1;

    fb_table_column(t, "boundary", "boundary", FB_ALIGN_LEFT);
    fb_table_column(t, "layer", "beside layer", FB_ALIGN_LEFT);
    fb_diff_share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->boundaries_count; i++) {
        const struct fb_diff_row *r = &s->boundaries[i];

        if (is_empty(r))
            continue;
        fb_table_row(t);
        fb_table_text(t, r->name);
        fb_table_text(t, r->layer < fb_layers_count(layers) ? fb_layers_get(layers, r->layer)->name
                                                            : "");
        fb_diff_share_cells(t, r, decimals, s->denial);
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
        fb_diff_percent_put(out, part->change);
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
    struct fb_table *t = fb_diff_table_new("Sums of self time, rows may overlap", diff, step);
    int decimals = diff->has_ms ? fb_diff_ms_decimals(s) : -1;

    fb_table_column(t, "sum", "sum", FB_ALIGN_LEFT);
    fb_table_clip(t, FB_DIFF_NAME_WIDTH);
    fb_diff_share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->sums_count; i++) {
        fb_table_row(t);
        fb_table_text(t, s->sums[i].name);
        fb_diff_share_cells(t, &s->sums[i], decimals, s->denial);
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
    struct fb_table *t =
        fb_diff_table_new(keys ? keys_title(keys) : "Frames by self time", diff, step);
    int decimals = diff->has_ms ? fb_diff_ms_decimals(s) : -1;
    char *note;

    fb_table_column(t, keys ? keys->what : "frame", keys ? keys->what : "frame", FB_ALIGN_LEFT);
    fb_table_clip(t, FB_DIFF_NAME_WIDTH);
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_diff_share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->frames_count; i++) {
        const struct fb_diff_row *r = &s->frames[i];

        fb_table_row(t);
        fb_table_text(t, r->name);
        fb_table_text(t, r->layer < fb_layers_count(layers) ? fb_layers_get(layers, r->layer)->name
                                                            : "");
        fb_diff_share_cells(t, r, decimals, s->denial);
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
    if (!keys && s->frames_tested > 0 && s->movers_count == 0 && s->denial && !s->denial[0])
        fb_table_note(t, "No frame moved beyond chance.");
    return t;
}

/* diff.c - assembles a diff: runs and steps aligned, samples collected once, rows judged.
 *
 * Order matters in one place: the variance between pairs is pooled over all healthy steps, so every
 * step is measured before the first one is judged. */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "diff/around.h"
#include "diff/order.h"
#include "diff/state.h"
#include "diff/unknown.h"

static const double rate_tolerance = 0.005, yield_tolerance = 0.05, unsteady_se = 0.02;

static void options_fill(struct fb_diff_options *o)
{
    o->delta_cpu = o->delta_cpu > 0 ? o->delta_cpu : 0.05;
    o->delta_share = o->delta_share > 0 ? o->delta_share : 0.10;
    o->q = o->q > 0 ? o->q : 0.05;
    o->frames_max = o->frames_max > 0 ? o->frames_max : 40;
}

static const char *clock_of(const struct fb_diff_arm *arm)
{
    const char *clock = arm->profile ? fb_profile_manifest_get(arm->profile, "clock_got") : NULL;

    return clock ? clock : "";
}

static enum fb_status arms_check(struct fb_diff *diff, struct fb_err *err)
{
    struct fb_diff_state *state = diff->state;
    const struct fb_diff_input *in = state->in;
    const struct fb_diff_arm *first = NULL;

    state->has_profiles = in->layers && in->tree && in->fns && in->layer_of_node;
    for (size_t i = 0; i < in->arms_count; i++) {
        const struct fb_diff_arm *arm = &in->arms[i];

        state->has_profiles = state->has_profiles && arm->profile;
        if (!arm->steps)
            return fb_fail(err, FB_EFORMAT, "'%s' has no steps: give them with --steps",
                           arm->label);
        if (arm->profile && !arm->profile->has_times && arm->steps->count > 1)
            return fb_fail(err, FB_EFORMAT,
                           "'%s' has no times, so it cannot be split into the %zu steps of '%s'",
                           arm->label, arm->steps->count, arm->steps->source);
        if (clock_of(arm)[0] == '\0')
            continue;
        if (first && strcmp(clock_of(first), clock_of(arm)) != 0)
            return fb_fail(err, FB_EFORMAT,
                           "the clocks differ: '%s' was recorded with %s, '%s' with %s",
                           first->label, clock_of(first), arm->label, clock_of(arm));
        first = arm;
        state->by_share_only =
            strcmp(clock_of(arm), "itimer") == 0 || fb_profile_is_wall(arm->profile);
    }
    return FB_OK;
}

/* ---- collecting ---- */

static const struct fb_diff_arm *arm_of(const struct fb_diff_state *state, size_t replicate)
{
    return &state->in->arms[state->lineup.replicates[replicate].arms[0]];
}

static double samples_inside(const struct fb_diff_state *state, size_t replicate)
{
    double sum = 0;

    for (size_t i = 0; i < state->matching.count; i++)
        sum += state->windows[replicate * state->matching.count + i].samples;
    return sum;
}

/* Whether any sample of the arm lies in any of its own steps, matched or not. */
static bool has_overlap(const struct fb_diff_arm *arm)
{
    for (size_t i = 0; i < arm->steps->count; i++) {
        struct fb_window w;

        fb_window_init(&w, &arm->steps->items[i], arm->profile);
        for (size_t s = 0; s < arm->profile->samples.count; s++) {
            int64_t time = arm->profile->samples.time_ns[s];

            if (!arm->profile->has_times || (time >= w.start_ns && time < w.end_ns))
                return true;
        }
    }
    return false;
}

static enum fb_status replicate_collect(struct fb_diff *diff, size_t replicate, struct fb_err *err)
{
    struct fb_diff_state *state = diff->state;
    const struct fb_diff_arm *arm = arm_of(state, replicate);
    struct fb_window *windows = &state->windows[replicate * state->matching.count];
    struct fb_replicate *r = &state->lineup.replicates[replicate];
    double outside, inside;

    for (size_t i = 0; i < state->matching.count; i++)
        fb_window_init(&windows[i], fb_matching_step(&state->matching, i, replicate), arm->profile);
    outside = fb_windows_collect(state->in, r, windows, state->matching.count);
    inside = samples_inside(state, replicate);
    if (state->has_profiles && inside <= 0 && arm->profile->samples.count > 0 && !has_overlap(arm))
        return fb_fail(err, FB_EFORMAT,
                       "'%s': none of its samples lies in a step of '%s': are the clocks of the "
                       "two machines the same?",
                       arm->label, arm->steps->source);
    if (state->has_profiles)
        fb_diff_note(diff, "%s: %.0f samples in = %.0f in the matched steps + %.0f outside",
                     arm->label, inside + outside, inside, outside);
    return FB_OK;
}

/* ---- steps ---- */

static void step_pairs_find(struct fb_diff_state *state, size_t row, struct fb_step_state *s)
{
    s->row = row;
    s->pairs = fb_alloc_array(state->lineup.pairs, sizeof *s->pairs);
    for (size_t p = 0; p < state->lineup.pairs; p++) {
        size_t variant = state->lineup.controls + p;

        if (!fb_matching_step(&state->matching, row, p) ||
            !fb_matching_step(&state->matching, row, variant))
            continue;
        s->pairs[s->pairs_count++] = p;
    }
}

static void runs_fill(struct fb_diff_state *state, const struct fb_step_state *s,
                      struct fb_diff_step *out)
{
    out->runs = fb_alloc_array(state->in->arms_count, sizeof *out->runs);
    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < s->pairs_count; i++) {
            const struct fb_window *w = fb_state_window(state, s, i, a == 1);
            const struct fb_replicate *r = fb_lineup_side(&state->lineup, s->pairs[i], a == 1);
            double *samples = a == 1 ? &out->samples_variant : &out->samples_control;
            double *unknown = a == 1 ? &out->unknown_variant : &out->unknown_control;

            out->runs[out->runs_count++] = (struct fb_diff_run){
                .arm = &state->in->arms[r->arms[0]],
                .step = w->step,
                .samples = w->samples,
                .weight = w->weight,
            };
            *samples += w->samples;
            *unknown += w->unknown / (double)s->pairs_count;
        }
}

/* UNSTEADY is judged with the steps, from the process's CPU; where they could not, from the CPU
 * that the windows have. */
static void health_union(struct fb_diff_state *state, struct fb_step_state *s,
                         struct fb_diff_step *out)
{
    struct fb_buf why = {0};

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < s->pairs_count; i++) {
            const struct fb_window *w = fb_state_window(state, s, i, a == 1);
            bool is_unsteady = isnan(w->step->cpu_se) && w->cost.se > unsteady_se;
            bool is_well = !w->step->why || w->step->why[0] == '\0';

            s->health |= w->step->health | (is_unsteady ? (uint32_t)FB_STEP_UNSTEADY : 0);
            if (is_well && !is_unsteady)
                continue;
            fb_buf_printf(&why, "%s%s", why.len > 0 ? "; " : "", a == 1 ? "variant" : "control");
            if (s->pairs_count > 1)
                fb_buf_printf(&why, " %zu", i + 1);
            fb_buf_printf(&why, ": %s", is_well ? "" : w->step->why);
            if (is_unsteady)
                fb_buf_printf(&why, "%sCPU per request is unsteady (block SE %.1f %%)",
                              is_well ? "" : "; ", 100 * w->cost.se);
        }
    out->health = s->health;
    out->why = fb_buf_take(&why);
}

/* The largest relative difference of the delivered rates of a pair; 0 where rates are unknown. */
static double delivered_gap(const struct fb_diff_state *state, const struct fb_step_state *s)
{
    double gap = 0;

    for (size_t i = 0; i < s->pairs_count; i++) {
        double c = fb_step_delivered_per_s(fb_state_window(state, s, i, false)->step);
        double v = fb_step_delivered_per_s(fb_state_window(state, s, i, true)->step);

        if (c > 0 && v > 0)
            gap = fmax(gap, fabs(v / c - 1));
    }
    return gap;
}

static bool yields_differ(const struct fb_diff_state *state, const struct fb_step_state *s)
{
    for (size_t i = 0; i < s->pairs_count; i++)
        if (fabs(fb_state_window(state, s, i, true)->step->yield -
                 fb_state_window(state, s, i, false)->step->yield) > yield_tolerance)
            return true;
    return false;
}

static bool is_period_unknown(const struct fb_diff_state *state, const struct fb_step_state *s)
{
    for (size_t i = 0; i < s->pairs_count; i++)
        if (fb_state_window(state, s, i, false)->is_period_unknown ||
            fb_state_window(state, s, i, true)->is_period_unknown)
            return true;
    return false;
}

/* The first run whose profile has nothing in the step: then nothing is "absent" from it; NULL. */
static const char *empty_label(const struct fb_diff_state *state, const struct fb_step_state *s)
{
    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < s->pairs_count; i++)
            if (!(fb_state_window(state, s, i, a == 1)->samples > 0))
                return state->in->arms[fb_lineup_side(&state->lineup, s->pairs[i], a == 1)->arms[0]]
                    .label;
    return NULL;
}

/* Why nothing of the step is judged; "" if it is. */
static const char *step_denial(struct fb_diff *diff, const struct fb_step_state *s,
                               const struct fb_diff_step *out, double gap)
{
    uint32_t sick = s->health & FB_STEP_SICK;
    struct fb_buf words = {0};
    const char *text;

    if (diff->options.saturated)
        sick &= ~(uint32_t)FB_STEP_OVER;
    if (sick & FB_STEP_WARMUP)
        return "warm-up: shown, not judged";
    if (sick) {
        fb_step_health_text(sick, &words);
        text = fb_state_text(diff->state, "%s: shown, not judged", words.data);
        fb_buf_done(&words);
        return text;
    }
    if (!out->is_comparable)
        return fb_state_text(diff->state, "%sdelivered rates differ by %.1f %%",
                             diff->options.match != FB_MATCH_RATE ? "not matched rate: " : "",
                             100 * gap);
    if (diff->state->has_profiles && empty_label(diff->state, s))
        return fb_state_text(diff->state, "%s has no sample in this step",
                             empty_label(diff->state, s));
    if (diff->state->has_profiles && is_period_unknown(diff->state, s))
        return "the sampling period is unknown: give it with --hz";
    if (diff->state->by_share_only && yields_differ(diff->state, s))
        return "process-wide timer, and the yields of the arms differ by over 5 points";
    return "";
}

static bool is_ms_known(const struct fb_diff *diff, const struct fb_step_state *s)
{
    for (size_t i = 0; i < s->pairs_count; i++)
        if (isnan(fb_state_window(diff->state, s, i, false)->cost.ms) ||
            isnan(fb_state_window(diff->state, s, i, true)->cost.ms))
            return false;
    return true;
}

/* "600", or "600 against 3000" where the arms' steps are not of one rate.  Yours. */
static char *step_name(const struct fb_diff *diff, const struct fb_step_state *s)
{
    const char *control = fb_state_window(diff->state, s, 0, false)->step->name;
    const char *variant = fb_state_window(diff->state, s, 0, true)->step->name;

    if (diff->options.match == FB_MATCH_RATE || strcmp(control, variant) == 0)
        return fb_strdup(control);
    return fb_format("%s against %s", control, variant);
}

static void step_fill(struct fb_diff *diff, size_t step)
{
    struct fb_diff_state *state = diff->state;
    struct fb_step_state *s = &state->steps[step];
    struct fb_diff_step *out = &diff->steps[step];
    const struct fb_step *reference = fb_state_window(state, s, 0, false)->step;
    double gap = delivered_gap(state, s);

    out->name = step_name(diff, s);
    out->offered = reference->offered;
    out->pairs = s->pairs_count;
    runs_fill(state, s, out);
    health_union(state, s, out);
    if (state->has_profiles)
        fb_unknown_measure(state, s, &s->unknown);
    out->is_comparable =
        gap <= rate_tolerance || (diff->options.saturated && (s->health & FB_STEP_OVER));
    out->denial = step_denial(diff, s, out, gap);
    out->on_ms = is_ms_known(diff, s) && !diff->state->by_share_only &&
                 !(s->pairs_count < 2 && (s->health & FB_FLOOR_WANDERING));
    diff->has_ms = diff->has_ms || is_ms_known(diff, s);
    if (gap > rate_tolerance && out->is_comparable)
        fb_diff_note(diff,
                     "step %s is past the knee, delivered differs by %.1f %%: ms are per "
                     "delivered request",
                     out->name, 100 * gap);
}

/* ---- notes ---- */

static void note_matching(struct fb_diff *diff)
{
    const struct fb_diff_state *state = diff->state;

    for (size_t r = 1; r < state->lineup.count; r++)
        for (size_t i = 0; i < state->matching.count; i++)
            if (!fb_matching_step(&state->matching, i, r))
                fb_diff_note(diff, "step %s of %s has no counterpart in %s",
                             fb_matching_step(&state->matching, i, 0)->name,
                             arm_of(state, 0)->label, arm_of(state, r)->label);
    for (size_t r = 1; r < state->lineup.count; r++) {
        size_t used = 0, all = arm_of(state, r)->steps->count;

        for (size_t i = 0; i < state->matching.count; i++)
            used += fb_matching_step(&state->matching, i, r) != NULL;
        if (used < all)
            fb_diff_note(diff, "%zu of %zu steps of %s have no counterpart in %s", all - used, all,
                         arm_of(state, r)->label, arm_of(state, 0)->label);
    }
    if (state->lineup.controls != state->lineup.variants)
        fb_diff_note(diff, "%zu control and %zu variant runs: the first %zu of each are paired",
                     state->lineup.controls, state->lineup.variants, state->lineup.pairs);
}

/* Degrees of freedom of the variance between pairs, over the steps that are judged. */
static size_t pooled_degrees(const struct fb_diff *diff)
{
    size_t degrees = 0;

    for (size_t i = 0; i < diff->steps_count; i++)
        if (diff->steps[i].denial[0] == '\0')
            degrees += diff->steps[i].pairs - 1;
    return degrees;
}

/* Which clock, and whether it could resolve the arm's bursts (docs/statistics.md, 7). */
static void note_clock(struct fb_diff *diff, const struct fb_diff_arm *arm)
{
    const struct fb_profile *p = arm->profile;
    const char *clock = p ? fb_profile_manifest_get(p, "clock_got") : NULL;
    double overruns = p ? fb_profile_overruns(p) : NAN;
    bool most = overruns > FB_OVERRUNS_MOST;

    if (clock && fb_profile_is_wall(p) && p->interval_ns > 0)
        fb_diff_note(diff, "%s: clock wall at %.0f Hz", arm->label, 1e9 / (double)p->interval_ns);
    if (!clock || isnan(overruns))
        return;
    fb_diff_note(diff, "%s: clock %s at %.0f Hz, %.0f %% of the weight from overruns%s%s%s",
                 arm->label, clock, 1e9 / (double)p->interval_ns, 100 * overruns, most ? ": " : "",
                 most ? fb_profile_overruns_cause(p) : "",
                 most ? ", so its totals are right and its shares may be biased" : "");
}

static bool is_wall(const struct fb_diff_state *state)
{
    const struct fb_profile *p = state->in->arms[0].profile;

    return p && fb_profile_is_wall(p);
}

static void note_method(struct fb_diff *diff)
{
    const struct fb_diff_state *state = diff->state;

    if (diff->pairs < 2 && diff->options.floors != NULL)
        fb_diff_note(diff, "one pair: the floor between runs is that of %zu runs of one arm",
                     diff->options.floors->runs);
    else if (diff->pairs < 2)
        fb_diff_note(diff, "one pair: the floor between runs is assumed, not measured");
    else if (pooled_degrees(diff) < 4)
        fb_diff_note(diff,
                     "%zu pairs leave %zu degrees of freedom in the steps that are judged, under "
                     "4: the floor between runs is assumed, not measured",
                     diff->pairs, pooled_degrees(diff));
    fb_order_note(diff);
    diff->is_wall = state->by_share_only && is_wall(state);
    if (diff->is_wall)
        fb_diff_note(diff,
                     "wall clock: samples are time that threads lived, running or waiting, and "
                     "no CPU time, so layers and frames are judged by share");
    else if (state->by_share_only)
        fb_diff_note(diff, "process-wide timer: samples are no CPU time, so layers and frames are "
                           "judged by share");
    for (size_t i = 0; i < state->lineup.count; i++)
        if (state->lineup.replicates[i].arms_count > 1)
            fb_diff_note(diff, "%s: %zu banks of one run are summed", arm_of(state, i)->label,
                         state->lineup.replicates[i].arms_count);
    for (size_t i = 0; i < state->in->arms_count; i++)
        note_clock(diff, &state->in->arms[i]);
    if (!state->has_profiles)
        fb_diff_note(diff, "an arm has no profile: only the numbers of the steps are compared");
}

static void note_step(struct fb_diff *diff, size_t step)
{
    struct fb_diff_step *out = &diff->steps[step];
    const struct fb_diff_state *state = diff->state;
    bool is_short = false, is_assumed = false, is_plain = false;
    double gap = fb_unknown_largest(&state->steps[step].unknown);

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < out->pairs; i++) {
            const struct fb_window *w = fb_state_window(state, &state->steps[step], i, a == 1);

            is_short |= w->cells > 0 && w->cells < 29; /* whole ones, of 30 s that were held */
            is_assumed |= w->grid.cells == 0;
            is_plain |= !isnan(w->cost.ms) && !w->grid.has_cost;
        }
    if (gap > 0.02)
        fb_diff_step_note(
            out,
            "nameless frames are %.1f %% of the control and %.1f %% of the "
            "variant; rows of their module that moved by less than %.1f points have no "
            "verdict",
            100 * out->unknown_control, 100 * out->unknown_variant, 100 * gap);
    if (is_short && !(out->health & FB_STEP_SHORT) && state->has_profiles)
        fb_diff_step_note(out, "a window under 30 s is short");
    if (is_assumed && state->has_profiles)
        fb_diff_step_note(out, "no times, or under 5 s: the correlation of the samples is assumed");
    if (is_plain && !is_assumed && state->has_profiles)
        fb_diff_step_note(out, "CPU by second is not in the bank: ms take the step's CPU per "
                               "request as exact, plus the floor");
    if (out->on_ms != diff->has_ms && !out->denial[0])
        fb_diff_step_note(out, "layers and frames are judged by share");
}

/* ---- making and freeing ---- */

static enum fb_status steps_make(struct fb_diff *diff, struct fb_err *err)
{
    struct fb_diff_state *state = diff->state;

    state->steps = fb_alloc_array(state->matching.count, sizeof *state->steps);
    for (size_t row = 0; row < state->matching.count; row++) {
        struct fb_step_state *s = &state->steps[diff->steps_count];

        step_pairs_find(state, row, s);
        if (s->pairs_count > 0) {
            diff->steps_count++;
            diff->pairs = diff->pairs > s->pairs_count ? diff->pairs : s->pairs_count;
        } else {
            free(s->pairs);
            memset(s, 0, sizeof *s);
        }
    }
    if (diff->steps_count == 0)
        return fb_fail(err, FB_EFORMAT,
                       "no step of '%s' matches one of '%s': their offered rates differ by over "
                       "0.5 %%, and names count only where no rate is known ('--pair A:B' compares "
                       "any two)",
                       arm_of(state, 0)->label, arm_of(state, state->lineup.controls)->label);
    diff->steps = fb_alloc_array(diff->steps_count, sizeof *diff->steps);
    for (size_t i = 0; i < diff->steps_count; i++)
        step_fill(diff, i);
    return FB_OK;
}

/* Where an unsteady step's cost moved beyond what machines wander by, shares would only mirror
 * that: its rows are judged in ms after all, with the same wide floor. */
static void unsteady_settle(struct fb_diff *diff, size_t step)
{
    struct fb_diff_step *out = &diff->steps[step];

    if (out->pairs >= 2 || !(out->health & FB_FLOOR_WANDERING) || diff->state->by_share_only)
        return;
    for (size_t i = 0; i < out->metrics_count; i++)
        if (out->metrics[i].id == FB_METRIC_CPU_PER_REQUEST &&
            out->metrics[i].verdict == FB_VERDICT_DIFF)
            out->on_ms = true;
}

static void around_rows(struct fb_diff *diff, size_t step)
{
    struct fb_around around;

    fb_around_measure(diff, step, &around);
    fb_rename_rows(diff, step, &around);
    fb_caller_rows(diff, step, &around);
    fb_mover_rows(diff, step);
    fb_around_done(&around);
}

static enum fb_status diff_make(struct fb_diff *diff, struct fb_err *err)
{
    struct fb_diff_state *state = diff->state;
    enum fb_status r = arms_check(diff, err);

    if (r == FB_OK)
        r = fb_lineup_build(state->in, &state->lineup, err);
    if (r != FB_OK)
        return r;
    r = fb_matching_build(state->in, &state->lineup, &diff->options, &state->matching, err);
    if (r != FB_OK)
        return r;
    state->windows =
        fb_alloc_array(state->lineup.count * state->matching.count, sizeof *state->windows);
    for (size_t i = 0; i < state->lineup.count && r == FB_OK; i++)
        r = replicate_collect(diff, i, err);
    if (r == FB_OK)
        r = steps_make(diff, err);
    if (r != FB_OK)
        return r;
    note_method(diff);
    note_matching(diff);
    fb_cost_pool_fill(diff);
    for (size_t i = 0; i < diff->steps_count && state->has_profiles; i++)
        fb_layer_pairs_measure(diff, i);
    if (state->has_profiles)
        fb_layer_pools_fill(diff);
    for (size_t i = 0; i < diff->steps_count; i++) {
        fb_metric_rows(diff, i);
        unsteady_settle(diff, i);
        note_step(diff, i);
        if (!state->has_profiles)
            continue;
        fb_layer_rows(diff, i);
        fb_frame_rows(diff, i);
        if (!state->in->keys)
            around_rows(diff, i);
    }
    return FB_OK;
}

enum fb_status fb_diff_new(const struct fb_diff_input *in, const struct fb_diff_options *options,
                           struct fb_diff **ret_diff, struct fb_err *err)
{
    struct fb_diff *diff = fb_alloc(sizeof *diff);
    enum fb_status r;

    diff->state = fb_alloc(sizeof *diff->state);
    diff->state->in = diff->input = in;
    if (options)
        diff->options = *options;
    options_fill(&diff->options);
    r = diff_make(diff, err);
    if (r != FB_OK) {
        fb_diff_free(diff);
        return r;
    }
    *ret_diff = diff;
    return FB_OK;
}

static void rows_free(struct fb_diff_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].name);
    free(rows);
}

static void notes_free(char **notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(notes[i]);
    free(notes);
}

static void state_free(struct fb_diff_state *state, size_t steps_count)
{
    for (size_t i = 0; state->windows && i < state->lineup.count * state->matching.count; i++)
        fb_window_done(&state->windows[i]);
    for (size_t i = 0; state->steps && i < steps_count; i++) {
        free(state->steps[i].pairs);
        free(state->steps[i].layers);
        fb_unknown_done(&state->steps[i].unknown);
    }
    free(state->steps);
    free(state->windows);
    free(state->pools);
    fb_matching_done(&state->matching);
    fb_lineup_done(&state->lineup);
    fb_arena_done(&state->arena);
    free(state);
}

void fb_diff_free(struct fb_diff *diff)
{
    if (!diff)
        return;
    state_free(diff->state, diff->steps_count);
    for (size_t i = 0; diff->steps && i < diff->steps_count; i++) {
        struct fb_diff_step *s = &diff->steps[i];

        free(s->name);
        free(s->why);
        free(s->runs);
        rows_free(s->metrics, s->metrics_count);
        rows_free(s->layers, s->layers_count);
        rows_free(s->boundaries, s->boundaries_count);
        rows_free(s->sums, s->sums_count);
        rows_free(s->frames, s->frames_count);
        rows_free(s->callers, s->callers_count);
        free(s->renames);
        free(s->movers);
        notes_free(s->notes, s->notes_count);
    }
    free(diff->steps);
    notes_free(diff->notes, diff->notes_count);
    free(diff);
}

/* rows.c - what all rows of a table have in common. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/state.h"

static const double run_floor_half = 2.0796138447276795 * 0.015; /* CPU without seconds */

struct fb_window *fb_state_window(const struct fb_diff_state *state, const struct fb_step_state *s,
                                  size_t pair, bool is_variant)
{
    size_t replicate = s->pairs[pair] + (is_variant ? state->lineup.controls : 0);

    return &state->windows[replicate * state->matching.count + s->row];
}

const char *fb_state_text(struct fb_diff_state *state, const char *fmt, ...)
{
    char text[1000];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return fb_arena_copy(&state->arena, text, strlen(text));
}

__attribute__((format(printf, 3, 0))) static void note_add(char ***notes, size_t *count,
                                                           const char *fmt, va_list args)
{
    char text[1000];

    vsnprintf(text, sizeof text, fmt, args);
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*notes)[i], text) == 0)
            return;
    *notes = realloc(*notes, (*count + 1) * sizeof **notes);
    (*notes)[(*count)++] = fb_strdup(text);
}

void fb_diff_note(struct fb_diff *diff, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    note_add(&diff->notes, &diff->notes_count, fmt, args);
    va_end(args);
}

void fb_diff_step_note(struct fb_diff_step *out, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    note_add(&out->notes, &out->notes_count, fmt, args);
    va_end(args);
}

static double run_cost_half(const struct fb_window *w, const struct fb_share *share)
{
    return w->grid.has_cost ? share->ln_half_cost : hypot(share->ln_half, run_floor_half);
}

struct side_sums {
    double below2, above2;       /* squared distances to the ends of the share's interval */
    double ms_below2, ms_above2; /* ... and of the ms                                     */
    double weight, deff;
    size_t deffs;
};

static void side_add(const struct fb_window *w, const struct fb_share *share, double k,
                     struct fb_diff_side *side, struct side_sums *sums)
{
    double part = w->weight / sums->weight, ms = share->p * w->cost.ms / k;

    side->samples += share->samples;
    side->share += part * share->p;
    side->ms += ms;
    side->cores += share->p * fb_step_cores(w->step) / k;
    side->hit_seconds += share->hit_cells;
    side->deff_assumed |= share->deff_assumed;
    sums->below2 += pow(part * (share->p - share->lo), 2);
    sums->above2 += pow(part * (share->hi - share->p), 2);
    if (share->p > 0) {
        sums->ms_below2 += pow(ms * run_cost_half(w, share), 2);
        sums->ms_above2 += pow(ms * run_cost_half(w, share), 2);
    } else {
        sums->ms_above2 += pow(share->hi * w->cost.ms / k, 2);
    }
    if (!isnan(share->deff)) {
        sums->deff += share->deff;
        sums->deffs++;
    }
}

void fb_side_fill(const struct fb_diff_state *state, const struct fb_step_state *s,
                  const struct fb_share *shares, bool is_variant, struct fb_diff_side *ret_side)
{
    struct fb_diff_side side = {0};
    struct side_sums sums = {0};

    for (size_t i = 0; i < s->pairs_count; i++)
        sums.weight += fb_state_window(state, s, i, is_variant)->weight;
    for (size_t i = 0; i < s->pairs_count; i++)
        side_add(fb_state_window(state, s, i, is_variant), &shares[i], (double)s->pairs_count,
                 &side, &sums);
    side.share_lo = fmax(0, side.share - sqrt(sums.below2));
    side.share_hi = fmin(1, side.share + sqrt(sums.above2));
    side.ms_lo = isnan(side.ms) ? NAN : fmax(0, side.ms - sqrt(sums.ms_below2));
    side.ms_hi = side.ms + sqrt(sums.ms_above2);
    side.deff = sums.deffs > 0 ? sums.deff / (double)sums.deffs : NAN;
    *ret_side = side;
}

static const struct fb_diff_side nothing = {.share = NAN,
                                            .share_lo = NAN,
                                            .share_hi = NAN,
                                            .ms = NAN,
                                            .ms_lo = NAN,
                                            .ms_hi = NAN,
                                            .cores = NAN,
                                            .deff = NAN};

void fb_row_init(struct fb_diff_row *row, const char *name, uint32_t id)
{
    *row = (struct fb_diff_row){.name = fb_strdup(name),
                                .id = id,
                                .control = nothing,
                                .variant = nothing,
                                .value_control = NAN,
                                .value_variant = NAN,
                                .unit = "",
                                .d = NAN,
                                .d_lo = NAN,
                                .d_hi = NAN,
                                .change = NAN,
                                .change_points = NAN,
                                .change_ms = NAN,
                                .floor = NAN,
                                .mde = NAN,
                                .bound = NAN,
                                .reason = "",
                                .callers = SIZE_MAX};
}

void fb_row_changes(struct fb_diff_row *row)
{
    row->change_points = row->variant.share - row->control.share;
    row->change_ms = row->variant.ms - row->control.ms;
}

void fb_row_deny(struct fb_diff_row *row, const char *reason)
{
    row->verdict = FB_VERDICT_NONE;
    row->reason = reason;
    row->within_delta = false;
}

void fb_row_take(struct fb_diff_row *row, const struct fb_judged *judged)
{
    row->d = judged->d;
    row->d_lo = judged->d - judged->half;
    row->d_hi = judged->d + judged->half;
    row->change = expm1(judged->d);
    row->verdict = judged->verdict;
    row->within_delta = judged->within_delta;
}

/* One bound for an absent side: that of the verdict. */
static void bound_take(struct fb_diff_side *side, double bound)
{
    if (side->share_hi > 0)
        side->ms_hi *= bound / side->share_hi;
    side->share_hi = bound;
}

void fb_row_absent(const struct fb_diff_state *state, const struct fb_step_state *s,
                   struct fb_diff_row *row, const struct fb_share *shares, bool living_is_variant)
{
    struct fb_share sum = {.cluster_size = 1};
    double n = 0;

    for (size_t i = 0; i < s->pairs_count; i++) {
        sum.hit_cells += shares[i].hit_cells;
        sum.clusters += shares[i].clusters;
        sum.is_sparse |= shares[i].is_sparse;
        sum.cluster_size = fmax(sum.cluster_size, shares[i].cluster_size);
        n += fb_state_window(state, s, i, !living_is_variant)->samples;
    }
    row->verdict = fb_verdict_absent(&sum);
    row->bound = fmin(1, 3 * sum.cluster_size / fmax(1, n));
    bound_take(living_is_variant ? &row->control : &row->variant, row->bound);
    row->change = living_is_variant ? NAN : -1;
}

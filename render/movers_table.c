/* The tables of a diff that stand around its frames: what moved most, frames beside their callers,
 * and functions that may have been renamed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/diff_cells.h"

enum { RENAMES_SHOWN = 12 };

static const char *const kind_words[] = {
    [FB_MOVER_MORE] = "more", [FB_MOVER_LESS] = "less",   [FB_MOVER_NEW] = "new",
    [FB_MOVER_GONE] = "gone", [FB_MOVER_MOVED] = "moved", [FB_MOVER_RENAMED] = "renamed?",
};

static const char *callers_name(const struct fb_diff_step *s, const struct fb_diff_row *frame)
{
    return frame->callers < s->callers_count ? s->callers[frame->callers].name : "its callers";
}

/* "inlined into deflate", which stayed; "" for what its kind says already.  Yours. */
static char *mover_why(const struct fb_diff_step *s, const struct fb_diff_mover *m)
{
    const struct fb_diff_row *r = &s->frames[m->frame];
    bool is_less = r->change_points < 0;

    if (r->renamed)
        return fb_format("perhaps %s", r->renamed);
    if (r->move == FB_MOVE_INLINED)
        return fb_format(is_less ? "inlined into %s" : "no longer inlined into %s",
                         callers_name(s, r));
    if (r->move == FB_MOVE_WITHIN)
        return fb_format("%s other code of %s", is_less ? "to" : "from", callers_name(s, r));
    if (r->move == FB_MOVE_TOOK)
        return fb_format("%s %s", is_less ? "gave up" : "took over", r->partner);
    return fb_strdup(m->is_judged ? "" : "ranked, not judged");
}

static double measure_of(const struct fb_diff_step *s, const struct fb_diff_row *r)
{
    return s->on_ms ? r->change_ms : 100 * r->change_points;
}

/* Two digits of the largest change. */
static int points_decimals(const struct fb_diff_step *s)
{
    double largest = s->movers_count > 0 ? fabs(measure_of(s, &s->frames[s->movers[0].frame])) : 0;
    int decimals = largest > 0 ? 1 - (int)floor(log10(largest)) : 1;

    return decimals < 1 ? 1 : decimals > 4 ? 4 : decimals;
}

static void mover_row(struct fb_table *t, const struct fb_diff *diff, const struct fb_diff_step *s,
                      const struct fb_diff_mover *m, int decimals)
{
    const struct fb_diff_row *r = &s->frames[m->frame];
    const struct fb_layers *layers = diff->input->layers;
    int side = fb_diff_presence(r);
    double value = measure_of(s, r);
    char *why = mover_why(s, m);

    fb_table_row(t);
    fb_table_text(t, r->name);
    fb_table_text(t,
                  r->layer < fb_layers_count(layers) ? fb_layers_get(layers, r->layer)->name : "");
    fb_table_textf(t, value, "%+.*f", decimals, value);
    fb_table_tone(t, fb_diff_tone(r, side));
    if (side != 0 || isnan(r->change)) {
        fb_table_textf(t, NAN, "—");
    } else {
        struct fb_buf b = {0};

        fb_diff_percent_put(&b, r->change);
        fb_table_textf(t, 100 * r->change, "%s", b.data);
        fb_buf_done(&b);
    }
    fb_table_text(t, kind_words[m->kind]);
    fb_table_text(t, why);
    if (!m->is_judged)
        fb_table_mute(t);
    free(why);
}

/* What the rows come to, beside the whole step. */
static void movers_note(struct fb_table *t, const struct fb_diff_step *s, size_t shown,
                        int decimals)
{
    const struct fb_diff_row *total = s->layers_count > 0 ? &s->layers[s->layers_count - 1] : NULL;
    double sum = 0;
    char *note;

    for (size_t i = 0; i < shown; i++)
        sum += measure_of(s, &s->frames[s->movers[i].frame]);
    if (s->on_ms && total && !isnan(total->change_ms))
        note = fb_format("Together %+.*f of the step's %+.*f ms per request. A frame that moved or "
                         "was renamed is no change of cost.",
                         decimals, sum, decimals, total->change_ms);
    else
        note = fb_format("Together %+.*f points of share. A frame that moved or was renamed is no "
                         "change of cost.",
                         decimals, sum);
    fb_table_note(t, note);
    free(note);
    if (shown < s->movers_count) {
        note = fb_format("%zu more: --movers %zu.", s->movers_count - shown, s->movers_count);
        fb_table_note(t, note);
        free(note);
    }
}

struct fb_table *fb_render_diff_movers(const struct fb_diff *diff, size_t step, size_t rows)
{
    const struct fb_diff_step *s = &diff->steps[step];
    size_t shown = s->movers_count < rows ? s->movers_count : rows;
    int decimals = s->on_ms ? fb_diff_ms_decimals(s) : points_decimals(s);
    struct fb_table *t = fb_diff_table_new("Movers, by self time", diff, step);

    fb_table_column(t, "frame", "frame", FB_ALIGN_LEFT);
    fb_table_clip(t, FB_DIFF_NAME_WIDTH);
    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_table_group(t, "change");
    fb_table_column(t, s->on_ms ? "change_ms" : "change_points", s->on_ms ? "ms/req" : "points",
                    FB_ALIGN_RIGHT);
    fb_table_column(t, "change_percent", "%", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    fb_table_column(t, "kind", "which is", FB_ALIGN_LEFT);
    fb_table_column(t, "why", "", FB_ALIGN_LEFT);
    for (size_t i = 0; i < shown; i++)
        mover_row(t, diff, s, &s->movers[i], decimals);
    movers_note(t, s, shown, decimals);
    return t;
}

/* ---- callers ---- */

static void callers_row(struct fb_table *t, const struct fb_diff *diff,
                        const struct fb_diff_step *s, const struct fb_diff_row *r, bool is_frame,
                        int decimals)
{
    char *name = fb_format(is_frame ? "  %s" : "%s", r->name);

    (void)diff;
    fb_table_row(t);
    fb_table_text(t, name);
    fb_table_text(t, is_frame ? "self" : "inclusive");
    fb_diff_share_cells(t, r, decimals, s->denial);
    free(name);
}

/* Frames with callers of one name are one block: it is the same set. */
static bool is_first_of_its_name(const struct fb_diff_step *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(s->callers[i].name, s->callers[index].name) == 0)
            return false;
    return true;
}

struct fb_table *fb_render_diff_callers(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    int decimals = diff->has_ms ? fb_diff_ms_decimals(s) : -1;
    struct fb_table *t = fb_diff_table_new("Frames under their callers", diff, step);
    bool is_first = true;

    fb_table_column(t, "frame", "callers, frame", FB_ALIGN_LEFT);
    fb_table_clip(t, FB_DIFF_NAME_WIDTH);
    fb_table_column(t, "time", "time", FB_ALIGN_LEFT);
    fb_diff_share_columns(t, diff->has_ms, s->on_ms);
    for (size_t i = 0; i < s->callers_count; i++) {
        if (!is_first_of_its_name(s, i))
            continue;
        if (!is_first)
            fb_table_rule(t);
        is_first = false;
        callers_row(t, diff, s, &s->callers[i], false, decimals);
        for (size_t f = 0; f < s->frames_count; f++)
            if (s->frames[f].callers < s->callers_count &&
                strcmp(s->callers[s->frames[f].callers].name, s->callers[i].name) == 0)
                callers_row(t, diff, s, &s->frames[f], true, decimals);
    }
    fb_table_note(
        t, "All stacks of the callers, each once, over the self time of what they call. "
           "Where a frame's time moved and its callers' did not, the cost stayed: it was "
           "inlined, or other code of theirs took over. Callers are judged row by row, at 95 %, "
           "and not as one family.");
    return t;
}

/* ---- renames ---- */

struct fb_table *fb_render_diff_renames(const struct fb_diff *diff, size_t step)
{
    const struct fb_diff_step *s = &diff->steps[step];
    const struct fb_functions *fns = diff->input->fns;
    struct fb_table *t = fb_diff_table_new("Renamed? Suggestions, nothing is merged", diff, step);

    fb_table_column(t, "from", "in the control", FB_ALIGN_LEFT);
    fb_table_clip(t, FB_DIFF_NAME_WIDTH);
    fb_table_column(t, "to", "in the variant", FB_ALIGN_LEFT);
    fb_table_clip(t, FB_DIFF_NAME_WIDTH);
    fb_table_group(t, "inclusive share %");
    fb_table_column(t, "share_from_percent", "control", FB_ALIGN_RIGHT);
    fb_table_column(t, "share_to_percent", "variant", FB_ALIGN_RIGHT);
    fb_table_group(t, "alike, %");
    fb_table_column(t, "names_percent", "names", FB_ALIGN_RIGHT);
    fb_table_column(t, "callers_percent", "callers", FB_ALIGN_RIGHT);
    fb_table_column(t, "callees_percent", "callees", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    fb_table_column(t, "ambiguous", "", FB_ALIGN_LEFT);
    for (size_t i = 0; i < s->renames_count && i < RENAMES_SHOWN; i++) {
        const struct fb_diff_rename *r = &s->renames[i];

        fb_table_row(t);
        fb_table_text(t, fb_function_name(fns, r->from));
        fb_table_text(t, fb_function_name(fns, r->to));
        fb_table_number(t, 100 * r->share_from, 1);
        fb_table_number(t, 100 * r->share_to, 1);
        fb_table_number(t, 100 * r->names, 0);
        fb_table_number(t, 100 * r->callers, 0);
        fb_table_number(t, 100 * r->callees, 0);
        fb_table_text(t, r->is_ambiguous ? "ambiguous" : "");
    }
    if (s->renames_count > RENAMES_SHOWN) {
        char *note = fb_format("The largest %d of %zu.", RENAMES_SHOWN, s->renames_count);

        fb_table_note(t, note);
        free(note);
    }
    fb_table_note(t, "Each is in one arm alone. If they are one function, neither is new or gone: "
                     "compare their shares. Ambiguous: another function would do as well.");
    return t;
}

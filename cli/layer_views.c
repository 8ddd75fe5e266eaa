#include "cli/layer_views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/say.h"
#include "cli/sums.h"

/* Shares of nameless leaves that differ by more make small rows say nothing. */
static const double unknown_most = 0.02;

/* ---- what is asked for ---- */

static enum fb_status look_check(const struct fb_args *args, const struct fb_layer_look *look,
                                 struct fb_err *err)
{
    bool is_long = look->by == FB_BY_THREAD || look->by == FB_BY_PACKAGE ||
                   look->by == FB_BY_MODULE || look->by == FB_BY_FRAME;

    if (look->look == FB_LOOK_BOUNDARY && fb_args_has(args, "by"))
        return fb_fail(err, FB_EUSAGE,
                       "'--view boundary' has the rules' boundaries as rows, so "
                       "'--by' cannot be applied");
    if (look->look != FB_LOOK_SELF && fb_args_has(args, "sum"))
        return fb_fail(err, FB_EUSAGE, "'--sum' adds up rows, and those of '--view %s' overlap",
                       fb_args_get(args, "view"));
    if (fb_args_has(args, "depth") && look->by != FB_BY_PACKAGE)
        return fb_fail(err, FB_EUSAGE, "'--depth' is of packages: '--by package' was expected");
    if (fb_args_has(args, "rows") && !is_long)
        return fb_fail(err, FB_EUSAGE,
                       "'--rows' is of long tables: '--by thread', package, "
                       "module or frame was expected");
    return FB_OK;
}

enum fb_status fb_layer_look_parse(const struct fb_args *args, struct fb_layer_look *ret_look,
                                   struct fb_err *err)
{
    const char *view = fb_args_get(args, "view"), *by = fb_args_get(args, "by");
    double depth = 3, rows = 30;
    enum fb_status r = fb_args_count(args, "depth", 1, 20, &depth, err);

    *ret_look = (struct fb_layer_look){.flags = FB_VIEW_NEEDS_PROFILE | FB_VIEW_LAYERS};
    if (r == FB_OK)
        r = fb_args_count(args, "rows", 1, 1e6, &rows, err);
    if (r != FB_OK)
        return r;
    if (view && strcmp(view, "inclusive") == 0)
        ret_look->look = FB_LOOK_INCLUSIVE;
    else if (view && strcmp(view, "boundary") == 0)
        ret_look->look = FB_LOOK_BOUNDARY;
    else if (view && strcmp(view, "self") != 0)
        return fb_fail(err, FB_EUSAGE, "'--view %s': self, inclusive or boundary was expected",
                       view);
    if (by && !fb_by_parse(by, &ret_look->by))
        return fb_fail(err, FB_EUSAGE,
                       "'--by %s': layer, group, rollup, thread, package, module, tier or frame "
                       "was expected",
                       by);
    ret_look->depth = (size_t)depth;
    ret_look->rows = (size_t)rows;
    if (ret_look->by == FB_BY_THREAD)
        ret_look->flags |= FB_VIEW_THREADS;
    if (ret_look->by == FB_BY_ROLLUP)
        ret_look->flags |= FB_VIEW_FOLD_KERNEL;
    return look_check(args, ret_look, err);
}

/* ---- arms ---- */

enum fb_status fb_arm_selves_get(const struct fb_args *args, const struct fb_view *view,
                                 struct fb_arm_selves *ret_selves, struct fb_err *err)
{
    enum fb_status r = FB_OK;

    *ret_selves = (struct fb_arm_selves){.count = view->count};
    ret_selves->self = fb_alloc_array(view->count, sizeof(double *));
    ret_selves->titles = fb_alloc_array(view->count, sizeof(char *));
    for (size_t i = 0; i < view->count && r == FB_OK; i++) {
        const struct fb_step *step;

        r = fb_view_self(args, view, i, &ret_selves->self[i], &step, err);
        if (r == FB_OK)
            ret_selves->titles[i] = fb_view_title(view, i, step);
    }
    if (r != FB_OK)
        fb_arm_selves_done(ret_selves);
    return r;
}

void fb_arm_selves_done(struct fb_arm_selves *selves)
{
    for (size_t i = 0; i < selves->count; i++) {
        free(selves->self[i]);
        free(selves->titles[i]);
    }
    free(selves->self);
    free(selves->titles);
    *selves = (struct fb_arm_selves){0};
}

static double unknown_share(const struct fb_view *view, const double *self)
{
    double all = 0, unknown = 0;

    for (size_t n = 0; n < view->tree.count; n++) {
        const char *name = fb_function_name(&view->fns, view->tree.nodes[n].function);

        all += self[n];
        if (strncmp(name, "[unknown", strlen("[unknown")) == 0)
            unknown += self[n];
    }
    return all > 0 ? unknown / all : 0;
}

void fb_note_unknown(struct fb_table *t, const struct fb_view *view,
                     const struct fb_arm_selves *selves)
{
    struct fb_buf text = {0};
    double least = 1, most = 0;

    for (size_t i = 0; i < selves->count; i++) {
        double share = unknown_share(view, selves->self[i]);

        least = fmin(least, share);
        most = fmax(most, share);
        fb_buf_printf(&text, "%s%.1f %%%s%s", i ? ", " : "Frames without a name: ", 100 * share,
                      selves->count > 1 ? " of " : " of the weight",
                      selves->count > 1 ? selves->titles[i] : "");
    }
    if (selves->count > 1 && most - least > unknown_most)
        fb_buf_printf(&text,
                      ". They differ by %.1f points, over %.0f: a difference smaller than "
                      "that may be nothing but names that one arm lacks",
                      100 * (most - least), 100 * unknown_most);
    fb_buf_putc(&text, '.');
    if (selves->count > 1 || most > unknown_most)
        fb_table_note(t, text.data);
    fb_buf_done(&text);
}

/* ---- sums of rows ---- */

struct sums {
    struct fb_share_sum *items;
    struct fb_diff_shares *shares;
    size_t count;
};

static void sums_done(struct sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        free((void *)(uintptr_t)sums->items[i].name);
        free((void *)(uintptr_t)sums->items[i].keys);
        fb_diff_shares_done(&sums->shares[i]);
    }
    free(sums->items);
    free(sums->shares);
    *sums = (struct sums){0};
}

/* A sum is one row: its interval is measured on the sum. */
static enum fb_status sum_measure(const struct fb_args *args, const struct fb_view *view,
                                  const struct fb_keys *keys, struct fb_share_sum *sum,
                                  struct fb_diff_shares *ret_shares, struct fb_err *err)
{
    uint32_t *in = fb_alloc_array(view->tree.count, sizeof *in);
    enum fb_status r;

    for (size_t n = 0; n < view->tree.count; n++)
        for (size_t k = 0; k < sum->count; k++)
            in[n] |= keys->of_node[n] == sum->keys[k];
    r = fb_view_shares_by(args, view, 0, in, 2, ret_shares, err);
    if (r == FB_OK)
        sum->shares = ret_shares;
    free(in);
    return r;
}

static enum fb_status sums_get(const struct fb_args *args, const struct fb_view *view,
                               const struct fb_keys *keys, struct sums *sums, struct fb_err *err)
{
    size_t given = 0;
    enum fb_status r = FB_OK;

    while (fb_args_nth(args, "sum", given))
        given++;
    *sums = (struct sums){0};
    sums->items = fb_alloc_array(given, sizeof *sums->items);
    sums->shares = fb_alloc_array(given, sizeof *sums->shares);
    for (size_t i = 0; i < given && r == FB_OK; i++) {
        struct fb_row_sum row = {0};

        r = fb_row_sum_parse(fb_args_nth(args, "sum", i), keys, &row, err);
        sums->items[i] = (struct fb_share_sum){row.name, row.keys, row.count, NULL};
        sums->count += r == FB_OK;
        if (r == FB_OK && view->count == 1)
            r = sum_measure(args, view, keys, &sums->items[i], &sums->shares[i], err);
    }
    return r;
}

/* ---- the table ---- */

static struct fb_share_arm *arms_of(const struct fb_arm_selves *selves)
{
    struct fb_share_arm *arms = fb_alloc_array(selves->count, sizeof *arms);

    for (size_t i = 0; i < selves->count; i++)
        arms[i] = (struct fb_share_arm){.title = selves->titles[i], .self = selves->self[i]};
    return arms;
}

static char *title_of(const struct fb_layer_look *look, const struct fb_arm_selves *selves)
{
    const char *arm = selves->count == 1 ? selves->titles[0] : "";
    const char *colon = selves->count == 1 ? ": " : "";

    if (look->look == FB_LOOK_BOUNDARY)
        return fb_format("%s%sboundaries, rows overlap", arm, colon);
    if (look->look == FB_LOOK_INCLUSIVE)
        return fb_format("%s%sinclusive by %s, rows overlap", arm, colon, fb_by_text(look->by));
    if (look->by == FB_BY_LAYER && selves->count == 1)
        return fb_strdup(arm);
    return fb_format("%s%sby %s", arm, colon, fb_by_text(look->by));
}

static void by_notes(struct fb_table *t, const struct fb_layer_look *look,
                     const struct fb_view *view)
{
    bool has_tiers = false;

    for (size_t f = 1; f < view->fns.count && !has_tiers; f++)
        has_tiers = view->fns.items[f].tier != FB_TIER_UNKNOWN ||
                    view->fns.items[f].kind == FB_FRAME_INLINED ||
                    view->fns.items[f].kind == FB_FRAME_JIT;
    if (look->by == FB_BY_TIER && !has_tiers)
        fb_table_note(t, "No frame says how its code was made: the input has no tiers.");
    for (size_t i = 0; i < view->count && look->by == FB_BY_THREAD; i++) {
        const char *clock = fb_profile_manifest_get(view->arms[i].profile, "clock_got");

        if (clock && strcmp(clock, "itimer") == 0)
            fb_table_note(t, FB_NOTE_ITIMER);
    }
    if (look->by == FB_BY_ROLLUP && !view->layers_options.fold_kernel)
        fb_table_note(t,
                      "Kernel frames are kept in their own layers, not folded into their calls.");
}

static struct fb_table *shares_table(const struct fb_layer_look *look, const struct fb_view *view,
                                     const struct fb_keys *keys, struct fb_share_arm *arms,
                                     const struct sums *sums, const char *title)
{
    struct fb_share_input in = {.title = title,
                                .what = fb_by_text(look->by),
                                .tree = &view->tree,
                                .fns = &view->fns,
                                .keys = keys,
                                .arms = arms,
                                .arms_count = view->count,
                                .is_inclusive = look->look == FB_LOOK_INCLUSIVE,
                                .keep_empty = look->by <= FB_BY_ROLLUP,
                                .rows = look->rows,
                                .sums = sums->items,
                                .sums_count = sums->count};
    struct fb_table *t;

    if (look->look != FB_LOOK_SELF || look->by != FB_BY_LAYER || view->count > 1)
        return fb_render_shares(&in);
    in.gap = 2; /* frame and module */
    t = fb_render_layers(view->layers, &view->tree, &view->fns, &view->applied, arms[0].self,
                         arms[0].shares, title);
    fb_render_share_sums(t, &in);
    return t;
}

static enum fb_status keyed_table(const struct fb_args *args, const struct fb_layer_look *look,
                                  const struct fb_view *view, struct fb_share_arm *arms,
                                  const char *title, struct fb_table **ret_table,
                                  struct fb_err *err)
{
    struct fb_diff_shares shares = {0};
    struct sums sums = {0};
    struct fb_keys keys;
    enum fb_status r = FB_OK;

    fb_keys_make(&keys, look->by, look->depth, view->layers, view->layer_of_node, &view->tree,
                 &view->fns);
    if (look->look == FB_LOOK_SELF)
        r = sums_get(args, view, &keys, &sums, err);
    if (r == FB_OK && look->look == FB_LOOK_SELF && view->count == 1) {
        r = fb_view_shares_by(args, view, 0, keys.of_node, keys.count, &shares, err);
        arms[0].shares = &shares;
    }
    if (r == FB_OK)
        *ret_table = shares_table(look, view, &keys, arms, &sums, title);
    fb_diff_shares_done(&shares);
    sums_done(&sums);
    fb_keys_done(&keys);
    return r;
}

static struct fb_table *boundary_table(const struct fb_view *view, const struct fb_share_arm *arms,
                                       const char *title)
{
    return fb_render_boundaries(view->layers, &view->tree, view->boundaries_of_node,
                                view->layer_of_node, arms, view->count, title);
}

/* One unit for all columns, where all arms have it. */
static void unit_set(struct fb_table *t, const struct fb_view *view)
{
    const char *unit = fb_profile_unit_word(view->arms[0].profile);

    for (size_t i = 1; i < view->count; i++)
        if (strcmp(unit, fb_profile_unit_word(view->arms[i].profile)) != 0)
            return;
    fb_table_unit(t, unit);
}

int fb_layer_look_say(const struct fb_args *args, const struct fb_layer_look *look,
                      const struct fb_view *view)
{
    struct fb_arm_selves selves;
    struct fb_share_arm *arms;
    struct fb_table *table = NULL;
    struct fb_err err;
    enum fb_status r = fb_arm_selves_get(args, view, &selves, &err);
    char *title, *rules;

    if (r != FB_OK)
        return fb_say_error(&err);
    arms = arms_of(&selves);
    title = title_of(look, &selves);
    if (look->look == FB_LOOK_BOUNDARY)
        table = boundary_table(view, arms, title);
    else
        r = keyed_table(args, look, view, arms, title, &table, &err);
    if (r == FB_OK) {
        unit_set(table, view);
        rules = fb_format("Rules: %s.", fb_layers_name(view->layers));
        if (look->look == FB_LOOK_BOUNDARY || look->by <= FB_BY_ROLLUP)
            fb_table_note(table, rules);
        free(rules);
        by_notes(table, look, view);
        fb_note_unknown(table, view, &selves);
        for (size_t i = 0; i < view->count; i++)
            fb_note_clock(table, view->arms[i].profile);
    }
    free(title);
    free(arms);
    fb_arm_selves_done(&selves);
    return r == FB_OK ? fb_say_tables(args, &table, 1) : fb_say_error(&err);
}

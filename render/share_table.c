/* Tables of shares by any key (layer, package, tier ...), one column an arm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/cells.h"
#include "render/render.h"

enum { ROWS_DEFAULT = 30, NAME_WIDTH = 72 };

struct work {
    const struct fb_share_input *in;
    double **amount; /* by arm, by key */
    double *whole;   /* by arm */
    size_t *order;   /* keys that are shown */
    size_t count, shown;
    struct fb_buf empty; /* names of the rows without a sample */
};

static double largest(const struct work *w, size_t key)
{
    double most = 0;

    for (size_t a = 0; a < w->in->arms_count; a++)
        if (w->whole[a] > 0)
            most = fmax(most, w->amount[a][key] / w->whole[a]);
    return most;
}

/* By the largest share in any arm, then by name. */
static int by_share(const void *a, const void *b, void *work)
{
    const struct work *w = work;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    double sx = largest(w, x), sy = largest(w, y);

    if (sx != sy)
        return sx < sy ? 1 : -1;
    return strcmp(w->in->keys->names[x], w->in->keys->names[y]);
}

static void work_init(struct work *w, const struct fb_share_input *in)
{
    size_t rows = in->rows ? in->rows : ROWS_DEFAULT;

    *w = (struct work){.in = in};
    w->amount = fb_alloc_array(in->arms_count, sizeof *w->amount);
    w->whole = fb_alloc_array(in->arms_count, sizeof *w->whole);
    w->order = fb_alloc_array(in->keys->count, sizeof *w->order);
    for (size_t a = 0; a < in->arms_count; a++) {
        double *own, *total;

        fb_calltree_by_key(in->tree, in->fns, in->keys->of_node, in->keys->count, in->arms[a].self,
                           &own, &total);
        for (size_t k = 0; k < in->keys->count; k++)
            w->whole[a] += own[k];
        w->amount[a] = in->is_inclusive ? total : own;
        free(in->is_inclusive ? own : total);
    }
    for (size_t k = 0; k < in->keys->count; k++)
        if (in->keep_empty || largest(w, k) > 0)
            w->order[w->count++] = k;
    if (!in->keys->is_ordered)
        qsort_r(w->order, w->count, sizeof *w->order, by_share, w);
    w->shown = in->keys->is_ordered || w->count <= rows ? w->count : rows;
}

static void work_done(struct work *w)
{
    for (size_t a = 0; a < w->in->arms_count; a++)
        free(w->amount[a]);
    free(w->amount);
    free(w->whole);
    free(w->order);
}

static void columns(struct fb_table *t, const struct fb_share_input *in)
{
    const char *share = in->is_inclusive ? "inclusive %" : "share %";

    fb_table_column(t, in->what, in->what, FB_ALIGN_LEFT);
    fb_table_clip(t, NAME_WIDTH);
    if (in->arms_count == 1) {
        fb_table_column(t, in->is_inclusive ? "inclusive_percent" : "share_percent", share,
                        FB_ALIGN_RIGHT);
        fb_table_column(t, "weight", "weight", FB_ALIGN_RIGHT);
        fb_table_amount(t);
        if (in->arms[0].shares) {
            fb_table_data_column(t, "share_low_percent");
            fb_table_data_column(t, "share_high_percent");
        }
        return;
    }
    for (size_t a = 0; a < in->arms_count; a++) {
        char key[40];

        fb_table_group(t, in->arms[a].title);
        (void)snprintf(key, sizeof key, "share_percent_%zu", a + 1);
        fb_table_column(t, key, share, FB_ALIGN_RIGHT);
        (void)snprintf(key, sizeof key, "weight_%zu", a + 1);
        fb_table_column(t, key, "weight", FB_ALIGN_RIGHT);
        fb_table_amount(t);
    }
    fb_table_group(t, NULL);
}

/* The cells behind the name: amount[a] of each arm; key SIZE_MAX for a sum that has no interval. */
static void amounts(struct fb_table *t, const struct work *w, const double *amount,
                    const struct fb_diff_shares *shares, size_t key)
{
    for (size_t a = 0; a < w->in->arms_count; a++) {
        fb_cell_interval(t, amount[a], w->whole[a], w->in->arms_count == 1 ? shares : NULL, key);
        fb_table_number(t, amount[a], 0);
    }
    for (size_t i = 0; i < w->in->gap; i++)
        fb_table_text(t, "");
    if (w->in->arms_count == 1)
        fb_cell_interval_data(t, shares, key);
}

static void key_row(struct fb_table *t, struct work *w, size_t key)
{
    double *amount = fb_alloc_array(w->in->arms_count, sizeof *amount);

    for (size_t a = 0; a < w->in->arms_count; a++)
        amount[a] = w->amount[a][key];
    fb_table_row(t);
    fb_table_text(t, w->in->keys->names[key]);
    amounts(t, w, amount, w->in->arms[0].shares, key);
    if (w->in->keep_empty && largest(w, key) <= 0 && key + 1 < w->in->keys->count)
        fb_row_empty(t, w->in->keys->names[key], &w->empty); /* the last is what is left over */
    free(amount);
}

static void rest_row(struct fb_table *t, const struct work *w)
{
    double *amount = fb_alloc_array(w->in->arms_count, sizeof *amount);
    char *name = fb_format("(%zu others)", w->count - w->shown);

    for (size_t i = w->shown; i < w->count; i++)
        for (size_t a = 0; a < w->in->arms_count; a++)
            amount[a] += w->amount[a][w->order[i]];
    fb_table_row(t);
    fb_table_text(t, name);
    amounts(t, w, amount, NULL, 0);
    fb_table_mute(t);
    free(name);
    free(amount);
}

static void sum_row(struct fb_table *t, const struct work *w, const struct fb_share_sum *sum)
{
    double *amount = fb_alloc_array(w->in->arms_count, sizeof *amount);

    for (size_t i = 0; i < sum->count; i++)
        for (size_t a = 0; a < w->in->arms_count; a++)
            amount[a] += w->amount[a][sum->keys[i]];
    fb_table_row(t);
    fb_table_text(t, sum->name);
    amounts(t, w, amount, sum->shares, 1);
    free(amount);
}

void fb_render_share_sums(struct fb_table *t, const struct fb_share_input *in)
{
    struct work w;

    if (in->sums_count == 0)
        return;
    work_init(&w, in);
    fb_table_rule(t);
    for (size_t i = 0; i < in->sums_count; i++)
        sum_row(t, &w, &in->sums[i]);
    work_done(&w);
}

struct fb_table *fb_render_shares(const struct fb_share_input *in)
{
    struct fb_table *t = fb_table_new(in->title);
    struct work w;

    work_init(&w, in);
    columns(t, in);
    for (size_t i = 0; i < w.shown; i++)
        key_row(t, &w, w.order[i]);
    if (w.shown < w.count && !in->is_inclusive)
        rest_row(t, &w);
    if (!in->is_inclusive) {
        fb_table_rule(t);
        fb_table_row(t);
        fb_table_text(t, "total");
        fb_table_tone(t, FB_TONE_STRONG);
        amounts(t, &w, w.whole, NULL, 0);
        fb_render_share_sums(t, in);
        fb_table_note(t, "Self time: a stack counts once, by its innermost frame.");
    } else {
        fb_table_note(t, "The rows overlap: a stack counts once in each row that has a frame of "
                         "it. Never add them up.");
    }
    fb_row_empty_note(t, &w.empty);
    if (in->arms_count == 1)
        fb_cell_interval_note(t, in->arms[0].shares);
    work_done(&w);
    return t;
}

/* ---- boundaries ---- */

static double boundary_weight(const struct fb_calltree *tree, const uint64_t *bits, size_t boundary,
                              const double *self)
{
    double sum = 0;

    for (size_t n = 0; n < tree->count; n++)
        if (bits[n] >> boundary & 1)
            sum += self[n];
    return sum;
}

struct fb_table *fb_render_boundaries(const struct fb_layers *layers,
                                      const struct fb_calltree *tree, const uint64_t *bits,
                                      const uint16_t *layer_of_node,
                                      const struct fb_share_arm *arms, size_t arms_count,
                                      const char *title)
{
    struct fb_table *t = fb_table_new(title);
    struct fb_buf empty = {0};

    fb_table_column(t, "boundary", "boundary", FB_ALIGN_LEFT);
    fb_table_column(t, "layer", "beside layer", FB_ALIGN_LEFT);
    for (size_t a = 0; a < arms_count; a++) {
        char key[40];

        if (arms_count > 1)
            fb_table_group(t, arms[a].title);
        (void)snprintf(key, sizeof key,
                       arms_count > 1 ? "inclusive_percent_%zu" : "inclusive_percent", a + 1);
        fb_table_column(t, key, "inclusive %", FB_ALIGN_RIGHT);
        (void)snprintf(key, sizeof key, arms_count > 1 ? "weight_%zu" : "weight", a + 1);
        fb_table_column(t, key, "weight", FB_ALIGN_RIGHT);
        fb_table_amount(t);
        (void)snprintf(key, sizeof key, arms_count > 1 ? "self_percent_%zu" : "self_percent",
                       a + 1);
        fb_table_column(t, key, "layer's self %", FB_ALIGN_RIGHT);
    }
    fb_table_group(t, NULL);
    for (size_t b = 0; b < fb_layers_boundaries_count(layers); b++) {
        const struct fb_boundary *boundary = fb_layers_boundary(layers, b);
        bool has_layer = boundary->layer != FB_NO_LAYER;
        double most = 0;

        fb_table_row(t);
        fb_table_text(t, boundary->name);
        fb_table_text(t, has_layer ? fb_layers_get(layers, boundary->layer)->name : "");
        for (size_t a = 0; a < arms_count; a++) {
            double *sums = fb_layers_sum(layers, tree, layer_of_node, arms[a].self), whole = 0;
            double weight = boundary_weight(tree, bits, b, arms[a].self);

            for (size_t l = 0; l < fb_layers_count(layers); l++)
                whole += sums[l];
            most = fmax(most, weight);
            fb_cell_percent(t, weight, whole);
            fb_table_number(t, weight, 0);
            if (has_layer)
                fb_cell_percent(t, sums[boundary->layer], whole);
            else
                fb_table_text(t, "");
            free(sums);
        }
        if (most <= 0)
            fb_row_empty(t, boundary->name, &empty);
    }
    fb_table_note(t, fb_layers_boundaries_count(layers) > 0
                         ? "Boundaries are frames that inlining does not cross. A stack that has "
                           "one counts once in its row, however often it recurs; rows overlap, "
                           "never add them up."
                         : "These rules have no boundaries.");
    fb_row_empty_note(t, &empty);
    return t;
}

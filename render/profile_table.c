/* Tables of one profile: layers, with the top frames of "other", and functions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/cells.h"
#include "render/render.h"

enum { OTHER_FRAMES = 10, TOP_ROWS = 30, NAME_WIDTH = 72 };

struct ranked {
    uint32_t function;
    double self, total;
};

/* By self, then total, then name, so that equal amounts have one order. */
static int by_self(const void *a, const void *b, void *fns)
{
    const struct ranked *x = a, *y = b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(fb_function_name(fns, x->function), fb_function_name(fns, y->function));
}

/* Functions with any weight, ranked; yours.  The root (function 0) is none. */
static struct ranked *rank(const struct fb_calltree *tree, const struct fb_functions *fns,
                           const double *self, const uint8_t *wanted, size_t *ret_count)
{
    struct ranked *items = fb_alloc_array(fns->count, sizeof *items);
    double *by_function, *totals;
    size_t count = 0;

    fb_calltree_by_function(tree, fns, self, &by_function, &totals);
    for (size_t f = 1; f < fns->count; f++)
        if ((by_function[f] > 0 || totals[f] > 0) && (!wanted || wanted[f]))
            items[count++] = (struct ranked){(uint32_t)f, by_function[f], totals[f]};
    qsort_r(items, count, sizeof *items, by_self, (void *)(uintptr_t)fns);
    free(by_function);
    free(totals);
    *ret_count = count;
    return items;
}

static double sum(const double *values, size_t count)
{
    double s = 0;

    for (size_t i = 0; i < count; i++)
        s += values[i];
    return s;
}

/* The frames that no rule matched, so that a rule can be written for them: of a stack that is
 * charged to a caller, that caller. */
static void other_rows(struct fb_table *t, const struct fb_calltree *tree,
                       const struct fb_functions *fns, const struct fb_layers_applied *applied,
                       uint16_t other, const double *self, double whole)
{
    double *only = fb_alloc_array(tree->count, sizeof *only);
    struct ranked *items;
    size_t count, shown = 0;
    double rest = 0;

    for (size_t i = 1; i < tree->count; i++)
        only[applied->decider[i]] += applied->layer[i] == other ? self[i] : 0;
    items = rank(tree, fns, only, NULL, &count);
    for (size_t i = 0; i < count && items[i].self > 0; i++) {
        if (shown == OTHER_FRAMES) {
            rest += items[i].self;
            continue;
        }
        fb_table_row(t);
        fb_table_text(t, "of it");
        fb_cell_percent(t, items[i].self, whole);
        fb_table_number(t, items[i].self, 0);
        fb_cell_function(t, fns, items[i].function);
        fb_cell_module(t, fns, items[i].function);
        fb_table_mute(t);
        shown++;
    }
    if (rest > 0) {
        fb_table_row(t);
        fb_table_text(t, "of it");
        fb_cell_percent(t, rest, whole);
        fb_table_number(t, rest, 0);
        fb_table_text(t, "(all other frames)");
        fb_table_mute(t);
    }
    free(items);
    free(only);
}

struct fb_table *fb_render_layers(const struct fb_layers *layers, const struct fb_calltree *tree,
                                  const struct fb_functions *fns,
                                  const struct fb_layers_applied *applied, const double *self,
                                  const struct fb_diff_shares *by_layer, const char *title)
{
    struct fb_table *t = fb_table_new(title);
    size_t count = fb_layers_count(layers);
    double *sums = fb_layers_sum(layers, tree, applied->layer, self);
    double whole = sum(sums, count);
    struct fb_buf empty = {0};

    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_table_column(t, "share_percent", "share %", FB_ALIGN_RIGHT);
    fb_table_column(t, "weight", "weight", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    if (sums[count - 1] > 0) {
        fb_table_column(t, "frame", "frame", FB_ALIGN_LEFT);
        fb_table_clip(t, NAME_WIDTH);
        fb_table_column(t, "module", "module", FB_ALIGN_LEFT);
    } else { /* only the frames of "other" stand there */
        fb_table_data_column(t, "frame");
        fb_table_data_column(t, "module");
    }
    if (by_layer) {
        fb_table_data_column(t, "share_low_percent");
        fb_table_data_column(t, "share_high_percent");
    }
    for (size_t i = 0; i < count; i++) {
        fb_table_row(t);
        fb_table_text(t, fb_layers_get(layers, i)->name);
        fb_cell_interval(t, sums[i], whole, by_layer, i);
        fb_table_number(t, sums[i], 0);
        fb_table_text(t, "");
        fb_table_text(t, "");
        fb_cell_interval_data(t, by_layer, i);
        if (i + 1 < count && sums[i] <= 0)
            fb_row_empty(t, fb_layers_get(layers, i)->name, &empty);
        if (i + 1 == count)
            other_rows(t, tree, fns, applied, (uint16_t)i, self, whole);
    }
    fb_table_rule(t);
    fb_table_row(t);
    fb_table_text(t, "total");
    fb_table_tone(t, FB_TONE_STRONG);
    fb_cell_percent(t, whole, whole);
    fb_table_tone(t, FB_TONE_STRONG);
    fb_table_number(t, whole, 0);
    fb_table_tone(t, FB_TONE_STRONG);
    fb_table_note(t, "Self time, each stack in the first layer whose rule matches it. Not in any "
                     "row: time off the CPU, CPU outside the profiled process, lost samples.");
    fb_row_empty_note(t, &empty);
    fb_cell_interval_note(t, by_layer);
    free(sums);
    return t;
}

struct fb_table *fb_render_top(const struct fb_calltree *tree, const struct fb_functions *fns,
                               const double *self, const struct fb_diff_shares *by_function,
                               const uint8_t *wanted, size_t rows, const char *title)
{
    struct fb_table *t = fb_table_new(title);
    double whole = sum(self, tree->count), shown = 0;
    struct ranked *items;
    size_t count;

    items = rank(tree, fns, self, wanted, &count);
    rows = rows == 0 ? TOP_ROWS : rows;
    rows = rows > count ? count : rows;
    fb_table_column(t, "self_percent", "self %", FB_ALIGN_RIGHT);
    fb_table_column(t, "self", "self", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    fb_table_column(t, "total_percent", "total %", FB_ALIGN_RIGHT);
    fb_table_column(t, "total", "total", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    fb_table_column(t, "frame", "frame", FB_ALIGN_LEFT);
    fb_table_clip(t, NAME_WIDTH);
    fb_table_column(t, "module", "module", FB_ALIGN_LEFT);
    if (by_function) {
        fb_table_data_column(t, "self_low_percent");
        fb_table_data_column(t, "self_high_percent");
    }
    for (size_t i = 0; i < rows; i++) {
        fb_table_row(t);
        fb_cell_interval(t, items[i].self, whole, by_function, items[i].function);
        fb_table_number(t, items[i].self, 0);
        fb_cell_percent(t, items[i].total, whole);
        fb_table_number(t, items[i].total, 0);
        fb_cell_function(t, fns, items[i].function);
        fb_cell_module(t, fns, items[i].function);
        fb_cell_interval_data(t, by_function, items[i].function);
        shown += items[i].self;
    }
    if (whole > 0) {
        char *note =
            fb_format("%zu of %zu functions, with %.1f %% of all self time. A stack counts "
                      "once in a total, however often the function recurs in it.",
                      rows, count, 100 * shown / whole);

        fb_table_note(t, note);
        free(note);
    } else {
        fb_table_note(t, "No samples.");
    }
    fb_cell_interval_note(t, by_function);
    free(items);
    return t;
}

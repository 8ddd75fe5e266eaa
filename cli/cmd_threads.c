#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/commands.h"
#include "cli/layer_views.h"
#include "cli/say.h"

struct row {
    const char *name;
    double weight;
    size_t key, layer; /* the layer with most of it */
    double layer_weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Rows of all threads with any weight, the heaviest first. */
static struct row *rows_get(const struct fb_view *view, const struct fb_keys *keys,
                            const double *self, size_t *ret_count)
{
    size_t layers = fb_layers_count(view->layers), count = 0;
    double *cells = fb_alloc_array(keys->count * layers, sizeof *cells);
    struct row *rows = fb_alloc_array(keys->count, sizeof *rows);

    for (size_t n = 0; n < view->tree.count; n++)
        cells[keys->of_node[n] * layers + view->layer_of_node[n]] += self[n];
    for (size_t k = 0; k < keys->count; k++) {
        struct row r = {.name = keys->names[k], .key = k};

        for (size_t l = 0; l < layers; l++) {
            double weight = cells[k * layers + l];

            r.weight += weight;
            if (weight > r.layer_weight) {
                r.layer_weight = weight;
                r.layer = l;
            }
        }
        if (r.weight > 0)
            rows[count++] = r;
    }
    qsort(rows, count, sizeof *rows, by_weight);
    free(cells);
    *ret_count = count;
    return rows;
}

static void put_row(struct fb_table *t, const struct fb_view *view, const struct row *r,
                    double whole)
{
    fb_table_row(t);
    fb_table_text(t, r->name);
    fb_table_number(t, 100 * r->weight / whole, 1);
    fb_table_number(t, r->weight, 0);
    fb_table_text(t, fb_layers_get(view->layers, r->layer)->name);
    fb_table_number(t, 100 * r->layer_weight / r->weight, 1);
}

static struct fb_table *table_make(const struct fb_view *view, const double *self, size_t most,
                                   const char *title)
{
    struct fb_table *t = fb_table_new(title);
    struct fb_keys keys;
    struct row *rows;
    size_t count;
    double whole = 0, rest = 0;

    fb_keys_make(&keys, FB_BY_THREAD, 0, NULL, NULL, &view->tree, &view->fns);
    rows = rows_get(view, &keys, self, &count);
    for (size_t i = 0; i < count; i++) {
        whole += rows[i].weight;
        rest += i < most ? 0 : rows[i].weight;
    }
    fb_table_column(t, "thread", "thread", FB_ALIGN_LEFT);
    fb_table_column(t, "share_percent", "share %", FB_ALIGN_RIGHT);
    fb_table_column(t, "weight", "weight", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    fb_table_column(t, "layer", "largest layer", FB_ALIGN_LEFT);
    fb_table_column(t, "layer_percent", "of it %", FB_ALIGN_RIGHT);
    for (size_t i = 0; i < count && i < most; i++)
        put_row(t, view, &rows[i], whole);
    if (rest > 0) {
        char *name = fb_format("(%zu others)", count - most);

        fb_table_row(t);
        fb_table_text(t, name);
        fb_table_number(t, 100 * rest / whole, 1);
        fb_table_number(t, rest, 0);
        fb_table_mute(t);
        free(name);
    }
    fb_table_note(t, "Threads whose names differ in numbers alone are one row, with # for them.");
    free(rows);
    fb_keys_done(&keys);
    return t;
}

static int say(const struct fb_args *args, const struct fb_view *view, size_t rows)
{
    const char *clock = fb_profile_manifest_get(view->arms[0].profile, "clock_got");
    const struct fb_step *step;
    struct fb_table *table;
    struct fb_err err;
    double *self;
    char *title;

    if (fb_view_self(args, view, 0, &self, &step, &err) != FB_OK)
        return fb_say_error(&err);
    title = fb_view_title(view, 0, step);
    table = table_make(view, self, rows, title);
    if (clock && strcmp(clock, "itimer") == 0)
        fb_table_note(table, FB_NOTE_ITIMER);
    fb_table_unit(table, fb_profile_unit_word(view->arms[0].profile));
    fb_note_clock(table, view->arms[0].profile);
    free(title);
    free(self);
    return fb_say_tables(args, &table, 1);
}

static int run(const struct fb_args *args)
{
    struct fb_view view;
    struct fb_err err;
    double rows = 30;
    int status;

    if (fb_args_count(args, "rows", 1, 1e6, &rows, &err) != FB_OK ||
        fb_view_load(args, FB_VIEW_NEEDS_PROFILE | FB_VIEW_LAYERS | FB_VIEW_THREADS, &view, &err) !=
            FB_OK)
        return fb_say_error(&err);
    status = say(args, &view, (size_t)rows);
    fb_view_done(&view);
    return status;
}

static const struct fb_option options[] = {{"rows", 'n', "N", "how many threads (30)"},
                                           FB_OPTIONS_RULES,
                                           FB_OPTIONS_WINDOW,
                                           FB_OPTIONS_READ,
                                           FB_OPTIONS_NAMES,
                                           FB_OPTIONS_TABLES,
                                           {0}};

const struct fb_command fb_command_threads = {
    .name = "threads",
    .usage = "FILE [--rows N]",
    .what = "shares by thread, with the largest layer of each",
    .text = "Shares of the weight by the name of the thread: in a bank the thread's own, in folded "
            "text the outermost frame '[name tid=7]' or '[name]'.",
    .options = options,
    .example = "flamebank threads run.fbank --rules jvm",
    .least = 1,
    .most = 1,
    .run = run,
};

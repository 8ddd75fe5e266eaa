/* Who calls the frames that a pattern matches, and how much of the whole they are. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/cells.h"
#include "render/render.h"

enum { NAME_WIDTH = 100 };

struct chain {
    const char *text;
    uint32_t id; /* of strings */
    double weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct chain *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return strcmp(x->text, y->text);
}

static double sum_of(const struct fb_calltree *tree, const double *self)
{
    double sum = 0;

    for (size_t n = 0; n < tree->count; n++)
        sum += self[n];
    return sum;
}

/* "match < caller < its caller", `depth` callers at most. */
static void chain_text(const struct fb_calltree *tree, const struct fb_functions *fns,
                       uint32_t node, size_t depth, struct fb_buf *out)
{
    out->len = 0;
    for (size_t i = 0; node != 0 && i <= depth; i++) {
        const struct fb_string *name =
            &fns->strings.items[fns->items[tree->nodes[node].function].name];

        fb_buf_puts(out, i ? " < " : "");
        fb_buf_add(out, name->text, name->len);
        node = tree->nodes[node].parent;
    }
    if (node != 0)
        fb_buf_puts(out, " < ...");
}

static struct chain *chains_get(const struct fb_calltree *tree, const struct fb_functions *fns,
                                const uint8_t *topmost, const double *total, size_t depth,
                                struct fb_strings *texts, size_t *ret_count)
{
    struct chain *chains = NULL;
    size_t room = 0, count = 0;
    struct fb_buf text = {0};

    for (uint32_t n = 1; n < tree->count; n++) {
        uint32_t id;

        if (!topmost[n] || total[n] <= 0)
            continue;
        chain_text(tree, fns, n, depth, &text);
        id = fb_strings_put(texts, text.data, text.len); /* ids are 1, 2, 3 ... by appearance */
        if (id > count) {
            fb_vec_reserve(&chains, &room, count + 1, sizeof *chains);
            chains[count++] = (struct chain){.id = id};
        }
        chains[id - 1].weight += total[n];
    }
    for (size_t i = 0; i < count; i++)
        chains[i].text = fb_strings_get(texts, chains[i].id);
    if (count > 0)
        qsort(chains, count, sizeof *chains, by_weight);
    fb_buf_done(&text);
    *ret_count = count;
    return chains;
}

struct fb_table *fb_render_callers(const struct fb_calltree *tree, const struct fb_functions *fns,
                                   const double *self, const uint8_t *topmost, size_t depth,
                                   size_t rows, const char *title)
{
    struct fb_table *t = fb_table_new(title);
    double *total = fb_calltree_total(tree, self), whole = sum_of(tree, self), all = 0, rest = 0;
    struct fb_strings texts;
    struct chain *chains;
    size_t count;

    fb_strings_init(&texts);
    chains = chains_get(tree, fns, topmost, total, depth, &texts, &count);
    fb_table_column(t, "share_percent", "share %", FB_ALIGN_RIGHT);
    fb_table_column(t, "weight", "weight", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    fb_table_column(t, "chain", "match < callers", FB_ALIGN_LEFT);
    fb_table_clip(t, NAME_WIDTH);
    for (size_t i = 0; i < count; i++) {
        all += chains[i].weight;
        if (i >= rows) {
            rest += chains[i].weight;
            continue;
        }
        fb_table_row(t);
        fb_cell_percent(t, chains[i].weight, whole);
        fb_table_number(t, chains[i].weight, 0);
        fb_table_text(t, chains[i].text);
    }
    if (rest > 0) {
        char *text = fb_format("(%zu other chains)", count - rows);

        fb_table_row(t);
        fb_cell_percent(t, rest, whole);
        fb_table_number(t, rest, 0);
        fb_table_text(t, text);
        fb_table_mute(t);
        free(text);
    }
    fb_table_rule(t);
    fb_table_row(t);
    fb_cell_percent(t, all, whole);
    fb_table_number(t, all, 0);
    fb_table_text(t, "all that match");
    fb_table_note(t, "A stack counts once, by its outermost frame that matches, with all that the "
                     "frame calls; a match inside a match is not counted again.");
    free(chains);
    fb_strings_done(&texts);
    free(total);
    return t;
}

struct fb_table *fb_render_inclusive(const struct fb_calltree *tree, const double *self,
                                     const struct fb_frame_pattern *patterns, size_t count,
                                     const char *title)
{
    struct fb_table *t = fb_table_new(title);
    double *total = fb_calltree_total(tree, self), whole = sum_of(tree, self);

    fb_table_column(t, "inclusive_percent", "inclusive %", FB_ALIGN_RIGHT);
    fb_table_column(t, "weight", "weight", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    fb_table_column(t, "self_percent", "self %", FB_ALIGN_RIGHT);
    fb_table_column(t, "self", "self", FB_ALIGN_RIGHT);
    fb_table_amount(t);
    fb_table_column(t, "pattern", "frames", FB_ALIGN_LEFT);
    for (size_t i = 0; i < count; i++) {
        double inclusive = 0, own = 0;

        for (size_t n = 1; n < tree->count; n++) {
            inclusive += patterns[i].topmost[n] ? total[n] : 0;
            own += patterns[i].matches[tree->nodes[n].function] ? self[n] : 0;
        }
        fb_table_row(t);
        fb_cell_percent(t, inclusive, whole);
        fb_table_number(t, inclusive, 0);
        fb_cell_percent(t, own, whole);
        fb_table_number(t, own, 0);
        fb_table_text(t, patterns[i].text);
    }
    fb_table_note(t, "A stack counts once in a row, however many of its frames match. Rows of "
                     "several patterns overlap: never add them up.");
    free(total);
    return t;
}

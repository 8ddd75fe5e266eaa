#include "render/flame_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* A drawn child that waits for its place: siblings are sorted by these. */
struct item {
    uint32_t parent, node;
};

struct work {
    const struct fb_flame_layout_input *in;
    uint64_t *total;   /* by node                                       */
    uint32_t *hidden;  /* children with width that are not drawn, by node */
    uint32_t *below;   /* hidden frames on it, all levels, by node        */
    uint8_t *is_drawn; /* by node                                       */
    uint32_t *ranked;  /* the candidates, widest first                  */
    size_t ranked_count, nodes;
    struct item *items; /* drawn nodes but the root, by parent, then name */
    size_t items_count;
    uint32_t *first; /* where a node's children begin in items[]       */
};

static void sum_totals(struct work *w)
{
    const struct fb_calltree *tree = w->in->tree;

    memcpy(w->total, w->in->weights, tree->count * sizeof *w->total);
    for (size_t i = tree->count; i-- > 1;) {
        w->total[tree->nodes[i].parent] += w->total[i];
        if (w->total[i] > 0) {
            w->hidden[tree->nodes[i].parent]++;
            w->nodes++;
        }
    }
}

/* Wider first; a parent before its only child, since ids rise. */
static int by_width(const void *a, const void *b, void *totals)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint64_t *total = totals;

    if (total[x] != total[y])
        return total[x] < total[y] ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* The width that at most boxes_max nodes reach or pass, found by halving: a bound that needs no
 * sort of all nodes.  0 if all of them fit. */
static uint64_t width_bound(const struct work *w)
{
    uint64_t low = 0, high = w->total[0] + 1; /* more than boxes_max at low (or 0), not at high */

    if (w->nodes <= w->in->boxes_max)
        return 0;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        size_t count = 0;

        for (size_t i = 1; i < w->in->tree->count; i++)
            count += w->total[i] >= middle;
        if (count > w->in->boxes_max)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Nodes of the bound's width or more, and of those just below it as many as the budget could take
 * (by id, as by_width() has them). */
static void rank(struct work *w)
{
    uint64_t bound = width_bound(w), below = 0;
    size_t count = w->in->tree->count, max = w->in->boxes_max;

    w->ranked = fb_alloc_array(w->nodes < max ? w->nodes : max, sizeof *w->ranked);
    for (size_t i = 1; i < count; i++) {
        if (w->total[i] > 0 && w->total[i] >= bound)
            w->ranked[w->ranked_count++] = (uint32_t)i;
        else if (w->total[i] > below)
            below = w->total[i];
    }
    for (size_t i = 1; i < count && below > 0 && w->ranked_count < max; i++)
        if (w->total[i] == below)
            w->ranked[w->ranked_count++] = (uint32_t)i;
    qsort_r(w->ranked, w->ranked_count, sizeof *w->ranked, by_width, w->total);
}

/* Draws the longest prefix of the ranked nodes whose boxes, those of the hidden included, keep to
 * the budget.  A prefix is closed under parents, because a parent is at least as wide. */
static void choose(struct work *w)
{
    const struct fb_calltree_node *nodes = w->in->tree->nodes;
    size_t boxes = w->hidden[0] > 0 ? 2 : 1, drawn = 0;

    for (size_t i = 0; i < w->ranked_count; i++) {
        uint32_t parent = nodes[w->ranked[i]].parent;

        boxes += w->hidden[w->ranked[i]] > 0 ? 2 : 1;
        if (--w->hidden[parent] == 0)
            boxes--;
        if (boxes <= w->in->boxes_max)
            drawn = i + 1;
    }
    for (size_t i = drawn; i < w->ranked_count; i++)
        w->hidden[nodes[w->ranked[i]].parent]++;
    w->is_drawn[0] = 1;
    for (size_t i = 0; i < drawn; i++)
        w->is_drawn[w->ranked[i]] = 1;
}

/* Hidden frames by the drawn node that they are on, and a lone hidden leaf drawn after all: a box
 * `other (1 frame)` would take its place and say less. */
static void count_hidden(struct work *w)
{
    const struct fb_calltree *tree = w->in->tree;

    for (size_t i = tree->count; i-- > 1;) {
        uint32_t parent = tree->nodes[i].parent;

        if (w->total[i] == 0 || w->is_drawn[i])
            continue;
        if (w->is_drawn[parent] && w->hidden[parent] == 1 && w->below[i] == 0) {
            w->is_drawn[i] = 1;
            w->hidden[parent] = 0;
            continue;
        }
        w->below[parent] += 1 + w->below[i];
    }
}

static int by_parent_and_name(const void *a, const void *b, void *work)
{
    const struct item *x = a, *y = b;
    const struct work *w = work;
    const struct fb_functions *fns = w->in->fns;
    const struct fb_function *f, *g;
    int order;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    f = &fns->items[w->in->tree->nodes[x->node].function];
    g = &fns->items[w->in->tree->nodes[y->node].function];
    order = strcmp(fb_strings_get(&fns->strings, f->name), fb_strings_get(&fns->strings, g->name));
    if (order == 0)
        order = strcmp(fb_strings_get(&fns->strings, f->module),
                       fb_strings_get(&fns->strings, g->module));
    if (order == 0 && f->kind != g->kind)
        order = f->kind < g->kind ? -1 : 1;
    if (order == 0)
        order = x->node < y->node ? -1 : 1;
    return order;
}

static void sort_children(struct work *w)
{
    const struct fb_calltree *tree = w->in->tree;

    for (size_t i = 1; i < tree->count; i++)
        w->items_count += w->is_drawn[i];
    w->items = fb_alloc_array(w->items_count, sizeof *w->items);
    w->items_count = 0;
    for (size_t i = 1; i < tree->count; i++)
        if (w->is_drawn[i])
            w->items[w->items_count++] = (struct item){tree->nodes[i].parent, (uint32_t)i};
    qsort_r(w->items, w->items_count, sizeof *w->items, by_parent_and_name, w);
    for (size_t i = w->items_count; i-- > 0;)
        w->first[w->items[i].parent] = (uint32_t)i;
}

static double side_of(const struct work *w, int side, uint32_t node)
{
    return w->in->sides[side] ? w->in->sides[side][node] : 0;
}

/* Sums both sides of the hidden children into side[] of their parent's box, by node. */
static void sum_sides(const struct work *w, double *sums[2])
{
    const struct fb_calltree *tree = w->in->tree;

    for (size_t i = 1; i < tree->count; i++)
        if (w->total[i] > 0 && !w->is_drawn[i] && w->is_drawn[tree->nodes[i].parent])
            for (int s = 0; s < 2; s++)
                sums[s][tree->nodes[i].parent] += side_of(w, s, (uint32_t)i);
}

static struct fb_flame_box *box_add(struct fb_flame_layout *l, uint32_t node, uint32_t parent,
                                    uint64_t x)
{
    struct fb_flame_box *b = &l->boxes[l->count++];

    *b = (struct fb_flame_box){.node = node, .parent = parent, .x = x};
    if (l->count > 1)
        b->depth = l->boxes[parent].depth + 1;
    if (b->depth > l->depth)
        l->depth = b->depth;
    return b;
}

/* A box whose children are being placed. */
struct open_box {
    uint32_t box, item; /* item: the next child in items[]  */
    uint64_t x;         /* where that child begins          */
};

/* Pre-order with an explicit stack: `path` holds the boxes from the root to here. */
static void place(struct fb_flame_layout *l, const struct work *w, double *sums[2])
{
    struct open_box *path = fb_alloc_array(w->items_count + 1, sizeof *path);
    size_t open = 0;
    struct fb_flame_box *b = box_add(l, 0, 0, 0);

    b->width = w->total[0];
    b->self = w->in->weights[0];
    for (int s = 0; s < 2; s++)
        b->side[s] = side_of(w, s, 0);
    path[open++] = (struct open_box){0, w->first[0], 0};
    while (open > 0) {
        struct open_box *top = &path[open - 1];
        uint32_t node = l->boxes[top->box].node, child;

        if (top->item < w->items_count && w->items[top->item].parent == node) {
            child = w->items[top->item++].node;
            b = box_add(l, child, top->box, top->x);
            b->width = w->total[child];
            b->self = w->in->weights[child];
            for (int s = 0; s < 2; s++)
                b->side[s] = side_of(w, s, child);
            top->x += b->width;
            path[open++] = (struct open_box){(uint32_t)(l->count - 1), w->first[child], b->x};
            continue;
        }
        if (w->hidden[node] > 0) {
            const struct fb_flame_box *on = &l->boxes[top->box];

            b = box_add(l, node, top->box, top->x);
            b->width = b->self = on->x + on->width - on->self - top->x;
            b->hidden = w->below[node];
            for (int s = 0; s < 2; s++)
                b->side[s] = sums[s][node];
            l->hidden_width += b->width;
            l->hidden_frames += b->hidden;
        }
        open--;
    }
    free(path);
}

void fb_flame_layout_init(struct fb_flame_layout *l, const struct fb_flame_layout_input *in)
{
    size_t n = in->tree->count;
    struct work w = {.in = in};
    double *sums[2];

    *l = (struct fb_flame_layout){0};
    w.total = fb_alloc_array(n, sizeof *w.total);
    w.hidden = fb_alloc_array(n, sizeof *w.hidden);
    w.below = fb_alloc_array(n, sizeof *w.below);
    w.is_drawn = fb_alloc_array(n, sizeof *w.is_drawn);
    w.first = fb_alloc_array(n, sizeof *w.first);
    for (size_t i = 0; i < n; i++)
        w.first[i] = UINT32_MAX;
    for (int s = 0; s < 2; s++)
        sums[s] = fb_alloc_array(n, sizeof *sums[s]);
    sum_totals(&w);
    rank(&w);
    choose(&w);
    count_hidden(&w);
    sort_children(&w);
    sum_sides(&w, sums);
    l->boxes = fb_alloc_array(2 * (w.items_count + 1), sizeof *l->boxes);
    l->width = w.total[0];
    l->nodes = w.nodes;
    place(l, &w, sums);
    free(w.total);
    free(w.hidden);
    free(w.below);
    free(w.is_drawn);
    free(w.first);
    free(w.ranked);
    free(w.items);
    free(sums[0]);
    free(sums[1]);
}

void fb_flame_layout_done(struct fb_flame_layout *l)
{
    free(l->boxes);
    *l = (struct fb_flame_layout){0};
}

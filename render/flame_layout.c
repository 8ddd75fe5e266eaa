#include "render/flame_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/flame_runs.h"

struct drawn {            /* a node that gets a box */
    uint32_t node, first; /* first: its children in items[] begin there         */
    uint32_t below;       /* hidden frames on it, all levels; over 0: a box more */
    uint64_t total, self;
    double side[2], sums[2]; /* sums: of its hidden children */
};

/* A drawn child that waits for its place: siblings are sorted by these. */
struct item {
    uint32_t parent, child; /* in drawn[] */
};

struct work {
    const struct fb_flame_layout_input *in;
    struct fb_flame_runs runs;
    uint32_t *ranked; /* runs, widest first, as many as the budget could take */
    size_t ranked_count;
    uint32_t *taken;     /* by run: its first nodes that are drawn           */
    uint32_t *hidden;    /* by run: runs on its last node that are not drawn  */
    uint32_t *below;     /* by run: hidden frames in it and on it             */
    struct drawn *drawn; /* by node */
    size_t drawn_count;
    struct item *items; /* all of them but the root, by parent, then name */
    size_t items_count;
};

static uint32_t length_of(const struct fb_flame_run *run)
{
    return run->last - run->first + 1;
}

/* Wider first, then by id: a parent before its children. */
static int by_width(const void *a, const void *b, void *runs)
{
    const struct fb_flame_run *x = &((const struct fb_flame_run *)runs)[*(const uint32_t *)a];
    const struct fb_flame_run *y = &((const struct fb_flame_run *)runs)[*(const uint32_t *)b];

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The largest width that more nodes than the budget reach or pass, found by halving: a bound that
 * needs no sort of all runs.  0 if all of them fit. */
static uint64_t width_bound(const struct work *w)
{
    uint64_t low = 0, high;

    if (w->runs.nodes <= w->in->boxes_max)
        return 0;
    high = w->runs.items[w->runs.count - 1].total + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        size_t nodes = 0;

        for (size_t i = 0; i < w->runs.count; i++)
            nodes += w->runs.items[i].total >= middle ? length_of(&w->runs.items[i]) : 0;
        if (nodes > w->in->boxes_max)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Runs over the bound, sorted; then those of the bound's width by id. */
static void rank(struct work *w)
{
    uint64_t bound = width_bound(w);
    size_t nodes = 0;

    w->ranked = fb_alloc_array(w->runs.count, sizeof *w->ranked);
    for (size_t i = 0; i < w->runs.count; i++)
        if (w->runs.items[i].total > bound) {
            w->ranked[w->ranked_count++] = (uint32_t)i;
            nodes += length_of(&w->runs.items[i]);
        }
    qsort_r(w->ranked, w->ranked_count, sizeof *w->ranked, by_width, w->runs.items);
    for (size_t i = w->runs.count; i-- > 0 && nodes < w->in->boxes_max;)
        if (w->runs.items[i].total == bound) {
            w->ranked[w->ranked_count++] = (uint32_t)i;
            nodes += length_of(&w->runs.items[i]);
        }
}

/* Draws the longest prefix of the ranked nodes whose boxes, those of the hidden included, keep to
 * the budget.  A prefix is closed under parents, because a parent is at least as wide. */
static void choose(struct work *w)
{
    const struct fb_flame_run *runs = w->runs.items;
    size_t boxes = 0, nodes = 0, most = 1, left;

    for (size_t i = 0; i < w->runs.count; i++)
        w->hidden[i] = runs[i].children;
    for (size_t i = 0; i < w->ranked_count; i++) {
        const struct fb_flame_run *run = &runs[w->ranked[i]];

        for (uint32_t k = 0, n = length_of(run); k < n && nodes < w->in->boxes_max; k++) {
            boxes += k + 1 < n || run->children > 0 ? 2 : 1;
            if (k > 0 || (run->parent != FB_FLAME_NO_RUN && --w->hidden[run->parent] == 0))
                boxes--; /* nothing of the parent is hidden now */
            nodes++;
            if (boxes <= w->in->boxes_max)
                most = nodes;
        }
    }
    for (size_t i = 0; i < w->runs.count; i++)
        w->hidden[i] = runs[i].children;
    left = most;
    for (size_t i = 0; i < w->ranked_count && left > 0; i++) {
        const struct fb_flame_run *run = &runs[w->ranked[i]];
        uint32_t n = length_of(run);

        w->taken[w->ranked[i]] = n < left ? n : (uint32_t)left;
        left -= w->taken[w->ranked[i]];
        if (run->parent != FB_FLAME_NO_RUN)
            w->hidden[run->parent]--;
    }
}

/* Hidden frames by run, and a lone hidden leaf drawn after all: a box `other (1 frame)` would take
 * its place and say less. */
static void count_hidden(struct work *w)
{
    for (size_t i = 0; i < w->runs.count; i++) {
        const struct fb_flame_run *run = &w->runs.items[i];
        uint32_t n = length_of(run);
        bool is_on_drawn = run->parent == FB_FLAME_NO_RUN ||
                           w->taken[run->parent] == length_of(&w->runs.items[run->parent]);
        bool is_alone = w->taken[i] > 0 || (is_on_drawn && w->hidden[run->parent] == 1);

        w->below[i] += n - w->taken[i];
        if (w->below[i] == 1 && w->taken[i] + 1 == n && is_alone) {
            if (w->taken[i] == 0)
                w->hidden[run->parent] = 0;
            w->taken[i]++;
            w->below[i] = 0;
        }
        if (w->taken[i] == 0)
            w->below[run->parent] += w->below[i];
    }
}

static double side_of(const struct work *w, int side, uint32_t node)
{
    return w->in->sides[side] ? w->in->sides[side][node] : 0;
}

static uint32_t drawn_find(const struct work *w, uint32_t node)
{
    size_t low = 0, high = w->drawn_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (w->drawn[middle].node > node)
            high = middle;
        else
            low = middle;
    }
    return (uint32_t)low;
}

/* drawn[] by node, which is the order of the runs from the last to the first. */
static void collect(struct work *w)
{
    const struct fb_flame_weight *weights = w->in->list;

    for (size_t i = 0; i < w->runs.count; i++)
        w->drawn_count += w->taken[i];
    w->drawn = fb_alloc_array(w->drawn_count + 1, sizeof *w->drawn);
    w->drawn_count = 0;
    for (size_t i = w->runs.count, at = 0; i-- > 0;) {
        const struct fb_flame_run *run = &w->runs.items[i];

        for (uint32_t k = 0; k < w->taken[i]; k++) {
            struct drawn *d = &w->drawn[w->drawn_count++];

            *d = (struct drawn){.node = run->first + k, .total = run->total, .first = UINT32_MAX};
            while (at < w->in->list_count && weights[at].node < d->node)
                at++;
            if (at < w->in->list_count && weights[at].node == d->node)
                d->self = weights[at].width;
            for (int s = 0; s < 2; s++)
                d->side[s] = side_of(w, s, d->node);
        }
        if (w->taken[i] > 0)
            w->drawn[w->drawn_count - 1].below = w->below[i];
    }
}

/* Both sides of the hidden children of every drawn node. */
static void sum_sides(struct work *w)
{
    for (size_t i = w->runs.count; i-- > 0;) {
        const struct fb_flame_run *run = &w->runs.items[i];
        uint32_t child = run->first + w->taken[i], parent;

        if (w->taken[i] == length_of(run) ||
            (w->taken[i] == 0 && w->taken[run->parent] != length_of(&w->runs.items[run->parent])))
            continue; /* nothing is hidden in it, or it is on what is hidden itself */
        parent = drawn_find(w, w->in->tree->nodes[child].parent);
        for (int s = 0; s < 2; s++)
            w->drawn[parent].sums[s] += side_of(w, s, child);
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
    f = &fns->items[w->in->tree->nodes[w->drawn[x->child].node].function];
    g = &fns->items[w->in->tree->nodes[w->drawn[y->child].node].function];
    order = strcmp(fb_strings_get(&fns->strings, f->name), fb_strings_get(&fns->strings, g->name));
    if (order == 0)
        order = strcmp(fb_strings_get(&fns->strings, f->module),
                       fb_strings_get(&fns->strings, g->module));
    if (order == 0 && f->kind != g->kind)
        order = f->kind < g->kind ? -1 : 1;
    if (order == 0 && f->tier != g->tier)
        order = f->tier < g->tier ? -1 : 1;
    if (order == 0)
        order = x->child < y->child ? -1 : 1;
    return order;
}

static void sort_children(struct work *w)
{
    w->items = fb_alloc_array(w->drawn_count, sizeof *w->items);
    for (size_t i = 1; i < w->drawn_count; i++)
        w->items[w->items_count++] =
            (struct item){drawn_find(w, w->in->tree->nodes[w->drawn[i].node].parent), (uint32_t)i};
    qsort_r(w->items, w->items_count, sizeof *w->items, by_parent_and_name, w);
    for (size_t i = w->items_count; i-- > 0;)
        w->drawn[w->items[i].parent].first = (uint32_t)i;
}

static struct fb_flame_box *box_add(struct fb_flame_layout *l, const struct drawn *d,
                                    uint32_t parent, uint64_t x)
{
    struct fb_flame_box *b = &l->boxes[l->count++];

    *b = (struct fb_flame_box){.node = d->node,
                               .parent = parent,
                               .x = x,
                               .width = d->total,
                               .self = d->self,
                               .side = {d->side[0], d->side[1]}};
    if (l->count > 1)
        b->depth = l->boxes[parent].depth + 1;
    if (b->depth > l->depth)
        l->depth = b->depth;
    return b;
}

static void hidden_add(struct fb_flame_layout *l, const struct drawn *on, uint32_t parent,
                       uint64_t x)
{
    struct fb_flame_box *b = box_add(l, on, parent, x);

    b->width = b->self = l->boxes[parent].x + on->total - on->self - x;
    b->hidden = on->below;
    for (int s = 0; s < 2; s++)
        b->side[s] = on->sums[s];
    l->hidden_width += b->width;
    l->hidden_frames += b->hidden;
}

/* A box whose children are being placed. */
struct open_box {
    uint32_t box, drawn, item; /* item: the next child in items[]  */
    uint64_t x;                /* where that child begins          */
};

/* Pre-order with an explicit stack: `path` holds the boxes from the root to here. */
static void place(struct fb_flame_layout *l, const struct work *w)
{
    struct open_box *path = fb_alloc_array(w->drawn_count + 1, sizeof *path);
    size_t open = 0;

    (void)box_add(l, &w->drawn[0], 0, 0);
    path[open++] = (struct open_box){0, 0, w->drawn[0].first, 0};
    while (open > 0) {
        struct open_box *top = &path[open - 1];

        if (top->item < w->items_count && w->items[top->item].parent == top->drawn) {
            uint32_t child = w->items[top->item++].child;
            const struct drawn *d = &w->drawn[child];
            uint64_t x = top->x;

            (void)box_add(l, d, top->box, x);
            top->x += d->total;
            path[open++] = (struct open_box){(uint32_t)(l->count - 1), child, d->first, x};
            continue;
        }
        if (w->drawn[top->drawn].below > 0)
            hidden_add(l, &w->drawn[top->drawn], top->box, top->x);
        open--;
    }
    free(path);
}

static void lay_out(struct fb_flame_layout *l, const struct fb_flame_layout_input *in)
{
    struct work w = {.in = in};

    *l = (struct fb_flame_layout){0};
    fb_flame_runs_init(&w.runs, in->tree, in->list, in->list_count);
    w.taken = fb_alloc_array(w.runs.count, sizeof *w.taken);
    w.hidden = fb_alloc_array(w.runs.count, sizeof *w.hidden);
    w.below = fb_alloc_array(w.runs.count, sizeof *w.below);
    rank(&w);
    choose(&w);
    count_hidden(&w);
    collect(&w);
    sum_sides(&w);
    if (w.drawn_count == 0) /* no weight at all: the root alone */
        w.drawn[w.drawn_count++] = (struct drawn){.first = UINT32_MAX};
    sort_children(&w);
    l->boxes = fb_alloc_array(2 * w.drawn_count, sizeof *l->boxes);
    l->width = w.drawn[0].total;
    l->nodes = w.runs.nodes > 0 ? w.runs.nodes - 1 : 0;
    place(l, &w);
    fb_flame_runs_done(&w.runs);
    free(w.ranked);
    free(w.taken);
    free(w.hidden);
    free(w.below);
    free(w.drawn);
    free(w.items);
}

void fb_flame_layout_init(struct fb_flame_layout *l, const struct fb_flame_layout_input *in)
{
    struct fb_flame_layout_input listed = *in;
    struct fb_flame_weight *list = NULL;
    size_t room = 0;

    listed.list_count = in->weights ? 0 : in->list_count;
    for (size_t i = 0; in->weights && i < in->tree->count; i++) {
        if (in->weights[i] == 0)
            continue;
        fb_vec_reserve(&list, &room, listed.list_count + 1, sizeof *list);
        list[listed.list_count++] = (struct fb_flame_weight){(uint32_t)i, in->weights[i]};
    }
    if (in->weights)
        listed.list = list;
    lay_out(l, &listed);
    free(list);
}

void fb_flame_layout_done(struct fb_flame_layout *l)
{
    free(l->boxes);
    *l = (struct fb_flame_layout){0};
}

#include "render/flame_runs.h"

#include <stdlib.h>

#include "base/vec.h"

/* A stretch of ids of which each hangs on the one before: [first, first of the next). */
struct stretch {
    uint32_t first, parent; /* parent: node that `first` hangs on */
    uint32_t run;           /* of `first`, once it is known; FB_FLAME_NO_RUN: no weight on it */
};

struct work {
    const struct fb_calltree *tree;
    const struct fb_flame_weight *weights;
    size_t weights_left; /* from here on down they are not used yet */
    struct stretch *stretches;
    size_t count;
    uint32_t *by_parent; /* stretches, by ascending parent */
    size_t parents_left;
    struct fb_flame_runs *runs;
};

static void stretches_find(struct work *w)
{
    const struct fb_calltree_node *nodes = w->tree->nodes;
    size_t count = 1;

    for (uint32_t i = 1; i < w->tree->count; i++)
        count += nodes[i].parent + 1 != i;
    w->stretches = fb_alloc_array(count, sizeof *w->stretches);
    w->stretches[w->count++] = (struct stretch){0, 0, FB_FLAME_NO_RUN};
    for (uint32_t i = 1; i < w->tree->count; i++)
        if (nodes[i].parent + 1 != i)
            w->stretches[w->count++] = (struct stretch){i, nodes[i].parent, FB_FLAME_NO_RUN};
}

static int by_parent(const void *a, const void *b, void *stretches)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct stretch *s = stretches;

    if (s[i].parent != s[k].parent)
        return s[i].parent < s[k].parent ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* Ends the run at hand and begins the one that has `last` as its last node. */
static uint32_t run_begin(struct fb_flame_runs *runs, uint32_t last, uint64_t total)
{
    fb_vec_reserve(&runs->items, &runs->room, runs->count + 1, sizeof *runs->items);
    runs->items[runs->count] =
        (struct fb_flame_run){.last = last, .total = total, .parent = FB_FLAME_NO_RUN};
    return (uint32_t)runs->count++;
}

/* The largest node below `end` where a total changes: own weight, or a stretch that hangs on it. */
static bool event_next(const struct work *w, uint32_t from, uint32_t *ret_node)
{
    bool is_found = false;

    if (w->weights_left > 0 && w->weights[w->weights_left - 1].node >= from) {
        *ret_node = w->weights[w->weights_left - 1].node;
        is_found = true;
    }
    if (w->parents_left > 0) {
        uint32_t node = w->stretches[w->by_parent[w->parents_left - 1]].parent;

        if (node >= from && (!is_found || node > *ret_node)) {
            *ret_node = node;
            is_found = true;
        }
    }
    return is_found;
}

/* What comes upon the total at `node`; the runs that hang there get `run` as their parent. */
static uint64_t event_take(struct work *w, uint32_t node, uint32_t run, uint32_t *ret_children)
{
    uint64_t amount = 0;

    if (w->weights_left > 0 && w->weights[w->weights_left - 1].node == node)
        amount = w->weights[--w->weights_left].width;
    while (w->parents_left > 0) {
        const struct stretch *s = &w->stretches[w->by_parent[w->parents_left - 1]];

        if (s->parent != node)
            break;
        w->parents_left--;
        if (s->run == FB_FLAME_NO_RUN)
            continue;
        w->runs->items[s->run].parent = run;
        amount += w->runs->items[s->run].total;
        ++*ret_children;
    }
    return amount;
}

static void stretch_run(struct work *w, struct stretch *s)
{
    uint32_t open = FB_FLAME_NO_RUN, node = 0;
    uint64_t total = 0;

    while (event_next(w, s->first, &node)) {
        uint32_t children = 0, run = (uint32_t)w->runs->count;
        uint64_t amount = event_take(w, node, run, &children);
        struct fb_flame_run *items;

        if (amount == 0)
            continue;
        total += amount;
        (void)run_begin(w->runs, node, total);
        items = w->runs->items;
        if (open != FB_FLAME_NO_RUN) {
            items[open].first = node + 1;
            items[open].parent = run;
            children++;
        }
        items[run].children = children;
        open = run;
    }
    s->run = open;
    if (open != FB_FLAME_NO_RUN)
        w->runs->items[open].first = s->first;
}

void fb_flame_runs_init(struct fb_flame_runs *runs, const struct fb_calltree *tree,
                        const struct fb_flame_weight *weights, size_t weights_count)
{
    struct work w = {.tree = tree, .weights = weights, .weights_left = weights_count, .runs = runs};

    *runs = (struct fb_flame_runs){0};
    stretches_find(&w);
    w.parents_left = w.count - 1; /* the first one is the root's and hangs on nothing */
    w.by_parent = fb_alloc_array(w.count, sizeof *w.by_parent);
    for (size_t i = 1; i < w.count; i++)
        w.by_parent[i - 1] = (uint32_t)i;
    qsort_r(w.by_parent, w.parents_left, sizeof *w.by_parent, by_parent, w.stretches);
    for (size_t i = w.count; i-- > 0;)
        stretch_run(&w, &w.stretches[i]);
    for (size_t i = 0; i < runs->count; i++)
        runs->nodes += runs->items[i].last - runs->items[i].first + 1;
    free(w.by_parent);
    free(w.stretches);
}

void fb_flame_runs_done(struct fb_flame_runs *runs)
{
    free(runs->items);
    *runs = (struct fb_flame_runs){0};
}

/* flame_runs.h - a call tree with weights as runs of nodes of one total.
 *
 * In a tree most nodes are the only child of the node before them, and as wide.  A run is a row of
 * such nodes: ids first to last, each but the first the child of the one before it, all with the
 * same total.  So a profile of few stacks, however deep, has few runs, and totals are found in one
 * pass over the parents.
 *
 *     struct fb_flame_runs runs;
 *     fb_flame_runs_init(&runs, tree, weights, count);
 *     for each runs.items[i], children before parents: first, last, total, parent
 *     fb_flame_runs_done(&runs);
 *
 * Runs stand by descending ids, so children come before their parents; nodes without any weight on
 * them are in none.  The root is in the last run, if there is any weight. */
#ifndef FB_RENDER_FLAME_RUNS_H
#define FB_RENDER_FLAME_RUNS_H

#include "render/flame_layout.h"

#define FB_FLAME_NO_RUN UINT32_MAX

struct fb_flame_run {
    uint64_t total;
    uint32_t first, last;
    uint32_t parent;   /* the run whose last node it stands on; FB_FLAME_NO_RUN: the root's */
    uint32_t children; /* runs that stand on its last node                                  */
};

struct fb_flame_runs {
    struct fb_flame_run *items;
    size_t count, room;
    size_t nodes; /* Σ length */
};

void fb_flame_runs_init(struct fb_flame_runs *runs, const struct fb_calltree *tree,
                        const struct fb_flame_weight *weights, size_t weights_count);
void fb_flame_runs_done(struct fb_flame_runs *runs);

#endif

/* flame_layout.h - a call tree as boxes: who is drawn, where, and what stands for the rest.
 *
 *     struct fb_flame_layout l;
 *     fb_flame_layout_init(&l, &(struct fb_flame_layout_input){.tree = ..., .weights = w, ...});
 *     for each l.boxes[i]: x .. x + width of l.width, at depth
 *     fb_flame_layout_done(&l);
 *
 * Widths are integers, so that sums are exact: a box is as wide as its own self weight and the
 * boxes on it together, which stand on its left part; self is the rest on the right.  The widest
 * nodes are drawn, at most boxes_max boxes; hidden children of a drawn node become one box `hidden`
 * frames strong that keeps their width and both sides' amounts.  So Σ over the leaves is the root,
 * whatever the budget.  Nodes of width 0 are left out.
 *
 * Boxes are in pre-order, siblings by name, then module and kind, the hidden ones last: the same
 * tree gives the same boxes in whatever order it was built.  No recursion; O(n) plus the sort of
 * what is drawn.  Memory goes by weights and branches of the tree, not by nodes. */
#ifndef FB_RENDER_FLAME_LAYOUT_H
#define FB_RENDER_FLAME_LAYOUT_H

#include "profile/profile.h"

struct fb_flame_weight { /* self width of a node */
    uint32_t node;
    uint64_t width;
};

struct fb_flame_layout_input {
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    const uint64_t *weights;            /* self width by node; or NULL, and                     */
    const struct fb_flame_weight *list; /* the nodes that have any, by id, each once            */
    size_t list_count;
    const double *sides[2]; /* totals by node that `hidden` boxes must sum up; may be NULL    */
    size_t boxes_max;       /* at least 1                                                     */
};

struct fb_flame_box {
    uint32_t node;   /* of a hidden box: the node that it stands on */
    uint32_t parent; /* box; 0 for the root itself                  */
    uint32_t depth;  /* root 0                                      */
    uint32_t hidden; /* frames that it stands for; 0: a node        */
    uint64_t x, width, self;
    double side[2];
};

struct fb_flame_layout {
    struct fb_flame_box *boxes;
    size_t count;
    uint64_t width;              /* of the root                                         */
    uint32_t depth;              /* largest                                             */
    uint64_t hidden_width;       /* Σ width of hidden boxes                             */
    size_t hidden_frames, nodes; /* nodes: with any width                          */
};

void fb_flame_layout_init(struct fb_flame_layout *l, const struct fb_flame_layout_input *in);
void fb_flame_layout_done(struct fb_flame_layout *l);

#endif

/* flame_turn.h - another way to stack the same samples, for `flamebank flame`.
 *
 *     struct fb_flame_turn turn;
 *     fb_flame_turn_init(&turn, &view, FB_TURN_REVERSE);
 *     fb_flame_turn_swap(&turn, &view);       the view is turned now, the turn has what it was
 *     ...
 *     fb_flame_turn_swap(&turn, &view);
 *     fb_flame_turn_done(&turn);
 *
 * Samples keep their weights and times, so that a diff of a turned view judges the boxes that are
 * drawn.  A box has the layer that most of its frames had before. */
#ifndef FB_CLI_FLAME_TURN_H
#define FB_CLI_FLAME_TURN_H

#include "cli/load.h"

enum fb_turn {
    FB_TURN_REVERSE = 1, /* from the leaf to the root: callers on what they called */
    FB_TURN_MERGE = 2,   /* a function that called itself is one frame             */
};

struct fb_flame_turn {
    struct fb_calltree tree;
    uint16_t *layer_of_node;
    uint64_t *boundaries_of_node;
    uint32_t **node_of_stack; /* by arm */
    size_t arms;
};

void fb_flame_turn_init(struct fb_flame_turn *turn, const struct fb_view *view, unsigned how);
void fb_flame_turn_swap(struct fb_flame_turn *turn, struct fb_view *view);
void fb_flame_turn_done(struct fb_flame_turn *turn);

#endif

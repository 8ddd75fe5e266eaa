/* around.h - what the frames of one step have above and below them, for callers.c, renames.c.
 *
 *     fb_around_measure(diff, step, &around);
 *     ... around.self[0][node] ...
 *     fb_around_done(&around);
 *
 * Only frames (no other family of rows) have anything around them. */
#ifndef FB_DIFF_AROUND_H
#define FB_DIFF_AROUND_H

#include "diff/state.h"

struct fb_around {
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    bool on_ms;
    double *self[2];  /* by node: of the control, of the variant; the mean over the runs of ms per
                         request where the step is judged by it, else of the share */
    double *share[2]; /* by node, inclusive: mean share of the arm's weight, 0..1 */
};

void fb_around_measure(const struct fb_diff *diff, size_t step, struct fb_around *ret_around);
void fb_around_done(struct fb_around *around);

/* The function of a node as tables know it: that of `same`. */
static inline uint32_t fb_around_function(const struct fb_around *a, uint32_t node)
{
    return a->fns->items[a->tree->nodes[node].function].same;
}

/* Marks what the frames' callers say of their changes (enum fb_move) and fills step->callers; after
 * fb_frame_rows(). */
void fb_caller_rows(struct fb_diff *diff, size_t step, const struct fb_around *around);

/* Suggests which function of the variant is one of the control under another name; fills
 * step->renames and marks the frames.  After fb_frame_rows(). */
void fb_rename_rows(struct fb_diff *diff, size_t step, const struct fb_around *around);

/* Sorts out what moved most; after both. */
void fb_mover_rows(struct fb_diff *diff, size_t step);

#endif

/* tree_rows.h - samples over a tree whose frames are still numbers: for formats whose frame table
 * may stand behind the stacks.  Private to profile/.
 *
 *     node = fb_calltree_child(&tree, node, frame number + 1);
 *     fb_tree_row_add(&rows, thread, node, time_ns, weight);
 *     fb_tree_rows_put(&rows, &tree, frames, p);           once the frames are known */
#ifndef FB_PROFILE_READ_TREE_ROWS_H
#define FB_PROFILE_READ_TREE_ROWS_H

#include "base/json_in.h"
#include "profile/calltree.h"
#include "profile/model.h"

struct fb_tree_row {
    uint32_t node, thread;
    int64_t time_ns;
    uint64_t weight;
};

struct fb_tree_rows {
    struct fb_tree_row *items;
    size_t count, room;
};

void fb_tree_row_add(struct fb_tree_rows *rows, uint32_t thread, uint32_t node, int64_t time_ns,
                     uint64_t weight);

/* The stacks of p by node of the tree; frame_of[key] is the frame of p for a node's key, 0: none,
 * the node is its parent.  free() it. */
uint32_t *fb_tree_stacks(const struct fb_calltree *tree, const uint32_t *frame_of,
                         struct fb_profile *p);

/* Adds all rows, in their order, to p's samples. */
void fb_tree_rows_put(const struct fb_tree_rows *rows, const uint32_t *stack_of_node,
                      struct fb_profile *p);

/* The stack of each of n nodes that name their parents by index (UINT32_MAX: none) in any order; 0
 * for `frame`: the node is its parent.  free() it; NULL where parents go in a circle. */
uint32_t *fb_stacks_of_nodes(struct fb_profile *p, const uint32_t *parent, const uint32_t *frame,
                             size_t n);

/* Amounts (>= 0) that are fractions as whole ones whose sum is right within one half.  What 64 bits
 * do not hold is UINT64_MAX. */
struct fb_rounding {
    double rest; /* that is owed, -0.5 to 0.5 */
};
uint64_t fb_round_next(struct fb_rounding *r, double amount);

/* Nanoseconds of a unit of time by its name ("seconds", "ms"), 0 for what is no time. */
double fb_unit_ns(const char *unit);

/* Takes " tid=7" and " pid=3" off the end of a thread's name. */
void fb_thread_ids_take(const char *name, size_t *len, uint32_t *ret_tid, uint32_t *ret_pid);

/* The kind and tier by their words ("kernel", "c1"); what is no such word is left alone. */
void fb_frame_words_take(struct fb_frame *f, const struct fb_json_text *kind,
                         const struct fb_json_text *tier);

/* The module of that path (a string of p), added if new; the index starts zeroed and is the
 * caller's (fb_index_done). */
uint32_t fb_module_of_path(struct fb_index *modules, struct fb_profile *p, uint32_t path);

#endif

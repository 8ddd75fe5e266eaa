/* calltree.h - one call tree over all profiles that are looked at together.
 *
 * Nodes are (parent, function), so addresses of one function and banks of several arms share
 * nodes; every view (fold, layers, diff, flamegraph) is an array indexed by node id.
 *
 *     struct fb_calltree tree;
 *     fb_calltree_init(&tree);
 *     uint32_t *node_of_stack = fb_calltree_add(&tree, profile, function_of_frame);
 *     double *self = fb_calltree_self(&tree, profile, node_of_stack, from_ns, to_ns);
 *     double *total = fb_calltree_total(&tree, self);
 *
 * Node 0 is the root, with function 0.  A parent is always smaller than its children, so one
 * backward pass sums subtrees. */
#ifndef FB_PROFILE_CALLTREE_H
#define FB_PROFILE_CALLTREE_H

#include "profile/functions.h"
#include "profile/model.h"

struct __attribute__((may_alias)) fb_calltree_node { /* laid out as struct fb_stack */
    uint32_t parent;
    uint32_t function;
};

struct fb_calltree {
    struct fb_calltree_node *nodes;
    size_t count, room;
    bool is_borrowed;      /* private: the nodes are the stacks of a profile */
    struct fb_index index; /* private */
};

void fb_calltree_init(struct fb_calltree *tree);
void fb_calltree_done(struct fb_calltree *tree);

/* The child of `parent` for `function`, added if new. */
uint32_t fb_calltree_child(struct fb_calltree *tree, uint32_t parent, uint32_t function);

/* Adds every stack of p; returns node ids by stack id (stack 0 gives 0); free() it.  A tree whose
 * first profile has a function for each frame takes its stacks as they are, in their memory: p
 * lives as long as the tree is looked at, and gets no further stacks. */
uint32_t *fb_calltree_add(struct fb_calltree *tree, const struct fb_profile *p,
                          const uint32_t *function_of_frame);

/* Weight by node of the samples in [from_ns, to_ns) whose stack ends there; INT64_MIN, INT64_MAX
 * for all (needed for a profile without times).  Has tree->count items; free() it. */
double *fb_calltree_self(const struct fb_calltree *tree, const struct fb_profile *p,
                         const uint32_t *node_of_stack, int64_t from_ns, int64_t to_ns);

struct fb_calltree_weight {
    uint32_t node;
    double weight;
};

/* The same as a list of the nodes that have weight, by id; free() it.  Takes memory for samples,
 * not for nodes, where those are fewer. */
struct fb_calltree_weight *fb_calltree_weights(const struct fb_calltree *tree,
                                               const struct fb_profile *p,
                                               const uint32_t *node_of_stack, int64_t from_ns,
                                               int64_t to_ns, size_t *ret_count);

/* self + all below, by node; free() it. */
double *fb_calltree_total(const struct fb_calltree *tree, const double *self);

/* The same by any key of the nodes: `own` of the leaves with that key, `total` of the stacks with
 * any frame that has it (a thread at the root is no frame).  keys items each; free() both. */
void fb_calltree_by_key(const struct fb_calltree *tree, const struct fb_functions *fns,
                        const uint32_t *key_of_node, size_t keys, const double *self,
                        double **ret_own, double **ret_total);

/* By function (that of `same`, whatever it was made as): `self`, and `total` in which a stack
 * counts once however often the function recurs.  fns->count items each; free() both. */
void fb_calltree_by_function(const struct fb_calltree *tree, const struct fb_functions *fns,
                             const double *self, double **ret_self, double **ret_total);

#endif

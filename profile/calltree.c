#include "profile/calltree.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

void fb_calltree_init(struct fb_calltree *tree)
{
    *tree = (struct fb_calltree){0};
    fb_vec_reserve(&tree->nodes, &tree->room, 1, sizeof *tree->nodes);
    tree->nodes[tree->count++] = (struct fb_calltree_node){0, 0};
}

void fb_calltree_done(struct fb_calltree *tree)
{
    free(tree->nodes);
    fb_index_done(&tree->index);
    *tree = (struct fb_calltree){0};
}

/* As fb_profile_stack_put(): the first child is mostly the next node, and not in the index. */
uint32_t fb_calltree_child(struct fb_calltree *tree, uint32_t parent, uint32_t function)
{
    uint32_t id = (uint32_t)tree->count, next = parent + 1;

    if (next < id) {
        uint64_t hash = fb_hash_pair(parent, function);
        struct fb_index_cursor at = fb_index_seek(&tree->index, hash);
        uint32_t found;

        if (tree->nodes[next].parent == parent && tree->nodes[next].function == function)
            return next;
        while (fb_index_step(&tree->index, &at, &found)) {
            if (tree->nodes[found].parent == parent && tree->nodes[found].function == function)
                return found;
        }
        fb_index_add(&tree->index, hash, id);
    }
    fb_vec_reserve(&tree->nodes, &tree->room, tree->count + 1, sizeof *tree->nodes);
    tree->nodes[tree->count++] = (struct fb_calltree_node){parent, function};
    return id;
}

uint32_t *fb_calltree_add(struct fb_calltree *tree, const struct fb_profile *p,
                          const uint32_t *function_of_frame)
{
    uint32_t *node_of_stack = fb_alloc_array(p->stacks_count, sizeof *node_of_stack);

    for (size_t i = 1; i < p->stacks_count; i++) {
        const struct fb_stack *s = &p->stacks[i];

        node_of_stack[i] =
            fb_calltree_child(tree, node_of_stack[s->parent.n], function_of_frame[s->frame.n]);
    }
    return node_of_stack;
}

double *fb_calltree_self(const struct fb_calltree *tree, const struct fb_profile *p,
                         const uint32_t *node_of_stack, int64_t from_ns, int64_t to_ns)
{
    double *self = fb_alloc_array(tree->count, sizeof *self);
    const struct fb_samples *s = &p->samples;
    bool all = from_ns == INT64_MIN && to_ns == INT64_MAX;

    for (size_t i = 0; i < s->count; i++) {
        if (all || (s->time_ns[i] >= from_ns && s->time_ns[i] < to_ns))
            self[node_of_stack[s->stack[i]]] += (double)s->weight[i];
    }
    return self;
}

double *fb_calltree_total(const struct fb_calltree *tree, const double *self)
{
    double *total = fb_alloc_array(tree->count, sizeof *total);

    for (size_t i = tree->count; i-- > 0;) {
        total[i] += self[i];
        if (i > 0)
            total[tree->nodes[i].parent] += total[i];
    }
    return total;
}

/* Adds the total of every node that has no ancestor of the same key to all[key].  One walk over the
 * tree with a count of the open nodes of each key, whatever the depth.  key_of_node may be
 * UINT32_MAX: no frame. */
static void add_totals(const struct fb_calltree *tree, const uint32_t *key_of_node, size_t keys,
                       const double *total, double *all)
{
    uint32_t *child = fb_alloc_array(tree->count, sizeof *child);
    uint32_t *next = fb_alloc_array(tree->count, sizeof *next);
    uint32_t *open = fb_alloc_array(keys, sizeof *open);
    uint32_t at = 0;

    for (uint32_t i = (uint32_t)tree->count; i-- > 1;) {
        next[i] = child[tree->nodes[i].parent];
        child[tree->nodes[i].parent] = i;
    }
    for (;;) {
        uint32_t down = child[at];

        if (down != 0) { /* each child is taken off its list as it is entered */
            child[at] = next[down];
            if (key_of_node[down] != UINT32_MAX && open[key_of_node[down]]++ == 0)
                all[key_of_node[down]] += total[down];
            at = down;
        } else if (at != 0) {
            if (key_of_node[at] != UINT32_MAX)
                open[key_of_node[at]]--;
            at = tree->nodes[at].parent;
        } else {
            break;
        }
    }
    free(child);
    free(next);
    free(open);
}

void fb_calltree_by_key(const struct fb_calltree *tree, const struct fb_functions *fns,
                        const uint32_t *key_of_node, size_t keys, const double *self,
                        double **ret_own, double **ret_total)
{
    uint32_t *frame_key = fb_alloc_array(tree->count, sizeof *frame_key);
    double *node_total = fb_calltree_total(tree, self);
    double *own = fb_alloc_array(keys, sizeof *own);
    double *all = fb_alloc_array(keys, sizeof *all);

    for (uint32_t i = 0; i < tree->count; i++) {
        const struct fb_calltree_node *node = &tree->nodes[i];

        own[key_of_node[i]] += self[i];
        frame_key[i] = key_of_node[i];
        if (node->parent == 0 && (i == 0 || fb_function_is_thread(fns, node->function, NULL))) {
            all[key_of_node[i]] += self[i]; /* what ends there has no other frame */
            frame_key[i] = UINT32_MAX;
        }
    }
    add_totals(tree, frame_key, keys, node_total, all);
    free(node_total);
    free(frame_key);
    *ret_own = own;
    *ret_total = all;
}

void fb_calltree_by_function(const struct fb_calltree *tree, const struct fb_functions *fns,
                             const double *self, double **ret_self, double **ret_total)
{
    uint32_t *function_of_node = fb_alloc_array(tree->count, sizeof *function_of_node);
    double *node_total = fb_calltree_total(tree, self);
    double *own = fb_alloc_array(fns->count, sizeof *own);
    double *all = fb_alloc_array(fns->count, sizeof *all);

    for (uint32_t i = 1; i < tree->count; i++) {
        function_of_node[i] = fns->items[tree->nodes[i].function].same;
        own[function_of_node[i]] += self[i];
    }
    add_totals(tree, function_of_node, fns->count, node_total, all);
    free(node_total);
    free(function_of_node);
    *ret_self = own;
    *ret_total = all;
}

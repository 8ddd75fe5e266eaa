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
    if (!tree->is_borrowed)
        free(tree->nodes);
    fb_index_done(&tree->index);
    *tree = (struct fb_calltree){0};
}

static uint64_t hash_of(uint32_t parent, uint32_t function)
{
    return fb_hash_pair(parent, function);
}

/* A tree that grows needs nodes of its own, and the index of those that do not follow their parent.
 */
static void own(struct fb_calltree *tree)
{
    const struct fb_calltree_node *borrowed = tree->nodes;

    tree->nodes = NULL;
    tree->room = 0;
    tree->is_borrowed = false;
    fb_vec_reserve(&tree->nodes, &tree->room, tree->count + 1, sizeof *tree->nodes);
    memcpy(tree->nodes, borrowed, tree->count * sizeof *tree->nodes);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->nodes[i].parent + 1 != i)
            fb_index_add(&tree->index, hash_of(tree->nodes[i].parent, tree->nodes[i].function), i);
    }
}

/* As fb_profile_stack_put(): the first child is mostly the next node, and not in the index. */
uint32_t fb_calltree_child(struct fb_calltree *tree, uint32_t parent, uint32_t function)
{
    uint32_t id = (uint32_t)tree->count, next = parent + 1;

    if (tree->is_borrowed)
        own(tree);
    if (next < id) {
        uint64_t hash = hash_of(parent, function);
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

_Static_assert(sizeof(struct fb_stack) == sizeof(struct fb_calltree_node) &&
                   offsetof(struct fb_stack, frame) == offsetof(struct fb_calltree_node, function),
               "a tree may take the stacks of a profile");

/* Whether function i is frame i, so that distinct stacks are distinct nodes. */
static bool is_one_to_one(const struct fb_profile *p, const uint32_t *function_of_frame)
{
    for (uint32_t i = 0; i < p->frames_count && !p->stacks_repeat; i++) {
        if (function_of_frame[i] != i)
            return false;
    }
    return !p->stacks_repeat;
}

uint32_t *fb_calltree_add(struct fb_calltree *tree, const struct fb_profile *p,
                          const uint32_t *function_of_frame)
{
    uint32_t *node_of_stack = fb_alloc_array(p->stacks_count, sizeof *node_of_stack);

    if (tree->count == 1 && is_one_to_one(p, function_of_frame)) {
        fb_calltree_done(tree);
        tree->nodes = (struct fb_calltree_node *)p->stacks;
        tree->count = p->stacks_count;
        tree->is_borrowed = true;
        for (uint32_t i = 1; i < p->stacks_count; i++)
            node_of_stack[i] = i;
        return node_of_stack;
    }
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

static int by_node(const void *a, const void *b)
{
    const struct fb_calltree_weight *x = a, *y = b;

    return x->node < y->node ? -1 : x->node > y->node;
}

/* Sorted, with one entry a node; returns how many. */
static size_t merge_weights(struct fb_calltree_weight *w, size_t n)
{
    size_t out = 0;

    if (n > 0)
        qsort(w, n, sizeof *w, by_node);
    for (size_t i = 0; i < n; i++) {
        if (out > 0 && w[out - 1].node == w[i].node)
            w[out - 1].weight += w[i].weight;
        else
            w[out++] = w[i];
    }
    return out;
}

struct fb_calltree_weight *fb_calltree_weights(const struct fb_calltree *tree,
                                               const struct fb_profile *p,
                                               const uint32_t *node_of_stack, int64_t from_ns,
                                               int64_t to_ns, size_t *ret_count)
{
    struct fb_calltree_weight *w = NULL;
    const struct fb_samples *s = &p->samples;
    bool all = from_ns == INT64_MIN && to_ns == INT64_MAX;
    size_t n = 0, room = 0;
    double *self;

    if (s->count < tree->count / 2) {
        fb_vec_reserve(&w, &room, s->count + 1, sizeof *w);
        for (size_t i = 0; i < s->count; i++) {
            if (s->weight[i] > 0 && (all || (s->time_ns[i] >= from_ns && s->time_ns[i] < to_ns)))
                w[n++] =
                    (struct fb_calltree_weight){node_of_stack[s->stack[i]], (double)s->weight[i]};
        }
        *ret_count = merge_weights(w, n);
        return w;
    }
    self = fb_calltree_self(tree, p, node_of_stack, from_ns, to_ns);
    for (uint32_t i = 0; i < tree->count; i++) {
        fb_vec_reserve(&w, &room, n + 1, sizeof *w);
        if (self[i] > 0)
            w[n++] = (struct fb_calltree_weight){i, self[i]};
    }
    free(self);
    *ret_count = n;
    return w;
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

#include "cli/flame_turn.h"

#include <stdlib.h>

#include "base/vec.h"

/* A majority vote in one pass: the layer that has more votes than all others is left. */
struct vote {
    uint16_t layer;
    double lead;
};

struct work {
    const struct fb_view *view;
    struct fb_flame_turn *turn;
    unsigned how;
    uint32_t *turned; /* by node of the view: 1 + its node in the turned tree; 0 not yet */
    uint32_t *path;   /* nodes of the view, from the leaf on */
    size_t path_room;
    struct vote *votes; /* by turned node */
    size_t votes_room;
};

static void vote(struct work *w, uint32_t turned, uint16_t layer)
{
    struct vote *v;

    if (turned >= w->votes_room) {
        size_t before = w->votes_room;

        fb_vec_reserve(&w->votes, &w->votes_room, (size_t)turned + 1, sizeof *w->votes);
        for (size_t i = before; i < w->votes_room; i++)
            w->votes[i] = (struct vote){0, 0};
    }
    v = &w->votes[turned];
    if (v->lead == 0)
        v->layer = layer;
    v->lead += v->layer == layer ? 1 : -1;
}

static uint32_t same_of(const struct work *w, uint32_t node)
{
    return w->view->fns.items[w->view->tree.nodes[node].function].same;
}

static uint32_t path_turn(struct work *w, uint32_t leaf)
{
    const struct fb_calltree *tree = &w->view->tree;
    size_t depth = 0;
    uint32_t at = 0;

    for (uint32_t node = leaf; node != 0; node = tree->nodes[node].parent) {
        if (w->how & FB_TURN_MERGE && depth > 0 &&
            same_of(w, node) == same_of(w, w->path[depth - 1])) {
            w->path[depth - 1] = node; /* the outermost of a row of calls of itself */
            continue;
        }
        fb_vec_reserve(&w->path, &w->path_room, depth + 1, sizeof *w->path);
        w->path[depth++] = node;
    }
    for (size_t i = 0; i < depth; i++) {
        uint32_t node = w->path[w->how & FB_TURN_REVERSE ? i : depth - 1 - i];

        at = fb_calltree_child(&w->turn->tree, at, tree->nodes[node].function);
        vote(w, at, w->view->layer_of_node[node]);
    }
    return at;
}

static void arm_turn(struct work *w, size_t i)
{
    const struct fb_arm *arm = &w->view->arms[i];
    uint32_t *node_of_stack;

    if (!arm->profile)
        return;
    node_of_stack = fb_alloc_array(arm->profile->stacks_count, sizeof *node_of_stack);
    for (size_t s = 0; s < arm->profile->samples.count; s++) {
        uint32_t stack = arm->profile->samples.stack[s], node = arm->node_of_stack[stack];

        if (w->turned[node] == 0)
            w->turned[node] = 1 + path_turn(w, node);
        node_of_stack[stack] = w->turned[node] - 1;
    }
    w->turn->node_of_stack[i] = node_of_stack;
}

void fb_flame_turn_init(struct fb_flame_turn *turn, const struct fb_view *view, unsigned how)
{
    struct work w = {.view = view, .turn = turn, .how = how};

    *turn = (struct fb_flame_turn){.arms = view->count};
    fb_calltree_init(&turn->tree);
    turn->node_of_stack = fb_alloc_array(view->count, sizeof *turn->node_of_stack);
    w.turned = fb_alloc_array(view->tree.count, sizeof *w.turned);
    for (size_t i = 0; i < view->count; i++)
        arm_turn(&w, i);
    turn->layer_of_node = fb_alloc_array(turn->tree.count, sizeof *turn->layer_of_node);
    turn->layer_of_node[0] = view->layer_of_node[0];
    for (size_t i = 1; i < turn->tree.count; i++)
        turn->layer_of_node[i] = w.votes[i].layer;
    free(w.turned);
    free(w.path);
    free(w.votes);
}

void fb_flame_turn_swap(struct fb_flame_turn *turn, struct fb_view *view)
{
    struct fb_calltree tree = view->tree;
    uint16_t *layer_of_node = view->layer_of_node;
    uint64_t *boundaries_of_node = view->boundaries_of_node;

    view->tree = turn->tree;
    view->layer_of_node = turn->layer_of_node;
    view->boundaries_of_node = turn->boundaries_of_node;
    turn->tree = tree;
    turn->layer_of_node = layer_of_node;
    turn->boundaries_of_node = boundaries_of_node;
    for (size_t i = 0; i < turn->arms; i++) {
        uint32_t *node_of_stack = view->arms[i].node_of_stack;

        view->arms[i].node_of_stack = turn->node_of_stack[i];
        turn->node_of_stack[i] = node_of_stack;
    }
}

void fb_flame_turn_done(struct fb_flame_turn *turn)
{
    for (size_t i = 0; i < turn->arms; i++)
        free(turn->node_of_stack[i]);
    free(turn->node_of_stack);
    free(turn->layer_of_node);
    free(turn->boundaries_of_node);
    fb_calltree_done(&turn->tree);
    *turn = (struct fb_flame_turn){0};
}

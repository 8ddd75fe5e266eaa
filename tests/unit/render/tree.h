/* tree.h - call trees from folded lines, for the tests of render. */
#ifndef FB_TESTS_RENDER_TREE_H
#define FB_TESTS_RENDER_TREE_H

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/layers.h"
#include "profile/profile.h"

struct tree {
    struct fb_functions fns;
    struct fb_calltree calls;
    double *self[2];
    size_t room[2];
};

static inline void tree_init(struct tree *t)
{
    *t = (struct tree){0};
    fb_functions_init(&t->fns);
    fb_calltree_init(&t->calls);
}

static inline void tree_done(struct tree *t)
{
    fb_calltree_done(&t->calls);
    fb_functions_done(&t->fns);
    free(t->self[0]);
    free(t->self[1]);
}

/* The node of "a;b;c", created; both arms get room for it.  "name@module" gives the module. */
static inline uint32_t tree_node(struct tree *t, const char *stack)
{
    char *copy = fb_strdup(stack), *rest = copy, *name;
    uint32_t node = 0;

    while ((name = strsep(&rest, ";")) != NULL) {
        char *module = strrchr(name, '@');

        if (module)
            *module++ = '\0';
        node = fb_calltree_child(
            &t->calls, node,
            fb_functions_put(&t->fns, FB_FRAME_NATIVE, module ? module : "", name));
    }
    free(copy);
    for (int side = 0; side < 2; side++) {
        size_t before = t->room[side];

        fb_vec_reserve(&t->self[side], &t->room[side], t->calls.count, sizeof *t->self[side]);
        for (size_t i = before; i < t->room[side]; i++)
            t->self[side][i] = 0;
    }
    return node;
}

static inline void tree_add(struct tree *t, const char *stack, double control, double variant)
{
    uint32_t node = tree_node(t, stack);

    t->self[0][node] += control;
    t->self[1][node] += variant;
}

#endif

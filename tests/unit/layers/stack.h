/* stack.h - the layer of a stack written as text, for rule tests: fb_layers_stack_put() says how.
 */
#ifndef FB_TESTS_LAYERS_STACK_H
#define FB_TESTS_LAYERS_STACK_H

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/layers.h"

/* The node of the stack, added to the tree. */
static inline uint32_t stack_put(struct fb_calltree *tree, struct fb_functions *fns,
                                 const char *stack)
{
    return fb_layers_stack_put(tree, fns, stack, NULL);
}

/* The name of the layer of one stack; options may be NULL. */
static inline const char *stack_layer_as(const struct fb_layers *layers, const char *stack,
                                         fb_canonical_fn canonical,
                                         const struct fb_layers_options *options)
{
    struct fb_layers_applied applied;
    struct fb_functions fns;
    struct fb_calltree tree;
    const char *name = "(gave up)";
    struct fb_err err;
    uint32_t node;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    node = fb_layers_stack_put(&tree, &fns, stack, canonical);
    if (fb_layers_apply(layers, &tree, &fns, options, &applied, &err) == FB_OK) {
        name = fb_layers_get(layers, applied.layer[node])->name;
        fb_layers_applied_done(&applied);
    }
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    return name;
}

static inline const char *stack_layer(const struct fb_layers *layers, const char *stack)
{
    return stack_layer_as(layers, stack, NULL, NULL);
}

#endif

/* stack.h - a stack written as text, for rule tests.
 *
 * "main;libz.so!deflate;copy_[k]": root first; `module!` in front of a name, kind behind it
 * (_[k] kernel, _[s] stub, _[i] inlined, _[m] mark, else native). */
#ifndef FB_TESTS_LAYERS_STACK_H
#define FB_TESTS_LAYERS_STACK_H

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/layers.h"

static inline uint32_t stack_frame_put(struct fb_functions *fns, char *frame)
{
    static const struct {
        const char *suffix;
        enum fb_frame_kind kind;
    } kinds[] = {{"_[k]", FB_FRAME_KERNEL},
                 {"_[s]", FB_FRAME_STUB},
                 {"_[i]", FB_FRAME_INLINED},
                 {"_[m]", FB_FRAME_MARK}};
    enum fb_frame_kind kind = FB_FRAME_NATIVE;
    char *bang = strchr(frame, '!');
    size_t n = strlen(frame);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (n > 4 && strcmp(frame + n - 4, kinds[i].suffix) == 0) {
            kind = kinds[i].kind;
            frame[n - 4] = '\0';
        }
    }
    if (bang)
        *bang = '\0';
    return fb_functions_put(fns, kind, bang ? frame : "", bang ? bang + 1 : frame);
}

/* The node of the stack, added to the tree. */
static inline uint32_t stack_put(struct fb_calltree *tree, struct fb_functions *fns,
                                 const char *stack)
{
    char *copy = fb_strdup(stack), *save = NULL;
    uint32_t node = 0;

    for (char *f = strtok_r(copy, ";", &save); f; f = strtok_r(NULL, ";", &save))
        node = fb_calltree_child(tree, node, stack_frame_put(fns, f));
    free(copy);
    return node;
}

/* The name of the layer of one stack. */
static inline const char *stack_layer(const struct fb_layers *layers, const char *stack)
{
    struct fb_functions fns;
    struct fb_calltree tree;
    uint16_t *layer_of_node;
    const char *name;
    uint32_t node;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    node = stack_put(&tree, &fns, stack);
    layer_of_node = fb_layers_assign(layers, &tree, &fns);
    name = fb_layers_get(layers, layer_of_node[node])->name;
    free(layer_of_node);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    return name;
}

#endif

/* Any bytes as a rules file; what is accepted is applied to a small tree. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "layers/layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fb_layers *layers = NULL;
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_err err;
    uint16_t *layer_of_node;
    uint32_t node = 0;

    if (fb_layers_parse((const char *)data, size, "fuzz", &layers, &err) != FB_OK)
        return 0;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    node = fb_calltree_child(&tree, node, fb_functions_put(&fns, FB_FRAME_NATIVE, "a", "main"));
    node = fb_calltree_child(&tree, node, fb_functions_put(&fns, FB_FRAME_NATIVE, "libz.so", "x"));
    (void)fb_calltree_child(&tree, node, fb_functions_put(&fns, FB_FRAME_KERNEL, "", "copy"));
    layer_of_node = fb_layers_assign(layers, &tree, &fns);
    for (size_t i = 0; i < tree.count; i++)
        if (layer_of_node[i] >= fb_layers_count(layers))
            abort();
    free(layer_of_node);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_layers_free(layers);
    return 0;
}

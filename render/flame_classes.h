/* flame_classes.h - what the colours of a flamegraph stand for: a class by box, a tint by class.
 *
 *     struct fb_flame_classes c;
 *     fb_flame_classes_init(&c, in);
 *     fb_flame_classes_legend(&c, in, &layout);
 *     unsigned class_number = fb_flame_class_of(&c, in, node);
 *     c.tints[class_number], c.chips[]
 *     fb_flame_classes_done(&c);
 *
 * A class is a layer, or what a box's own function belongs to (kind, module, package, tier).  The
 * chips of the legend are the classes that a box has, with their share of self weight; modules and
 * packages by weight, the first few. */
#ifndef FB_RENDER_FLAME_CLASSES_H
#define FB_RENDER_FLAME_CLASSES_H

#include "render/flame_layout.h"
#include "render/render.h"
#include "render/svg.h"

struct fb_flame_classes {
    struct fb_tint *tints;
    char **names; /* by class; of the last one "" */
    size_t count; /* the last one is no class: the root, and several frames in one box */
    struct fb_svg_chip *chips;
    size_t chips_count;
    uint16_t *of_function; /* NULL: by layer */
};

void fb_flame_classes_init(struct fb_flame_classes *c, const struct fb_flame_input *in);
void fb_flame_classes_legend(struct fb_flame_classes *c, const struct fb_flame_input *in,
                             const struct fb_flame_layout *layout);
void fb_flame_classes_done(struct fb_flame_classes *c);

static inline unsigned fb_flame_class_of(const struct fb_flame_classes *c,
                                         const struct fb_flame_input *in, uint32_t node)
{
    if (node == 0)
        return (unsigned)c->count - 1;
    return c->of_function ? c->of_function[in->tree->nodes[node].function]
                          : in->layer_of_node[node];
}

#endif

/* picture.h - drawing a tree, and looking into the picture, for the tests of render. */
#ifndef FB_TESTS_RENDER_PICTURE_H
#define FB_TESTS_RENDER_PICTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "tests/unit/render/tree.h"

struct picture {
    struct fb_flame_input in;
    uint16_t *layer_of_node;
    struct fb_calltree_weight *weights;
    struct fb_diff_nodes nodes; /* of a diff */
};

static inline void picture_init(struct picture *p, const struct tree *t,
                                const struct fb_layers *layers)
{
    size_t count = 0;

    *p = (struct picture){0};
    p->weights = fb_alloc_array(t->calls.count, sizeof *p->weights);
    for (uint32_t i = 0; i < t->calls.count; i++)
        if (t->self[0][i] > 0)
            p->weights[count++] = (struct fb_calltree_weight){i, t->self[0][i]};
    p->layer_of_node = fb_layers_assign(layers, &t->calls, &t->fns);
    p->in = (struct fb_flame_input){.tree = &t->calls,
                                    .fns = &t->fns,
                                    .layers = layers,
                                    .layer_of_node = p->layer_of_node,
                                    .weights = p->weights,
                                    .weights_count = count,
                                    .title = "title",
                                    .subtitle = "subtitle",
                                    .unit = "samples",
                                    .ms_per_request = NAN,
                                    .cores = NAN};
}

/* Shares of both sides; every change of a node is real. */
static inline void picture_diff_init(struct picture *p, const struct tree *t,
                                     const struct fb_layers *layers)
{
    size_t n = t->calls.count;
    double sums[2] = {0, 0}, *shares[2];

    picture_init(p, t, layers);
    for (int side = 0; side < 2; side++) {
        shares[side] = fb_alloc_array(n, sizeof *shares[side]);
        for (size_t i = 0; i < n; i++)
            sums[side] += t->self[side][i];
        for (size_t i = 0; i < n; i++)
            shares[side][i] = sums[side] > 0 ? t->self[side][i] / sums[side] : 0;
    }
    p->nodes = (struct fb_diff_nodes){.control_self = shares[0],
                                      .control_total = fb_calltree_total(&t->calls, shares[0]),
                                      .variant_self = shares[1],
                                      .variant_total = fb_calltree_total(&t->calls, shares[1]),
                                      .self_is_real = fb_alloc(n),
                                      .total_is_real = fb_alloc(n),
                                      .is_judged = true,
                                      .control_ms = NAN,
                                      .variant_ms = NAN,
                                      .control_weight = sums[0],
                                      .variant_weight = sums[1]};
    memset(p->nodes.self_is_real, 1, n);
    memset(p->nodes.total_is_real, 1, n);
}

static inline void picture_done(struct picture *p)
{
    free(p->layer_of_node);
    free(p->weights);
    free(p->nodes.control_self);
    free(p->nodes.control_total);
    free(p->nodes.variant_self);
    free(p->nodes.variant_total);
    free(p->nodes.self_is_real);
    free(p->nodes.total_is_real);
}

/* Yours. */
static inline char *picture_flame(const struct picture *p)
{
    struct fb_buf b = {0};

    fb_render_flame_svg(&p->in, &b);
    return fb_buf_take(&b);
}

static inline char *picture_diff(const struct picture *p)
{
    struct fb_buf b = {0};

    fb_render_diff_svg(&p->in, &p->nodes, &b);
    return fb_buf_take(&b);
}

/* The element of the box whose name is `name` (escaped), up to its end; NULL if not drawn.  Yours.
 */
static inline char *picture_box(const char *svg, const char *name)
{
    char *needle = fb_format("<title>%s\n", name), *box = NULL;
    const char *title = strstr(svg, needle), *from = title;

    if (title) {
        while (strncmp(from, "<g class=\"b", 11) != 0)
            from--;
        box = fb_strndup(from, (size_t)(strstr(title, "</g>") - from));
    }
    free(needle);
    return box;
}

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("'%s' is not in '%.600s'", part, text);                                       \
    } while (0)

#endif

#include "cli/judge.h"

#include <stdlib.h>

#include "base/vec.h"

enum fb_status fb_judge_limits(const struct fb_args *args, double **ret_limits, struct fb_err *err)
{
    double *limits;
    const char *text;

    *ret_limits = NULL;
    if (!fb_args_has(args, "limit"))
        return FB_OK;
    limits = fb_alloc_array(FB_LIMIT_COUNT, sizeof *limits);
    fb_limits_default(limits);
    for (size_t i = 0; (text = fb_args_nth(args, "limit", i)) != NULL; i++) {
        if (fb_limits_set(limits, text, err) != FB_OK) {
            free(limits);
            return err->status;
        }
    }
    *ret_limits = limits;
    return FB_OK;
}

/* By its row of the layers that every rules file comes down to, else by its name. */
static bool is_gc(const struct fb_layer *layer)
{
    return layer->rollup == FB_ROLLUP_JIT_GC || fb_diff_is_jit_or_gc(layer->name);
}

/* Of the samples of a step; NAN where it has none. */
static double gc_share(const struct fb_view *view, const struct fb_arm *arm,
                       const struct fb_step *s)
{
    double *self = fb_calltree_self(&view->tree, arm->profile, arm->node_of_stack, s->load_start_ns,
                                    s->load_end_ns);
    double all = 0, gc = 0;

    for (size_t n = 0; n < view->tree.count; n++) {
        all += self[n];
        if (is_gc(fb_layers_get(view->layers, view->layer_of_node[n])))
            gc += self[n];
    }
    free(self);
    return gc / all;
}

static bool has_gc_layer(const struct fb_layers *layers)
{
    for (size_t i = 0; i < fb_layers_count(layers); i++)
        if (is_gc(fb_layers_get(layers, i)))
            return true;
    return false;
}

void fb_judge_layers(struct fb_view *view)
{
    for (size_t a = 0; a < view->count; a++) {
        struct fb_arm *arm = &view->arms[a];

        if (!arm->steps || !arm->profile || !arm->profile->has_times || !has_gc_layer(view->layers))
            continue;
        for (size_t i = 0; i < arm->steps->count; i++)
            if (arm->steps->items[i].load_start_ns != 0)
                arm->steps->items[i].gc_share = gc_share(view, arm, &arm->steps->items[i]);
        fb_steps_judge(arm->steps);
    }
}

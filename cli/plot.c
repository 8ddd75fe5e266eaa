#include "cli/plot.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/say.h"

/* Shares by step and layer of one arm; NULL where it has no samples with times. */
static double *shares_of(const struct fb_view *view, const struct fb_arm *arm)
{
    size_t layers = view->layers ? fb_layers_count(view->layers) : 0;
    double *shares;
    bool any = false;

    if (!arm->profile || !arm->profile->has_times || layers == 0)
        return NULL;
    shares = fb_alloc_array(arm->steps->count * layers, sizeof *shares);
    for (size_t i = 0; i < arm->steps->count; i++) {
        const struct fb_step *s = &arm->steps->items[i];
        double *self = fb_calltree_self(&view->tree, arm->profile, arm->node_of_stack,
                                        s->load_start_ns, s->load_end_ns);
        double *sums = fb_layers_sum(view->layers, &view->tree, view->layer_of_node, self);
        double all = 0;

        for (size_t l = 0; l < layers; l++)
            all += sums[l];
        for (size_t l = 0; l < layers && all > 0; l++)
            shares[i * layers + l] = sums[l] / all;
        any = any || all > 0;
        free(sums);
        free(self);
    }
    if (any)
        return shares;
    free(shares);
    return NULL;
}

static int write_svg(const char *path, const struct fb_buf *svg)
{
    struct fb_err err;

    if (strcmp(path, "-") == 0)
        return fb_say_bytes(svg->data, svg->len);
    if (fb_file_write(path, svg->data, svg->len, &err) != FB_OK)
        return fb_say_error(&err);
    return FB_EXIT_DONE;
}

int fb_plot_say(const struct fb_args *args, const struct fb_view *view, const struct fb_knee *knee)
{
    struct fb_ramp_plot_arm *arms = fb_alloc_array(view->count, sizeof *arms);
    struct fb_ramp_plot plot = {.arms = arms, .knee = knee, .layers = view->layers};
    struct fb_buf svg = {0};
    double *shares = view->count == 1 ? shares_of(view, &view->arms[0]) : NULL;
    char *title;
    int status;

    for (size_t i = 0; i < view->count; i++) {
        const struct fb_arm *arm = &view->arms[i];

        if (!arm->steps)
            continue;
        arms[plot.arms_count].name = arm->name;
        arms[plot.arms_count].steps = arm->steps;
        fb_ramp_measure(arm->steps, knee, &arms[plot.arms_count++].ramp);
    }
    title = plot.arms_count == 1 ? fb_format("Ramp of %s", arms[0].name)
                                 : fb_format("Ramps of %zu arms", plot.arms_count);
    plot.title = title;
    plot.shares = shares;
    fb_render_ramp_plot(&plot, &svg);
    status = write_svg(fb_args_get(args, "plot"), &svg);
    fb_buf_done(&svg);
    free(title);
    free(shares);
    free(arms);
    return status;
}

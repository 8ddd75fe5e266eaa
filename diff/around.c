/* around.c - see around.h. */
#include "diff/around.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

static void side_measure(const struct fb_diff *diff, const struct fb_step_state *s, int side,
                         struct fb_around *a)
{
    double k = (double)s->pairs_count;

    for (size_t i = 0; i < s->pairs_count; i++) {
        const struct fb_window *w = fb_state_window(diff->state, s, i, side == 1);
        double part = w->weight > 0 ? 1 / w->weight / k : 0;
        double cost = a->on_ms ? w->cost.ms : 1;

        for (size_t e = 0; e < w->events_count; e++) {
            a->share[side][w->events[e].node] += w->events[e].weight * part;
            a->self[side][w->events[e].node] += w->events[e].weight * part * cost;
        }
    }
    for (size_t n = a->tree->count - 1; n > 0; n--)
        a->share[side][a->tree->nodes[n].parent] += a->share[side][n];
}

void fb_around_measure(const struct fb_diff *diff, size_t step, struct fb_around *ret_around)
{
    const struct fb_diff_input *in = diff->state->in;
    struct fb_around a = {.tree = in->tree, .fns = in->fns, .on_ms = diff->steps[step].on_ms};

    for (int side = 0; side < 2; side++) {
        a.self[side] = fb_alloc_array(in->tree->count, sizeof *a.self[side]);
        a.share[side] = fb_alloc_array(in->tree->count, sizeof *a.share[side]);
        side_measure(diff, &diff->state->steps[step], side, &a);
    }
    *ret_around = a;
}

void fb_around_done(struct fb_around *around)
{
    for (int side = 0; side < 2; side++) {
        free(around->self[side]);
        free(around->share[side]);
    }
}

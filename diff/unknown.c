/* What frames without a name could hide.
 *
 * A frame "[unknown] libz.so" is some function of libz and of nothing else: where one arm has more
 * of them, only rows of that module (or of the layer "other", for those that no rule places) may
 * have moved by no more than their names.  A frame that is not even in a module may hide anything.
 * And where all arms ran the same build of a module (one build ID), an address has its name in all
 * of them or in none: then nothing is hidden.  The measure is the difference of the arms' shares,
 * by module. */
#include "diff/unknown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const double least_gap = 0.02;

static bool is_unknown(const struct fb_functions *fns, uint32_t function)
{
    return strncmp(fb_function_name(fns, function), "[unknown", strlen("[unknown")) == 0;
}

/* Adds +-share of the window to the gaps. */
static void window_add(const struct fb_diff_input *in, const struct fb_window *w, double sign,
                       const bool *unknown, struct fb_unknown *u)
{
    size_t other = in->layers ? fb_layers_count(in->layers) - 1 : SIZE_MAX;

    for (size_t i = 0; i < w->events_count && w->weight > 0; i++) {
        uint32_t node = w->events[i].node, function = in->tree->nodes[node].function;
        double share = sign * w->events[i].weight / w->weight;

        if (!unknown[function])
            continue;
        u->by_module[in->fns->items[function].module] += share;
        if (in->layer_of_node && in->layer_of_node[node] == other)
            u->unplaced += share;
    }
}

/* Takes a profile's modules in: `build` has the one build ID of a module in all profiles so far, ""
 * where they differ or one has none. */
static void builds_add(const struct fb_profile *p, const struct fb_strings *strings,
                       const char **build)
{
    struct fb_buf name = {0};

    for (size_t i = 1; i < p->modules_count; i++) {
        const char *id = fb_profile_text(p, p->modules[i].build_id);
        uint32_t module;

        name.len = 0;
        fb_module_short_name(fb_profile_text(p, p->modules[i].path), &name);
        module = fb_strings_find(strings, name.data ? name.data : "", name.len);
        if (module == UINT32_MAX)
            continue;
        if (!build[module])
            build[module] = id;
        else if (strcmp(build[module], id) != 0)
            build[module] = "";
    }
    fb_buf_done(&name);
}

/* No gap where all arms ran one build. */
static void same_builds_clear(const struct fb_diff_input *in, struct fb_unknown *u)
{
    const char **build = fb_alloc_array(u->modules, sizeof *build);

    for (size_t i = 0; i < in->arms_count; i++)
        if (in->arms[i].profile)
            builds_add(in->arms[i].profile, &in->fns->strings, build);
    for (size_t i = 1; i < u->modules; i++)
        if (build[i] && build[i][0] != '\0')
            u->by_module[i] = 0;
    free((void *)(size_t)build);
}

void fb_unknown_measure(const struct fb_diff_state *state, const struct fb_step_state *s,
                        struct fb_unknown *ret_u)
{
    const struct fb_diff_input *in = state->in;
    bool *unknown = fb_alloc_array(in->fns->count, sizeof *unknown);
    double pairs = (double)s->pairs_count;

    *ret_u = (struct fb_unknown){.modules = in->fns->strings.count};
    ret_u->by_module = fb_alloc_array(ret_u->modules, sizeof *ret_u->by_module);
    for (uint32_t f = 1; f < in->fns->count; f++)
        unknown[f] = is_unknown(in->fns, f);
    for (size_t i = 0; i < s->pairs_count; i++) {
        window_add(in, fb_state_window(state, s, i, true), 1 / pairs, unknown, ret_u);
        window_add(in, fb_state_window(state, s, i, false), -1 / pairs, unknown, ret_u);
    }
    for (size_t i = 0; i < ret_u->modules; i++)
        ret_u->by_module[i] = fabs(ret_u->by_module[i]);
    ret_u->unplaced = fabs(ret_u->unplaced);
    same_builds_clear(in, ret_u);
    free(unknown);
}

void fb_unknown_done(struct fb_unknown *u)
{
    free(u->by_module);
    *u = (struct fb_unknown){0};
}

static bool hides(double gap, double points)
{
    return gap > least_gap && fabs(points) <= gap;
}

bool fb_unknown_hides_function(const struct fb_unknown *u, const struct fb_functions *fns,
                               uint32_t function, double points)
{
    uint32_t module = fns->items[function].module;

    if (!u->by_module)
        return false;
    if (hides(u->by_module[0], points)) /* string 0 is "": in no module */
        return true;
    return !is_unknown(fns, function) && hides(u->by_module[module], points);
}

bool fb_unknown_hides_layer(const struct fb_unknown *u, double points)
{
    return u->by_module && hides(u->unplaced, points);
}

double fb_unknown_largest(const struct fb_unknown *u)
{
    double largest = u->unplaced;

    for (size_t i = 0; i < u->modules; i++)
        largest = fmax(largest, u->by_module[i]);
    return largest;
}

/* What is drawn: of a diff its steps and all healthy ones together, of one arm its steps and all
 * of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/report/tree.h"

/* Shares back to weights, which are whole numbers. */
static double *weights_of(const double *shares, size_t count, double weight)
{
    double *out = fb_alloc_array(count, sizeof *out);

    for (size_t i = 0; i < count; i++)
        out[i] = shares[i] * weight;
    return out;
}

static void diff_fill(const struct fb_report_input *in, size_t step, struct fb_report_picture *p)
{
    struct fb_diff_nodes nodes;
    size_t count = in->tree->count;

    fb_diff_nodes(in->diff, step, &nodes);
    p->step = step;
    p->name = fb_strdup(step != SIZE_MAX  ? in->diff->steps[step].name
                        : nodes.is_judged ? "all healthy steps"
                                          : "all steps");
    p->self[0] = weights_of(nodes.control_self, count, nodes.control_weight);
    p->self[1] = weights_of(nodes.variant_self, count, nodes.variant_weight);
    p->weight[0] = nodes.control_weight;
    p->weight[1] = nodes.variant_weight;
    p->ms[0] = nodes.control_ms;
    p->ms[1] = nodes.variant_ms;
    p->is_judged = nodes.is_judged;
    p->on_ms = nodes.on_ms;
    p->total_is_real = nodes.total_is_real;
    p->self_is_real = nodes.self_is_real;
    p->total_change = nodes.total_change;
    p->self_change = nodes.self_change;
    nodes.total_is_real = nodes.self_is_real = NULL;
    nodes.total_change = nodes.self_change = NULL;
    fb_diff_nodes_done(&nodes);
}

static void single_fill(const struct fb_report_input *in, const struct fb_step *step,
                        struct fb_report_picture *p)
{
    const struct fb_report_arm *arm = &in->arms[0];

    p->name = fb_strdup(step ? step->name : "the whole run");
    p->self[0] = fb_calltree_self(in->tree, arm->profile, arm->node_of_stack,
                                  step ? step->load_start_ns : INT64_MIN,
                                  step ? step->load_end_ns : INT64_MAX);
    for (size_t i = 0; i < in->tree->count; i++)
        p->weight[0] += p->self[0][i];
    p->ms[0] = step ? fb_step_ms_per_request(step) : NAN;
    p->ms[1] = NAN;
}

/* Steps of the one arm that have a span of time in a profile with times. */
static bool has_span(const struct fb_report_arm *arm, size_t i)
{
    return arm->profile->has_times &&
           arm->steps->items[i].load_end_ns > arm->steps->items[i].load_start_ns;
}

struct fb_report_picture *fb_report_pictures_make(const struct fb_report_input *in,
                                                  size_t *ret_count)
{
    const struct fb_report_arm *arm = &in->arms[0];
    size_t steps = in->diff ? in->diff->steps_count : arm->steps ? arm->steps->count : 0, n = 0;
    struct fb_report_picture *p = fb_alloc_array(steps + 1, sizeof *p);
    bool has_profiles = true;

    for (size_t i = 0; i < in->arms_count; i++)
        has_profiles = has_profiles && in->arms[i].profile != NULL;
    for (size_t i = 0; has_profiles && i < steps; i++) {
        if (in->diff) {
            diff_fill(in, i, &p[n++]);
        } else if (has_span(arm, i)) {
            p[n].step = i;
            single_fill(in, &arm->steps->items[i], &p[n++]);
        }
    }
    if (has_profiles && in->diff && steps > 1)
        diff_fill(in, SIZE_MAX, &p[n++]);
    if (has_profiles && !in->diff) {
        p[n].step = SIZE_MAX;
        single_fill(in, NULL, &p[n++]);
    }
    *ret_count = n;
    return p;
}

void fb_report_pictures_free(struct fb_report_picture *pictures, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(pictures[i].name);
        free(pictures[i].self[0]);
        free(pictures[i].self[1]);
        free(pictures[i].total_is_real);
        free(pictures[i].self_is_real);
        free(pictures[i].total_change);
        free(pictures[i].self_change);
    }
    free(pictures);
}

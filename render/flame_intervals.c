#include "render/flame_intervals.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

#define PARTS 1e9

/* Boxes that get an interval: the widest. */
enum { INTERVALS_MOST = 3000 };

double fb_flame_scale(const struct fb_calltree_weight *weights, size_t count)
{
    double sum = 0;
    bool is_whole = true;

    for (size_t i = 0; i < count; i++) {
        sum += weights[i].weight;
        is_whole &= fabs(weights[i].weight - nearbyint(weights[i].weight)) < 1e-6;
    }
    return is_whole || !(sum > 0) ? 1 : PARTS / sum;
}

struct wanted {
    uint32_t node, box;
    uint64_t width;
};

static int wanted_by_width(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    if (x->width != y->width)
        return x->width < y->width ? 1 : -1;
    return x->box < y->box ? -1 : x->box > y->box;
}

static int wanted_by_node(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    return x->node < y->node ? -1 : x->node > y->node;
}

/* By box again. */
static double *spread(const struct wanted *wanted, size_t count, const double *values, size_t boxes)
{
    double *out = fb_alloc_array(boxes, sizeof *out);

    for (size_t i = 0; i < boxes; i++)
        out[i] = NAN;
    for (size_t i = 0; i < count; i++)
        out[wanted[i].box] = values[i];
    return out;
}

void fb_flame_intervals(const struct fb_flame_input *in, const struct fb_flame_layout *layout,
                        double **ret_lo, double **ret_hi)
{
    size_t n = layout->count, count = 0;
    struct wanted *wanted;
    uint32_t *nodes;
    double *lo, *hi;

    *ret_lo = *ret_hi = NULL;
    if (!in->intervals || layout->width == 0)
        return;
    wanted = fb_alloc_array(n, sizeof *wanted);
    for (size_t i = 1; i < n; i++)
        if (!layout->boxes[i].hidden)
            wanted[count++] =
                (struct wanted){layout->boxes[i].node, (uint32_t)i, layout->boxes[i].width};
    qsort(wanted, count, sizeof *wanted, wanted_by_width);
    count = count < INTERVALS_MOST ? count : INTERVALS_MOST;
    qsort(wanted, count, sizeof *wanted, wanted_by_node);
    nodes = fb_alloc_array(count, sizeof *nodes);
    lo = fb_alloc_array(count, sizeof *lo);
    hi = fb_alloc_array(count, sizeof *hi);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = wanted[i].node;
        lo[i] = hi[i] = NAN;
    }
    in->intervals(in->intervals_arg, nodes, count, lo, hi);
    *ret_lo = spread(wanted, count, lo, n);
    *ret_hi = spread(wanted, count, hi, n);
    free(wanted);
    free(nodes);
    free(lo);
    free(hi);
}

/* Shares of one profile with their intervals: the same windows, blocks and formula as in a diff. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/window.h"

static struct fb_step span_of(const struct fb_profile *p, int64_t from_ns, int64_t to_ns)
{
    struct fb_step step;

    memset(&step, 0, sizeof step);
    step.load_start_ns = from_ns == INT64_MIN ? p->first_ns : from_ns;
    step.load_end_ns = to_ns == INT64_MAX ? p->last_ns + 1 : to_ns;
    if (step.load_start_ns < p->first_ns)
        step.load_start_ns = p->first_ns;
    if (step.load_end_ns > p->last_ns + 1)
        step.load_end_ns = p->last_ns + 1;
    step.secs = step.delivered = step.offered = step.cpu_s = step.cpu_span_s = NAN;
    step.stated_delivered_per_s = step.stated_ms_per_request = NAN;
    return step;
}

static void measure(const struct fb_window *w, const uint32_t *key_of_node,
                    struct fb_diff_shares *out)
{
    size_t cells = w->cells ? w->cells : 1;
    uint32_t *start, *hit = fb_alloc_array(cells, sizeof *hit);
    double *x = fb_alloc_array(cells, sizeof *x);
    struct fb_event *events;

    fb_window_sort(w, key_of_node, out->keys, &events, &start);
    for (size_t k = 0; k < out->keys; k++) {
        struct fb_series series;
        struct fb_share share;

        fb_window_event_series(w, events + start[k], start[k + 1] - start[k], hit, x, &series);
        fb_share_measure(&w->grid, &series, FB_FLOOR_PLAIN, &share);
        out->share[k] = share.p;
        out->lo[k] = share.lo;
        out->hi[k] = share.hi;
        out->is_assumed |= share.deff_assumed;
    }
    out->samples = w->samples;
    free(events);
    free(start);
    free(hit);
    free(x);
}

void fb_diff_shares_measure(const struct fb_diff_input *in, int64_t from_ns, int64_t to_ns,
                            const uint32_t *key_of_node, size_t keys,
                            struct fb_diff_shares *ret_shares)
{
    const struct fb_profile *p = in->arms[0].profile;
    struct fb_step step = span_of(p, from_ns, to_ns);
    size_t first = 0;
    struct fb_replicate replicate = {.arms = &first, .arms_count = 1};
    struct fb_diff_shares out = {.keys = keys};
    struct fb_window window;

    out.share = fb_alloc_array(keys, sizeof *out.share);
    out.lo = fb_alloc_array(keys, sizeof *out.lo);
    out.hi = fb_alloc_array(keys, sizeof *out.hi);
    fb_window_init(&window, &step, p);
    (void)fb_windows_collect(in, &replicate, &window, 1);
    if (window.weight > 0)
        measure(&window, key_of_node, &out);
    fb_window_done(&window);
    *ret_shares = out;
}

void fb_diff_shares_done(struct fb_diff_shares *shares)
{
    free(shares->share);
    free(shares->lo);
    free(shares->hi);
    memset(shares, 0, sizeof *shares);
}

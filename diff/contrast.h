/* contrast.h - a difference of differences: does a change differ between two settings?
 *
 *     r = fb_contrast_new(a_text, a_len, "a.json", b_text, b_len, "b.json", delta, &contrast, err);
 *     fb_contrast_free(contrast);
 *
 * Both inputs are diffs as `flamebank diff --format json` writes them, for example of one lever on
 * one core and on two.  For each row that both judged, the contrast is d_B - d_A with d =
 * ln(variant / control), and its variance is the sum of both: the runs of the two diffs are
 * different runs. The verdict is that of a diff (verdict.h), without a floor of its own, since each
 * interval has its floor already. */
#ifndef FB_DIFF_CONTRAST_H
#define FB_DIFF_CONTRAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct fb_contrast_row {
    char *step_a, *step_b;
    char *name; /* "CPU per request", or the layer's */
    bool is_layer;
    double a, b;      /* changes, relative: 0.05 is +5 %   */
    double d, lo, hi; /* exp(d_B - d_A) - 1 and its 95 % interval */
    int verdict;      /* enum fb_verdict: DIFF, SAME or UNRESOLVED */
};

struct fb_contrast {
    struct fb_contrast_row *items;
    size_t count, room;
    bool by_order; /* no step has the same name in both: the n-th goes with the n-th */
};

/* delta: within it two changes are the same. */
enum fb_status fb_contrast_new(const char *a, size_t a_len, const char *a_name, const char *b,
                               size_t b_len, const char *b_name, double delta,
                               struct fb_contrast **ret_contrast, struct fb_err *err);
void fb_contrast_free(struct fb_contrast *contrast);

#endif

/* floors.h - the user's own run-to-run floors, measured from runs of one arm.
 *
 *     struct fb_floors_sum sum = {0};
 *     for each two of the n runs: fb_floors_add(&sum, diff of the two);
 *     fb_floors_finish(&sum, n, &floors);
 *     fb_floors_write(&floors, &text);   fb_floors_read(text, len, name, &floors, err);
 *
 * For a quantity x and n runs of one step, the sum of ln(x_i / x_j)^2 over all pairs is n times the
 * sum of squared deviations from the mean, so that the pairwise diffs give the pooled variance
 * between runs with (n - 1) degrees of freedom a step.  Of shares and frames what the windows
 * themselves account for is taken off, but never more than half of the variance: with few runs the
 * difference could come out as nothing.
 *
 * A floor from few runs is uncertain itself.  fb_floors_tau() widens it by t(df) / t(21), since the
 * intervals that it goes into use the t of 21 degrees of freedom. */
#ifndef FB_DIFF_FLOORS_H
#define FB_DIFF_FLOORS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum fb_floor_of {
    FB_FLOOR_OF_CPU,       /* CPU per request, healthy steps      */
    FB_FLOOR_OF_CPU_FIRST, /* ... the first step after a warm-up  */
    FB_FLOOR_OF_CPU_OVER,  /* ... past the knee                   */
    FB_FLOOR_OF_P50,
    FB_FLOOR_OF_P99,
    FB_FLOOR_OF_P999,
    FB_FLOOR_OF_LAYER_LARGE, /* share of a layer of 5 % and more  */
    FB_FLOOR_OF_LAYER_SMALL, /* ... of less                       */
    FB_FLOOR_OF_JIT,
    FB_FLOOR_OF_GC,
    FB_FLOOR_OF_FRAME, /* self share of a frame                */
    FB_FLOOR_OF_COUNT
};

struct fb_floor {
    double sd; /* of ln(value) between two runs of one arm; NAN: not measured */
    double df;
};

struct fb_floors {
    struct fb_floor of[FB_FLOOR_OF_COUNT];
    size_t runs;
};

struct fb_floors_sum {
    double squares[FB_FLOOR_OF_COUNT]; /* of ln ratios, by pair of runs */
    double within[FB_FLOOR_OF_COUNT];  /* what their windows account for */
    size_t pairs[FB_FLOOR_OF_COUNT];   /* rows x pairs of runs           */
};

struct fb_diff;

/* Takes the healthy steps of a diff of two runs of one arm. */
void fb_floors_add(struct fb_floors_sum *sum, const struct fb_diff *diff);
void fb_floors_finish(const struct fb_floors_sum *sum, size_t runs, struct fb_floors *ret_floors);

/* tau of a quantity; NAN where it was not measured, or floors is NULL. */
double fb_floors_tau(const struct fb_floors *floors, enum fb_floor_of of);

const char *fb_floor_of_word(enum fb_floor_of of); /* "cpu", "cpu-first" ... */
const char *fb_floor_of_text(enum fb_floor_of of); /* "CPU per request" ...  */

void fb_floors_write(const struct fb_floors *floors, struct fb_buf *out);
enum fb_status fb_floors_read(const char *text, size_t len, const char *name,
                              struct fb_floors *ret_floors, struct fb_err *err);

#endif

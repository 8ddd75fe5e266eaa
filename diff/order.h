/* order.h - in which order the runs were made, and whether something drifted over them.
 *
 *     fb_order_measure(diff, &order);      once the steps are filled
 *     if (order.runs > 0) ... order.sequence, order.inside, order.drift ...
 *
 * A machine that gets slower or faster all the while adds to the difference of the arms what it
 * drifts between their middles: nothing in the order C V V C, all that lies between in C C V V. */
#ifndef FB_DIFF_ORDER_H
#define FB_DIFF_ORDER_H

#include "diff/state.h"

enum { FB_ORDER_SHOWN = 24 };

struct fb_order {
    size_t runs;                           /* 0: under two pairs, or times are not known */
    char sequence[2 * FB_ORDER_SHOWN + 4]; /* "C V V C", by their starts */
    bool is_one_after_the_other;           /* all runs of one arm, then all of the other */
    double inside; /* part of the time from the first start to the last that lies between the mean
                      starts of control and variant; its sign is that of variant - control */
    double drift, drift_lo, drift_hi; /* of ln(CPU per request) from the first start to the last,
                                         with its 95 % interval; NAN unknown */
};

void fb_order_measure(const struct fb_diff *diff, struct fb_order *ret_order);

/* Appends what there is to say of it to the notes. */
void fb_order_note(struct fb_diff *diff);

#endif

/* verdict.h - from measured pairs to a verdict (docs/statistics.md, 4).
 *
 * A pair is one control and one variant run; d = ln(variant / control).  Half widths are of 95 %
 * intervals, in ln.
 *
 *     e = (struct fb_evidence){.d = d, .half = half, .pairs = k, .tau = tau, .delta = 0.05};
 *     fb_verdict_judge(&e, &judged);
 *     mde = fb_verdict_mde(p, deff, n, tau, k); */
#ifndef FB_DIFF_VERDICT_H
#define FB_DIFF_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "diff/diff.h"
#include "diff/share.h"

struct fb_evidence {
    const double *d;    /* by pair                                                          */
    const double *half; /* by pair: within the two windows alone, without any floor         */
    size_t pairs;
    double tau;         /* floor of one run                                                 */
    double pooled_sum2; /* k >= 2: sum over healthy steps of squared deviations of the d's  */
    double pooled_df;   /* ... and its degrees of freedom, m (k - 1)                        */
    double delta;       /* equivalence margin                                               */
    bool is_assumed;    /* half holds an assumed design effect, which stands for the floor  */
};

struct fb_judged {
    double d, half, half90;
    enum fb_verdict verdict; /* DIFF, SAME or UNRESOLVED */
    bool within_delta;
};

void fb_verdict_judge(const struct fb_evidence *evidence, struct fb_judged *ret_judged);

/* Half width within one pair: the quadrature of the two sides. */
double fb_verdict_pair_half(double control_half, double variant_half);

/* Smallest relative effect that is found 4 times of 5: a share p of n samples an arm and run. */
double fb_verdict_mde(double p, double deff, double n, double tau, size_t pairs);

/* The verdict on a row that one arm alone has: ABSENT where chance is excluded, else NOT_SEEN. */
enum fb_verdict fb_verdict_absent(const struct fb_share *living);

/* Latency: NAN-free values of one percentile by pair.  The reason is "" where there is a verdict.
 * floor: sd of ln(latency) between same-arm runs, 0 where nobody measured it. */
struct fb_latency_evidence {
    const double *control, *variant; /* seconds, by pair */
    size_t pairs;
    bool is_below_knee;
    double floor, delta;
};
const char *fb_verdict_latency(const struct fb_latency_evidence *evidence,
                               struct fb_judged *ret_judged);

#endif

/* frames.h - many rows at once: which of hundreds of frames moved (docs/statistics.md, 5).
 *
 * Tests of one family are judged together by the false discovery rate: of the rows called DIFF at
 * most a part q is expected to be chance.  Native arms are tested against the variance of their
 * windows plus a floor; JVM arms, where every process inlines other methods, against the variance
 * between their own runs, so they need two runs an arm. */
#ifndef FB_DIFF_FRAMES_H
#define FB_DIFF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff/share.h"

enum { FB_FRAMES_SAMPLES_MIN = 20, FB_FRAMES_HITS_MIN = 6 };

/* One run's part in a test. */
struct fb_frame_run {
    double p;        /* share of the run's weight                              */
    double samples;  /* signals                                                */
    double n;        /* effective observations of the whole window             */
    double block_se; /* relative (fb_share_block_se)                           */
    double cost;     /* CPU per request; 1 where shares are tested             */
    double degrees;  /* of freedom of the window's blocks                      */
};

struct fb_frame_test {
    double m_control, m_variant; /* mean of p x cost                            */
    double se;                   /* of their difference                         */
    double p_value;
    double degrees;
    double d, d_se; /* ln ratio and its standard error, on the same t */
};

/* tau: floor of one run; runs of both arms, count each. */
void fb_frame_test_native(const struct fb_frame_run *control, const struct fb_frame_run *variant,
                          size_t count, double tau, struct fb_frame_test *ret_test);

/* Moderated t on ln(share x cost) between runs; two passes, since the prior is fitted over all
 * rows: fb_frame_spread() of every row, fb_frame_prior_fit(), fb_frame_test_moderated(). */
struct fb_frame_spread {
    double d;       /* difference of the mean ln(share x cost)     */
    double s2;      /* variance between runs of one arm            */
    double poisson; /* what counting alone would give              */
};
struct fb_frame_prior {
    double d0, s0; /* degrees of freedom, scale in units of Poisson */
};
void fb_frame_spread(const struct fb_frame_run *control, const struct fb_frame_run *variant,
                     size_t count, struct fb_frame_spread *ret_spread);
void fb_frame_prior_fit(const struct fb_frame_spread *rows, size_t rows_count, size_t count,
                        struct fb_frame_prior *ret_prior);
void fb_frame_test_moderated(const struct fb_frame_spread *row, size_t count,
                             const struct fb_frame_prior *prior, struct fb_frame_test *ret_test);

/* Benjamini-Hochberg: the largest p-value that is still rejected at rate q; -1 for none. */
double fb_frames_threshold(const double *p_values, size_t count, double q);

#endif

/* share.h - a share of the samples of one window, with its interval (docs/statistics.md, 1).
 *
 * A window is a row of cells (seconds) with the weight of all samples in each; a series is what
 * one layer or frame has of it.  Samples that follow each other are alike, so the variance is
 * taken from blocks of cells, the longest of which are a fifth of the window.
 *
 *     struct fb_grid grid;
 *     fb_grid_init(&grid, weight_by_second, seconds, observations, weight_squares);
 *     fb_share_measure(&grid, &series, FB_FLOOR_PLAIN, &share);
 *     ... share.p, share.lo, share.hi, share.deff ...
 *     fb_grid_done(&grid);
 *
 * Everything relative ("ln") is the value for ln(share), so that sums of squares add up for a
 * ratio of two arms.  All weights may be scaled by one factor without any effect. */
#ifndef FB_DIFF_SHARE_H
#define FB_DIFF_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff/floor.h"

enum { FB_GRID_BLOCKS_MAX = 4 };

struct fb_grid_block {
    size_t length, count;         /* cells a block; blocks, the last one takes the remainder     */
    double t;                     /* 97.5 % point of t with count - 1 degrees of freedom         */
    double *share_shift;          /* by block: -(part of the window's weight)                    */
    double *cost_shift;           /* by block: share_shift + part of CPU - part of requests      */
    double share_sum2, cost_sum2; /* sums of their squares                               */
};

struct fb_grid {
    size_t cells; /* 0: the window has no times, the design effect is assumed            */
    double *n;    /* weight of all samples by cell                                       */
    double weight;
    double observations; /* signals delivered: the N of the binomial                     */
    double effective;    /* (sum of weights)^2 / sum of squares <= observations          */
    struct fb_grid_block blocks[FB_GRID_BLOCKS_MAX]; /* 1, 5, 10 cells, then a fifth      */
    size_t blocks_count;
    size_t fixed_count; /* how many of them are of fixed length; the last is the fifth  */
    double degrees;     /* of freedom of the window: 21 as at 110 s, or cells - 1       */
    double t;           /* their 97.5 % point: of the binomial term and of 1 s blocks   */
    bool has_cost;      /* cost_shift is set (fb_grid_set_cost)                         */
};

/* `n` is copied.  observations: samples delivered; weight_squares: the sum over them of the
 * squared weight. */
void fb_grid_init(struct fb_grid *grid, const double *n, size_t cells, double weight,
                  double observations, double weight_squares);
void fb_grid_done(struct fb_grid *grid);

/* Adds the CPU of each cell (any unit): the window's requests are taken as evenly spread, which
 * an open-loop generator does.  Without it cost intervals take CPU per request as fixed. */
void fb_grid_set_cost(struct fb_grid *grid, const double *cpu);

/* What one layer or frame has: cells in rising order, each once. */
struct fb_series {
    const uint32_t *cell;
    const double *x; /* weight, > 0 */
    size_t hits;     /* cells       */
    double weight;   /* sum of x    */
    double samples;  /* signals     */
};

struct fb_share {
    double p, lo, hi; /* 0..1, 95 %                                                   */
    double samples;
    double ln_half;      /* half width of the 95 % interval of ln p; NAN where p is 0    */
    double ln_half_cost; /* the same of ln(p x CPU per request); = ln_half without CPU   */
    double deff;         /* (largest SE / binomial SE)^2; NAN where p is 0 or 1          */
    bool deff_assumed;
    uint32_t hit_cells;
    uint32_t clusters;   /* runs of hit cells                                            */
    double cluster_size; /* of a sample's own cluster, in samples: how far one event spreads */
    bool is_sparse;      /* hit in under half of the cells: interval from clusters       */
    bool is_bursty;      /* sparse, with too few clusters for any interval               */
    double bound;        /* upper 95 % bound of an equal share that was seen 0 times     */
};

void fb_share_measure(const struct fb_grid *grid, const struct fb_series *series,
                      enum fb_floor_kind kind, struct fb_share *ret_share);

/* Relative standard error of the series for the tests of families: the larger of 1 s and 5 s
 * blocks; 0 where the window has no blocks.  Longer blocks have too few degrees of freedom for the
 * small p-values that a family asks for.  cost: of share x CPU per request. */
double fb_share_block_se(const struct fb_grid *grid, const struct fb_series *series, bool cost);

#endif

/* share.c - block variance of a share, Wilson near 0 and 1, gamma intervals of clusters.
 *
 * The share p = X/N is a ratio estimator; its residual in block b is e_b = x_b - p n_b (Cochran,
 * Sampling Techniques, 6.3: linearised ratio).  Divided by X it is x_b/X - n_b/N: `shift` is the
 * second part, which belongs to the window alone, so a series costs its hit cells and not the
 * length of the window. */
#include "diff/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/distribution.h"

static const double batch_ratio = 1.3; /* SE of longer blocks / SE_1 from which fifths count */

static size_t block_of(const struct fb_grid_block *b, size_t cell)
{
    size_t i = cell / b->length;

    return i < b->count ? i : b->count - 1;
}

static void block_add(struct fb_grid *grid, size_t length)
{
    struct fb_grid_block *b = &grid->blocks[grid->blocks_count++];

    b->length = length;
    b->count = grid->cells / length;
    b->t = fb_t_quantile(0.975, (double)(b->count - 1));
    b->share_shift = fb_alloc_array(b->count, sizeof *b->share_shift);
    for (size_t i = 0; i < grid->cells; i++)
        b->share_shift[block_of(b, i)] -= grid->n[i] / grid->weight;
    for (size_t i = 0; i < b->count; i++)
        b->share_sum2 += b->share_shift[i] * b->share_shift[i];
}

void fb_grid_init(struct fb_grid *grid, const double *n, size_t cells, double weight,
                  double observations, double weight_squares)
{
    static const size_t lengths[] = {1, 5, 10};

    memset(grid, 0, sizeof *grid);
    grid->weight = weight;
    grid->observations = observations;
    grid->effective = weight_squares > 0 ? fmin(observations, weight * weight / weight_squares) : 0;
    grid->t = fb_normal_quantile(0.975);
    grid->degrees = INFINITY;
    if (cells < 5 || !(weight > 0))
        return;
    grid->cells = cells;
    grid->n = fb_alloc_array(cells, sizeof *grid->n);
    memcpy(grid->n, n, cells * sizeof *n);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && lengths[i] <= cells / 5; i++)
        block_add(grid, lengths[i]);
    grid->fixed_count = grid->blocks_count;
    block_add(grid, cells / 5);
    grid->degrees = fmin((double)cells - 1, 21);
    grid->t = fb_t_quantile(0.975, grid->degrees);
}

void fb_grid_set_cost(struct fb_grid *grid, const double *cpu)
{
    double total = 0;

    for (size_t i = 0; i < grid->cells; i++)
        total += cpu[i];
    if (grid->cells == 0 || !(total > 0) || grid->has_cost)
        return;
    for (size_t k = 0; k < grid->blocks_count; k++) {
        struct fb_grid_block *b = &grid->blocks[k];

        b->cost_shift = fb_alloc_array(b->count, sizeof *b->cost_shift);
        memcpy(b->cost_shift, b->share_shift, b->count * sizeof *b->cost_shift);
        for (size_t i = 0; i < grid->cells; i++)
            b->cost_shift[block_of(b, i)] += cpu[i] / total - 1 / (double)grid->cells;
        for (size_t i = 0; i < b->count; i++)
            b->cost_sum2 += b->cost_shift[i] * b->cost_shift[i];
    }
    grid->has_cost = true;
}

void fb_grid_done(struct fb_grid *grid)
{
    for (size_t k = 0; k < grid->blocks_count; k++) {
        free(grid->blocks[k].share_shift);
        free(grid->blocks[k].cost_shift);
    }
    free(grid->n);
    memset(grid, 0, sizeof *grid);
}

/* SE_b^2 = B/(B-1) sum (x_b/X + shift_b)^2, over hit blocks only. */
static double block_se(const struct fb_grid_block *b, const struct fb_series *s, bool cost)
{
    const double *shift = cost ? b->cost_shift : b->share_shift;
    double sum = cost ? b->cost_sum2 : b->share_sum2, part = 0;
    size_t at = SIZE_MAX;

    for (size_t i = 0; i <= s->hits; i++) {
        size_t now = i < s->hits ? block_of(b, s->cell[i]) : SIZE_MAX;

        if (now != at) {
            if (at != SIZE_MAX)
                sum += part * (part + 2 * shift[at]);
            part = 0;
            at = now;
        }
        if (i < s->hits)
            part += s->x[i] / s->weight;
    }
    return sqrt(fmax(0, sum) * (double)b->count / (double)(b->count - 1));
}

/* The largest half width over the block lengths; that of the fifths only where longer blocks
 * show more than seconds do. */
static double block_half(const struct fb_grid *grid, const struct fb_series *s, bool cost)
{
    double half = 0, first = 0, longest = 0, batch;
    const struct fb_grid_block *last;

    if (grid->blocks_count == 0)
        return 0;
    for (size_t k = 0; k < grid->fixed_count; k++) {
        double se = block_se(&grid->blocks[k], s, cost);

        if (k == 0)
            first = se;
        longest = fmax(longest, se);
        half = fmax(half, fmax(grid->blocks[k].t, k == 0 ? grid->t : 0) * se);
    }
    last = &grid->blocks[grid->blocks_count - 1];
    batch = block_se(last, s, cost);
    if (grid->fixed_count == 1)
        longest = batch;
    return longest > batch_ratio * first ? fmax(half, last->t * batch) : half;
}

double fb_share_block_se(const struct fb_grid *grid, const struct fb_series *series, bool cost)
{
    double se = 0;

    for (size_t k = 0; k < grid->fixed_count && grid->blocks[k].length <= 5; k++)
        se = fmax(se, block_se(&grid->blocks[k], series, cost && grid->has_cost));
    return se;
}

/* Runs of consecutive hit cells. */
struct clusters {
    uint32_t count;
    double y, v, max; /* sum of weights, of their squares, the largest */
    double top3;      /* weight of the three fullest cells             */
};

static void top3_add(double top[3], double x)
{
    for (int i = 0; i < 3; i++)
        if (x > top[i]) {
            double lower = top[i];

            top[i] = x;
            x = lower;
        }
}

static void clusters_find(const struct fb_series *s, struct clusters *ret)
{
    double w = 0, top[3] = {0};

    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < s->hits; i++) {
        w += s->x[i];
        top3_add(top, s->x[i]);
        if (i + 1 < s->hits && s->cell[i + 1] == s->cell[i] + 1)
            continue;
        ret->count++;
        ret->y += w;
        ret->v += w * w;
        ret->max = fmax(ret->max, w);
        w = 0;
    }
    ret->top3 = top[0] + top[1] + top[2];
}

/* Fay and Feuer, Statistics in Medicine 16 (1997) 791: gamma interval of a weighted sum of Poisson
 * counts; here the clusters are the counts, so samples of one burst are one event. */
static void fay_feuer(const struct clusters *c, double total, double *ret_lo, double *ret_hi)
{
    double y = c->y, v = c->v, m = c->max;

    *ret_lo = v / (2 * y) * fb_chi2_quantile(0.025, 2 * y * y / v) / total;
    *ret_hi = (v + m * m) / (2 * (y + m)) *
              fb_chi2_quantile(0.975, 2 * (y + m) * (y + m) / (v + m * m)) / total;
    *ret_hi = fmin(1, *ret_hi);
}

/* Wilson, JASA 22 (1927) 209, with the effective sample size N / deff. */
static void wilson(double p, double n, double z, double *ret_lo, double *ret_hi)
{
    double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);

    *ret_lo = fmax(0, fmin(p, centre - half)); /* p itself is inside, rounding or not */
    *ret_hi = fmin(1, fmax(p, centre + half));
}

static void measure_nothing(const struct fb_grid *grid, struct fb_share *ret)
{
    ret->p = ret->lo = 0;
    ret->hi = grid->effective > 0 ? -expm1(log(0.025) / grid->effective) : NAN;
    ret->ln_half = ret->ln_half_cost = ret->deff = NAN;
    ret->cluster_size = 1;
    ret->deff_assumed = grid->cells == 0;
}

static void interval_set(const struct fb_grid *grid, struct fb_share *s, double half, double se_bin)
{
    double neff = s->deff > 0 ? grid->effective / s->deff : grid->effective;

    if (!(se_bin > 0) || neff * fmin(s->p, 1 - s->p) < 25) {
        wilson(s->p, neff, grid->t, &s->lo, &s->hi);
        return;
    }
    s->lo = fmax(0, s->p * (1 - half));
    s->hi = fmin(1, s->p * (1 + half));
}

/* The design effect, clusters and bound. */
static void spread_set(const struct fb_grid *grid, const struct fb_series *series,
                       struct fb_share *s, struct clusters *c)
{
    clusters_find(series, c);
    s->hit_cells = (uint32_t)series->hits;
    s->clusters = c->count;
    s->is_sparse = grid->cells > 0 && 2 * series->hits < grid->cells;
    s->is_bursty = s->is_sparse && (c->count < 10 || c->top3 > 0.5 * c->y);
    s->cluster_size = 1;
    if (s->is_sparse) /* in samples: weights of a cluster over the mean weight of a sample */
        s->cluster_size = fmax(1, c->v / c->y * series->samples / c->y);
    else if (s->deff > 1)
        s->cluster_size = s->deff;
}

void fb_share_measure(const struct fb_grid *grid, const struct fb_series *series,
                      enum fb_floor_kind kind, struct fb_share *ret_share)
{
    struct fb_share s = {.samples = series->samples};
    struct clusters c;
    double se_bin, half;

    if (!(series->weight > 0)) {
        measure_nothing(grid, &s);
        *ret_share = s;
        return;
    }
    s.p = fmin(1, series->weight / grid->weight);
    se_bin = sqrt(fmax(0, 1 - s.p) / (s.p * grid->effective));
    if (grid->cells == 0) {
        s.deff_assumed = true;
        s.deff = fb_floor_assumed_deff(kind, s.p);
        half = s.ln_half_cost = grid->t * se_bin * sqrt(s.deff);
    } else {
        half = fmax(grid->t * se_bin, block_half(grid, series, false));
        s.ln_half_cost =
            grid->has_cost ? fmax(grid->t * se_bin, block_half(grid, series, true)) : half;
        s.deff = se_bin > 0 ? pow(half / (grid->t * se_bin), 2) : NAN;
    }
    spread_set(grid, series, &s, &c);
    if (s.is_sparse) {
        double cluster_half = grid->t * sqrt(c.v) / c.y;

        half = fmax(half, cluster_half);
        s.ln_half_cost = fmax(s.ln_half_cost, cluster_half);
        fay_feuer(&c, grid->weight, &s.lo, &s.hi);
    } else {
        interval_set(grid, &s, half, se_bin);
    }
    s.ln_half = half;
    s.bound = fmin(1, 3 * s.cluster_size / fmax(1, grid->observations));
    *ret_share = s;
}

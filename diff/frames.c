/* frames.c - the tests of frame rows.
 *
 * Native rule: difference of means m = share x cost; its variance per run is the larger of the
 * binomial one at the POOLED share (which is right where one arm has next to nothing) and the
 * block one, plus (tau m)^2; t with (blocks - 1) per run degrees of freedom.
 * Family: Benjamini and Hochberg, JRSS B 57 (1995) 289.
 * JVM rule: the empirical-Bayes moderated t of Smyth, Statistical Applications in Genetics and
 * Molecular Biology 3 (2004) 3, on ln((count + 0.5) / N x cost), variances in units of Poisson. */
#include "diff/frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/distribution.h"

static double run_variance(const struct fb_frame_run *r, double pooled, double tau)
{
    double binomial = r->n > 0 ? pooled * (1 - pooled) / r->n : 0, block = r->p * r->block_se;
    double floor_part = tau * r->p;

    return (fmax(binomial, block * block) + floor_part * floor_part) * r->cost * r->cost;
}

/* (b - a) / ln(b / a), which is a where they are equal. */
static double log_mean(double a, double b)
{
    double d = log(b / a);

    return fabs(d) < 1e-6 ? (a + b) / 2 : (b - a) / d;
}

void fb_frame_test_native(const struct fb_frame_run *control, const struct fb_frame_run *variant,
                          size_t count, double tau, struct fb_frame_test *ret_test)
{
    struct fb_frame_test t = {0};
    double k = (double)count, hits = 0, all = 0, pooled, variance = 0;

    for (size_t i = 0; i < count; i++) {
        hits += control[i].p * control[i].n + variant[i].p * variant[i].n;
        all += control[i].n + variant[i].n;
    }
    pooled = all > 0 ? fmin(1, hits / all) : 0;
    for (size_t i = 0; i < count; i++) {
        t.m_control += control[i].p * control[i].cost / k;
        t.m_variant += variant[i].p * variant[i].cost / k;
        variance +=
            (run_variance(&control[i], pooled, tau) + run_variance(&variant[i], pooled, tau)) /
            (k * k);
        t.degrees += control[i].degrees + variant[i].degrees;
    }
    t.se = sqrt(variance);
    t.p_value = t.se > 0 ? fb_t_two_sided((t.m_variant - t.m_control) / t.se, t.degrees) : 1;
    t.d = log(t.m_variant / t.m_control);
    t.d_se = NAN;
    if (t.se > 0 && t.m_control > 0 && t.m_variant > 0) /* the same t as on the difference */
        t.d_se = t.se / log_mean(t.m_control, t.m_variant);
    *ret_test = t;
}

/* Half a sample is added, so that a run without any has a logarithm. */
static double run_log(const struct fb_frame_run *r)
{
    return log((r->samples + 0.5) / r->n * r->cost);
}

void fb_frame_spread(const struct fb_frame_run *control, const struct fb_frame_run *variant,
                     size_t count, struct fb_frame_spread *ret_spread)
{
    const struct fb_frame_run *arms[2] = {control, variant};
    double mean[2] = {0}, ss = 0, samples = 0, n = 0, poisson = 0, k = (double)count;

    for (size_t i = 0; i < count; i++) {
        samples += control[i].samples + variant[i].samples;
        n += control[i].n + variant[i].n;
    }
    for (int a = 0; a < 2; a++) {
        for (size_t i = 0; i < count; i++) {
            mean[a] += run_log(&arms[a][i]) / k;
            poisson += 1 / (samples / n * arms[a][i].n + 0.5) / (2 * k);
        }
        for (size_t i = 0; i < count; i++)
            ss += pow(run_log(&arms[a][i]) - mean[a], 2);
    }
    ret_spread->d = mean[1] - mean[0];
    ret_spread->s2 = count > 1 ? ss / (2 * k - 2) : NAN;
    ret_spread->poisson = poisson;
}

/* Smyth 2004, section 6.2: moments of ln s^2, which is a scaled ln F. */
void fb_frame_prior_fit(const struct fb_frame_spread *rows, size_t rows_count, size_t count,
                        struct fb_frame_prior *ret_prior)
{
    double df = 2 * (double)count - 2, mean = 0, sum2 = 0, extra;
    double base = fb_digamma(df / 2) - log(df / 2);

    *ret_prior = (struct fb_frame_prior){.d0 = 3, .s0 = 1};
    if (rows_count < 3 || count < 2)
        return;
    for (size_t i = 0; i < rows_count; i++)
        mean += (log(fmax(rows[i].s2 / rows[i].poisson, 1e-3)) - base) / (double)rows_count;
    for (size_t i = 0; i < rows_count; i++)
        sum2 += pow(log(fmax(rows[i].s2 / rows[i].poisson, 1e-3)) - base - mean, 2);
    extra = sum2 / (double)(rows_count - 1) - fb_trigamma(df / 2);
    if (extra <= 0) {
        *ret_prior = (struct fb_frame_prior){.d0 = 1e6, .s0 = exp(mean)};
        return;
    }
    ret_prior->d0 = 2 * fb_trigamma_inverse(extra);
    ret_prior->s0 = exp(mean + fb_digamma(ret_prior->d0 / 2) - log(ret_prior->d0 / 2));
}

void fb_frame_test_moderated(const struct fb_frame_spread *row, size_t count,
                             const struct fb_frame_prior *prior, struct fb_frame_test *ret_test)
{
    double df = 2 * (double)count - 2;
    double ratio = (prior->d0 * prior->s0 + df * row->s2 / row->poisson) / (prior->d0 + df);
    struct fb_frame_test t = {.degrees = prior->d0 + df, .d = row->d};

    t.se = sqrt(fmax(ratio, 1) * row->poisson * 2 / (double)count);
    t.p_value = fb_t_two_sided(t.d / t.se, t.degrees);
    t.d_se = t.se;
    t.m_control = t.m_variant = NAN;
    *ret_test = t;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double fb_frames_threshold(const double *p_values, size_t count, double q)
{
    double *sorted = fb_alloc_array(count, sizeof *sorted), threshold = -1;

    memcpy(sorted, p_values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    for (size_t i = count; i > 0 && threshold < 0; i--)
        if (sorted[i - 1] <= q * (double)i / (double)count)
            threshold = sorted[i - 1];
    free(sorted);
    return threshold;
}

/* distribution.c - incomplete beta and gamma by series and continued fraction, quantiles by
 * root finding on the smaller tail.
 *
 * Sources.  NIST Digital Library of Mathematical Functions: 8.17.22 (continued fraction of I_x),
 * 8.17.4 (its symmetry), 8.7.1 (series of P), 8.9.2 (continued fraction of Q), 5.11.13 (ratio of
 * gamma functions), 5.11.2 and 5.15.8 (psi and psi' for large x), evaluated by the modified Lentz
 * method.  Abramowitz and Stegun 26.7.1 (t from the beta function), 26.4.19 (chi-square from the
 * gamma function), 26.5.24 (binomial from the beta function).
 *
 * A quantile costs ten (t) to sixty (chi-square) evaluations of some microseconds: callers keep it
 * per window, not per row. */
#include "diff/distribution.h"

#include <math.h>

static const double tiny = 1e-300;
static const int steps_max = 200000; /* far above need: about 5 sqrt(a) steps near the mode */

/* One step of the modified Lentz method for f = b + a1/(b1 + a2/(b2 + ...)). */
static double lentz_step(double a, double b, double *c, double *d)
{
    *d = b + a * *d;
    if (fabs(*d) < tiny)
        *d = tiny;
    *c = b + a / *c;
    if (fabs(*c) < tiny)
        *c = tiny;
    *d = 1 / *d;
    return *c * *d;
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    double f;

    if (fabs(d) < tiny)
        d = tiny;
    d = 1 / d;
    f = d;
    for (int m = 1; m < steps_max; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change;

        f *= lentz_step(even, 1, &c, &d);
        change = lentz_step(odd, 1, &c, &d);
        f *= change;
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return f;
}

/* ln Gamma(x + h) - ln Gamma(x) without the cancellation of two large values (DLMF 5.11.13). */
static double gamma_ratio_log(double x, double h)
{
    if (x < 1000 || h > x / 1000)
        return lgamma(x + h) - lgamma(x);
    return h * log(x) + h * (h - 1) / (2 * x) - h * (h - 1) * (2 * h - 1) / (12 * x * x) +
           h * h * (h - 1) * (h - 1) / (12 * x * x * x);
}

/* x^a y^b / B(a, b), x + y = 1: both are given, since one of them may be tiny. */
static double beta_front(double a, double b, double x, double y)
{
    double log_gammas =
        a > b ? gamma_ratio_log(a, b) - lgamma(b) : gamma_ratio_log(b, a) - lgamma(a);
    double log_x = x > 0.5 ? log1p(-y) : log(x), log_y = y > 0.5 ? log1p(-x) : log(y);

    return exp(log_gammas + a * log_x + b * log_y);
}

static double beta_of_parts(double a, double b, double x, double y)
{
    if (!(x > 0))
        return 0;
    if (!(y > 0))
        return 1;
    if (x < (a + 1) / (a + b + 2))
        return beta_front(a, b, x, y) * beta_fraction(a, b, x) / a;
    return 1 - beta_front(b, a, y, x) * beta_fraction(b, a, y) / b;
}

double fb_beta_regularized(double a, double b, double x)
{
    return beta_of_parts(a, b, x, 1 - x);
}

/* x^a e^-x / Gamma(a) */
static double gamma_front(double a, double x)
{
    return exp(a * log(x) - x - lgamma(a));
}

static double gamma_p_series(double a, double x)
{
    double term = 1 / a, sum = term;

    for (int n = 1; n < steps_max && term > sum * 1e-16; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * gamma_front(a, x);
}

static double gamma_q_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, f = d;

    for (int n = 1; n < steps_max; n++) {
        double change;

        b += 2;
        change = lentz_step(-n * (n - a), b, &c, &d);
        f *= change;
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return f * gamma_front(a, x);
}

double fb_gamma_p(double a, double x)
{
    if (!(x > 0))
        return 0;
    return x < a + 1 ? gamma_p_series(a, x) : 1 - gamma_q_fraction(a, x);
}

double fb_gamma_q(double a, double x)
{
    if (!(x > 0))
        return 1;
    return x < a + 1 ? 1 - gamma_p_series(a, x) : gamma_q_fraction(a, x);
}

double fb_normal_cdf(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* P(Z >= z), exact in the tail. */
static double normal_tail(double z, double df)
{
    (void)df;
    return 0.5 * erfc(z * M_SQRT1_2);
}

/* P(T >= t) for t >= 0. */
static double t_tail(double t, double df)
{
    return 0.5 * fb_t_two_sided(t, df);
}

/* The t > 0 with tail(t) = q, q < 1/2: false position with the Illinois step on ln(tail / q),
 * which is nearly straight; about ten evaluations. */
static double tail_solve(double (*tail)(double, double), double df, double q)
{
    double lo = 0, hi = 1, f_lo = log(0.5 / q), f_hi, at = 0, last = -INFINITY;
    int side = 0;

    while ((f_hi = log(tail(hi, df) / q)) > 0 && hi < 1e300) {
        lo = hi;
        f_lo = f_hi;
        hi *= 2;
    }
    for (int i = 0; i < 200 && fabs(at - last) > 1e-15 * hi; i++) {
        double f;

        last = at;
        at = isinf(f_hi) || i % 8 == 7 ? lo + (hi - lo) / 2 : lo + (hi - lo) * f_lo / (f_lo - f_hi);
        f = log(tail(at, df) / q);
        if (f > 0) {
            lo = at;
            f_lo = f;
            f_hi *= side > 0 ? 0.5 : 1;
            side = 1;
        } else {
            hi = at;
            f_hi = f;
            f_lo *= side < 0 ? 0.5 : 1;
            side = -1;
        }
    }
    return at;
}

static double symmetric_quantile(double (*tail)(double, double), double df, double p)
{
    if (!(p > 0))
        return -INFINITY;
    if (p >= 1)
        return INFINITY;
    if (p == 0.5)
        return 0;
    return p > 0.5 ? tail_solve(tail, df, 1 - p) : -tail_solve(tail, df, p);
}

double fb_normal_quantile(double p)
{
    return symmetric_quantile(normal_tail, 0, p);
}

double fb_t_two_sided(double t, double df)
{
    double square = t * t;

    if (isnan(t) || isnan(df))
        return NAN;
    if (isinf(square))
        return 0;
    if (square < 0.5) /* the result is near 1: from the small side */
        return 1 - beta_of_parts(0.5, df / 2, square / (df + square), df / (df + square));
    return beta_of_parts(df / 2, 0.5, df / (df + square), square / (df + square));
}

double fb_t_cdf(double t, double df)
{
    double tail = t_tail(t, df);

    return t > 0 ? 1 - tail : tail;
}

double fb_t_quantile(double p, double df)
{
    return symmetric_quantile(t_tail, df, p);
}

double fb_chi2_cdf(double x, double df)
{
    return fb_gamma_p(df / 2, x / 2);
}

double fb_chi2_quantile(double p, double df)
{
    double lo = 0, hi = df > 1 ? df : 1, a = df / 2;

    if (!(p > 0))
        return 0;
    if (p >= 1)
        return INFINITY;
    while (fb_gamma_q(a, hi / 2) > 1 - p)
        hi *= 2;
    for (int i = 0; i < 1100 && hi - lo > 1e-15 * hi; i++) {
        double mid = lo + (hi - lo) / 2;
        if (p < 0.5 ? fb_gamma_p(a, mid / 2) < p : fb_gamma_q(a, mid / 2) > 1 - p)
            lo = mid;
        else
            hi = mid;
    }
    return lo + (hi - lo) / 2;
}

double fb_binomial_cdf(double k, double n, double p)
{
    k = floor(k);
    if (k < 0)
        return 0;
    if (k >= n)
        return 1;
    return fb_beta_regularized(n - k, k + 1, 1 - p);
}

double fb_digamma(double x)
{
    double below = 0, f;

    for (; x < 8; x++)
        below -= 1 / x;
    f = 1 / (x * x);
    return below + log(x) - 0.5 / x -
           f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))));
}

double fb_trigamma(double x)
{
    double below = 0, f;

    for (; x < 8; x++)
        below += 1 / (x * x);
    f = 1 / (x * x);
    return below + 1 / x + f / 2 +
           f / x * (1.0 / 6 - f * (1.0 / 30 - f * (1.0 / 42 - f * (1.0 / 30 - f * 5 / 66))));
}

double fb_trigamma_inverse(double y)
{
    double lo = 1e-8, hi = 1e12;

    for (int i = 0; i < 200; i++) {
        double mid = sqrt(lo * hi);

        if (fb_trigamma(mid) > y)
            lo = mid;
        else
            hi = mid;
    }
    return sqrt(lo * hi);
}

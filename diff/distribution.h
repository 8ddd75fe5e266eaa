/* distribution.h - the distributions that intervals and verdicts rest on.
 *
 *     half = fb_t_quantile(0.975, blocks - 1) * se;
 *     p = fb_t_two_sided(d / se, df);
 *
 * Built on the regularised incomplete beta and gamma functions of this file, so that no library is
 * needed.  Degrees of freedom are real, > 0, up to 1e9.  Relative error under 1e-9, body and tails
 * alike, growing to 1e-7 at 1e9 degrees of freedom (tests/unit/diff/test_distribution.c compares
 * with published tables). */
#ifndef FB_DIFF_DISTRIBUTION_H
#define FB_DIFF_DISTRIBUTION_H

/* I_x(a, b), 0 <= x <= 1, a, b > 0; and P(a, x) = gamma(a, x) / Gamma(a), Q = 1 - P. */
double fb_beta_regularized(double a, double b, double x);
double fb_gamma_p(double a, double x);
double fb_gamma_q(double a, double x);

double fb_normal_cdf(double z);
double fb_normal_quantile(double p); /* 0 < p < 1 */

double fb_t_cdf(double t, double df);
double fb_t_two_sided(double t, double df); /* P(|T| >= |t|) */
double fb_t_quantile(double p, double df);  /* 0 < p < 1     */

double fb_chi2_cdf(double x, double df);
double fb_chi2_quantile(double p, double df); /* 0 < p < 1 */

/* P(X <= k) for X binomial (n, p). */
double fb_binomial_cdf(double k, double n, double p);

/* psi and psi' of x > 0, and the x with psi'(x) = y, y > 0. */
double fb_digamma(double x);
double fb_trigamma(double x);
double fb_trigamma_inverse(double y);

#endif

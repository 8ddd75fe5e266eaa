/* Distributions against published table values and against each other. */
#include "diff/distribution.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.15g, want %.15g", got, want);
}

/* Abramowitz and Stegun table 26.10, carried to 15 digits by arbitrary-precision arithmetic. */
static void t_quantiles_are_those_of_the_tables(void **state)
{
    static const struct {
        double p, df, t;
    } rows[] = {
        {0.975, 1, 12.7062047361747},   {0.975, 4, 2.77644510519779},
        {0.975, 21, 2.07961384472768},  {0.95, 21, 1.72074290281188},
        {0.975, 120, 1.97993040508244}, {0.995, 3, 5.84090930973336},
        {0.9995, 9, 4.78091258593114},  {0.975, 0.5, 164.557673480489},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_near(fb_t_quantile(rows[i].p, rows[i].df), rows[i].t, 1e-9);
        assert_near(fb_t_quantile(1 - rows[i].p, rows[i].df), -rows[i].t, 1e-9);
    }
    assert_near(fb_t_quantile(0.975, 1e9), 1.959963986912325, 1e-7);
}

/* Abramowitz and Stegun table 26.8, carried on likewise. */
static void chi2_quantiles_are_those_of_the_tables(void **state)
{
    static const struct {
        double p, df, x;
    } rows[] = {
        {0.025, 1, 0.000982069117175256}, {0.975, 1, 5.02388618731489},
        {0.025, 10, 3.24697278023684},    {0.975, 10, 20.4831773508074},
        {0.025, 100, 74.2219274749237},   {0.975, 100, 129.561197185837},
        {0.975, 0.2, 1.95580959883771},   {0.025, 20000, 19609.9049345204},
        {0.975, 20000, 20393.8836499998},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(fb_chi2_quantile(rows[i].p, rows[i].df), rows[i].x, 1e-9);
}

static void normal_quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    assert_near(fb_normal_quantile(0.975), 1.959963984540054, 1e-12);
    assert_near(fb_normal_quantile(0.95), 1.644853626951473, 1e-12);
    assert_near(fb_normal_quantile(1e-6), -4.753424308822899, 1e-12);
    assert_near(fb_normal_cdf(-1.959963984540054), 0.025, 1e-12);
}

/* Far tails keep their relative precision: p-values of a family are compared down there. */
static void t_tails_keep_their_precision(void **state)
{
    (void)state;
    assert_near(fb_t_two_sided(30, 5), 2 * 3.85932431e-7, 1e-8);
    assert_near(fb_t_two_sided(8, 1000), 2 * 1.713330741e-15, 1e-8);
    assert_near(fb_t_two_sided(-2, 1e6), 2 * 0.0227502669257, 1e-9);
    assert_near(fb_t_two_sided(2, 1e9), 2 * 0.0227501320832, 1e-7);
    assert_near(fb_t_cdf(30, 5), 0.999999614067569, 1e-12);
    assert_near(fb_t_two_sided(1e-8, 7), 1, 1e-7);
}

static void quantile_and_cdf_are_inverse(void **state)
{
    static const double dfs[] = {0.3, 1, 2.5, 7, 21, 42, 109, 5000, 1e6};
    static const double ps[] = {1e-9, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999};

    (void)state;
    for (size_t i = 0; i < sizeof dfs / sizeof *dfs; i++)
        for (size_t j = 0; j < sizeof ps / sizeof *ps; j++) {
            assert_near(fb_t_cdf(fb_t_quantile(ps[j], dfs[i]), dfs[i]), ps[j], 1e-9);
            assert_near(fb_chi2_cdf(fb_chi2_quantile(ps[j], dfs[i]), dfs[i]), ps[j], 1e-8);
        }
}

static void binomial_cdf_is_the_sum_of_its_terms(void **state)
{
    (void)state;
    assert_near(fb_binomial_cdf(5, 60, 0.05), 0.921280735423315, 1e-12);
    assert_near(fb_binomial_cdf(60, 60, 0.05), 1, 0);
    assert_near(fb_binomial_cdf(-1, 60, 0.05), 0, 0);
}

static void psi_functions_are_those_of_the_tables(void **state)
{
    (void)state;
    assert_near(fb_digamma(0.5), -1.963510026021423, 1e-12);
    assert_near(fb_digamma(10), 2.251752589066721, 1e-12);
    assert_near(fb_trigamma(0.5), 4.934802200544679, 1e-11);
    assert_near(fb_trigamma(10), 0.105166335681686, 1e-11);
    assert_near(fb_trigamma_inverse(fb_trigamma(1.7)), 1.7, 1e-9);
    assert_near(fb_trigamma_inverse(fb_trigamma(3e4)), 3e4, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_quantiles_are_those_of_the_tables),
        cmocka_unit_test(chi2_quantiles_are_those_of_the_tables),
        cmocka_unit_test(normal_quantiles_are_those_of_the_tables),
        cmocka_unit_test(t_tails_keep_their_precision),
        cmocka_unit_test(quantile_and_cdf_are_inverse),
        cmocka_unit_test(binomial_cdf_is_the_sum_of_its_terms),
        cmocka_unit_test(psi_functions_are_those_of_the_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

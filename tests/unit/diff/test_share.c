/* Intervals of one window against hand-made and published values. */
#include "diff/cost.h"
#include "diff/share.h"
#include "world.h"

enum { CELLS_MAX = 200 };

static void measure(const double *x, const double *n, size_t cells, struct fb_share *ret)
{
    uint32_t at[CELLS_MAX];
    double values[CELLS_MAX], all = 0;
    struct fb_series s = {.cell = at, .x = values};
    struct fb_grid grid;

    for (uint32_t i = 0; i < cells; i++) {
        all += n[i];
        s.weight += x[i];
        if (!(x[i] > 0))
            continue;
        at[s.hits] = i;
        values[s.hits++] = x[i];
    }
    s.samples = s.weight;
    fb_grid_init(&grid, n, cells, all, all, all);
    fb_share_measure(&grid, &s, FB_FLOOR_PLAIN, ret);
    fb_grid_done(&grid);
}

static void assert_close(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.9g, want %.9g", got, want);
}

/* Garwood's exact limits of a Poisson count of 10 are 4.795 and 18.390. */
static void single_hits_have_the_exact_poisson_interval(void **state)
{
    double x[110] = {0}, n[110];
    struct fb_share s;

    (void)state;
    for (int i = 0; i < 110; i++)
        n[i] = 100;
    for (int i = 0; i < 10; i++)
        x[11 * i] = 1;
    measure(x, n, 110, &s);
    assert_true(s.is_sparse && !s.is_bursty);
    assert_int_equal(s.clusters, 10);
    assert_close(s.lo * 11000, 4.795, 5e-4);
    assert_close(s.hi * 11000, 18.390, 5e-4);
    assert_close(s.bound, 3.0 / 11000, 1e-12);
}

static void few_events_or_three_full_seconds_are_bursty(void **state)
{
    double x[110] = {0}, n[110];
    struct fb_share s;

    (void)state;
    for (int i = 0; i < 110; i++)
        n[i] = 100;
    for (int i = 0; i < 9; i++)
        x[10 * i] = 2;
    measure(x, n, 110, &s);
    assert_true(s.is_bursty);
    for (int i = 0; i < 15; i++)
        x[7 * i] = 1;
    measure(x, n, 110, &s);
    assert_false(s.is_bursty);
    x[0] = x[7] = x[14] = 40;
    measure(x, n, 110, &s);
    assert_true(s.is_bursty);
    assert_close(s.cluster_size, (3 * 1600.0 + s.samples - 120) / s.samples, 3);
}

/* Seconds that alternate cancel in pairs: the binomial is the floor, deff 1 or less is never
 * claimed to be under it. */
static void the_binomial_is_the_least_error(void **state)
{
    double x[110], n[110];
    struct fb_share s;

    (void)state;
    for (int i = 0; i < 110; i++) {
        n[i] = 80;
        x[i] = 16;
    }
    measure(x, n, 110, &s);
    assert_close(s.deff, 1, 1e-9);
    assert_close(s.ln_half, 2.0796138 * sqrt(0.8 / (0.2 * 8800)), 1e-7);
    assert_close(s.hi - s.lo, 2 * 0.2 * s.ln_half, 1e-9);
}

/* Two halves with 10 and 30 %: the fifths are 10, 10, 20, 30, 30 %, their SE .0447, t 2.776. */
static void a_drift_widens_to_the_fifths_of_the_window(void **state)
{
    double x[110], n[110];
    struct fb_share s;

    (void)state;
    for (int i = 0; i < 110; i++) {
        n[i] = 100;
        x[i] = i < 55 ? 10 : 30;
    }
    measure(x, n, 110, &s);
    assert_close(s.p, 0.2, 1e-12);
    assert_close(s.p * s.ln_half, 2.776445 * sqrt(5.0 / 4 * 4 * 0.01 / 25), 1e-6);
    assert_true(s.deff > 50);
}

static void nearly_nothing_and_nearly_all_mirror_each_other(void **state)
{
    double few[110], most[110], n[110];
    struct fb_share a, b;

    (void)state;
    for (int i = 0; i < 110; i++) {
        n[i] = 10;
        few[i] = i % 7 == 0 ? 1 : 0;
        most[i] = 10 - few[i];
    }
    measure(most, n, 110, &b);
    for (int i = 0; i < 110; i++)
        few[i] = i % 2; /* 5 %, hit in half of the seconds: Wilson */
    measure(few, n, 110, &a);
    assert_true(b.lo > 0.9 && b.hi < 1 && b.lo < b.p && b.p < b.hi);
    assert_true(a.lo > 0 && a.lo < a.p && a.p < a.hi);
    for (int i = 0; i < 110; i++)
        most[i] = n[i];
    measure(most, n, 110, &b);
    assert_true(b.p == 1 && b.hi == 1 && b.lo < 1 && b.lo > 0.99);
}

static void nothing_is_bounded_and_has_no_logarithm(void **state)
{
    double x[110] = {0}, n[110];
    struct fb_share s;

    (void)state;
    for (int i = 0; i < 110; i++)
        n[i] = 10;
    measure(x, n, 110, &s);
    assert_true(s.p == 0 && s.lo == 0 && isnan(s.ln_half));
    assert_close(s.hi, 1 - pow(0.025, 1.0 / 1100), 1e-12);
}

/* A window of 8 s has only seconds as blocks, t with 7 degrees of freedom. */
static void a_short_window_pays_with_its_degrees_of_freedom(void **state)
{
    double x[8] = {20, 20, 20, 20, 20, 20, 20, 20}, n[8];
    struct fb_share s;

    (void)state;
    for (int i = 0; i < 8; i++)
        n[i] = 80;
    measure(x, n, 8, &s);
    assert_close(s.ln_half, 2.36462425 * sqrt(0.75 / (0.25 * 640)), 1e-6);
    measure(x, n, 4, &s);
    assert_true(s.deff_assumed && s.deff == 7);
}

static void floors_belong_to_kind_size_and_runtime(void **state)
{
    (void)state;
    assert_int_equal(fb_floor_kind("JIT+GC"), FB_FLOOR_JIT);
    assert_int_equal(fb_floor_kind("GC/VM thread"), FB_FLOOR_GC);
    assert_int_equal(fb_floor_kind("gcc helpers, jitter"), FB_FLOOR_PLAIN);
    assert_close(fb_floor_share(NULL, FB_FLOOR_PLAIN, 0.2, false), 0.05, 0);
    assert_close(fb_floor_share(NULL, FB_FLOOR_JIT, 0.2, false), 0.05, 0);
    assert_close(fb_floor_share(NULL, FB_FLOOR_PLAIN, 0.05, true), 0.07, 0);
    assert_close(fb_floor_share(NULL, FB_FLOOR_PLAIN, 0.04, true), 0.11, 0);
    assert_close(fb_floor_share(NULL, FB_FLOOR_JIT, 0.04, true), 0.33, 0);
    assert_close(fb_floor_share(NULL, FB_FLOOR_PLAIN, 0.8, false) * 0.8,
                 fb_floor_share(NULL, FB_FLOOR_PLAIN, 0.2, false) * 0.2, 1e-12);
    assert_close(fb_floor_share(NULL, FB_FLOOR_PLAIN, 1, false), 0, 0);
    assert_close(fb_floor_cpu(NULL, 0, 0), 0.015, 0);
    assert_close(fb_floor_cpu(NULL, FB_STEP_OVER, 0), 0.02, 0);
    assert_close(fb_floor_cpu(NULL, FB_STEP_FIRST, 0), 0.05, 0);
    assert_close(fb_floor_cpu(NULL, 0, 0.018), 0.018, 0);
}

static void the_costs_error_is_that_of_its_longest_blocks(void **state)
{
    double cpu[110];
    struct fb_cost c;

    (void)state;
    for (int i = 0; i < 110; i++)
        cpu[i] = 0.8 + 0.04 * (i % 2);
    fb_cost_measure(cpu, 110, 90, 110000, &c);
    assert_close(c.ms, 90.0 * 1000 / 110000, 1e-12);
    assert_close(c.se, 0, 1e-9); /* even and odd seconds cancel in 10 s */
    for (int i = 0; i < 110; i++)
        cpu[i] = i / 10 % 2 ? 0.9 : 1.1; /* 6 and 5 blocks: sum of squared parts by hand */
    fb_cost_measure(cpu, 110, 90, 110000, &c);
    assert_close(c.se,
                 sqrt((6 * pow(11 / 111.0 - 1 / 11.0, 2) + 5 * pow(9 / 111.0 - 1 / 11.0, 2)) * 1.1),
                 1e-9);
    fb_cost_measure(NULL, 0, 90, NAN, &c);
    assert_true(isnan(c.ms) && isnan(c.se));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_hits_have_the_exact_poisson_interval),
        cmocka_unit_test(few_events_or_three_full_seconds_are_bursty),
        cmocka_unit_test(the_binomial_is_the_least_error),
        cmocka_unit_test(a_drift_widens_to_the_fifths_of_the_window),
        cmocka_unit_test(nearly_nothing_and_nearly_all_mirror_each_other),
        cmocka_unit_test(nothing_is_bounded_and_has_no_logarithm),
        cmocka_unit_test(a_short_window_pays_with_its_degrees_of_freedom),
        cmocka_unit_test(floors_belong_to_kind_size_and_runtime),
        cmocka_unit_test(the_costs_error_is_that_of_its_longest_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Each verdict from constructed numbers, and the tests of families. */
#include "diff/frames.h"
#include "diff/verdict.h"
#include "world.h"

static struct fb_judged judge(double d, double half, double tau, double delta)
{
    struct fb_evidence e = {.d = &d, .half = &half, .pairs = 1, .tau = tau, .delta = delta};
    struct fb_judged j;

    fb_verdict_judge(&e, &j);
    return j;
}

static void one_pair_carries_the_floor_of_two_runs(void **state)
{
    struct fb_judged j = judge(0.10, 0.03, 0.015, 0.05);

    (void)state;
    assert_true(fabs(j.half - sqrt(0.03 * 0.03 + pow(2.0796138, 2) * 2 * 0.015 * 0.015)) < 1e-7);
    assert_int_equal(j.verdict, FB_VERDICT_DIFF);
    assert_false(j.within_delta);
}

static void one_healthy_pair_resolves_four_percent(void **state)
{
    (void)state; /* 2.08 sqrt(2) 1.5 % = 4.4 %, the text's 3.9 % being of the measured 1.4 % */
    assert_int_equal(judge(0.050, 0, 0.015, 0.05).verdict, FB_VERDICT_DIFF);
    assert_int_equal(judge(0.042, 0, 0.015, 0.05).verdict, FB_VERDICT_UNRESOLVED);
    assert_int_equal(judge(0.005, 0, 0.015, 0.05).verdict, FB_VERDICT_SAME);
}

static void one_pair_never_certifies_three_percent(void **state)
{
    (void)state;
    assert_int_equal(judge(0, 0, 0.015, 0.03).verdict, FB_VERDICT_UNRESOLVED);
}

static void a_diff_below_the_floor_is_no_diff(void **state)
{
    double d[9], half[9] = {0};
    struct fb_evidence e = {.d = d,
                            .half = half,
                            .pairs = 9,
                            .tau = 0.05,
                            .pooled_df = 40,
                            .pooled_sum2 = 40 * 0.01 * 0.01,
                            .delta = 0.005};
    struct fb_judged j;

    (void)state;
    for (int i = 0; i < 9; i++)
        d[i] = 0.03; /* resolved to 0.7 %, but same-arm runs differ by 5 % */
    fb_verdict_judge(&e, &j);
    assert_true(j.half < 0.03);
    assert_int_equal(j.verdict, FB_VERDICT_UNRESOLVED);
}

static void a_small_but_sure_diff_is_within_delta(void **state)
{
    double d[4] = {0.02, 0.021, 0.019, 0.02}, half[4] = {0};
    struct fb_evidence e = {.d = d,
                            .half = half,
                            .pairs = 4,
                            .tau = 0.015,
                            .pooled_df = 18,
                            .pooled_sum2 = 18 * 0.002 * 0.002,
                            .delta = 0.05};
    struct fb_judged j;

    (void)state;
    fb_verdict_judge(&e, &j);
    assert_int_equal(j.verdict, FB_VERDICT_DIFF);
    assert_true(j.within_delta);
}

static void pairs_use_the_pooled_spread_but_never_less_than_the_windows(void **state)
{
    double d[2] = {0.09, 0.11}, half[2] = {0.04, 0.04};
    struct fb_evidence e = {.d = d,
                            .half = half,
                            .pairs = 2,
                            .tau = 0.015,
                            .pooled_df = 6,
                            .pooled_sum2 = 6 * 0.03 * 0.03,
                            .delta = 0.05};
    struct fb_judged j;

    (void)state;
    fb_verdict_judge(&e, &j);
    assert_true(fabs(j.half - 2.4469118 * 0.03 / sqrt(2)) < 1e-6); /* t with 6 df */
    e.pooled_sum2 = 0;
    fb_verdict_judge(&e, &j);
    assert_true(fabs(j.half - 0.04 / sqrt(2)) < 1e-9);
}

static void few_degrees_of_freedom_fall_back_on_the_floor(void **state)
{
    double d[2] = {0.3, 0.3}, half[2] = {0.02, 0.02};
    struct fb_evidence e = {.d = d,
                            .half = half,
                            .pairs = 2,
                            .tau = 0.05,
                            .pooled_df = 1,
                            .pooled_sum2 = 0,
                            .delta = 0.1};
    struct fb_judged j;

    (void)state;
    fb_verdict_judge(&e, &j);
    assert_true(fabs(j.half - hypot(0.02, 2.0796138 * M_SQRT2 * 0.05) / M_SQRT2) < 1e-7);
    e.pooled_sum2 = 0.5 * 0.5; /* pairs that contradict each other are heard all the same */
    fb_verdict_judge(&e, &j);
    assert_true(j.half > 0.7);
}

static void swapping_the_arms_mirrors_the_interval(void **state)
{
    struct fb_judged a = judge(0.07, 0.02, 0.015, 0.05), b = judge(-0.07, 0.02, 0.015, 0.05);

    (void)state;
    assert_true(a.d == -b.d && a.half == b.half && a.verdict == b.verdict);
}

/* Published with the method: N = 10,000, deff 1.2, floor 1.5 %. */
static void detectable_effects_are_the_published_ones(void **state)
{
    static const struct {
        double p;
        size_t pairs;
        int percent;
    } rows[] = {{0.2, 1, 11}, {0.2, 3, 6},   {0.2, 5, 5},   {0.05, 1, 20}, {0.05, 3, 11},
                {0.05, 5, 9}, {0.01, 1, 44}, {0.01, 3, 25}, {0.01, 5, 19}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            (int)lround(100 * fb_verdict_mde(rows[i].p, 1.2, 10000, 0.015, rows[i].pairs)),
            rows[i].percent);
}

static void absence_needs_six_hits_that_are_no_single_burst(void **state)
{
    struct fb_share many = {.hit_cells = 40, .clusters = 1, .is_sparse = false};
    struct fb_share burst = {.hit_cells = 8, .clusters = 1, .is_sparse = true};
    struct fb_share spread = {.hit_cells = 8, .clusters = 6, .is_sparse = true};

    (void)state;
    assert_int_equal(fb_verdict_absent(&many), FB_VERDICT_ABSENT);
    assert_int_equal(fb_verdict_absent(&burst), FB_VERDICT_NOT_SEEN);
    assert_int_equal(fb_verdict_absent(&spread), FB_VERDICT_ABSENT);
}

static void latency_needs_pairs_a_floor_and_the_knee(void **state)
{
    double c[2] = {0.010, 0.011}, v[2] = {0.015, 0.016}, same[2] = {0.010, 0.011};
    struct fb_latency_evidence e = {
        .control = c, .variant = v, .pairs = 2, .is_below_knee = true, .floor = 0.02, .delta = 0.1};
    struct fb_judged j;

    (void)state;
    assert_string_equal(fb_verdict_latency(&e, &j), "");
    assert_int_equal(j.verdict, FB_VERDICT_DIFF);
    e.variant = same;
    assert_string_equal(fb_verdict_latency(&e, &j), "same bucket");
    e.variant = v;
    e.floor = 0;
    assert_true(strstr(fb_verdict_latency(&e, &j), "floor") != NULL);
    e.floor = 0.02;
    e.pairs = 1;
    assert_true(strstr(fb_verdict_latency(&e, &j), "two pairs") != NULL);
    e.pairs = 2;
    e.is_below_knee = false;
    assert_true(strstr(fb_verdict_latency(&e, &j), "knee") != NULL);
}

/* Benjamini and Hochberg 1995, the example of section 3.2: four of fifteen. */
static void the_false_discovery_rate_is_that_of_the_published_example(void **state)
{
    static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                               0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};

    (void)state;
    assert_true(fb_frames_threshold(p, 15, 0.05) == 0.0095);
    assert_true(fb_frames_threshold(p + 9, 6, 0.05) < 0);
    assert_true(fb_frames_threshold(p, 0, 0.05) < 0);
}

static void a_native_frame_test_is_symmetric_and_scale_free(void **state)
{
    struct fb_frame_run a = {
        .p = 0.02, .samples = 200, .n = 10000, .block_se = 0.08, .cost = 1, .degrees = 21};
    struct fb_frame_run b = {
        .p = 0.04, .samples = 400, .n = 10000, .block_se = 0.06, .cost = 1, .degrees = 21};
    struct fb_frame_test ab, ba, scaled;

    (void)state;
    fb_frame_test_native(&a, &b, 1, 0.12, &ab);
    fb_frame_test_native(&b, &a, 1, 0.12, &ba);
    assert_true(fabs(ab.d + ba.d) < 1e-12 && fabs(ab.p_value - ba.p_value) < 1e-12);
    assert_true(fabs(ab.d_se - ba.d_se) < 1e-12 && ab.degrees == 42);
    a.cost = b.cost = 0.27;
    fb_frame_test_native(&a, &b, 1, 0.12, &scaled);
    assert_true(fabs(ab.p_value - scaled.p_value) < 1e-12 && fabs(ab.d - scaled.d) < 1e-12);
    assert_true(ab.p_value < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pair_carries_the_floor_of_two_runs),
        cmocka_unit_test(one_healthy_pair_resolves_four_percent),
        cmocka_unit_test(one_pair_never_certifies_three_percent),
        cmocka_unit_test(a_diff_below_the_floor_is_no_diff),
        cmocka_unit_test(a_small_but_sure_diff_is_within_delta),
        cmocka_unit_test(pairs_use_the_pooled_spread_but_never_less_than_the_windows),
        cmocka_unit_test(few_degrees_of_freedom_fall_back_on_the_floor),
        cmocka_unit_test(swapping_the_arms_mirrors_the_interval),
        cmocka_unit_test(detectable_effects_are_the_published_ones),
        cmocka_unit_test(absence_needs_six_hits_that_are_no_single_burst),
        cmocka_unit_test(latency_needs_pairs_a_floor_and_the_knee),
        cmocka_unit_test(the_false_discovery_rate_is_that_of_the_published_example),
        cmocka_unit_test(a_native_frame_test_is_symmetric_and_scale_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

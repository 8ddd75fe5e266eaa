/* The order of the runs, and what a drift of the machine puts into the difference. */
#include "diff/order.h"
#include "world.h"

enum { SECONDS = 40, GAP = 60 };

/* Runs in this order, "CVVC"; the n-th costs 1 + drift * n / (runs - 1), variants twice as much. */
static struct fb_diff *runs_diff(struct world *w, const char *order, double drift, double noise)
{
    size_t count = strlen(order);
    struct world_random random = {11};

    world_init(w, WORLD_RULES);
    for (int variants = 0; variants < 2; variants++)
        for (size_t i = 0; i < count; i++) {
            struct fb_profile *p;
            struct fb_step *step;

            if ((order[i] == 'V') != (variants == 1))
                continue;
            p = world_arm_bare(w, variants == 1);
            step = world_step_add(w->arms[w->count - 1].steps, "1000", 1000, i * GAP, SECONDS);
            step->cpu_s = SECONDS * (variants ? 1.0 : 0.5) *
                          (1 + drift * (double)i / (double)(count - 1)) *
                          (1 + noise * world_normal(&random));
            for (size_t s = 0; s < SECONDS; s++)
                world_samples(p, i * GAP + s, s % 2 ? "main;a" : "main;b", 50);
        }
    return world_diff(w, NULL);
}

static bool says(const struct fb_diff *diff, const char *text)
{
    for (size_t i = 0; i < diff->notes_count; i++)
        if (strstr(diff->notes[i], text))
            return true;
    return false;
}

static void the_order_is_said_and_what_of_a_drift_it_lets_in(void **state)
{
    static const struct {
        const char *order, *sequence, *says;
        double inside;
        bool is_one_after_the_other;
    } rows[] = {
        {"CVVC", "C V V C", "order of the runs C V V C: a steady drift", 0, false},
        {"CVCV", "C V C V", "C V C V: 33 % of a steady drift", 1.0 / 3, false},
        {"VCVC", "V C V C", "V C V C: 33 % of a steady drift", -1.0 / 3, false},
        {"CCVV", "C C V V", "C C V V: all runs of one arm came before", 2.0 / 3, true},
        {"VVCC", "V V C C", "V V C C: all runs of one arm came before", -2.0 / 3, true},
        {"CVVCCV", "C V V C C V", "% of a steady drift", 1.0 / 15, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fb_order order;
        struct world w;
        struct fb_diff *diff = runs_diff(&w, rows[i].order, 0, 0);

        fb_order_measure(diff, &order);
        assert_string_equal(order.sequence, rows[i].sequence);
        assert_true(fabs(order.inside - rows[i].inside) < 1e-9);
        assert_int_equal(order.is_one_after_the_other, rows[i].is_one_after_the_other);
        assert_true(says(diff, rows[i].says));
        world_done(&w, diff);
    }
}

/* Exact where nothing else varies: whatever the arms differ by, and whatever their order. */
static void a_drift_is_named_with_its_size(void **state)
{
    static const char *const orders[] = {"CVVC", "CCVV", "CVCV", "CVVCCVVC"};

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct fb_order order;
        struct world w;
        struct fb_diff *diff = runs_diff(&w, orders[i], 0.04, 0);

        fb_order_measure(diff, &order);
        assert_true(fabs(expm1(order.drift) - 0.04) < 0.001);
        assert_true(order.drift_lo <= order.drift && order.drift <= order.drift_hi);
        world_done(&w, diff);
    }
}

/* Equal runs with noise: the interval holds 0 in 95 of 100, and is said as no drift. */
static void noise_is_no_drift(void **state)
{
    struct fb_order order;
    struct world w;
    struct fb_diff *diff = runs_diff(&w, "CVVCCVVC", 0, 0.01);

    (void)state;
    fb_order_measure(diff, &order);
    assert_true(order.drift_lo < 0 && order.drift_hi > 0);
    assert_true(says(diff, "no drift over the runs is seen"));
    world_done(&w, diff);
    diff = runs_diff(&w, "CVVCCVVC", 0.2, 0.01);
    assert_true(says(diff, "CPU per request drifted over the runs of each arm by +"));
    world_done(&w, diff);
}

static void one_pair_has_no_order(void **state)
{
    struct fb_order order;
    struct world w;
    struct fb_diff *diff = runs_diff(&w, "CV", 0, 0);

    (void)state;
    fb_order_measure(diff, &order);
    assert_int_equal(order.runs, 0);
    assert_false(says(diff, "order of the runs"));
    world_done(&w, diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_said_and_what_of_a_drift_it_lets_in),
        cmocka_unit_test(a_drift_is_named_with_its_size),
        cmocka_unit_test(noise_is_no_drift),
        cmocka_unit_test(one_pair_has_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

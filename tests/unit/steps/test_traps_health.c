/* The job logs of fixtures/joblog/traps.py as ramps and as arms: what a campaign read off them, and
 * what follows.  Marks by step are in test_traps_read.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "steps/steps.h"

#define TRAP(name) FB_FIXTURES "/joblog/traps/" name

static struct fb_steps *trap(const char *path)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_read(path, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_steps_judge(steps);
    return steps;
}

static struct fb_ramp ramp_of(const struct fb_steps *steps)
{
    struct fb_knee knee = fb_knee_default();
    struct fb_ramp ramp;

    fb_ramp_measure(steps, &knee, &ramp);
    return ramp;
}

static void a_clean_ramp_has_a_line_and_an_open_knee(void **state)
{
    struct fb_steps *steps = trap(TRAP("clean.log"));
    struct fb_ramp ramp = ramp_of(steps);

    (void)state;
    assert_true(ramp.knee && ramp.knee_is_open && ramp.knee->offered == 1000);
    assert_true(fabs(ramp.marginal_ms - 1) < 1e-3 && fabs(ramp.fixed_cores) < 1e-3);
    assert_int_equal(ramp.fit_steps, 4);
    fb_steps_free(steps);
}

/* T2: the first step reads 12 % more, and is in no line. */
static void the_first_step_is_no_part_of_the_cost(void **state)
{
    struct fb_steps *steps = trap(TRAP("T2.log"));
    struct fb_ramp ramp = ramp_of(steps);

    (void)state;
    assert_int_equal(ramp.fit_steps, 2);
    assert_true(isnan(ramp.marginal_ms));
    fb_steps_free(steps);
}

/* T5: two arms that held no rate in common are not compared by one number. */
static void arms_are_compared_at_one_rate_or_not_at_all(void **state)
{
    struct fb_steps *a = trap(TRAP("T5-control.log")), *b = trap(TRAP("T5-variant.log"));
    struct fb_matched *m = fb_matched_new((const struct fb_steps *const[]){a, b}, 2);
    struct fb_ramp ramp = ramp_of(a);

    (void)state;
    assert_int_equal(m->count, 6);
    assert_true(fb_matched_common(m) == SIZE_MAX);
    assert_int_equal(fb_matched_median_of(m, 1, fb_step_ms_per_request, false).rows, 0);
    assert_true(ramp.fixed_cores > 0.2); /* it is why the cost falls with the rate */
    fb_matched_free(m);
    fb_steps_free(a);
    fb_steps_free(b);
}

/* T8: the ramp stopped where it began to shed. */
static void a_ramp_that_ends_at_its_knee_has_no_plateau(void **state)
{
    struct fb_steps *steps = trap(TRAP("T8.log"));
    struct fb_ramp ramp = ramp_of(steps);

    (void)state;
    assert_true(isnan(ramp.plateau));
    assert_non_null(strstr(ramp.no_plateau, "the last step sheds 1.2 %, under 2 %"));
    assert_true(ramp.knee->offered == 600 && !ramp.knee_is_open);
    fb_steps_free(steps);
}

/* T9: one step had 740, what the arm holds is 650. */
static void the_most_of_a_step_is_not_the_plateau(void **state)
{
    struct fb_steps *steps = trap(TRAP("T9.log"));
    struct fb_ramp ramp = ramp_of(steps);

    (void)state;
    assert_true(fabs(ramp.plateau - 650) < 0.1);
    assert_int_equal(ramp.plateau_steps, 2);
    assert_true(fabs(fb_step_delivered_per_s(ramp.most) - 740) < 0.1);
    fb_steps_free(steps);
}

/* T17: one pair has the other sign, since its control was sick. */
static void a_sick_control_turns_the_sign_and_is_marked(void **state)
{
    struct fb_steps *c1 = trap(TRAP("T17-control-1.log")), *v1 = trap(TRAP("T17-variant-1.log"));
    struct fb_steps *c2 = trap(TRAP("T17-control-2.log")), *v2 = trap(TRAP("T17-variant-2.log"));
    struct fb_matched *p1 = fb_matched_new((const struct fb_steps *const[]){c1, v1}, 2);
    struct fb_matched *p2 = fb_matched_new((const struct fb_steps *const[]){c2, v2}, 2);
    size_t row = fb_matched_find(p1, 600);

    (void)state;
    assert_true(fb_matched_change(&p1->rows[row], 1, fb_step_ms_per_request) < -0.05);
    assert_true(p1->rows[row].steps[0]->health & FB_STEP_EVENT);
    assert_true(fabs(fb_matched_change(&p2->rows[row], 1, fb_step_ms_per_request) - 0.03) < 1e-3);
    assert_int_equal(p2->rows[row].steps[0]->health, 0);
    /* and the sound steps of both pairs agree */
    assert_true(fabs(fb_matched_median_of(p1, 1, fb_step_ms_per_request, true).median - 0.03) <
                1e-3);
    fb_matched_free(p1);
    fb_matched_free(p2);
    fb_steps_free(c1);
    fb_steps_free(v1);
    fb_steps_free(c2);
    fb_steps_free(v2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_ramp_has_a_line_and_an_open_knee),
        cmocka_unit_test(the_first_step_is_no_part_of_the_cost),
        cmocka_unit_test(arms_are_compared_at_one_rate_or_not_at_all),
        cmocka_unit_test(a_ramp_that_ends_at_its_knee_has_no_plateau),
        cmocka_unit_test(the_most_of_a_step_is_not_the_plateau),
        cmocka_unit_test(a_sick_control_turns_the_sign_and_is_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

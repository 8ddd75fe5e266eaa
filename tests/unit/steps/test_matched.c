/* Steps of several arms by rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "steps/steps.h"

static struct fb_steps *parse(const char *rows)
{
    struct fb_buf text = {0};
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    fb_buf_puts(&text, "offered\tsecs\twarmup\tdelivered\tknee_per_s\tcpu_ms_per_req\n");
    fb_buf_puts(&text, rows);
    if (fb_steps_parse(text.data, text.len, "t", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_buf_done(&text);
    fb_steps_judge(steps);
    return steps;
}

static void rows_rise_and_no_step_is_lost_or_averaged(void **state)
{
    struct fb_steps *a = parse("800\t110\t0\t800\t0\t2\n"
                               "400\t110\t0\t400\t0\t3\n"
                               "1600\t110\t0\t900\t700\t1\n"
                               "200\t110\t1\t200\t0\t9\n");
    struct fb_steps *b = parse("400\t110\t0\t400\t0\t3.3\n"
                               "800\t110\t0\t800\t0\t2.1\n"
                               "800\t110\t0\t800\t0\t2.2\n"
                               "1600\t110\t0\t1600\t0\t1\n");
    const struct fb_steps *const arms[] = {a, b};
    struct fb_matched *m = fb_matched_new(arms, 2);
    struct fb_matched_median sound, all;

    (void)state;
    assert_int_equal(m->count, 4);
    assert_true(m->rows[0].offered == 400 && m->rows[1].offered == 800);
    assert_true(m->rows[2].offered == 800 && m->rows[3].offered == 1600);
    assert_null(m->rows[2].steps[0]);
    assert_ptr_equal(m->rows[1].steps[1], &b->items[1]);
    assert_ptr_equal(m->rows[2].steps[1], &b->items[2]);
    assert_int_equal(fb_matched_common(m), 1); /* 1600 is past one arm's knee */
    assert_int_equal(fb_matched_find(m, 800), 1);
    assert_true(fb_matched_find(m, 801) == SIZE_MAX);
    assert_true(fabs(fb_matched_change(&m->rows[0], 1, fb_step_ms_per_request) - 0.1) < 1e-9);
    assert_true(isnan(fb_matched_change(&m->rows[2], 1, fb_step_ms_per_request)));
    sound = fb_matched_median_of(m, 1, fb_step_ms_per_request, true);
    all = fb_matched_median_of(m, 1, fb_step_ms_per_request, false);
    assert_int_equal(sound.rows, 2);
    assert_true(fabs(sound.median - 0.075) < 1e-9 && fabs(sound.least - 0.05) < 1e-9);
    assert_int_equal(all.rows, 3);
    assert_true(fabs(all.median - 0.05) < 1e-9 && fabs(all.most - 0.1) < 1e-9);
    fb_matched_free(m);
    fb_steps_free(a);
    fb_steps_free(b);
}

static void arms_without_a_rate_in_common_have_no_row_for_it(void **state)
{
    struct fb_steps *a = parse("400\t110\t0\t400\t0\t3\n"), *b = parse("500\t110\t0\t500\t0\t3\n");
    const struct fb_steps *const arms[] = {a, b};
    struct fb_matched *m = fb_matched_new(arms, 2);

    (void)state;
    assert_int_equal(m->count, 2);
    assert_true(fb_matched_common(m) == SIZE_MAX);
    assert_int_equal(fb_matched_median_of(m, 1, fb_step_ms_per_request, false).rows, 0);
    assert_true(isnan(fb_matched_median_of(m, 1, fb_step_ms_per_request, false).median));
    fb_matched_free(m);
    fb_steps_free(a);
    fb_steps_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_rise_and_no_step_is_lost_or_averaged),
        cmocka_unit_test(arms_without_a_rate_in_common_have_no_row_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

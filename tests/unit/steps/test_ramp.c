/* Knee, plateau and cost of ramps, and the table of limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "steps/steps.h"

#define HEAD "offered\tsecs\twarmup\tdelivered\tknee_per_s\tp50_ms\tp99_ms\tcpu_ms_per_req\n"

static struct fb_steps *parse(const char *rows)
{
    char *text = fb_format("%s%s", HEAD, rows);
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_parse(text, strlen(text), "t", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(text);
    fb_steps_judge(steps);
    return steps;
}

static void measure(const char *rows, const char *rule, struct fb_steps **ret_steps,
                    struct fb_ramp *ret_ramp)
{
    struct fb_knee knee;
    struct fb_err err;

    assert_int_equal(fb_knee_parse(rule, &knee, &err), FB_OK);
    *ret_steps = parse(rows);
    fb_ramp_measure(*ret_steps, &knee, ret_ramp);
}

static const struct {
    const char *rows, *rule;
    double knee; /* 0: none */
    bool is_open;
    double plateau;         /* 0: none */
    const char *no_plateau; /* a part of the reason */
} ramps[] = {
    /* the last step that keeps the rule, also behind one that breaks it; the order of the rows is
       nothing */
    {"600\t110\t0\t598.4\t1.6\t2\t9\t1\n"
     "200\t110\t0\t200\t0\t2\t9\t1\n"
     "400\t110\t0\t399.6\t0.3\t2\t9\t1\n",
     "not-sent", 400, false, 0, "under 2 %: the ramp ends before the arm does"},
    {"200\t110\t0\t200\t1\t2\t9\t1\n"
     "400\t110\t0\t400\t0\t2\t9\t1\n",
     "not-sent", 400, true, 0, "the ramp ends"},
    {"200\t110\t0\t200\t1\t2\t9\t1\n", "not-sent", 0, false, 0, "the ramp ends"},
    {"200\t110\t0\t200\t1\t2\t9\t1\n", "not-sent=0.5", 200, true, 0, "the ramp ends"},
    /* a generator that lost count proves nothing */
    {"200\t110\t0\t200\t0\t2\t9\t1\n"
     "400\t110\t0\t300\t0\t2\t9\t1\n",
     "not-sent", 200, false, 0, ""},
    /* other rules */
    {"3200\t110\t0\t3200\t0\t9.9\t400\t1\n"
     "4000\t110\t0\t4000\t0\t10.37\t401\t1\n",
     "p50", 3200, false, 0, ""},
    {"3200\t110\t0\t3200\t0\t9.9\t400\t1\n"
     "4000\t110\t0\t4000\t0\t10.37\t401\t1\n",
     "p50=10.4", 4000, true, 0, ""},
    {"3200\t110\t0\t3200\t0\t9.9\t400\t1\n"
     "4000\t110\t0\t4000\t0\t10.37\t401\t1\n",
     "p99", 3200, false, 0, ""},
    /* steps far past the knee agree: their mean; the step at the knee is none of them */
    {"800\t110\t0\t800\t0\t2\t9\t1\n"
     "1000\t110\t0\t910\t90\t2\t9\t1\n"
     "1200\t110\t0\t930\t270\t2\t9\t1\n"
     "1400\t110\t0\t920\t480\t2\t9\t1\n",
     "not-sent", 800, false, 925, ""},
    /* the warm-up and the first step behind it count nowhere */
    {"200\t110\t1\t100\t100\t2\t9\t1\n"
     "1200\t110\t0\t500\t700\t2\t9\t1\n"
     "1400\t110\t0\t920\t480\t2\t9\t1\n"
     "1600\t110\t0\t930\t670\t2\t9\t1\n",
     "not-sent", 0, false, 925, ""},
    /* one step's most is no plateau */
    {"800\t110\t0\t800\t0\t2\t9\t1\n"
     "1200\t110\t0\t930\t270\t2\t9\t1\n",
     "not-sent", 800, false, 0, "one step alone (930/s) sheds over 10 %"},
    {"800\t110\t0\t800\t0\t2\t9\t1\n"
     "1000\t110\t0\t930\t70\t2\t9\t1\n",
     "not-sent", 800, false, 0, "no step sheds over 10 %"},
    /* and neither is a fall */
    {"1000\t110\t0\t733.4\t229.5\t2\t9\t1\n"
     "1200\t110\t0\t516.7\t636.7\t2\t9\t1\n"
     "1400\t110\t0\t544.2\t818.5\t2\t9\t1\n",
     "not-sent", 0, false, 0, "does not stay at one level past the knee: 733, 517, 544"},
};

static void a_ramp_has_its_knee_and_its_plateau_or_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ramps / sizeof *ramps; i++) {
        struct fb_steps *steps;
        struct fb_ramp ramp;

        measure(ramps[i].rows, ramps[i].rule, &steps, &ramp);
        if ((ramp.knee ? ramp.knee->offered : 0) != ramps[i].knee ||
            ramp.knee_is_open != ramps[i].is_open)
            fail_msg("%s%s: knee %g %d", ramps[i].rows, ramps[i].rule,
                     ramp.knee ? ramp.knee->offered : 0, ramp.knee_is_open);
        if (ramps[i].plateau > 0)
            assert_true(fabs(ramp.plateau - ramps[i].plateau) < 1e-9);
        else
            assert_true(isnan(ramp.plateau));
        assert_int_equal(isnan(ramp.plateau), ramp.no_plateau[0] != '\0');
        if (!strstr(ramp.no_plateau, ramps[i].no_plateau))
            fail_msg("%s%s", ramps[i].rows, ramp.no_plateau);
        fb_steps_free(steps);
    }
}

/* cores = 0.2 + 0.5 ms x rate: cost per request falls with the rate, by the fixed part alone. */
static void fixed_and_marginal_cost_are_told_apart(void **state)
{
    struct fb_steps *steps;
    struct fb_ramp ramp;

    (void)state;
    measure("200\t110\t1\t200\t0\t2\t9\t9\n"
            "400\t110\t0\t400\t0\t2\t9\t7\n" /* the first step reads otherwise */
            "1000\t110\t0\t1000\t0\t2\t9\t0.7\n"
            "2000\t110\t0\t2000\t0\t2\t9\t0.6\n"
            "4000\t110\t0\t4000\t0\t2\t9\t0.55\n"
            "8000\t110\t0\t5000\t3000\t2\t9\t0.9\n", /* past the knee too */
            "not-sent", &steps, &ramp);
    assert_int_equal(ramp.fit_steps, 3);
    assert_true(fabs(ramp.fixed_cores - 0.2) < 1e-9);
    assert_true(fabs(ramp.marginal_ms - 0.5) < 1e-9);
    assert_true(ramp.fit_off < 1e-9);
    assert_true(ramp.most && ramp.most->offered == 8000);
    fb_steps_free(steps);
    measure("1000\t110\t0\t1000\t0\t2\t9\t0.7\n"
            "2000\t110\t0\t2000\t0\t2\t9\t0.6\n",
            "not-sent", &steps, &ramp);
    assert_true(isnan(ramp.marginal_ms)); /* two points are always on a line */
    fb_steps_free(steps);
}

static void a_rule_that_is_none_is_refused(void **state)
{
    static const char *const bad[] = {"",      "p50=", "p50=x",     "p50=-1", "p98",
                                      "p50 9", "p50x", "not-sent=", "=1",     "p99=1e300"};
    struct fb_knee knee;
    struct fb_err err;
    char words[80];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(fb_knee_parse(bad[i], &knee, &err), FB_EUSAGE);
    assert_int_equal(fb_knee_parse("p50=12.5", &knee, &err), FB_OK);
    assert_string_equal(fb_knee_words(&knee, words), "p50 under 12.5 ms");
    knee = fb_knee_default();
    assert_string_equal(fb_knee_words(&knee, words), "at most 0.1 % of the offered load not sent");
}

static void a_limit_moves_its_rule_and_no_other(void **state)
{
    double limits[FB_LIMIT_COUNT];
    struct fb_steps *steps = parse("1000\t110\t0\t999\t1.5\t2\t9\t1\n");
    struct fb_err err;

    (void)state;
    assert_int_equal(steps->items[0].health, FB_STEP_SHED);
    fb_limits_default(limits);
    assert_int_equal(fb_limits_set(limits, "shed=0.002", &err), FB_OK);
    steps->limits = limits;
    fb_steps_judge(steps);
    assert_int_equal(steps->items[0].health, 0);
    assert_int_equal(fb_limits_set(limits, "over=0.001", &err), FB_OK);
    fb_steps_judge(steps);
    assert_int_equal(steps->items[0].health, FB_STEP_OVER);
    assert_int_equal(fb_limits_set(limits, "over=2", &err), FB_EUSAGE);
    assert_int_equal(fb_limits_set(limits, "over", &err), FB_EUSAGE);
    assert_int_equal(fb_limits_set(limits, "nothing=1", &err), FB_EUSAGE);
    assert_int_equal(fb_limits_set(limits, "over=nan", &err), FB_EUSAGE);
    fb_steps_free(steps);
}

/* The page that users read has every threshold with the value that counts. */
static void the_limits_stand_in_the_documentation(void **state)
{
    struct fb_buf text = {0};
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_file_read(FB_FIXTURES "/../docs/steps.md", &text, &err), FB_OK);
    fb_buf_putc(&text, '\0');
    for (size_t i = 0; i < FB_LIMIT_COUNT; i++) {
        char *row = fb_format("| `%s` | %.10g | %s | %s |", fb_limits[i].name, fb_limits[i].value,
                              fb_limits[i].marks, fb_limits[i].what);

        if (!strstr(text.data, row))
            fail_msg("docs/steps.md lacks the row\n%s", row);
        free(row);
    }
    fb_buf_done(&text);
}

static void jit_and_gc_are_judged_against_the_run(void **state)
{
    struct fb_steps *steps = parse("200\t110\t1\t200\t0\t2\t9\t1\n"
                                   "400\t110\t0\t400\t0\t2\t9\t1\n"
                                   "600\t110\t0\t600\t0\t2\t9\t1\n"
                                   "800\t110\t0\t800\t0\t2\t9\t1\n");
    static const double heavy[] = {0.5, 0.12, 0.124, 0.274}, even[] = {0.6, 0.3, 0.31, 0.33},
                        over[] = {0.6, 0.11, 0.12, 0.16};

    (void)state;
    for (int i = 0; i < 4; i++)
        steps->items[i].gc_share = heavy[i];
    fb_steps_judge(steps);
    assert_false(steps->items[0].health & FB_STEP_GC); /* the warm-up compiles */
    assert_false(steps->items[2].health & FB_STEP_GC);
    assert_true(steps->items[3].health & FB_STEP_GC);
    assert_non_null(strstr(steps->items[3].why, "27.4 % of the samples in JIT+GC, the run's median "
                                                "is 12.4 %"));
    for (int i = 0; i < 4; i++)
        steps->items[i].gc_share = even[i];
    fb_steps_judge(steps);
    for (int i = 0; i < 4; i++)
        assert_false(steps->items[i].health & FB_STEP_GC); /* a variant may be heavy in all */
    for (int i = 0; i < 4; i++)
        steps->items[i].gc_share = over[i];
    fb_steps_judge(steps);
    assert_true(steps->items[3].health & FB_STEP_GC);
    fb_steps_free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_has_its_knee_and_its_plateau_or_a_reason),
        cmocka_unit_test(fixed_and_marginal_cost_are_told_apart),
        cmocka_unit_test(a_rule_that_is_none_is_refused),
        cmocka_unit_test(a_limit_moves_its_rule_and_no_other),
        cmocka_unit_test(the_limits_stand_in_the_documentation),
        cmocka_unit_test(jit_and_gc_are_judged_against_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

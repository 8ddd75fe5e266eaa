/* Conditions: how they are read, and what fails. */
#include <string.h>

#include "diff/gate.h"
#include "world.h"

static struct fb_gate_condition parsed(const char *text)
{
    struct fb_gate_condition c;
    struct fb_err err;

    assert_int_equal(fb_gate_parse(text, &c, &err), FB_OK);
    return c;
}

static void is_refused(const char *text, const char *says)
{
    struct fb_gate_condition c;
    struct fb_err err;

    assert_int_equal(fb_gate_parse(text, &c, &err), FB_EUSAGE);
    assert_non_null(strstr(err.text, says));
}

static void a_condition_is_read_from_its_end(void **state)
{
    struct fb_gate_condition c = parsed("layer:Java std ms > +5%");

    (void)state;
    assert_int_equal(c.subject, FB_GATE_LAYER);
    assert_string_equal(c.name, "Java std");
    assert_int_equal(c.quantity, FB_GATE_MS);
    assert_true(c.is_more && c.is_change && !c.is_points);
    assert_true(fabs(c.threshold - 0.05) < 1e-12);
    fb_gate_done(&c);
    c = parsed("frame:^operator> share>1%");
    assert_string_equal(c.name, "^operator>");
    assert_false(c.is_change);
    fb_gate_done(&c);
    c = parsed("sum:a b share < -2 points");
    assert_true(c.is_points && !c.is_more);
    assert_true(fabs(c.threshold + 0.02) < 1e-12);
    fb_gate_done(&c);
    c = parsed("p99 > +10 %");
    assert_int_equal(c.metric, FB_METRIC_P99);
    fb_gate_done(&c);
    c = parsed("total ms > 0.25 ms");
    assert_int_equal(c.subject, FB_GATE_TOTAL);
    assert_true(c.threshold == 0.25);
    fb_gate_done(&c);
}

static void what_is_no_condition_is_said(void **state)
{
    (void)state;
    is_refused("", "SUBJECT QUANTITY > THRESHOLD");
    is_refused("total ms", "SUBJECT QUANTITY > THRESHOLD");
    is_refused("> 5%", "SUBJECT QUANTITY > THRESHOLD");
    is_refused("total ms > ", "a threshold");
    is_refused("total ms > +5 parsecs", "a threshold");
    is_refused("total ms > nan", "a threshold");
    is_refused("total ms > +5", "a change is told in %");
    is_refused("total ms > +5 points", "points are of share");
    is_refused("total ms > 5%", "a level of share is told in %");
    is_refused("total weight > +5%", "ms, share or cores");
    is_refused("codec ms > +5%", "layer:NAME");
    is_refused("layer: ms > +5%", "layer:NAME");
    is_refused("speed > +5%", "no metric 'speed'");
}

/* A diff of one step with one layer row. */
static struct fb_gate_result judged(const char *text, const struct fb_diff_row *row,
                                    const char *denial, bool is_strict)
{
    struct fb_diff_row layers[2] = {*row, {.name = (char *)(uintptr_t) "total"}};
    struct fb_diff_step step = {.layers = layers, .layers_count = 2, .denial = denial};
    struct fb_diff diff = {.steps = &step, .steps_count = 1};
    struct fb_gate_condition c = parsed(text);
    struct fb_gate_result result;
    struct fb_err err;

    layers[0].name = (char *)(uintptr_t) "codec";
    assert_int_equal(fb_gate_judge(&diff, 0, &c, is_strict, &result, &err), FB_OK);
    fb_gate_done(&c);
    return result;
}

/* +10 % of ms, 95 % interval 5 to 15 %; a share of 20 ± 1 %. */
static struct fb_diff_row ten_percent(void)
{
    return (struct fb_diff_row){.d = log(1.10),
                                .d_lo = log(1.05),
                                .d_hi = log(1.15),
                                .change = 0.10,
                                .verdict = FB_VERDICT_DIFF,
                                .reason = "",
                                .floor = 0.01,
                                .control = {.share = 0.2, .share_lo = 0.19, .share_hi = 0.21},
                                .variant = {.share = 0.2, .share_lo = 0.19, .share_hi = 0.21}};
}

static void the_whole_interval_has_to_be_beyond_the_threshold(void **state)
{
    struct fb_diff_row row = ten_percent();

    (void)state;
    assert_int_equal(judged("layer:codec ms > +4%", &row, "", false).outcome, FB_GATE_FAIL);
    assert_int_equal(judged("layer:codec ms > +6%", &row, "", false).outcome, FB_GATE_PASS);
    assert_int_equal(judged("layer:codec ms > +6%", &row, "", true).outcome, FB_GATE_FAIL);
    assert_int_equal(judged("layer:codec ms > +16%", &row, "", true).outcome, FB_GATE_PASS);
    assert_int_equal(judged("layer:codec ms < -1%", &row, "", true).outcome, FB_GATE_PASS);
    assert_int_equal(judged("layer:codec ms < +16%", &row, "", false).outcome, FB_GATE_FAIL);
}

static void what_is_not_judged_fails_in_strict_mode_only(void **state)
{
    struct fb_diff_row row = ten_percent();
    struct fb_gate_result r = judged("layer:codec ms > +4%", &row, "OVER", false);

    (void)state;
    assert_int_equal(r.outcome, FB_GATE_NOT_JUDGED);
    assert_string_equal(r.reason, "OVER");
    assert_int_equal(judged("layer:codec ms > +4%", &row, "OVER", true).outcome, FB_GATE_FAIL);
    row.on_share = true; /* no cost per request is known */
    r = judged("layer:codec ms > +4%", &row, "", false);
    assert_int_equal(r.outcome, FB_GATE_NOT_JUDGED);
    assert_string_equal(r.reason, "ms per request are unknown");
}

static void a_level_is_the_variants(void **state)
{
    struct fb_diff_row row = ten_percent();

    (void)state;
    assert_int_equal(judged("layer:codec share > 18.9%", &row, "", false).outcome, FB_GATE_FAIL);
    assert_int_equal(judged("layer:codec share > 19.5%", &row, "", false).outcome, FB_GATE_PASS);
    assert_int_equal(judged("layer:codec share > 19.5%", &row, "", true).outcome, FB_GATE_FAIL);
}

static void a_change_of_share_beside_one_of_ms_has_its_own_interval(void **state)
{
    struct fb_diff_row row = ten_percent();
    struct fb_gate_result r = judged("layer:codec share > +30%", &row, "", true);

    (void)state;
    assert_int_equal(r.outcome, FB_GATE_PASS);
    assert_true(r.value == 0);
    /* hypot(0.05, 0.05) and the floor of two runs, 2.08 sqrt(2) 1 %: 7.7 % */
    assert_true(r.hi > 0.07 && r.hi < 0.09);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_is_read_from_its_end),
        cmocka_unit_test(what_is_no_condition_is_said),
        cmocka_unit_test(the_whole_interval_has_to_be_beyond_the_threshold),
        cmocka_unit_test(what_is_not_judged_fails_in_strict_mode_only),
        cmocka_unit_test(a_level_is_the_variants),
        cmocka_unit_test(a_change_of_share_beside_one_of_ms_has_its_own_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

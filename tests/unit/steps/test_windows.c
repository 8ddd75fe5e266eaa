/* Where steps lie: plans, clock offsets, what the arm's CPU says, steps that cannot be what they
 * say, and counters from beside the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/steps.h"

#define SECOND INT64_C(1000000000)
#define T0     INT64_C(1788725520)

static struct fb_steps *parse(const char *text, const char *name)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_parse(text, strlen(text), name, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    return steps;
}

static bool warned(const struct fb_steps *steps, const char *text)
{
    for (size_t i = 0; i < steps->warnings_count; i++)
        if (strstr(steps->warnings[i], text))
            return true;
    for (size_t i = 0; i < steps->warnings_count; i++)
        print_message("warning: %s\n", steps->warnings[i]);
    return false;
}

/* ---- what cannot be ---- */

static void steps_that_cannot_be_so_are_named(void **state)
{
    static const struct {
        const char *rows, *warning; /* start and end after T0; warning NULL: none */
    } cases[] = {
        {"0 100\n120 220\n240 340\n360 460\n", NULL},
        {"0 100\n100 200\n200 300\n", NULL}, /* back to back */
        {"0 100\n90 190\n", "line 3: step 2 begins 10.0 s before step 1 ends"},
        {"0 100\n240 340\n120 220\n", "line 4: step 3 is out of order: it begins 120.0 s before "
                                      "step 2"},
        {"0 100\n120 220\n120 220\n", "line 4: step 3 has the very window of step 2 before it"},
        {"0 300\n320 400\n250 290\n", "line 4: step 3 overlaps step 1 of line 2"},
        {"0 100\n120 220\n240 340\n360 460\n900 1000\n1020 1120\n",
         "line 6: step 5 begins 440 s after step 4 ended, the usual pause is 20 s"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_buf text = {0};
        struct fb_steps *steps;
        const char *at = cases[i].rows;
        long from, to;
        int n, number = 1;

        fb_buf_puts(&text, "name\tstart\tend\n");
        for (; sscanf(at, "%ld %ld%n", &from, &to, &n) == 2; at += n)
            fb_buf_printf(&text, "%d\t%lld\t%lld\n", number++, (long long)T0 + from,
                          (long long)T0 + to);
        steps = parse(text.data, "w.tsv");
        if (cases[i].warning)
            assert_true(warned(steps, cases[i].warning));
        else
            assert_int_equal(steps->warnings_count, 0);
        fb_steps_free(steps);
        fb_buf_done(&text);
    }
}

static void ramps_of_one_arm_are_joined_and_keep_their_source(void **state)
{
    struct fb_steps *a = parse("offered\tstart\tend\n100\t1788725520\t1788725620\n", "a.tsv");
    struct fb_steps *b = parse("offered\tstart\tend\tmode\n100\t1788725600\t1788725700\thttp1\n"
                               "200\t1788725720\t1788725820\thttp1\n",
                               "b.tsv");

    (void)state;
    fb_steps_join(a, b);
    assert_int_equal(a->count, 3);
    assert_string_equal(a->source, "a.tsv, b.tsv");
    assert_string_equal(a->items[0].source, "a.tsv");
    assert_string_equal(a->items[2].source, "b.tsv");
    assert_string_equal(a->items[2].mode, "http1");
    assert_true(warned(a, "b.tsv, line 2: step 100 begins 20.0 s before step 100 ends"));
    fb_steps_free(a);
}

/* ---- plans and offsets ---- */

static void a_plan_says_what_it_expects(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "NAME=VALUE"},
        {"start=5", "'step=SECONDS' was expected"},
        {"step=0", "seconds above 0"},
        {"step=x", "seconds above 0"},
        {"step=1e99", "seconds"},
        {"step=10,skip=10", "'skip=10' leaves nothing of 'step=10'"},
        {"step=10,skip=4,length=7", "do not fit into 'step=10'"},
        {"step=10,rates=1:x", "'x' in 'rates='"},
        {"step=10,rates=1:-5", "'-5' in 'rates='"},
        {"step=10,warmup=1.5", "a whole number was expected"},
        {"step=10,start=yesterday", "'start=yesterday'"},
        {"step=10,speed=5", "start, step, skip, length, rates, warmup or count was expected"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fb_plan plan;
        struct fb_err err = {0};

        assert_int_equal(fb_plan_parse(bad[i].text, &plan, &err), FB_EUSAGE);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s: %s", bad[i].text, err.text);
    }
}

static const char wrk[] = "Running 20s test @ http://a/\n"
                          "  4000 requests in 20.00s, 1MB read\n"
                          "Requests/sec:    200.00\n"
                          "Running 2m test @ http://a/\n"
                          "  8000 requests in 20.00s, 1MB read\n"
                          "Requests/sec:    400.00\n";

static void a_plan_gives_times_to_what_has_none(void **state)
{
    struct fb_plan plan;
    struct fb_steps *steps = parse(wrk, "wrk.txt");
    struct fb_err err = {0};
    const struct fb_step *s = steps->items;

    (void)state;
    assert_int_equal(fb_plan_parse("start=+5,step=2m,skip=10,rates=200:400,warmup=1", &plan, &err),
                     FB_OK);
    assert_int_equal(fb_steps_plan(steps, &plan, 0, &err), FB_EUSAGE); /* no first sample */
    assert_int_equal(fb_steps_plan(steps, &plan, T0 * SECOND, &err), FB_OK);
    assert_int_equal(s[0].start_ns, (T0 + 5) * SECOND);
    assert_int_equal(s[1].load_start_ns, (T0 + 5 + 120 + 10) * SECOND);
    assert_int_equal(s[1].load_end_ns - s[1].load_start_ns, 20 * SECOND);
    assert_string_equal(s[0].name, "200 (warmup)");
    assert_string_equal(s[1].name, "400");
    assert_true(s[0].warmup && !s[1].warmup && s[1].offered == 400);
    fb_steps_free(steps);
}

static void a_plan_that_does_not_fit_is_refused(void **state)
{
    static const struct {
        const char *plan, *message;
    } bad[] = {
        {"start=1788725520,step=60,rates=1:2:3", "has 2 steps, the plan has 3 rates"},
        {"start=1788725520,step=60,count=1", "has 2 steps, the plan says 'count=1'"},
        {"step=60", "'start=TIME' was expected"},
    };
    struct fb_plan plan;
    struct fb_err err = {0};
    struct fb_steps *steps;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steps = parse(wrk, "wrk.txt");
        assert_int_equal(fb_plan_parse(bad[i].plan, &plan, &err), FB_OK);
        assert_int_equal(fb_steps_plan(steps, &plan, 0, &err), FB_EUSAGE);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s", err.text);
        fb_steps_free(steps);
    }
    steps = parse("offered\tstart\tend\n1\t1788725520\t1788725530\n", "t.tsv");
    assert_int_equal(fb_steps_plan(steps, &plan, T0 * SECOND, &err), FB_EUSAGE);
    assert_non_null(strstr(err.text, "has times of its own"));
    fb_steps_free(steps);
}

static void a_plan_alone_gives_steps(void **state)
{
    struct fb_plan plan;
    struct fb_steps *steps;
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(
        fb_plan_parse("start=1788725520,step=120,skip=5,length=110,rates=200:400", &plan, &err),
        FB_OK);
    assert_int_equal(fb_steps_of_plan(&plan, 0, &steps, &err), FB_OK);
    assert_int_equal(steps->count, 2);
    assert_true(steps->items[1].secs == 110 && isnan(steps->items[1].delivered));
    assert_int_equal(steps->items[1].load_end_ns, (T0 + 120 + 5 + 110) * SECOND);
    fb_steps_free(steps);
}

static void an_offset_moves_all_times_and_is_kept(void **state)
{
    static const struct {
        const char *text;
        double seconds; /* NAN: refused */
    } cases[] = {{"1.5", 1.5}, {"-250ms", -0.25}, {"2h", 7200},  {"+3", 3},        {"--3", NAN},
                 {"x", NAN},   {"", NAN},         {"1e12", NAN}, {"5 parsec", NAN}};
    struct fb_steps *steps = parse("offered\tstart\tend\n1\t1788725520\t1788725530\n", "t.tsv");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_err err = {0};
        double s = NAN;
        enum fb_status r = fb_steps_offset_parse(cases[i].text, &s, &err);

        assert_int_equal(r, isnan(cases[i].seconds) ? FB_EUSAGE : FB_OK);
        assert_true(r != FB_OK || s == cases[i].seconds);
    }
    fb_steps_clock_offset(steps, -2.5);
    assert_int_equal(steps->items[0].start_ns, T0 * SECOND - 5 * SECOND / 2);
    assert_int_equal(steps->items[0].load_end_ns, (T0 + 10) * SECOND - 5 * SECOND / 2);
    assert_true(steps->clock_offset_s == -2.5);
    fb_steps_free(steps);
}

/* ---- what the arm's CPU says ---- */

/* 440 s: four steps of 100 s that use 0.2, 0.4, 0.6, 0.8 cores, 10 s of nearly nothing before each;
 * noise of 5 %. */
static struct fb_profile *bank(void)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t id = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    double cpu = 0;

    for (int t = 0; t <= 440; t++) {
        size_t row = fb_profile_counter_row_add(p, (T0 + t) * SECOND);
        double noise = 1 + 0.05 * (t * 7919 % 21 - 10) / 10.0;

        p->counters.items[id].values[row] = (int64_t)(cpu * 1e9);
        cpu += (t % 110 < 10 ? 0.01 : 0.2 * (t / 110 + 1)) * noise;
    }
    p->has_times = true;
    p->first_ns = T0 * SECOND;
    p->last_ns = (T0 + 440) * SECOND;
    return p;
}

static struct fb_steps *ramp(int shift_s, int length_s)
{
    struct fb_buf text = {0};
    struct fb_steps *steps;

    fb_buf_puts(&text, "offered\tstart\tend\n");
    for (int k = 0; k < 4; k++)
        fb_buf_printf(&text, "%d\t%lld\t%lld\n", 100 * (k + 1),
                      (long long)T0 + shift_s + k * 110 + 10,
                      (long long)T0 + shift_s + k * 110 + 10 + length_s);
    steps = parse(text.data, "ramp.tsv");
    fb_buf_done(&text);
    return steps;
}

static void the_onset_of_the_cpu_tells_the_clocks_apart(void **state)
{
    static const int shifts[] = {0, 1, -1, 4, -6, 25, -40};
    struct fb_profile *p = bank();

    (void)state;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        struct fb_steps *steps = ramp(shifts[i], 100);
        int64_t start_ns = steps->items[0].start_ns;
        char *hint = fb_format("'--clock-offset %d.0'", -shifts[i]);

        fb_steps_onset_check(steps, p);
        assert_true(fabs(steps->onset_s + shifts[i]) <= 0.5);
        assert_int_equal(steps->items[0].start_ns, start_ns); /* never silently */
        if (abs(shifts[i]) > 1)
            assert_true(warned(steps, hint));
        else
            assert_int_equal(steps->warnings_count, 0);
        free(hint);
        fb_steps_free(steps);
    }
    fb_profile_free(p);
}

/* A JVM: 20 s of one core at its start, which reach 10 s into the warm-up; the rates that follow
 * cost little beside it. */
static void the_start_of_a_jvm_is_no_shift_of_its_clock(void **state)
{
    static const int shifts[] = {0, 6};

    (void)state;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        struct fb_profile *p = fb_profile_new();
        uint32_t id = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
        struct fb_buf text = {0};
        struct fb_steps *steps;
        double cpu = 0;

        for (int t = 0; t <= 170; t++) {
            static const double cores[] = {0.2, 0.05, 0.1, 0.15}; /* warm-up 10..40, 30 s each */
            size_t row = fb_profile_counter_row_add(p, (T0 + t) * SECOND);
            int k = (t - 10) / 30;

            p->counters.items[id].values[row] = (int64_t)(cpu * 1e9);
            cpu += t < 20 ? 1 : k < 4 ? cores[k] : 0.005;
        }
        p->has_times = true;
        p->first_ns = T0 * SECOND;
        p->last_ns = (T0 + 170) * SECOND;
        fb_buf_puts(&text, "offered\tstart\tend\twarmup\n");
        for (int k = 0; k < 4; k++)
            fb_buf_printf(&text, "%d\t%lld\t%lld\t%d\n", k == 0 ? 400 : 100 * k,
                          (long long)T0 + shifts[i] + 10 + 30 * k,
                          (long long)T0 + shifts[i] + 40 + 30 * k, k == 0);
        steps = parse(text.data, "jvm.tsv");
        fb_steps_onset_check(steps, p);
        assert_true(fabs(steps->onset_s + shifts[i]) <= 0.5);
        assert_int_equal(steps->warnings_count, shifts[i] != 0);
        fb_buf_done(&text);
        fb_steps_free(steps);
        fb_profile_free(p);
    }
}

static void a_flat_course_says_nothing_of_clocks(void **state)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t id = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    struct fb_steps *steps = ramp(30, 100);

    (void)state;
    for (int t = 0; t <= 440; t++) {
        size_t row = fb_profile_counter_row_add(p, (T0 + t) * SECOND);

        p->counters.items[id].values[row] = t * SECOND / 2 + (t * 7919 % 21) * 1000000;
    }
    p->has_times = true;
    p->first_ns = T0 * SECOND;
    p->last_ns = (T0 + 440) * SECOND;
    fb_steps_onset_check(steps, p);
    assert_true(isnan(steps->onset_s));
    assert_int_equal(steps->warnings_count, 0);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void times_of_another_zone_or_clock_get_a_hint(void **state)
{
    struct fb_profile *p = bank();
    struct fb_steps *steps = ramp(-7200, 100);
    char *hint = fb_steps_offset_hint(steps, p);

    (void)state;
    assert_non_null(strstr(hint, "'--clock-offset 7200', which is 2 h"));
    free(hint);
    fb_steps_free(steps);
    steps = ramp(-5000000, 100); /* nowhere near */
    hint = fb_steps_offset_hint(steps, p);
    assert_string_equal(hint, "");
    free(hint);
    p->wall_offset_ns = 5000000 * SECOND; /* but right by the monotonic clock */
    hint = fb_steps_offset_hint(steps, p);
    assert_non_null(strstr(hint, "monotonic clock: '--clock-offset 5000000.000'"));
    free(hint);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void a_clock_that_was_set_is_named(void **state)
{
    struct fb_profile *p = bank();
    uint32_t id = fb_profile_counter_put(p, "clock.wall_offset_ns", "ns", FB_COUNTER_GAUGE);
    struct fb_steps *steps = ramp(0, 100);

    (void)state;
    for (size_t row = 0; row < p->counters.rows; row++)
        p->counters.items[id].values[row] =
            1000 * SECOND + (int64_t)row * 100000 + (row >= 200 ? 2 * SECOND : 0);
    fb_steps_onset_check(steps, p);
    assert_int_equal(steps->warnings_count, 1);
    assert_true(warned(steps, "the host's clock was set by +2.000 s, 200 s into the profile"));
    fb_steps_free(steps);
    fb_profile_free(p);
}

/* ---- counters beside the run ---- */

static struct fb_side *side_of(const char *text, struct fb_err *err)
{
    struct fb_source *in = fb_source_of_bytes(text, strlen(text), "side.txt");
    struct fb_side *side = NULL;

    (void)fb_side_read(in, &side, err);
    fb_source_close(in);
    return side;
}

static void a_client_and_its_node_reach_the_record(void **state)
{
    struct fb_steps *steps = ramp(0, 100);
    struct fb_buf client = {0}, node = {0};
    struct fb_side *side;
    struct fb_err err = {0};
    const struct fb_step *s = steps->items;

    (void)state;
    fb_buf_puts(&client, "epoch pod usage_usec throttled_usec nr_throttled\n");
    for (long t = -5; t < 440; t += 10) { /* two pods, 0.5 and 0.25 cores, one throttled to 2 % */
        fb_buf_printf(&client, "%ld nh-1 %ld %ld 5\n", (long)T0 + t, 1000000 + (t + 5) * 500000,
                      (t + 5) * 20000);
        fb_buf_printf(&client, "%ld nh-2 %ld 0 0\n", (long)T0 + t, (t + 5) * 250000);
        for (int cpu = 0; cpu < 4; cpu++) /* busy to 75 %, a tenth of that softirq */
            fb_buf_printf(&node, "%ld cpu%d %.2f 10.0 %.3f 0.5 %.2f\n", (long)T0 + t, cpu,
                          (double)(t + 5) * 0.675, (double)(t + 5) * 0.075, (double)(t + 5) * 0.25);
    }
    assert_true(fb_side_sniff(client.data, client.len) && fb_side_sniff(node.data, node.len));
    assert_false(fb_steps_sniff(client.data, client.len) || fb_steps_sniff(node.data, node.len));
    side = side_of(client.data, &err);
    fb_side_apply(side, steps);
    fb_side_free(side);
    side = side_of(node.data, &err);
    fb_side_apply(side, steps);
    fb_side_free(side);
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabs(s[i].client_cpu_s - 75) < 1e-6);
        assert_true(fabs(s[i].client_throttled_s - 2) < 1e-6);
        assert_true(fabs(s[i].node_busy - 0.75) < 1e-6);
        assert_true(fabs(s[i].node_softirq - 0.075) < 1e-6);
    }
    fb_steps_judge(steps);
    assert_non_null(strstr(s[0].why, "the generator was throttled for 2.0 s"));
    fb_steps_free(steps);
    fb_buf_done(&client);
    fb_buf_done(&node);
}

static void what_a_side_file_does_not_cover_stays_unknown(void **state)
{
    struct fb_steps *steps = ramp(0, 100);
    struct fb_err err = {0};
    struct fb_side *side = side_of("1788725520 pod 0 0 0\n"
                                   "1788725600 pod 8000000 0 0\n" /* 70 s of the first step's 100 */
                                   "1788725640 pod 12000000 0 0\n"
                                   "1788725740 pod 5000000 0 0\n" /* restarted in the second */
                                   "178872\n",                    /* cut */
                                   &err);

    (void)state;
    fb_side_apply(side, steps);
    assert_true(fabs(steps->items[0].client_cpu_s - 10) < 1e-6);
    assert_true(isnan(steps->items[1].client_cpu_s) && isnan(steps->items[2].client_cpu_s));
    assert_true(warned(steps, "the client's counters: 1 lines are neither whole nor of that kind"));
    fb_side_free(side);
    fb_steps_free(steps);
    assert_null(side_of("1788725530 pod 1 1 1\n1788725520 pod 2 2 2\n", &err));
    assert_string_equal(err.text, "side.txt: line 2: the time of 'pod' is 10 s before that of its "
                                  "line before; rising times were expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_cannot_be_so_are_named),
        cmocka_unit_test(ramps_of_one_arm_are_joined_and_keep_their_source),
        cmocka_unit_test(a_plan_says_what_it_expects),
        cmocka_unit_test(a_plan_gives_times_to_what_has_none),
        cmocka_unit_test(a_plan_that_does_not_fit_is_refused),
        cmocka_unit_test(a_plan_alone_gives_steps),
        cmocka_unit_test(an_offset_moves_all_times_and_is_kept),
        cmocka_unit_test(the_onset_of_the_cpu_tells_the_clocks_apart),
        cmocka_unit_test(the_start_of_a_jvm_is_no_shift_of_its_clock),
        cmocka_unit_test(a_flat_course_says_nothing_of_clocks),
        cmocka_unit_test(times_of_another_zone_or_clock_get_a_hint),
        cmocka_unit_test(a_clock_that_was_set_is_named),
        cmocka_unit_test(a_client_and_its_node_reach_the_record),
        cmocka_unit_test(what_a_side_file_does_not_cover_stays_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A job log for each mistake that a published campaign had to correct (fixtures/joblog/traps.py):
 * what reading it says, and the mark of the step where one follows from the log by itself. */
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

#define TRAP(name) FB_FIXTURES "/joblog/traps/" name

static void side_apply(struct fb_steps *steps, const char *path)
{
    struct fb_source *in = NULL;
    struct fb_side *side = NULL;
    struct fb_err err = {0};

    if (!path)
        return;
    if (fb_source_open(path, &in, &err) != FB_OK || fb_side_read(in, &side, &err) != FB_OK)
        fail_msg("%s", err.text);
    fb_side_apply(side, steps);
    fb_side_free(side);
    fb_source_close(in);
}

static struct fb_steps *trap(const char *path, const char *client, const char *node)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_read(path, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    side_apply(steps, client);
    side_apply(steps, node);
    fb_steps_judge(steps);
    return steps;
}

static void a_clean_log_has_nothing(void **state)
{
    struct fb_steps *steps =
        trap(TRAP("clean.log"), TRAP("clean.client.txt"), TRAP("clean.node.txt"));

    (void)state;
    assert_int_equal(steps->count, 4);
    assert_int_equal(steps->warnings_count, 0);
    for (size_t i = 0; i < steps->count; i++) {
        assert_int_equal(steps->items[i].health, 0);
        assert_string_equal(steps->items[i].why, "");
        assert_true(fabs(steps->items[i].client_cpu_s - 33) < 0.1);
        assert_true(fabs(steps->items[i].node_busy - 0.6) < 0.001);
        assert_true(fabs(fb_step_ms_per_request(&steps->items[i]) - 1) < 1e-6);
    }
    fb_steps_free(steps);
}

static void each_trap_is_said_or_marked(void **state)
{
    static const struct {
        const char *path, *client, *node;
        size_t step; /* 0-based                          */
        uint32_t mark;
        const char *says; /* in a warning, or in its reasons */
    } traps[] = {
        {TRAP("T1.log"), NULL, NULL, 1, 0,
         "step 600: the load ran 110.0 s, its window is 111 s, the CPU counters span 171.0 s"},
        {TRAP("T2.log"), NULL, NULL, 1, FB_STEP_FIRST, "first step after the warm-up"},
        {TRAP("T3.log"), NULL, NULL, 0, FB_STEP_VOID, "every step of this log delivered 0"},
        {TRAP("T3.log"), NULL, NULL, 1, FB_STEP_VOID, "step 600 has no document of the generator"},
        {TRAP("T4.log"), NULL, NULL, 1, FB_STEP_RATE, "660.0/s were delivered of 600/s offered"},
        {TRAP("T6.log"), NULL, NULL, 0, 0, "line 1: 'metrics_before' is empty"},
        {TRAP("T6.log"), NULL, NULL, 1, 0, "line 50: 'metrics_after' is empty"},
        {TRAP("T7.log"), NULL, NULL, 1, 0,
         "throttled for 340.0 s in a window of 111 s: that time is summed over the CPUs"},
        {TRAP("T8.log"), NULL, NULL, 2, FB_STEP_SHED, "1.20 % of the offered load was not sent"},
        {TRAP("T9.log"), NULL, NULL, 2, FB_STEP_OVER, "past the knee"},
        {TRAP("T17-control-1.log"), NULL, NULL, 1, FB_STEP_EVENT, "throttled for 31.8 s"},
        {TRAP("T20.log"), NULL, NULL, 1, 0,
         "line 50: 'warmup' is not true or false; read as false"},
        {TRAP("T21.log"), NULL, NULL, 2, FB_STEP_VOID, "the log ends before the #NH-END"},
        {TRAP("T22.log"), TRAP("T22.client.txt"), NULL, 1, FB_STEP_CLIENT, "throttled for 13.2 s"},
        {TRAP("T23.log"), TRAP("T23.client.txt"), NULL, 1, FB_STEP_CLIENT, "throttled for 4.4 s"},
        {TRAP("T24.log"), NULL, TRAP("T24.node.txt"), 0, FB_STEP_NODE, "the node was busy to 100"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        struct fb_steps *steps = trap(traps[i].path, traps[i].client, traps[i].node);
        const struct fb_step *s = &steps->items[traps[i].step];
        bool said = strstr(s->why, traps[i].says) != NULL;

        for (size_t w = 0; w < steps->warnings_count; w++)
            said = said || strstr(steps->warnings[w], traps[i].says) != NULL;
        if (!said || (s->health & traps[i].mark) != traps[i].mark)
            fail_msg("%s: '%s' is not said, or the mark is missing: %s", traps[i].path,
                     traps[i].says, s->why);
        fb_steps_free(steps);
    }
}

static void what_is_missing_is_not_zero(void **state)
{
    struct fb_steps *steps = trap(TRAP("T6.log"), NULL, NULL);
    const struct fb_step *s = steps->items;

    (void)state;
    assert_true(isnan(s[0].cpu_s) && isnan(s[0].throttled_s) && !isnan(s[0].rss_bytes));
    assert_true(isnan(s[1].cpu_s) && isnan(s[1].rss_bytes) && !isnan(s[1].heap_bytes));
    assert_true(s[0].not_sent == 0 && s[1].not_sent == 0); /* a zero counter is left out */
    assert_true(isnan(s[0].client_cpu_s) && isnan(s[0].node_busy));
    assert_true(isnan(fb_step_ms_per_request(&s[0])) && !isnan(fb_step_ms_per_request(&s[2])));
    fb_steps_free(steps);
    steps = trap(TRAP("T3.log"), NULL, NULL);
    s = steps->items;
    assert_true(s[0].delivered == 0 && isnan(s[1].delivered) && isnan(s[0].p99_s));
    fb_steps_free(steps);
}

static void a_word_is_no_truth(void **state)
{
    struct fb_steps *steps = trap(TRAP("T20.log"), NULL, NULL);

    (void)state;
    for (size_t i = 0; i < steps->count; i++)
        assert_false(steps->items[i].warmup);
    fb_steps_free(steps);
}

/* A client that spins uses the same at every rate: only its throttling tells. */
static void usage_and_throttling_of_the_client_are_apart(void **state)
{
    struct fb_steps *steps = trap(TRAP("T23.log"), TRAP("T23.client.txt"), NULL);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(steps->items[i].client_cpu_s - 110) < 0.1);
    assert_true(steps->items[0].client_throttled_s < 0.7);
    assert_true(steps->items[2].client_throttled_s > 4);
    fb_steps_free(steps);
}

/* Numbers as tools write them when something went wrong: nothing may pass for a value. */
static void numbers_that_cannot_be_are_named(void **state)
{
    static const struct {
        const char *header, *says;
    } bad[] = {
        {"{\"rps\": -5}", "line 1: #NH-STEP has no 'rps' that is a number from 0"},
        {"{\"rps\": NaN}", "line 1: a JSON object was expected after #NH-STEP"},
        {"{\"rps\": 1e400}", "line 1: "},
        {"{\"rps\": \"3,5\"}", "no 'rps' that is a number"},
        {"{\"rps\": 5, \"start\": 9, \"end\": 3}", "'start' and 'end' are not two epoch times"},
        {"{\"rps\": 5, \"start\": 1e18, \"end\": 2e18}", "'start' and 'end' are not two epoch"},
        {"[1]", "has no 'rps'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text =
            fb_format("#NH-STEP %s\n#NH-END\n#NH-STEP {\"rps\": 7}\n#NH-END\n", bad[i].header);
        struct fb_steps *steps = NULL;
        struct fb_err err = {0};
        bool said = false;

        assert_int_equal(fb_steps_parse(text, strlen(text), "bad.log", &steps, &err), FB_OK);
        for (size_t w = 0; w < steps->warnings_count; w++)
            said = said || strstr(steps->warnings[w], bad[i].says);
        if (!said)
            fail_msg("%s: %s", bad[i].header, steps->warnings_count ? steps->warnings[0] : "none");
        fb_steps_free(steps);
        free(text);
    }
}

static void a_warm_up_is_what_the_header_says(void **state)
{
    static const struct {
        const char *value;
        bool warmup, warned;
    } values[] = {{"true", true, false},      {"false", false, false}, {"\"true\"", true, true},
                  {"\"false\"", false, true}, {"1", true, true},       {"0", false, true},
                  {"\"yes\"", false, true},   {"null", false, true}};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *text = fb_format("#NH-STEP {\"rps\": 7, \"warmup\": %s}\n#NH-END\n", values[i].value);
        struct fb_steps *steps = NULL;
        struct fb_err err = {0};
        bool warned = false;

        assert_int_equal(fb_steps_parse(text, strlen(text), "w.log", &steps, &err), FB_OK);
        for (size_t w = 0; w < steps->warnings_count; w++)
            warned = warned || strstr(steps->warnings[w], "'warmup' is not true or false");
        assert_true(steps->items[0].warmup == values[i].warmup && warned == values[i].warned);
        fb_steps_free(steps);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_log_has_nothing),
        cmocka_unit_test(each_trap_is_said_or_marked),
        cmocka_unit_test(what_is_missing_is_not_zero),
        cmocka_unit_test(a_word_is_no_truth),
        cmocka_unit_test(usage_and_throttling_of_the_client_are_apart),
        cmocka_unit_test(numbers_that_cannot_be_are_named),
        cmocka_unit_test(a_warm_up_is_what_the_header_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* One table: rows of a run, the marks that each must have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/steps.h"

#define HEAD "offered\tsecs\twarmup\tdelivered\tknee_per_s\tp99_ms\tthrottled_s\theap_mb\trss_mb\n"

static const struct {
    const char *rows, *health; /* health of the steps, '|' between */
} cases[] = {
    /* the warm-up, the first step behind it, a healthy one */
    {"200\t110\t1\t188\t12\t900\t80\t60\t300\n"
     "400\t110\t0\t400\t0\t10\t0\t60\t300\n"
     "600\t110\t0\t600\t0\t11\t0\t60\t300\n",
     "WARMUP|FIRST|healthy"},
    /* without a warm-up no step is the first after one */
    {"400\t110\t0\t400\t0\t10\t0\t60\t300\n", "healthy"},
    /* not sent: 0.1 % is the knee, 2 % the end of a verdict */
    {"1000\t110\t0\t999\t1\t10\t0\t60\t300\n"
     "1001\t110\t0\t999\t1.1\t11\t0\t60\t300\n"
     "1002\t110\t0\t982\t20\t12\t0\t60\t300\n"
     "1003\t110\t0\t982\t20.2\t13\t0\t60\t300\n",
     "healthy|SHED|SHED|OVER"},
    /* nobody counted what was not sent: told from what was delivered */
    {"1000\t110\t0\t996\t\t10\t\t\t\n"
     "1001\t110\t0\t990\t\t10\t\t\t\n"
     "1002\t110\t0\t900\t\t10\t\t\t\n",
     "healthy|SHED|OVER"},
    /* nothing delivered; more delivered than offered */
    {"400\t110\t0\t0\t0\t10\t0\t60\t300\n"
     "600\t110\t0\t602\t0\t11\t0\t60\t300\n"
     "800\t110\t0\t805\t0\t11\t0\t60\t300\n",
     "VOID|healthy|RATE"},
    /* the campaign's sick step: throttled and a p99 that its neighbours do not have */
    {"2000\t110\t0\t2000\t0.1\t50.53\t0.2\t18\t136\n"
     "2400\t110\t0\t2399.7\t0.3\t1274.61\t9.0\t18\t137\n"
     "2800\t110\t0\t2799.9\t0.1\t139.11\t0.3\t18\t138\n",
     "healthy|EVENT, INVERSION|healthy"},
    /* throttled alone is the ramp, p99 alone an inversion */
    {"2000\t110\t0\t2000\t0\t50\t0\t18\t136\n"
     "2400\t110\t0\t2400\t0\t60\t9\t18\t136\n"
     "2800\t110\t0\t2800\t0\t140\t1\t18\t136\n",
     "healthy|healthy|healthy"},
    {"2000\t110\t0\t2000\t0\t50\t0\t18\t136\n"
     "2400\t110\t0\t2400\t0\t500\t9\t18\t136\n"
     "2800\t110\t0\t2800\t0\t55\t4\t18\t136\n",
     "healthy|INVERSION|healthy"},
    {"2000\t110\t0\t2000\t0\t50\t0\t18\t136\n"
     "2400\t110\t0\t2400\t0\t500\t9\t18\t136\n"
     "2800\t110\t0\t2800\t0\t400\t1\t18\t136\n",
     "healthy|healthy|healthy"},
    {"2000\t110\t0\t2000\t0\t50\t0\t18\t136\n"
     "2400\t110\t0\t2400\t0\t120\t1\t18\t136\n"
     "2800\t110\t0\t2800\t0\t55\t1\t18\t136\n",
     "healthy|INVERSION|healthy"},
    /* past the knee latency is the client's queue: no neighbour to compare with */
    {"2000\t110\t0\t2000\t0\t50\t0\t18\t136\n"
     "2400\t110\t0\t2400\t0\t120\t1\t18\t136\n"
     "2800\t110\t0\t2500\t300\t55\t1\t18\t136\n",
     "healthy|healthy|OVER"},
    /* drops in the middle of a ramp */
    {"3600\t110\t0\t3600\t0.2\t180\t0\t30\t158\n"
     "4000\t110\t0\t3959\t40.6\t190\t0\t30\t158\n"
     "4400\t110\t0\t4400\t0.2\t200\t0\t30\t158\n",
     "healthy|SHED, INVERSION|healthy"},
    /* steps that go down the ramp contradict nothing */
    {"2800\t110\t0\t2800\t0\t50\t0\t18\t136\n"
     "2400\t110\t0\t2400\t0\t120\t1\t18\t136\n"
     "2000\t110\t0\t2000\t0\t55\t1\t18\t136\n",
     "healthy|healthy|healthy"},
    /* memory is a note */
    {"400\t110\t0\t400\t0\t10\t0\t20\t100\n"
     "600\t110\t0\t600\t0\t11\t0\t31\t100\n"
     "800\t110\t0\t800\t0\t11\t0\t31\t121\n",
     "healthy|MEMORY|MEMORY"},
    {"400\t29\t0\t400\t0\t10\t0\t20\t100\n", "SHORT"},
    {"400\t29.97\t0\t400\t0\t10\t0\t20\t100\n", "healthy"}, /* 30 s were asked for */
};

static struct fb_steps *parse(const char *head, const char *rows)
{
    char *text = fb_format("%s%s", head, rows);
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_parse(text, strlen(text), "t", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(text);
    return steps;
}

static void a_run_has_the_marks_of_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_steps *steps = parse(HEAD, cases[i].rows);
        struct fb_buf marks = {0};

        fb_steps_judge(steps);
        fb_steps_judge(steps); /* a second time changes nothing */
        for (size_t k = 0; k < steps->count; k++) {
            if (k > 0)
                fb_buf_putc(&marks, '|');
            fb_step_health_text(steps->items[k].health, &marks);
            assert_int_equal(steps->items[k].health == 0, *steps->items[k].why == '\0');
        }
        if (strcmp(marks.data, cases[i].health) != 0)
            fail_msg("%s\nexpected %s\ngot      %s", cases[i].rows, cases[i].health, marks.data);
        fb_buf_done(&marks);
        fb_steps_free(steps);
    }
}

static void the_last_step_of_a_ramp_is_only_warned_about(void **state)
{
    struct fb_steps *steps = parse(HEAD, "2000\t110\t0\t2000\t0\t41\t1.5\t29\t188\n"
                                         "3000\t110\t0\t2855\t144.5\t4130\t31.8\t62\t233\n");

    (void)state;
    fb_steps_judge(steps);
    fb_steps_judge(steps);
    assert_false(steps->items[1].health & FB_STEP_EVENT);
    assert_int_equal(steps->warnings_count, 1);
    assert_non_null(strstr(steps->warnings[0], "step 3000 is the last and looks like an event"));
    fb_steps_free(steps);
}

struct state_case {
    size_t offset;
    double value;
    uint32_t mark; /* 0: none */
};

#define FIELD(field) offsetof(struct fb_step, field)

static const struct state_case states[] = {
    {FIELD(node_busy), 0.95, 0},
    {FIELD(node_busy), 0.951, FB_STEP_NODE},
    {FIELD(client_throttled_s), 1.1, 0},
    {FIELD(client_throttled_s), 1.11, FB_STEP_CLIENT},
    {FIELD(sent), 109451, 0}, /* of 110,000 */
    {FIELD(sent), 109440, FB_STEP_CLIENT},
    {FIELD(yield), 0.901, 0},
    {FIELD(yield), 0.899, FB_STEP_YIELD},
    {FIELD(yield), 1.099, 0},
    {FIELD(yield), 1.11, FB_STEP_YIELD},
    {FIELD(speed_change), 0.15, 0},
    {FIELD(speed_change), 0.16, FB_STEP_UNSTEADY},
    {FIELD(cpu_se), 0.02, 0},
    {FIELD(cpu_se), 0.021, FB_STEP_UNSTEADY},
    {FIELD(uptime_after_s), 99, FB_STEP_VOID},
    {FIELD(uptime_after_s), 100, 0},
};

static void a_value_past_its_threshold_is_marked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct fb_steps *steps = parse(HEAD, "1000\t110\t0\t1000\t0\t10\t0\t60\t300\n");
        struct fb_step *s = &steps->items[0];

        s->samples = 10000;
        s->sample_cpu_s = 100;
        s->uptime_before_s = 100;
        *(double *)(void *)((char *)s + states[i].offset) = states[i].value;
        fb_steps_judge(steps);
        if (s->health != states[i].mark)
            fail_msg("row %zu: %s", i, s->why);
        fb_steps_free(steps);
    }
}

static void few_samples_may_scatter_further_before_the_yield_is_marked(void **state)
{
    struct fb_steps *steps = parse(HEAD, "1000\t110\t0\t1000\t0\t10\t0\t60\t300\n");
    struct fb_step *s = &steps->items[0];

    (void)state;
    s->samples = 90;
    s->sample_cpu_s = 0.9;
    s->yield = 0.75; /* 120 were due: 3 / sqrt(120) is 0.27 */
    fb_steps_judge(steps);
    assert_int_equal(s->health, 0);
    s->yield = 0.7;
    fb_steps_judge(steps);
    assert_int_equal(s->health, FB_STEP_YIELD);
    fb_steps_free(steps);
}

static void a_drift_is_marked_only_where_it_matters(void **state)
{
    struct fb_steps *steps = parse(HEAD, "1000\t110\t0\t1000\t0\t10\t0\t60\t300\n");
    struct fb_step *s = &steps->items[0];

    (void)state;
    s->cpu_lag1 = 0.8;
    s->cpu_se = 0.005;
    fb_steps_judge(steps);
    assert_int_equal(s->health, 0);
    s->cpu_se = 0.015;
    fb_steps_judge(steps);
    assert_int_equal(s->health, FB_STEP_UNSTEADY);
    fb_steps_free(steps);
}

static void a_mark_of_the_caller_joins_the_sentences(void **state)
{
    struct fb_steps *steps = parse(HEAD, "1000\t10\t0\t1000\t0\t10\t0\t60\t300\n");
    struct fb_step *s = &steps->items[0];

    (void)state;
    fb_steps_judge(steps);
    fb_step_mark(s, FB_STEP_GC, "%.1f %% JIT+GC", 27.4);
    assert_int_equal(s->health, FB_STEP_GC | FB_STEP_SHORT);
    assert_string_equal(s->why, "its window is 10.0 s, under 30 s; 27.4 % JIT+GC");
    assert_string_equal(fb_step_health_word(FB_STEP_GC), "GC");
    fb_steps_free(steps);
}

/* The cost of a request falls along a ramp: a step that is dearer than both its neighbours served
 * something else; one that is dearer than the next alone is the ramp. */
static void a_step_that_is_dearer_than_its_neighbours_is_named(void **state)
{
    static const char head[] = "offered\tsecs\tdelivered\tknee_per_s\tcpu_ms_per_req\n";
    struct fb_steps *steps = parse(head, "400\t110\t400\t0\t1.5\n"
                                         "600\t110\t600\t0\t1.66\n"
                                         "800\t110\t800\t0\t1.2\n"
                                         "1000\t110\t1000\t0\t1.0\n");

    (void)state;
    fb_steps_judge(steps);
    assert_int_equal(steps->items[0].health, 0);
    assert_int_equal(steps->items[1].health, FB_STEP_INVERSION);
    assert_string_equal(steps->items[1].why,
                        "1.660 ms of CPU per request, and 1.500 below it, 1.200 above it: other "
                        "load may have been served");
    assert_int_equal(steps->items[2].health, 0);
    steps->items[1].cpu_s *= 1.64 / 1.66; /* under a tenth dearer than the one below */
    fb_steps_judge(steps);
    assert_int_equal(steps->items[1].health, 0);
    fb_steps_free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_is_dearer_than_its_neighbours_is_named),
        cmocka_unit_test(a_run_has_the_marks_of_the_rules),
        cmocka_unit_test(the_last_step_of_a_ramp_is_only_warned_about),
        cmocka_unit_test(a_value_past_its_threshold_is_marked),
        cmocka_unit_test(few_samples_may_scatter_further_before_the_yield_is_marked),
        cmocka_unit_test(a_drift_is_marked_only_where_it_matters),
        cmocka_unit_test(a_mark_of_the_caller_joins_the_sentences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

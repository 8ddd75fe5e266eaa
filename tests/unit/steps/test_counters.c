/* Steps from a bank's marks, and what its counters and samples add to a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steps/steps.h"

#define SECOND INT64_C(1000000000)
#define T0     (INT64_C(1788725520) * SECOND)

/* A JVM's heap after its collections: it grows to second 20 and falls. */
static void add_heap(struct fb_profile *p)
{
    uint32_t id = fb_profile_counter_put(p, "jvm.heap_at_gc_bytes", "bytes", FB_COUNTER_GAUGE);

    for (size_t row = 5; row < p->counters.rows; row++) /* the JVM came later */
        p->counters.items[id].values[row] = row <= 20 ? (int64_t)row << 20 : 1 << 20;
    fb_profile_manifest_set(p, "jvm.heap_max_bytes", "268435456");
}

/* 60 s at 0.5 cores; the group has `others` more; the node is busy to 60 %; the spin takes 200 us,
 * from second 40 on 240 us, and 900 us once (a disturbed read); a sample every 20 ms of CPU. */
static struct fb_profile *bank(int64_t others_ns)
{
    static const char *const names[] = {
        "process.cpu_ns", "cgroup.cpu_ns",   "cgroup.throttled_ns", "node.busy_ns",
        "node.idle_ns",   "machine.spin_ns", "process.rss_bytes",   "cgroup.memory_bytes"};
    struct fb_profile *p = fb_profile_new();
    uint32_t id[8];

    for (int i = 0; i < 8; i++)
        id[i] = fb_profile_counter_put(p, names[i], "",
                                       i < 5 ? FB_COUNTER_CUMULATIVE : FB_COUNTER_GAUGE);
    for (int64_t t = 0; t <= 60; t++) {
        size_t row = fb_profile_counter_row_add(p, T0 + t * SECOND);
        int64_t values[8] = {t * SECOND / 2,   t * (SECOND / 2 + others_ns),
                             t * SECOND / 100, t * SECOND * 6,
                             t * SECOND * 4,   t == 10 ? 900000 : t < 40 ? 200000 : 240000,
                             1000 + t,         2000 + t};

        for (int i = 0; i < 8; i++)
            p->counters.items[id[i]].values[row] = values[i];
    }
    for (int64_t i = 0; i < 3000; i++)
        fb_profile_sample_add(p, T0 + i * SECOND / 50, 0, FB_STACK_ROOT, i % 2 ? 1 : 3);
    p->interval_ns = 5000000;
    p->has_times = true;
    p->first_ns = T0;
    p->last_ns = T0 + 60 * SECOND;
    return p;
}

static void mark(struct fb_profile *p, const char *name, int64_t second, uint8_t flags,
                 double offered)
{
    struct fb_mark m = {fb_strings_put_z(&p->strings, name), T0 + second * SECOND, flags, offered};

    fb_profile_mark_add(p, &m);
}

static void a_mark_lasts_to_its_end_to_the_next_or_to_the_profiles(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps;
    const struct fb_step *s;

    (void)state;
    assert_null(fb_steps_of_profile(p, "x.fbank"));
    mark(p, "warm", 0, FB_MARK_WARMUP, 100);
    mark(p, "a", 10, 0, 200);
    mark(p, "a", 18, FB_MARK_END, NAN);
    mark(p, "b", 20, 0, NAN);
    mark(p, "never", 25, FB_MARK_END, NAN);
    mark(p, "late", 70, 0, NAN);
    steps = fb_steps_of_profile(p, "x.fbank");
    s = steps->items;
    assert_string_equal(steps->source, "marks of x.fbank");
    assert_int_equal(steps->count, 3);
    assert_true(s[0].warmup && s[0].secs == 10 && s[0].offered == 100);
    assert_string_equal(s[1].name, "a");
    assert_true(!s[1].warmup && s[1].secs == 8 && s[1].start_ns == T0 + 10 * SECOND);
    assert_true(isnan(s[2].offered) && s[2].end_ns == p->last_ns + 1);
    assert_int_equal(steps->warnings_count, 2);
    assert_string_equal(steps->warnings[0],
                        "mark 'late' is not before the end of the profile: left out");
    assert_string_equal(steps->warnings[1],
                        "the end of step 'never' is marked and its beginning is not");
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void the_last_mark_takes_the_last_sample_in(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps;

    (void)state;
    mark(p, "only", 50, 0, NAN);
    fb_profile_sample_add(p, p->last_ns, 0, FB_STACK_ROOT, 1);
    steps = fb_steps_of_profile(p, "x.fbank");
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(steps->items[0].samples == 501);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static struct fb_steps *window(const char *cells);

static void a_jvms_heap_is_that_of_its_collections_unless_the_source_says_one(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps = window("1788725530\t1788725545\t100\t\t100\n"), *plain;

    (void)state;
    add_heap(p);
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(steps->items[0].heap_bytes == 20 << 20);
    assert_true(steps->items[0].heap_max_bytes == 256 << 20);
    fb_steps_free(steps);
    steps = window("1788725530\t1788725545\t100\t\t100\n");
    steps->items[0].heap_bytes = 7;
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(steps->items[0].heap_bytes == 7);
    fb_steps_free(steps);
    fb_profile_free(p);
    p = bank(0); /* no JVM */
    plain = window("1788725530\t1788725545\t100\t\t100\n");
    assert_int_equal(fb_steps_add_counters(plain, p), 1);
    assert_true(isnan(plain->items[0].heap_bytes) && isnan(plain->items[0].heap_max_bytes));
    fb_steps_free(plain);
    fb_profile_free(p);
}

static struct fb_steps *window(const char *cells)
{
    char text[300] = "start\tend\toffered\tcpu_s\tdelivered\n";
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    strcat(text, cells);
    if (fb_steps_parse(text, strlen(text), "t", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    return steps;
}

static void a_step_takes_what_it_lacks_from_the_counters(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps = window("1788725530\t1788725540.5\t100\t\t100\n");
    const struct fb_step *s = steps->items;

    (void)state;
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(fabs(s->cpu_s - 5.25) < 1e-9 && s->cpu_span_s == 10.5);
    assert_string_equal(s->cpu_source, "cgroup");
    assert_true(fabs(fb_step_ms_per_request(s) - 5) < 1e-9);
    assert_true(fabs(s->throttled_s - 0.105) < 1e-9 && fabs(s->node_busy - 0.6) < 1e-9);
    assert_true(s->rss_bytes == 2020);
    /* 525 samples of mean weight 2, 5 ms each: 5.25 s of CPU */
    assert_true(s->samples == 525 && fabs(s->sample_cpu_s - 5.255) < 1e-9);
    assert_true(fabs(s->yield - 5.255 / 5.25) < 1e-9);
    assert_true(s->speed_change == 0); /* the one disturbed read is no move */
    assert_true(isnan(s->cpu_se));     /* 10 rows say nothing about the course */
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void a_group_that_others_share_is_not_charged(void **state)
{
    struct fb_profile *p = bank(20000000); /* 4 % of the process */
    struct fb_steps *steps = window("1788725530\t1788725540\t100\t\t\n");

    (void)state;
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(fabs(steps->items[0].cpu_s - 5) < 1e-9);
    assert_string_equal(steps->items[0].cpu_source, "process");
    assert_true(steps->items[0].rss_bytes == 1020);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void what_the_source_says_stays(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps = window("1788725530\t1788725540\t100\t7\t\n"
                                    "1788735530\t1788735540\t100\t7\t\n");

    (void)state;
    assert_int_equal(fb_steps_add_counters(steps, p), 1); /* the second lies outside */
    assert_true(steps->items[0].cpu_s == 7 && isnan(steps->items[1].samples));
    assert_string_equal(steps->items[0].cpu_source, "table");
    assert_true(fabs(steps->items[0].yield - 5.0 / 5.0) < 1e-9);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void a_move_of_the_machines_speed_is_seen(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps = window("1788725520\t1788725580\t100\t\t\n");
    struct fb_step *s = steps->items;

    (void)state;
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(fabs(s->speed_change - 0.2) < 1e-9);
    fb_steps_judge(steps);
    assert_true(s->health == FB_STEP_UNSTEADY);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void the_course_of_the_cpu_is_told_from_batches(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_counter *cpu = &p->counters.items[0];
    struct fb_steps *steps = window("1788725520\t1788725560\t100\t\t\n");
    struct fb_step *s = steps->items;

    (void)state;
    for (int64_t t = 20; t <= 60; t++) /* 0.5 cores for 20 s, then 0.6 */
        cpu->values[t] += (t - 20) * SECOND / 10;
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    /* batches of 8 s: 0.5 0.5 0.55 0.6 0.6, mean 0.55, sd 0.05, SE 0.05 / sqrt(5) */
    assert_true(fabs(s->cpu_se - 0.05 / sqrt(5) / 0.55) < 1e-9);
    /* 40 rates of +-d: 38 products d^2 and one -d^2 over 40 d^2 */
    assert_true(fabs(s->cpu_lag1 - 37.0 / 40) < 1e-9);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void the_whole_run_is_one_step(void **state)
{
    struct fb_profile *p = bank(0), *folded = fb_profile_new();
    struct fb_steps *steps = fb_steps_whole(p, "x.fbank");

    (void)state;
    fb_profile_sample_add(p, p->last_ns, 0, FB_STACK_ROOT, 1); /* a window leaves its end out */
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    assert_true(steps->items[0].samples == 3001);
    fb_steps_free(steps);
    fb_profile_sample_add(folded, 0, 0, FB_STACK_ROOT, 70);
    folded->rows_merged = 1;
    steps = fb_steps_whole(folded, "x.folded");
    assert_int_equal(fb_steps_add_counters(steps, folded), 1);
    assert_true(steps->items[0].samples == 70 && isnan(steps->items[0].yield));
    assert_int_equal(steps->items[0].load_start_ns, 0);
    fb_steps_free(steps);
    fb_profile_free(folded);
    fb_profile_free(p);
}

/* Samples for the second before the first row: their CPU is in no growth of a counter. */
static void a_yield_holds_the_counters_own_span_only(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps;
    const struct fb_step *s;

    (void)state;
    for (int64_t i = 1; i <= 50; i++)
        fb_profile_sample_add(p, T0 - i * SECOND / 50, 0, FB_STACK_ROOT, 2);
    p->first_ns = T0 - SECOND;
    steps = fb_steps_whole(p, "x.fbank");
    fb_steps_add_counters(steps, p);
    s = steps->items;
    assert_true(s->samples == 3050 && fabs(s->sample_cpu_s - 30.5) < 1e-9);
    assert_true(fabs(s->yield - 1) < 1e-9);
    assert_true(fabs(s->cpu_span_s - 60) < 1e-9 && fabs(s->cpu_s - 30) < 1e-9);
    assert_true(isnan(fb_step_ms_per_request(s)) && fabs(fb_step_cores(s) - 0.5) < 1e-9);
    fb_steps_free(steps);
    fb_profile_free(p);
}

/* A program of under a second: one row says nothing of its CPU, and not that the group is its own.
 */
static void one_row_of_counters_is_no_cpu_time(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps;
    const struct fb_step *s;

    (void)state;
    p->counters.rows = 1;
    p->samples.count = 50;
    p->last_ns = T0 + SECOND;
    steps = fb_steps_whole(p, "x.fbank");
    fb_steps_add_counters(steps, p);
    s = steps->items;
    assert_true(isnan(s->cpu_s) && isnan(s->yield) && isnan(fb_step_cores(s)));
    assert_true(s->rss_bytes == 1000 && !s->cpu_source);
    fb_steps_free(steps);
    fb_profile_free(p);
}

static void event(struct fb_profile *p, int64_t second, uint8_t kind)
{
    fb_profile_event_add(p,
                         &(struct fb_sampler_event){.time_ns = T0 + second * SECOND, .kind = kind});
}

/* Seconds 30 to 50 without samples: as the sampler leaves them while it is paused. */
static void a_yield_leaves_out_what_was_paused(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps;
    const struct fb_step *s;

    (void)state;
    for (size_t i = 1500; i < 2500; i++)
        p->samples.weight[i] = 0;
    event(p, 30, FB_EVENT_PAUSED);
    event(p, 50, FB_EVENT_RESUMED);
    mark(p, "half", 20, 0, NAN);
    mark(p, "none", 40, 0, NAN);
    mark(p, "all", 48, 0, NAN);
    mark(p, "all", 58, FB_MARK_END, NAN);
    steps = fb_steps_of_profile(p, "x.fbank");
    assert_int_equal(fb_steps_add_counters(steps, p), 3);
    s = steps->items;
    assert_true(fabs(s[0].yield - 1) < 0.01 && fabs(s[0].cpu_s - 10) < 0.01);
    assert_true(isnan(s[1].yield)); /* there is nothing to compare */
    assert_true(fabs(s[2].yield - 1) < 0.01);
    assert_int_equal(steps->warnings_count, 3);
    assert_string_equal(steps->warnings[0], "step half: the sampler was paused for 10.0 s of its "
                                            "20.0 s: its samples are of the rest");
    fb_steps_free(steps);
    fb_profile_free(p);
}

static bool is_measured(const struct fb_profile *p, const struct fb_step *s, struct fb_coverage *c)
{
    struct fb_sampled *sampled = fb_sampled_new(p);
    bool is = fb_coverage_measure(p, sampled, s, c);

    fb_sampled_free(sampled);
    return is;
}

/* charged = sampled + sampler + others + unexplained, over the span of the counters. */
static void the_account_of_a_step_adds_up(void **state)
{
    struct fb_profile *p = bank(SECOND / 4);
    struct fb_steps *steps = window("1788725530\t1788725540\t100\t\t1000\n");
    struct fb_coverage c;

    (void)state;
    assert_true(is_measured(p, &steps->items[0], &c));
    assert_true(c.is_group && c.span_s == 10);
    assert_true(fabs(c.charged_s - 7.5) < 1e-9 && fabs(c.others_s - 2.5) < 1e-9);
    assert_true(fabs(c.sampled_s - 5) < 1e-9); /* 500 samples that weigh 2 on average, of 5 ms */
    assert_true(fabs(c.charged_s - c.sampled_s - c.sampler_s - c.others_s - c.unexplained_s) <
                1e-9);
    p->samples.count /=
        3; /* samples of the last 40 s are lost: the step has its own all the same */
    assert_true(is_measured(p, &steps->items[0], &c));
    assert_true(fabs(c.unexplained_s) < 1e-9);
    p->samples.count = 750; /* and of a half of the step */
    assert_true(is_measured(p, &steps->items[0], &c));
    assert_true(fabs(c.unexplained_s - 2.5) < 1e-9);
    p->interval_ns = 0; /* of weights without a unit nothing follows */
    assert_false(is_measured(p, &steps->items[0], &c));
    fb_steps_free(steps);
    fb_profile_free(p);
}

/* Two sources of the arm's CPU time are held against each other. */
static void a_log_that_says_another_cpu_time_than_the_bank_is_named(void **state)
{
    struct fb_profile *p = bank(0);
    struct fb_steps *steps = NULL;
    static const char text[] = "start\tend\toffered\tdelivered\tcpu_s\tcpu_span_s\n"
                               "1788725530\t1788725540\t100\t100\t5.1\t10\n"
                               "1788725540\t1788725550\t200\t200\t7\t10\n"
                               "1788725550\t1788725560\t300\t300\t7\t30\n";
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_steps_parse(text, sizeof text - 1, "t", &steps, &err), FB_OK);
    fb_steps_add_counters(steps, p);
    assert_true(fabs(steps->items[0].bank_cpu_s - 5) < 1e-9);
    assert_true(isnan(steps->items[2].bank_cpu_s)); /* its counters span something else */
    assert_int_equal(steps->warnings_count, 2);     /* the other: three spans that differ */
    assert_string_equal(steps->warnings[1],
                        "step 200: its source says 7.00 s of CPU, the bank 5.00 s of its control "
                        "group, -28.6 %: ms per request is by the source");
    fb_steps_free(steps);
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_account_of_a_step_adds_up),
        cmocka_unit_test(a_log_that_says_another_cpu_time_than_the_bank_is_named),
        cmocka_unit_test(a_mark_lasts_to_its_end_to_the_next_or_to_the_profiles),
        cmocka_unit_test(the_last_mark_takes_the_last_sample_in),
        cmocka_unit_test(a_step_takes_what_it_lacks_from_the_counters),
        cmocka_unit_test(a_jvms_heap_is_that_of_its_collections_unless_the_source_says_one),
        cmocka_unit_test(a_group_that_others_share_is_not_charged),
        cmocka_unit_test(what_the_source_says_stays),
        cmocka_unit_test(a_move_of_the_machines_speed_is_seen),
        cmocka_unit_test(the_course_of_the_cpu_is_told_from_batches),
        cmocka_unit_test(the_whole_run_is_one_step),
        cmocka_unit_test(a_yield_holds_the_counters_own_span_only),
        cmocka_unit_test(one_row_of_counters_is_no_cpu_time),
        cmocka_unit_test(a_yield_leaves_out_what_was_paused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

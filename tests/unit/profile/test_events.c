#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

#define SECOND INT64_C(1000000000)

static struct fb_profile *with_events(const uint8_t *kinds, const int64_t *seconds, size_t n)
{
    struct fb_profile *p = fb_profile_new();

    p->interval_ns = 10000000;
    p->has_times = true;
    p->run_id = p->writer_id = 1;
    for (size_t i = 0; i < n; i++)
        fb_profile_event_add(p, &(struct fb_sampler_event){.time_ns = seconds[i] * SECOND,
                                                           .kind = kinds[i],
                                                           .value = 30000000});
    return p;
}

static const uint8_t kinds[] = {FB_EVENT_PAUSED, FB_EVENT_PAUSED,     FB_EVENT_RESUMED,
                                FB_EVENT_PAUSED, FB_EVENT_ASK_RESUME, FB_EVENT_INTERVAL};
static const int64_t seconds[] = {10, 12, 20, 40, 45, 50};

static void pauses_are_intervals(void **state)
{
    struct fb_profile *p = with_events(kinds, seconds, 6);

    (void)state;
    assert_int_equal(fb_profile_paused_ns(p, 0, 10 * SECOND), 0);
    assert_int_equal(fb_profile_paused_ns(p, 0, 30 * SECOND), 10 * SECOND);
    assert_int_equal(fb_profile_paused_ns(p, 15 * SECOND, 16 * SECOND), SECOND);
    assert_int_equal(fb_profile_paused_ns(p, 19 * SECOND, 39 * SECOND), SECOND);
    assert_int_equal(fb_profile_paused_ns(p, 20 * SECOND, 60 * SECOND), 20 * SECOND);
    assert_int_equal(fb_profile_slowest(p), 30000000);
    fb_profile_free(p);
}

static void growth_while_it_ran_leaves_pauses_out(void **state)
{
    struct fb_profile *p = with_events(kinds, seconds, 4);
    uint32_t c = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    double growth;

    (void)state;
    for (int64_t t = 0; t <= 60; t++) {
        size_t row = fb_profile_counter_row_add(p, t * SECOND);

        p->counters.items[c].values[row] = t * 1000;
    }
    assert_true(fb_profile_counter_running(p, "process.cpu_ns", 0, 30 * SECOND, &growth));
    assert_true(growth == 20000);
    assert_true(fb_profile_counter_running(p, "process.cpu_ns", 12 * SECOND, 18 * SECOND, &growth));
    assert_true(growth == 0);
    fb_profile_free(p);
}

static void events_come_back_from_a_bank(void **state)
{
    struct fb_profile *p = with_events(kinds, seconds, 6), *q;
    struct fb_bank_damage damage;
    struct fb_buf bytes = {0};
    struct fb_err err;

    (void)state;
    fb_bank_encode(p, &bytes);
    if (fb_bank_decode(bytes.data, bytes.len, "x", &q, &damage, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(q->events_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(q->events[i].kind, kinds[i]);
        assert_int_equal(q->events[i].time_ns, seconds[i] * SECOND);
        assert_int_equal(q->events[i].value, 30000000);
    }
    fb_buf_done(&bytes);
    fb_profile_free(p);
    fb_profile_free(q);
}

static void at_a_lowered_rate_overruns_are_those_that_were_counted(void **state)
{
    struct fb_profile *p = with_events(kinds, seconds, 6);
    uint32_t w = fb_profile_counter_put(p, "sampler.weight", "ticks", FB_COUNTER_CUMULATIVE);
    uint32_t o = fb_profile_counter_put(p, "sampler.overrun", "ticks", FB_COUNTER_CUMULATIVE);
    fb_frame_id frame = fb_profile_frame_put(p, &(struct fb_frame){.address = 1});
    fb_stack_id stack = fb_profile_stack_put(p, (fb_stack_id){0}, frame);
    size_t row = fb_profile_counter_row_add(p, SECOND);

    (void)state;
    fb_profile_sample_add(p, SECOND, 0, stack, 30);
    p->counters.items[w].values[row] = 30;
    p->counters.items[o].values[row] = 3;
    assert_true(fb_profile_overruns(p) > 0.099 && fb_profile_overruns(p) < 0.101);
    fb_profile_free(p);
}

static void the_cause_of_overruns_is_the_rate_the_bursts_or_the_clock(void **state)
{
    struct fb_profile *p = fb_profile_new();

    (void)state;
    p->interval_ns = 2004008; /* 499 Hz */
    fb_profile_manifest_set(p, "clock_got", "cpu");
    assert_non_null(strstr(fb_profile_overruns_cause(p), "bursts")); /* the tick is not known */
    fb_profile_manifest_set(p, "tick_hz", "250");
    assert_non_null(strstr(fb_profile_overruns_cause(p), "asks for more"));
    p->interval_ns = 10101010;
    assert_non_null(strstr(fb_profile_overruns_cause(p), "bursts"));
    fb_profile_manifest_set(p, "clock_got", "perf");
    assert_non_null(strstr(fb_profile_overruns_cause(p), "interrupts"));
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_are_intervals),
        cmocka_unit_test(growth_while_it_ran_leaves_pauses_out),
        cmocka_unit_test(events_come_back_from_a_bank),
        cmocka_unit_test(at_a_lowered_rate_overruns_are_those_that_were_counted),
        cmocka_unit_test(the_cause_of_overruns_is_the_rate_the_bursts_or_the_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

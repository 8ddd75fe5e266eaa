#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <time.h>

#include "sampler/clock.h"
#include "sampler/memory.h"
#include "sampler/real.h"
#include "sampler/signal/handler.h"
#include "sampler/threads.h"

enum { INTERVAL_NS = 5000000, SPENT_NS = 200000000, TICKS = SPENT_NS / INTERVAL_NS };

static struct fb_config config;
static struct fb_task *thread;

static void on_signal(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    if (!fb_handle_cpu(info, context))
        fb_handle_itimer(info, context);
}

static int start(enum fb_clock clock)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    fb_real_find();
    config.clock = clock;
    config.interval_ns = INTERVAL_NS;
    sigaction(SIGPROF, &action, NULL);
    fb_pool_init(fb_memory_map(FB_POOL_BYTES));
    if (!fb_threads_init())
        return 1;
    fb_clock_init(&config, NULL);
    fb_thread_enter_main(fb_thread_claim(0));
    thread = fb_task_self;
    fb_clock_process_start();
    return thread == NULL;
}

static int start_cpu(void **state)
{
    (void)state;
    return start(FB_CLOCK_CPU);
}

static int start_itimer(void **state)
{
    (void)state;
    return start(FB_CLOCK_ITIMER);
}

static int stop(void **state)
{
    (void)state;
    fb_clock_process_stop();
    fb_clock_rate_set(INTERVAL_NS);
    fb_clock_resume();
    fb_clock_thread_disarm(thread);
    return 0;
}

static uint64_t cpu_now(void)
{
    uint64_t ns = 0;

    fb_clock_thread_cpu(thread->tid, &ns);
    return ns;
}

/* The weight that so much CPU time brings. */
static uint64_t spend(void)
{
    uint64_t before = atomic_load(&thread->weight);
    uint64_t end = cpu_now() + SPENT_NS;

    while (cpu_now() < end)
        ;
    return atomic_load(&thread->weight) - before;
}

static void a_paused_clock_brings_no_weight(void **state)
{
    (void)state;
    assert_in_range(spend(), TICKS / 2, TICKS * 5 / 4);
    fb_clock_pause();
    assert_true(fb_clock_is_paused());
    spend(); /* a tick that was on its way */
    assert_int_equal(spend(), 0);
    thread->cpu_ns = cpu_now();
    assert_int_equal(fb_clock_thread_missed(thread), 0);
    fb_clock_resume();
    assert_in_range(spend(), TICKS / 2, TICKS * 5 / 4);
    thread->cpu_ns = cpu_now();
    assert_in_range(fb_clock_thread_missed(thread), 0, 2);
}

static void a_lower_rate_brings_the_same_weight_in_fewer_samples(void **state)
{
    uint64_t samples;

    (void)state;
    fb_clock_rate_set(4 * INTERVAL_NS);
    assert_int_equal(fb_clock_interval(), 4 * INTERVAL_NS);
    samples = atomic_load(&thread->handler_count);
    assert_in_range(spend(), TICKS / 2, TICKS * 5 / 4);
    assert_in_range(atomic_load(&thread->handler_count) - samples, TICKS / 8, TICKS / 4 + 2);
    thread->cpu_ns = cpu_now();
    assert_in_range(fb_clock_thread_missed(thread), 0, 4);
    fb_clock_rate_set(1); /* not above what was asked for */
    assert_int_equal(fb_clock_interval(), INTERVAL_NS);
    assert_in_range(spend(), TICKS / 2, TICKS * 5 / 4);
}

static void a_thread_that_starts_in_a_pause_ticks_when_it_ends(void **state)
{
    (void)state;
    fb_clock_pause();
    fb_clock_thread_disarm(thread);
    fb_clock_thread_arm(thread);
    assert_int_equal(spend(), 0);
    fb_clock_resume();
    assert_in_range(spend(), TICKS / 2, TICKS * 5 / 4);
}

static void every_clock_has_a_name_that_finds_it(void **state)
{
    enum fb_clock found;

    (void)state;
    for (unsigned i = 0; i < FB_CLOCK_COUNT; i++) {
        assert_true(fb_clock_find(fb_clock_name((enum fb_clock)i), &found));
        assert_int_equal(found, i);
    }
    assert_false(fb_clock_find("sundial", &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_clock_has_a_name_that_finds_it),
        cmocka_unit_test_setup_teardown(a_paused_clock_brings_no_weight, start_cpu, stop),
        cmocka_unit_test_setup_teardown(a_lower_rate_brings_the_same_weight_in_fewer_samples,
                                        start_cpu, stop),
        cmocka_unit_test_setup_teardown(a_thread_that_starts_in_a_pause_ticks_when_it_ends,
                                        start_cpu, stop),
        cmocka_unit_test_setup_teardown(a_paused_clock_brings_no_weight, start_itimer, stop),
        cmocka_unit_test_setup_teardown(a_lower_rate_brings_the_same_weight_in_fewer_samples,
                                        start_itimer, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/budget.h"

#define SECOND UINT64_C(1000000000)

/* A run of seconds, each with so much CPU time of ours and of the process. */
struct course {
    struct fb_budget budget;
    uint64_t time_ns;
    uint64_t own_ns;
    uint64_t process_ns;
    unsigned scale;
};

static unsigned go(struct course *c, unsigned seconds, uint64_t own_us, uint64_t process_ms)
{
    for (unsigned i = 0; i < seconds; i++) {
        c->time_ns += SECOND;
        c->own_ns += own_us * 1000;
        c->process_ns += process_ms * 1000000;
        c->scale = fb_budget_look(&c->budget, c->scale, 99, c->time_ns, c->own_ns, c->process_ns);
    }
    return c->scale;
}

static void a_cost_over_the_budget_lowers_the_rate_by_the_factor_that_meets_it(void **state)
{
    struct course c = {.scale = 1};

    (void)state;
    assert_int_equal(go(&c, 10, 25000, 1000), 1); /* 9 s: the first row begins the window */
    assert_int_equal(go(&c, 1, 25000, 1000), 3);  /* 2.5 % */
    assert_int_equal(go(&c, 30, 9000, 1000), 3);  /* 0.9 %: stays */
    assert_int_equal(go(&c, 10, 11000, 1000), 4);
}

static void what_the_start_cost_is_no_reason(void **state)
{
    struct course c = {.scale = 1, .own_ns = 200000000, .process_ns = 210000000};

    (void)state;
    assert_int_equal(go(&c, 40, 1000, 300), 1);
}

static void a_cost_that_shrinks_is_none(void **state)
{
    struct course c = {.scale = 1, .own_ns = 500000000};

    (void)state;
    go(&c, 1, 1000, 300);
    c.own_ns -= 400000000; /* what is left out was read later */
    assert_int_equal(go(&c, 20, 1000, 300), 1);
}

static void what_an_idle_program_pays_for_counters_is_no_reason(void **state)
{
    struct course c = {.scale = 1};

    (void)state;
    assert_int_equal(go(&c, 40, 4900, 5), 1);
}

static void the_rate_comes_back_by_halves_after_thirty_cheap_seconds(void **state)
{
    struct course c = {.scale = 1};

    (void)state;
    assert_int_equal(go(&c, 11, 70000, 1000), 7);
    assert_int_equal(go(&c, 29, 1000, 1000), 7);
    assert_int_equal(go(&c, 1, 1000, 1000), 4);
    assert_int_equal(go(&c, 30, 1000, 1000), 2);
    assert_int_equal(go(&c, 30, 1000, 1000), 1);
    assert_int_equal(go(&c, 60, 1000, 1000), 1);
}

static void a_rate_that_would_be_lowered_again_does_not_come_back(void **state)
{
    struct course c = {.scale = 1};

    (void)state;
    assert_int_equal(go(&c, 11, 40000, 1000), 4);
    assert_int_equal(go(&c, 100, 3000, 1000), 4);
}

static void there_is_a_slowest_rate(void **state)
{
    struct course c = {.scale = 1};

    (void)state;
    assert_int_equal(go(&c, 11, 900000, 0), 99);
    assert_int_equal(go(&c, 11, 900000, 900), 99);
}

static void a_restart_forgets_what_was_measured(void **state)
{
    struct course c = {.scale = 1};

    (void)state;
    go(&c, 10, 90000, 1000);
    fb_budget_restart(&c.budget);
    assert_int_equal(go(&c, 10, 1000, 1000), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_over_the_budget_lowers_the_rate_by_the_factor_that_meets_it),
        cmocka_unit_test(what_the_start_cost_is_no_reason),
        cmocka_unit_test(a_cost_that_shrinks_is_none),
        cmocka_unit_test(what_an_idle_program_pays_for_counters_is_no_reason),
        cmocka_unit_test(the_rate_comes_back_by_halves_after_thirty_cheap_seconds),
        cmocka_unit_test(a_rate_that_would_be_lowered_again_does_not_come_back),
        cmocka_unit_test(there_is_a_slowest_rate),
        cmocka_unit_test(a_restart_forgets_what_was_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Steps whose window the bank's counters cover a part of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "steps/steps.h"

#define SECOND INT64_C(1000000000)
#define T0     (INT64_C(1788725520) * SECOND)

/* 60 s at 0.5 cores; rows of counters from second `from` on. */
static struct fb_profile *bank(int64_t from)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t id = fb_profile_counter_put(p, "process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);

    for (int64_t t = from; t <= 60; t++) {
        size_t row = fb_profile_counter_row_add(p, T0 + t * SECOND);

        p->counters.items[id].values[row] = t * SECOND / 2;
    }
    p->has_times = true;
    p->first_ns = T0;
    p->last_ns = T0 + 60 * SECOND;
    return p;
}

static size_t warnings(int64_t from, double *ret_span_s)
{
    static const char text[] = "name\tstart\tend\tdelivered_count\n"
                               "a\t1788725520\t1788725550\t30000\n";
    struct fb_profile *p = bank(from);
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};
    size_t count;

    assert_int_equal(fb_steps_parse(text, strlen(text), "x.tsv", &steps, &err), FB_OK);
    assert_int_equal(fb_steps_add_counters(steps, p), 1);
    count = steps->warnings_count;
    *ret_span_s = steps->items[0].cpu_span_s;
    fb_steps_free(steps);
    fb_profile_free(p);
    return count;
}

static void a_window_that_is_not_covered_is_warned_about(void **state)
{
    double span_s;

    (void)state;
    assert_int_equal(warnings(0, &span_s), 0);
    assert_true(fabs(span_s - 30) < 1e-9);
    assert_int_equal(warnings(1, &span_s), 1);
    assert_true(fabs(span_s - 29) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_that_is_not_covered_is_warned_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

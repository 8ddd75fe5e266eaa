#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampler/clock_parked.h"

static void a_thread_that_waits_says_where(void **state)
{
    struct fb_parked a;
    struct fb_parked b;

    (void)state;
    assert_true(fb_clock_parked_parse("7 0x3 0x0 0x0 0x0 0x0 0x8 0x7ffc10 0x7f59aa2d\n", &a));
    assert_int_equal(a.sp, 0x7ffc10);
    assert_int_equal(a.pc, 0x7f59aa2d);
    assert_true(fb_clock_parked_parse("7 0x4 0x0 0x0 0x0 0x0 0x8 0x7ffc10 0x7f59aa2d\n", &b));
    assert_true(a.call != b.call); /* another descriptor, another place */
    assert_true(fb_clock_parked_parse("232 0x3 0x0 0x0 0x0 0x0 0x8 0x7ffc10 0x7f59aa2d\n", &b));
    assert_true(a.call != b.call);
}

static void other_states_are_no_waiting(void **state)
{
    static const char *const texts[] = {"running\n",
                                        "-1 0x7ffc10 0x7f59aa2d\n",
                                        "",
                                        "7",
                                        "7 0x3 0x0 0x0 0x0 0x0 0x8 0x7ffc10\n",
                                        "7 3 0 0 0 0 8 7ffc10 7f59aa2d\n"};
    struct fb_parked parked;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(fb_clock_parked_parse(texts[i], &parked));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_waits_says_where),
        cmocka_unit_test(other_states_are_no_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

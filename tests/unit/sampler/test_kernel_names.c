#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/kernel_names.h"
#include "sampler/memory.h"

static struct fb_kernel_names names;

static int fresh(void **state)
{
    (void)state;
    fb_memory_unmap(names.wants, FB_KERNEL_WANTS * sizeof *names.wants);
    names = (struct fb_kernel_names){0};
    return 0;
}

static const char *name_at(uint32_t i)
{
    return names.wants[i].start != 0 ? names.wants[i].name : "none";
}

static void a_name_goes_to_the_first_address_at_or_behind_it(void **state)
{
    (void)state;
    fb_kernel_names_want(&names, 1, 0xffffffff81000100);
    fb_kernel_names_want(&names, 2, 0xffffffff81000200);
    fb_kernel_names_line(&names, "ffffffff81000000 T first");
    fb_kernel_names_line(&names, "ffffffff81000180 t second\t[module]");
    fb_kernel_names_line(&names, "ffffffff81000200 W third");
    fb_kernel_names_line(&names, "ffffffff81000201 T behind");
    assert_string_equal(name_at(0), "first");
    assert_string_equal(name_at(1), "third");
}

static void what_is_no_code_or_no_line_names_nothing(void **state)
{
    (void)state;
    fb_kernel_names_want(&names, 1, 0xffffffff81000100);
    fb_kernel_names_line(&names, "ffffffff81000000 D data");
    fb_kernel_names_line(&names, "0000000000000000 T hidden");
    fb_kernel_names_line(&names, "ffffffff80000000 T too_far");
    fb_kernel_names_line(&names, "ffffffff81000000");
    fb_kernel_names_line(&names, "ffffffff81000000 ");
    fb_kernel_names_line(&names, "ffffffff81000000 T");
    fb_kernel_names_line(&names, "");
    fb_kernel_names_line(&names, "nonsense T name");
    assert_string_equal(name_at(0), "none");
}

static void a_long_name_is_cut(void **state)
{
    char line[300] = "ffffffff81000000 T ";

    (void)state;
    memset(line + strlen(line), 'x', 200);
    fb_kernel_names_want(&names, 1, 0xffffffff81000100);
    fb_kernel_names_line(&names, line);
    assert_int_equal(strlen(name_at(0)), FB_KERNEL_NAME - 1);
}

static void more_wants_than_there_is_room_for_are_left_out(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FB_KERNEL_WANTS + 10; i++)
        fb_kernel_names_want(&names, i, i);
    assert_int_equal(names.count, FB_KERNEL_WANTS);
}

/* Against the machine's own file, where it may be read: both addresses lie in one function. */
static void addresses_of_one_function_share_its_name(void **state)
{
    (void)state;
    fb_kernel_names_want(&names, 1, 0xffffffff81000020);
    fb_kernel_names_want(&names, 2, 0xffffffff81000010);
    fb_kernel_names_find(&names);
    assert_int_equal(names.wants[0].frame, 2); /* sorted */
    if (names.wants[0].start == 0 || names.wants[0].start == 0xffffffff81000010)
        skip();
    assert_true(names.wants[1].start >= names.wants[0].start);
    if (names.wants[1].start == names.wants[0].start)
        assert_string_equal(name_at(0), name_at(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_name_goes_to_the_first_address_at_or_behind_it, fresh),
        cmocka_unit_test_setup(what_is_no_code_or_no_line_names_nothing, fresh),
        cmocka_unit_test_setup(a_long_name_is_cut, fresh),
        cmocka_unit_test_setup(more_wants_than_there_is_room_for_are_left_out, fresh),
        cmocka_unit_test_setup(addresses_of_one_function_share_its_name, fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

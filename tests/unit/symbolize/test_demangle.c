#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbolize/symbolize.h"

static void check(const char *raw, const char *expected)
{
    struct fb_buf out = {0};
    bool done = fb_name_demangle(raw, &out);

    if (!expected) {
        assert_false(done);
        assert_int_equal(out.len, 0);
    } else {
        if (!done)
            fail_msg("'%s' was not demangled", raw);
        assert_string_equal(out.data, expected);
    }
    fb_buf_done(&out);
}

static void cxx_and_rust_names_are_demangled(void **state)
{
    (void)state;
    check("_ZN5shape4sideEi", "shape::side(int)");
    check("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size() const");
    check("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
    check("_ZN50_$LT$T$u20$as$u20$core..convert..From$LT$T$GT$$GT$4from17h0123456789abcdefE",
          "<T as core::convert::From<T>>::from");
    check("_RNvC6_123foo3bar", "123foo::bar");
    check("_RNCNvC7mycrate4mains_0B3_", "mycrate::main::{closure#1}");
}

static void suffixes_are_kept(void **state)
{
    (void)state;
    check("_ZN5shape4sideEi.constprop.0", "shape::side(int) [clone .constprop.0]");
    check("_ZN5shape4sideEi@@LIB_1.0", "shape::side(int)@@LIB_1.0");
    check("_ZN4core3fmt5write17h0123456789abcdefE.llvm.77", "core::fmt::write [clone .llvm.77]");
}

static void other_names_are_none(void **state)
{
    (void)state;
    check("main", NULL);
    check("", NULL);
    check("_", NULL);
    check("_Z", NULL);
    check("_R", NULL);
    check("_Zlib_init", NULL);
    check("_Return", NULL);
    check("_ZN5shape4sideE", "shape::side");
    check("_ZN5shape4side", NULL);
}

/* Each level names the previous one twice: 300 bytes that stand for 2^60. */
static void a_name_that_explodes_is_given_up(void **state)
{
    struct fb_buf bomb = {0};

    (void)state;
    fb_buf_puts(&bomb, "_Z1fI1AIiiE");
    for (int i = 0; i < 9; i++)
        fb_buf_printf(&bomb, "S_IS%d_S%d_E", i, i);
    for (int i = 0; i < 25; i++)
        fb_buf_printf(&bomb, "S_IS%c_S%c_E", 'A' + i, 'A' + i);
    fb_buf_puts(&bomb, "Evv");
    check(bomb.data, NULL);
    fb_buf_done(&bomb);
}

static void a_name_longer_than_the_cap_is_given_up(void **state)
{
    static char raw[70000];

    (void)state;
    memset(raw, 'a', sizeof raw - 1);
    memcpy(raw, "_Z60000", 7);
    check(raw, NULL);
}

static void a_name_cut_anywhere_does_no_harm(void **state)
{
    static const char name[] = "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESa"
                               "IS5_EE17_M_realloc_insertIJRKS5_EEEvN9__gnu_cxx17__normal_iterator"
                               "IPS5_S7_EEDpOT_";
    char raw[sizeof name];

    (void)state;
    for (size_t n = 0; n < sizeof name; n++) {
        struct fb_buf out = {0};

        memcpy(raw, name, n);
        raw[n] = 0;
        if (fb_name_demangle(raw, &out))
            assert_true(out.len > 0);
        else
            assert_int_equal(out.len, 0);
        fb_buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cxx_and_rust_names_are_demangled),
        cmocka_unit_test(suffixes_are_kept),
        cmocka_unit_test(other_names_are_none),
        cmocka_unit_test(a_name_that_explodes_is_given_up),
        cmocka_unit_test(a_name_longer_than_the_cap_is_given_up),
        cmocka_unit_test(a_name_cut_anywhere_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static void d_names_are_demangled(void **state)
{
    (void)state;
    check("_D4core4sync5mutex5Mutex4lockMFNbNiNfZv", "core.sync.mutex.Mutex.lock()");
    check("_D8demangle4testFAyaQdZv", "demangle.test(immutable(char)[], immutable(char)[])");
    check("_Dmain", "D main");
    check("_D", NULL);
    check("_DYNAMIC", NULL);
    check("_D4core", NULL);
}

/* Swift has its own; a wrong guess would be worse. */
static void swift_names_are_left(void **state)
{
    (void)state;
    check("$s4main5helloyyF", NULL);
    check("_$s4main5helloyyF", NULL);
    check("_T04main5helloyyF", NULL);
}

/* Templates have long names; the parser's own limit is 1,024 bytes. */
static void names_of_some_kilobytes_are_demangled(void **state)
{
    struct fb_buf name = {0}, plain = {0};

    (void)state;
    fb_buf_puts(&name, "_Z1fI");
    fb_buf_puts(&plain, "void f<");
    for (int i = 0; i < 300; i++) {
        fb_buf_printf(&name, "8type_%03d", i);
        fb_buf_printf(&plain, "%stype_%03d", i > 0 ? ", " : "", i);
    }
    fb_buf_puts(&name, "Evv");
    fb_buf_puts(&plain, ">()");
    assert_true(name.len > 2500);
    check(name.data, plain.data);
    fb_buf_done(&name);
    fb_buf_done(&plain);
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

/* A pattern of an empty pack prints nothing, but is looked through for its pack: 400 bytes that
 * take 2^60 steps without a byte of output. */
static void a_name_that_takes_for_ever_is_given_up(void **state)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct fb_buf bomb = {0};

    (void)state;
    fb_buf_puts(&bomb, "_Z1fIJEEvDpPFv1AIiE");
    for (int i = 1; i < 120; i += 2) {
        if (i < 36)
            fb_buf_printf(&bomb, "1BIS%c_S%c_E", digits[i], digits[i]);
        else
            fb_buf_printf(&bomb, "1BIS%c%c_S%c%c_E", digits[i / 36], digits[i % 36], digits[i / 36],
                          digits[i % 36]);
    }
    fb_buf_puts(&bomb, "T_E");
    check(bomb.data, NULL);
    fb_buf_done(&bomb);
}

/* Each type of D is a table from the last one to itself. */
static void a_name_of_d_that_explodes_is_given_up(void **state)
{
    struct fb_buf bomb = {0};
    size_t last;

    (void)state;
    fb_buf_puts(&bomb, "_D1fFAi");
    last = bomb.len - 2;
    for (int i = 0; i < 60; i++) {
        size_t at = bomb.len;

        fb_buf_putc(&bomb, 'H');
        for (int k = 0; k < 2; k++)
            fb_buf_printf(&bomb, "Q%c", 'a' + (char)(bomb.len - last));
        last = at;
    }
    fb_buf_puts(&bomb, "Zv");
    check(bomb.data, NULL);
    fb_buf_done(&bomb);
}

/* As deep and as long as a name may be, of each letter of the grammar. */
static void deep_names_do_no_harm(void **state)
{
    static const char *const units[] = {"P",   "K",  "1AI", "N1A", "Xad", "Xcl",  "DpT_", "F",
                                        "(",   "<",  "_Z",  "J",   "M1A", "Xps",  "L_Z",  "Z1f",
                                        "A1_", "S_", "T_",  "Dt",  "I",   "UlvE", "H",    "G",
                                        "__T", "Q",  "B_",  "R",   "NvC", "TI",   "Y",    "X1A"};
    static const char *const heads[] = {"_Z1f", "_ZN", "_ZTV", "_Z",   "_R",
                                        "_RNv", "_RI", "_D1f", "_D1fF"};
    static char name[16 << 10];

    (void)state;
    for (size_t h = 0; h < sizeof heads / sizeof heads[0]; h++) {
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            size_t head = strlen(heads[h]), n = strlen(units[i]);
            struct fb_buf out = {0};

            memcpy(name, heads[h], head);
            for (size_t at = head; at < sizeof name - 1; at++)
                name[at] = units[i][(at - head) % n];
            (void)fb_name_demangle(name, &out);
            assert_in_range(out.len, 0, 64 << 10);
            fb_buf_done(&out);
        }
    }
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
        cmocka_unit_test(d_names_are_demangled),
        cmocka_unit_test(swift_names_are_left),
        cmocka_unit_test(names_of_some_kilobytes_are_demangled),
        cmocka_unit_test(a_name_that_takes_for_ever_is_given_up),
        cmocka_unit_test(a_name_of_d_that_explodes_is_given_up),
        cmocka_unit_test(deep_names_do_no_harm),
        cmocka_unit_test(suffixes_are_kept),
        cmocka_unit_test(other_names_are_none),
        cmocka_unit_test(a_name_that_explodes_is_given_up),
        cmocka_unit_test(a_name_longer_than_the_cap_is_given_up),
        cmocka_unit_test(a_name_cut_anywhere_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

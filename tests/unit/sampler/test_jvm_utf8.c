/* test_jvm_utf8.c - names of a JVM as UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/jvm/utf8.h"

static bool becomes(const char *text, size_t n, const char *expected)
{
    char got[64];
    size_t len = fb_jvm_utf8_text(text, n, got);

    return len <= n && len == strlen(expected) && memcmp(got, expected, len) == 0;
}

#define BECOMES(text, expected) becomes(text, sizeof(text) - 1, expected)

static void names_that_are_utf8_stay(void **state)
{
    (void)state;
    assert_true(BECOMES("", ""));
    assert_true(BECOMES("java.util.HashMap.put", "java.util.HashMap.put"));
    assert_true(BECOMES("\xd0\xb2\xe6\x96\xb9\xf0\x9d\x92\xb3\x7f",
                        "\xd0\xb2\xe6\x96\xb9\xf0\x9d\x92\xb3\x7f"));
}

static void surrogates_are_one_letter(void **state)
{
    (void)state;
    assert_true(BECOMES("a\xed\xa0\xb5\xed\xb2\xb3z", "a\xf0\x9d\x92\xb3z"));
    assert_true(BECOMES("\xed\xaf\xbf\xed\xbf\xbf", "\xf4\x8f\xbf\xbf"));
}

static void halves_of_a_pair_are_no_letter(void **state)
{
    (void)state;
    assert_true(BECOMES("a\xed\xa0\xb5", "a\xef\xbf\xbd"));
    assert_true(BECOMES("\xed\xb2\xb3\xed\xa0\xb5z", "\xef\xbf\xbd\xef\xbf\xbdz"));
    assert_true(BECOMES("\xed\xa0\xb5\xed\xb2", "\xef\xbf\xbd?"));
}

static void bytes_that_are_no_letter(void **state)
{
    (void)state;
    assert_true(BECOMES("a\xc0\x80z", "a?z")); /* NUL */
    assert_true(BECOMES("a\0z", "a?z"));
    assert_true(BECOMES("\xe6\x96.m", "?.m"));
    assert_true(BECOMES("m\xe6", "m?"));
    assert_true(BECOMES("\x80\xbf\xff\xfe", "???"));
    assert_true(BECOMES("\xf4\x90\x80\x80", "\xef\xbf\xbd"));
    assert_true(BECOMES("\xe0\x80\x80\xc1\xbf", "??"));
}

static void every_cut_of_every_letter(void **state)
{
    const char text[] = "\xc3\xa9\xe6\x96\xb9\xed\xa0\xb5\xed\xb2\xb3\xf0\x9d\x92\xb3";
    char first[32];
    char again[32];

    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        size_t len = fb_jvm_utf8_text(text, n, first);

        assert_true(len <= n);
        assert_int_equal(fb_jvm_utf8_text(first, len, again), len);
        assert_true(memcmp(first, again, len) == 0);
    }
}

static void letters(void **state)
{
    char bytes[FB_JVM_UTF8_MAX];

    (void)state;
    assert_int_equal(fb_jvm_utf8_letter('a', bytes), 1);
    assert_int_equal(fb_jvm_utf8_letter(0x20ac, bytes), 3);
    assert_true(memcmp(bytes, "\xe2\x82\xac", 3) == 0);
    assert_int_equal(fb_jvm_utf8_letter(0xd835, bytes), 3); /* a thread's name may have such */
    assert_true(memcmp(bytes, "\xef\xbf\xbd", 3) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_utf8_stay),
        cmocka_unit_test(surrogates_are_one_letter),
        cmocka_unit_test(halves_of_a_pair_are_no_letter),
        cmocka_unit_test(bytes_that_are_no_letter),
        cmocka_unit_test(every_cut_of_every_letter),
        cmocka_unit_test(letters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

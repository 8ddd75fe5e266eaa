#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/config.h"

static const char *name_set;
static const char *value_set;

static char *get(const char *name)
{
    return name_set != NULL && strcmp(name, name_set) == 0 ? (char *)(uintptr_t)value_set : NULL;
}

static bool read_with(const char *name, const char *value, struct fb_config *c, char *message)
{
    name_set = name;
    value_set = value;
    message[0] = '\0';
    return fb_config_read(c, get, message, 256);
}

static void without_variables_the_defaults_hold(void **state)
{
    struct fb_config c;
    char message[256];
    char cwd[512];

    (void)state;
    assert_true(read_with(NULL, NULL, &c, message));
    assert_int_equal(c.hz, 99);
    assert_int_equal(c.interval_ns, 10101010);
    assert_int_equal(c.clock, FB_CLOCK_CPU);
    assert_int_equal(c.mode, 0600);
    assert_true(c.follow_fork && c.follow_exec && c.root && !c.off);
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_memory_equal(c.out, cwd, strlen(cwd));
    assert_string_equal(c.out + strlen(cwd), "/%e.%h.%t.%p.fbank");
}

static void a_wrong_value_is_a_sentence_that_names_it(void **state)
{
    static const char *const wrong[][2] = {
        {"FLAMEBANK_HZ", "abc"},      {"FLAMEBANK_HZ", "0"},
        {"FLAMEBANK_HZ", "10001"},    {"FLAMEBANK_HZ", "99x"},
        {"FLAMEBANK_HZ", "-5"},       {"FLAMEBANK_HZ", ""},
        {"FLAMEBANK_CLOCK", "clock"}, {"FLAMEBANK_MODE", "abc"},
        {"FLAMEBANK_MODE", "0400"},   {"FLAMEBANK_MODE", "01777"},
        {"FLAMEBANK_RUN", "0"},       {"FLAMEBANK_RUN", "xyz"},
        {"FLAMEBANK_RUN", "1.x"},     {"FLAMEBANK_LABELS", "a"},
        {"FLAMEBANK_LABELS", "=b"},   {"FLAMEBANK_FOLLOW", "fork,vfork"},
        {"FLAMEBANK_OFF", "yes"},     {"FLAMEBANK_GUARD", "yes"},
        {"FLAMEBANK_GUARD", "2"},     {"FLAMEBANK_JVM_NONSAFEPOINTS", "no"},
        {"FLAMEBANK_OUT", ""},        {"FLAMEBANK_OUT", "a%x.fbank"},
        {"FLAMEBANK_OUT", "a%"},      {"FLAMEBANK_RUN", "11112222333344445"},
    };
    struct fb_config c;
    char message[256];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (read_with(wrong[i][0], wrong[i][1], &c, message))
            fail_msg("%s='%s' was taken", wrong[i][0], wrong[i][1]);
        assert_non_null(strstr(message, wrong[i][0]));
        assert_non_null(strstr(message, "expected"));
    }
}

static void right_values_are_taken(void **state)
{
    struct fb_config c;
    char message[256];
    char run[64];

    (void)state;
    assert_true(read_with("FLAMEBANK_HZ", "1000", &c, message));
    assert_int_equal(c.interval_ns, 1000000);
    assert_true(read_with("FLAMEBANK_CLOCK", "itimer", &c, message));
    assert_int_equal(c.clock, FB_CLOCK_ITIMER);
    assert_true(read_with("FLAMEBANK_MODE", "640", &c, message));
    assert_int_equal(c.mode, 0640);
    assert_true(read_with("FLAMEBANK_OFF", "1", &c, message));
    assert_true(c.off);
    assert_true(read_with("FLAMEBANK_GUARD", "1", &c, message));
    assert_true(c.guard);
    assert_true(read_with("FLAMEBANK_GUARD", "0", &c, message));
    assert_false(c.guard);
    assert_true(c.jvm_nonsafepoints);
    assert_true(read_with("FLAMEBANK_JVM_NONSAFEPOINTS", "0", &c, message));
    assert_false(c.jvm_nonsafepoints);
    assert_true(read_with("FLAMEBANK_JVM_NONSAFEPOINTS", "1", &c, message));
    assert_true(c.jvm_nonsafepoints);
    assert_true(read_with("FLAMEBANK_FOLLOW", "none", &c, message));
    assert_false(c.follow_fork || c.follow_exec);
    assert_true(read_with("FLAMEBANK_OUT", "/x/%p%%.fbank", &c, message));
    assert_string_equal(c.out, "/x/%p%%.fbank");
    assert_true(read_with("FLAMEBANK_RUN", "00000000deadbeef", &c, message));
    assert_true(c.run_id == 0xdeadbeef && !c.root);
    snprintf(run, sizeof run, "1f.%d", (int)getpid());
    assert_true(read_with("FLAMEBANK_RUN", run, &c, message));
    assert_true(c.run_id == 0x1f && c.root); /* exec keeps the pid */
}

static void a_list_is_walked_item_by_item(void **state)
{
    const char *cursor = ",a=1,,bc,";
    const char *item;
    size_t n;

    (void)state;
    assert_true(fb_config_next(&cursor, &item, &n));
    assert_int_equal(n, 3);
    assert_memory_equal(item, "a=1", 3);
    assert_true(fb_config_next(&cursor, &item, &n));
    assert_int_equal(n, 2);
    assert_memory_equal(item, "bc", 2);
    assert_false(fb_config_next(&cursor, &item, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_variables_the_defaults_hold),
        cmocka_unit_test(a_wrong_value_is_a_sentence_that_names_it),
        cmocka_unit_test(right_values_are_taken),
        cmocka_unit_test(a_list_is_walked_item_by_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

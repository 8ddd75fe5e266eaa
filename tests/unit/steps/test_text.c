/* The small readers: base64, durations, one page of metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "steps/base64.h"
#include "steps/metrics.h"
#include "steps/times.h"

static const struct {
    const char *text, *bytes;
} rfc4648[] = {
    {"", ""},
    {"Zg==", "f"},
    {"Zm8=", "fo"},
    {"Zm9v", "foo"},
    {"Zm9vYg==", "foob"},
    {"Zm9vYmE=", "fooba"},
    {"Zm9vYmFy", "foobar"},
    {"Zm9vYg", "foob"},
    {"Zm9v\nYmE", "fooba"},
    {"+/+/", "\xfb\xff\xbf"},
};

static void base64_gives_the_bytes_of_rfc_4648(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rfc4648 / sizeof *rfc4648; i++) {
        struct fb_buf out = {0};
        struct fb_err err;

        assert_int_equal(fb_base64_decode(rfc4648[i].text, strlen(rfc4648[i].text), &out, &err),
                         FB_OK);
        assert_int_equal(out.len, strlen(rfc4648[i].bytes));
        assert_memory_equal(out.data ? out.data : "", rfc4648[i].bytes, out.len);
        fb_buf_done(&out);
    }
}

static void what_is_not_base64_is_named_with_its_offset(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"Zm9!", "byte 0x21 at offset 3 is not base64"},
        {"Zg==Zg==", "byte 0x5a at offset 4"},
        {"Z", "ends inside a group of four after 1 digits"},
        {"Zg=", "ends inside a group of four"},
        {"=", "byte 0x3d at offset 0"},
        {"Zm9v=", "byte 0x3d at offset 4"},
        {"Zg===", "byte 0x3d at offset 4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fb_buf out = {0};
        struct fb_err err = {0};

        assert_int_equal(fb_base64_decode(bad[i].text, strlen(bad[i].text), &out, &err),
                         FB_EFORMAT);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s: %s", bad[i].text, err.text);
        fb_buf_done(&out);
    }
}

static void durations_have_a_unit(void **state)
{
    double s = 0;

    (void)state;
    assert_true(fb_duration_parse("110.000123s", &s) && s == 110.000123);
    assert_true(fb_duration_parse("250ms", &s) && fabs(s - 0.25) < 1e-15);
    assert_true(fb_duration_parse("3us", &s) && fabs(s - 3e-6) < 1e-18);
    assert_true(fb_duration_parse("2m", &s) && s == 120);
    assert_false(fb_duration_parse("110", &s));
    assert_false(fb_duration_parse("s", &s));
    assert_false(fb_duration_parse("-1s", &s));
    assert_false(fb_duration_parse("1s ", &s));
    assert_false(fb_duration_parse("", &s));
}

static void dates_are_those_of_the_calendar(void **state)
{
    static const struct {
        const char *text;
        int64_t epoch_s;
    } dates[] = {
        {"1970-01-01T00:00:01Z", 1},          {"2000-12-31T23:59:59Z", 978307199},
        {"2024-02-29T00:00:00Z", 1709164800}, {"2026-01-15T00:00:00Z", 1768435200},
        {"2026-03-01T00:00:00Z", 1772323200}, {"2100-03-01T00:00:00Z", 4107542400},
    };

    (void)state;
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        int64_t ns = 0;

        assert_true(fb_time_parse(dates[i].text, &ns));
        assert_int_equal(ns, dates[i].epoch_s * 1000000000);
    }
}

static void a_page_of_metrics_gives_what_is_on_it(void **state)
{
    static const char page[] = "# HELP heap_used_bytes x\n"
                               "heap_used_bytes 66060288\n"
                               "heap_used_bytes_max 1\n"
                               "cgroup_cpu_usage_seconds_total 12.75\r\n"
                               "process_uptime_seconds nan\n"
                               "cgroup_memory_current_bytes{pod=\"x\"} 5\n"
                               "cgroup_cpu_throttled_seconds_total\t0";
    struct fb_metrics m;

    (void)state;
    fb_metrics_parse(page, sizeof page - 1, &m);
    assert_true(m.heap_bytes == 66060288 && m.cpu_s == 12.75 && m.throttled_s == 0);
    assert_true(isnan(m.uptime_s) && isnan(m.memory_bytes));
    fb_metrics_parse("", 0, &m);
    assert_true(isnan(m.cpu_s) && isnan(m.heap_bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_gives_the_bytes_of_rfc_4648),
        cmocka_unit_test(what_is_not_base64_is_named_with_its_offset),
        cmocka_unit_test(durations_have_a_unit),
        cmocka_unit_test(dates_are_those_of_the_calendar),
        cmocka_unit_test(a_page_of_metrics_gives_what_is_on_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

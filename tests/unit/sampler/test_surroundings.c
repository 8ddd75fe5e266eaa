/* Small texts of the kernel's, whole, of other kernels, and cut at every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/surroundings.h"

static const char stat_text[] = "cpu  10 20 30 400 50 6 7 8 9 1\n"
                                "cpu0 5 10 15 200 25 3 4 4 0 0\n"
                                "cpu13 5 10 15 200 25 3 3 4 0 0\n"
                                "intr 12 3 4\n"
                                "ctxt 1\n";

static void times_come_in_sum_and_by_cpu(void **state)
{
    uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    struct fb_cpu_times t;
    const char *line = stat_text;
    int cpu;

    (void)state;
    line = fb_cpu_times_parse(line, &t, &cpu);
    assert_non_null(line);
    assert_int_equal(cpu, -1);
    assert_true(t.busy == (10 + 20 + 30 + 6 + 7 + 8) * tick); /* guest time is user time */
    assert_true(t.softirq == 7 * tick && t.steal == 8 * tick && t.idle == 450 * tick);
    line = fb_cpu_times_parse(line, &t, &cpu);
    assert_int_equal(cpu, 0);
    line = fb_cpu_times_parse(line, &t, &cpu);
    assert_int_equal(cpu, 13);
    assert_true(t.softirq == 3 * tick);
    assert_null(fb_cpu_times_parse(line, &t, &cpu));
}

static void pressure_is_that_of_some_task_in_ns(void **state)
{
    uint64_t ns = 1;

    (void)state;
    assert_true(fb_pressure_parse("some avg10=98.30 avg60=98.69 avg300=97.30 total=3092739945\n"
                                  "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
                                  &ns));
    assert_true(ns == UINT64_C(3092739945000));
    assert_false(fb_pressure_parse("full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", &ns));
    assert_false(fb_pressure_parse("some avg10=0.00\nfull total=7\n", &ns));
    assert_false(fb_pressure_parse("", &ns));
}

static const char snmp_text[] =
    "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
    "CurrEstab InSegs\n"
    "Tcp: 1 200 120000 -1 1307 429 816 101 37 20323875\n"
    "Udp: InDatagrams\nUdp: 5\n";

static void connections_are_those_that_are_established(void **state)
{
    uint64_t count = 0;

    (void)state;
    assert_true(fb_established_parse(snmp_text, &count));
    assert_int_equal(count, 37);
    assert_false(fb_established_parse("Tcp: a\nTcp: 1 2 3\n", &count));
}

/* A text that is cut gives the whole value or none, never a part of it. */
static void what_is_cut_is_not_believed(void **state)
{
    char text[512];
    struct fb_cpu_times t;
    uint64_t value;
    int cpu;

    (void)state;
    for (size_t n = 0; n < sizeof snmp_text; n++) {
        (void)snprintf(text, sizeof text, "%.*s", (int)n, snmp_text);
        if (fb_established_parse(text, &value))
            assert_int_equal(value, 37);
    }
    for (size_t n = 0; n < sizeof stat_text; n++) {
        const char *line = text;
        int lines = 0;

        (void)snprintf(text, sizeof text, "%.*s", (int)n, stat_text);
        while ((line = fb_cpu_times_parse(line, &t, &cpu)) != NULL)
            lines++;
        assert_true(lines <= 3);
    }
    for (size_t n = 0; n < 60; n++) {
        static const char whole[] = "some avg10=98.30 avg60=98.69 avg300=97.30 total=3092\n";

        (void)snprintf(text, sizeof text, "%.*s", (int)n, whole);
        assert_int_equal(fb_pressure_parse(text, &value), n >= sizeof whole - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_in_sum_and_by_cpu),
        cmocka_unit_test(pressure_is_that_of_some_task_in_ns),
        cmocka_unit_test(connections_are_those_that_are_established),
        cmocka_unit_test(what_is_cut_is_not_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tables of steps: columns by name, times of every kind, one sentence for each mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/steps.h"

static struct fb_steps *parse(const char *text)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_parse(text, strlen(text), "steps.tsv", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    return steps;
}

static void the_plain_table_is_read(void **state)
{
    struct fb_steps *steps = parse("# demo\n\n"
                                   "name\tstart\tend\toffered\tdelivered\twarmup\tp99_ms\tmode\n"
                                   "warm\t1788725520\t1788725528\t500\t499.5\t1\t3.5\thttp1\n"
                                   "s1\t1788725530.25\t1788725540.75\t1000\t1000\t0\t-\thttp1\n");
    const struct fb_step *s = steps->items;

    (void)state;
    assert_string_equal(steps->format, "tsv");
    assert_int_equal(steps->count, 2);
    assert_int_equal(steps->warnings_count, 0);
    assert_string_equal(s[0].name, "warm");
    assert_true(s[0].warmup && !s[1].warmup);
    assert_int_equal(s[0].line, 4);
    assert_true(s[0].secs == 8 && s[0].delivered == 3996 && s[0].p99_s == 3.5 * 1e-3);
    assert_true(isnan(s[1].p99_s) && isnan(s[1].not_sent) && isnan(s[1].cpu_s));
    assert_int_equal(s[1].start_ns, INT64_C(1788725530250000000));
    assert_int_equal(s[1].load_end_ns, INT64_C(1788725540750000000));
    assert_string_equal(s[1].mode, "http1");
    fb_steps_free(steps);
}

static void a_published_table_gives_its_rows_back(void **state)
{
    struct fb_steps *steps =
        parse("step\twarmup\toffered\tdelivered\tp50_ms\tp99_ms\tp999_ms\tknee_per_s\t"
              "cpu_ms_per_req\tthrottled_s\theap_mb\trss_mb\r\n"
              "0\t1\t200\t188.6\t4.08\t1338.31\t2259.81\t11.4\t3.683\t77.2\t63\t323\r\n"
              "1\t0\t400\t400.0\t3.34\t2460.29\t2460.29\t0.0\t\t\t\t\r\n");
    const struct fb_step *s = steps->items;

    (void)state;
    assert_string_equal(s[0].name, "200 (warmup)");
    assert_string_equal(s[1].name, "400");
    assert_true(fb_step_delivered_per_s(s) == 188.6 && fb_step_knee_per_s(s) == 11.4);
    assert_true(fb_step_ms_per_request(s) == 3.683);
    assert_true(fabs(fb_step_cores(s) - 3.683 * 188.6 / 1000) < 1e-12);
    assert_true(s[0].heap_bytes == 63 * 1048576.0 && s[0].throttled_s == 77.2);
    assert_true(isnan(fb_step_ms_per_request(&s[1])) && isnan(s[1].rss_bytes));
    assert_string_equal(s[0].cpu_source, "table");
    assert_null(s[1].cpu_source);
    fb_steps_free(steps);
}

static void times_are_told_by_their_size_or_form(void **state)
{
    static const char *const times[] = {
        "1788725520.5",
        "1788725520500",
        "1788725520500000",
        "1788725520500000000",
        "2026-09-06T20:12:00.5Z",
        "2026-09-06 22:12:00.500+02:00",
        "2026-09-06T14:42:00.5-0530",
    };

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char *text = fb_format("start\tsecs\toffered\n%s\t10\t5\n", times[i]);
        struct fb_steps *steps = parse(text);

        assert_int_equal(steps->items[0].start_ns, INT64_C(1788725520500000000));
        assert_int_equal(steps->items[0].end_ns, INT64_C(1788725530500000000));
        fb_steps_free(steps);
        free(text);
    }
}

static void the_load_lies_in_the_middle_of_a_longer_window(void **state)
{
    struct fb_steps *steps = parse("start\tend\tsecs\toffered\n1000\t1111\t110\t5\n");

    (void)state;
    assert_int_equal(steps->items[0].load_start_ns, INT64_C(1000500000000));
    assert_int_equal(steps->items[0].load_end_ns, INT64_C(1110500000000));
    fb_steps_free(steps);
}

static void what_is_odd_is_warned_about(void **state)
{
    struct fb_steps *steps = parse("offered\tcolour\tstart\tend\tdelivered\n"
                                   "100\tred\t1000\t1010\t998\n"
                                   "200\tred\t1005\t1015\t200\n");

    (void)state;
    assert_int_equal(steps->warnings_count, 3);
    assert_string_equal(steps->warnings[0], "column 'colour' is not known and was left out");
    assert_string_equal(steps->warnings[1],
                        "line 2: 'delivered' is 998 with 100 offered: it is a rate per second; a "
                        "count belongs into 'delivered_count'");
    assert_string_equal(steps->warnings[2], "line 3: step 200 begins 5.0 s before step 100 ends");
    fb_steps_free(steps);
}

static const struct {
    const char *text, *message;
} mistakes[] = {
    {"", "steps.tsv: the file is empty; the steps of a run were expected"},
    {"hello\n", "steps.tsv: no steps were found: a job log with '#NH-STEP' lines"},
    {"offered delivered\n1 1\n", "steps.tsv: no steps were found"},
    {"offered\tdelivered\n", "steps.tsv: a header row and no step under it"},
    {"name\tdelivered\na\t1\n", "steps.tsv: line 1: a column 'offered' or 'start' was expected"},
    {"offered\trps\n1\t1\n",
     "steps.tsv: line 1: column 'offered' and column 'rps' say the same thing"},
    {"offered\tname\n1\ta\n1k\tb\n",
     "steps.tsv: line 3: column 'offered' is '1k'; a number from 0 or n/a was expected"},
    {"offered\tname\n-1\ta\n", "steps.tsv: line 2: column 'offered' is '-1'; a number from 0"},
    {"offered\tstart\tend\n1\tnoon\t2\n", "steps.tsv: line 2: column 'start' is 'noon'; a time"},
    {"offered\tstart\tend\n1\t2026-13-01T00:00:00Z\t2\n", "'start' is '2026-13-01T00:00:00Z'"},
    {"offered\tstart\tend\n1\t2026-12-01T00:00:00\t2\n", "'start' is '2026-12-01T00:00:00'"},
    {"offered\tstart\tend\n1\t20\t10\n", "steps.tsv: line 2: 'end' is not after 'start'"},
    {"offered\tstart\tend\n1\t20\t\n",
     "steps.tsv: line 2: 'start' is known and 'end' is not; both were expected"},
    {"offered\twarmup\n1\tmaybe\n", "steps.tsv: line 2: column 'warmup' is 'maybe'; 0, 1, no,"},
    {"offered\twarmup\n1\t1\t7\n", "steps.tsv: line 2: more cells than the 2 of the header row"},
    {"offered\twarmup\n1 1\n", "steps.tsv: line 2: one cell; 2 cells between tabs were expected"},
};

static void each_mistake_has_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct fb_steps *steps = NULL;
        struct fb_err err = {0};

        if (fb_steps_parse(mistakes[i].text, strlen(mistakes[i].text), "steps.tsv", &steps, &err) ==
            FB_OK)
            fail_msg("no error: %s", mistakes[i].text);
        if (!strstr(err.text, mistakes[i].message))
            fail_msg("%s\nexpected: %s\ngot:      %s", mistakes[i].text, mistakes[i].message,
                     err.text);
    }
}

static void a_cut_or_flipped_table_gives_a_sentence_or_sound_steps(void **state)
{
    static const char table[] = "name\tstart\tend\toffered\tdelivered\twarmup\tp99_ms\theap_mb\n"
                                "w\t2026-09-06T20:12:00Z\t1788725528\t500\t499.5\tyes\t3.5\t1e1\n"
                                "s\t1788725530.25\t1788725540750\t1000\t1000\t0\tn/a\t\n";

    (void)state;
    for (size_t i = 0; i < 9 * (sizeof table - 1); i++) {
        size_t at = i / 9, n = i % 9 == 8 ? at : sizeof table - 1;
        char *text = malloc(n ? n : 1); /* no byte behind it */
        struct fb_steps *steps = NULL;
        struct fb_err err = {0};

        assert_non_null(text);
        memcpy(text, table, n);
        if (n == sizeof table - 1)
            text[at] = (char)(text[at] ^ 1 << i % 9);
        if (fb_steps_parse(text, n, "t", &steps, &err) == FB_OK) {
            fb_steps_judge(steps);
            assert_true(steps->count >= 1 && steps->count <= 3);
            fb_steps_free(steps);
        } else {
            assert_int_equal(strncmp(err.text, "t: ", 3), 0);
        }
        free(text);
    }
}

static void a_file_of_one_byte_is_refused_without_a_look_behind_it(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char *text = malloc(1);
        struct fb_steps *steps = NULL;
        struct fb_err err = {0};

        assert_non_null(text);
        *text = (char)c;
        assert_int_equal(fb_steps_parse(text, 1, "t", &steps, &err), FB_EFORMAT);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_table_is_read),
        cmocka_unit_test(a_published_table_gives_its_rows_back),
        cmocka_unit_test(times_are_told_by_their_size_or_form),
        cmocka_unit_test(the_load_lies_in_the_middle_of_a_longer_window),
        cmocka_unit_test(what_is_odd_is_warned_about),
        cmocka_unit_test(each_mistake_has_its_sentence),
        cmocka_unit_test(a_cut_or_flipped_table_gives_a_sentence_or_sound_steps),
        cmocka_unit_test(a_file_of_one_byte_is_refused_without_a_look_behind_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

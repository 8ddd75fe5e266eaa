/* Results of load generators: what is read from each, and that a cut anywhere gives a sentence or a
 * part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/file.h"
#include "base/vec.h"
#include "steps/steps.h"

/* offered delivered sent not_sent errors | secs | p50 p90 p99 p999 in ms | conns */
static const struct {
    const char *file, *format, *row;
} samples[] = {
    {"h2load.txt", "h2load", "- 1834 2000 - 166 | 0.07202 | - - - - | 4"},
    {"h2load-duration.txt", "h2load", "- 111333 121000 - 9667 | 2 | - - - - | 4"},
    {"h2load.log", "h2load-log", "- 56 60 - 4 | 0.004692 | 0.062 0.192 3.712 3.712 | -"},
    {"wrk.txt", "wrk", "- 82997 90370 - 7373 | 2.004 | 0.059 1.42 4.08 - | 4"},
    {"wrk2.txt", "wrk", "- 60000 60028 - 28 | 30.01 | 6.67 9.14 11.33 12.23 | 100"},
    {"hey.txt", "hey", "- 357 400 - 43 | 0.0344 | 0.1 0.3 7 - | -"},
    {"hey.csv", "hey-csv", "- 53 60 - 7 | 0.2806 | 0.3 0.9 2.3 2.3 | -"},
    {"fortio.json", "fortio", "400 23970 24000 - 30 | 60.02 | 2.1 4.2 12.1 50.3 | 30"},
    {"ghz.json", "ghz", "1000 59970 60000 - 30 | 60 | 2.2 4.4 9.9 - | -"},
    {"ghz-duration.json", "ghz", "200 21960 22000 - 0 | 110 | 2.2 4.4 9.9 - | -"},
    {"vegeta.json", "vegeta", "100 5985 6000 - 15 | 60 | 2.1 4.2 12.1 - | -"},
    {"autocannon.json", "autocannon", "- 39980 40021 - 38 | 20.03 | 5 6 12 40 | 10"},
    {"oha.json", "oha", "- 19950 20003 - 33 | 10 | 2.1 4.2 12.1 40.3 | -"},
    {"k6-flat.json", "k6-summary", "- 5988 6000 - 12 | 60.03 | 2.1 4.2 - - | -"},
    {"k6-values.json", "k6-summary", "100 5900 5900 100 0 | 60.01 | 2.1 4.2 12.1 50.3 | -"},
    {"k6-machine.json", "k6-summary", "- 5988 6000 100 12 | 60.01 | 2.1 4.2 - - | -"},
    {"k6.csv", "k6-csv", "- 38 40 8 2 | 3.006 | 10.5 19 20.5 20.5 | -"},
    {"results.jtl", "jtl", "- 27 30 - 3 | 2.939 | 26 37 39 39 | -"},
    {"results.xml.jtl", "jtl-xml", "- 19 20 - 1 | 9.058 | 25 29 29 29 | -"},
};

enum { SAMPLES = sizeof samples / sizeof *samples };

static void sample_read(size_t i, struct fb_buf *out)
{
    char *path = fb_format("%s/steps/%s", FB_FIXTURES, samples[i].file);
    struct fb_err err = {0};

    if (fb_file_read(path, out, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(path);
}

static void put(struct fb_buf *out, double value, const char *after)
{
    if (isnan(value))
        fb_buf_printf(out, "-%s", after);
    else
        fb_buf_printf(out, "%.*g%s", fabs(value) >= 1000 ? 10 : 4, value, after);
}

static char *row_of(const struct fb_step *s)
{
    struct fb_buf out = {0};

    put(&out, s->offered, " ");
    put(&out, s->delivered, " ");
    put(&out, s->sent, " ");
    put(&out, s->not_sent, " ");
    put(&out, s->errors, " | ");
    put(&out, s->secs, " | ");
    put(&out, s->p50_s * 1e3, " ");
    put(&out, s->p90_s * 1e3, " ");
    put(&out, s->p99_s * 1e3, " ");
    put(&out, s->p999_s * 1e3, " | ");
    put(&out, s->conns, "");
    return fb_buf_take(&out);
}

static struct fb_steps *parse(const char *text, size_t n, const char *name)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_parse(text, n, name, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    return steps;
}

static void each_generator_gives_one_record(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct fb_buf text = {0};
        struct fb_steps *steps;
        char *row;

        sample_read(i, &text);
        steps = parse(text.data, text.len, samples[i].file);
        row = row_of(&steps->items[0]);
        if (strcmp(steps->format, samples[i].format) != 0 || steps->count != 1)
            fail_msg("%s: %s, %zu steps", samples[i].file, steps->format, steps->count);
        if (strcmp(row, samples[i].row) != 0)
            fail_msg("%s: '%s'", samples[i].file, row);
        assert_true(steps->has_generator);
        assert_string_equal(steps->items[0].source, samples[i].file);
        free(row);
        fb_steps_free(steps);
        fb_buf_done(&text);
    }
}

static void a_packed_result_reads_as_the_plain_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct fb_buf text = {0}, packed = {0};
        struct fb_steps *steps;
        char *row;

        sample_read(i, &text);
        if (i % 2)
            fb_gzip_pack(text.data, text.len, &packed);
        else
            fb_zstd_pack(text.data, text.len, 3, &packed);
        steps = parse(packed.data, packed.len, "packed");
        row = row_of(&steps->items[0]);
        assert_string_equal(row, samples[i].row);
        free(row);
        fb_steps_free(steps);
        fb_buf_done(&text);
        fb_buf_done(&packed);
    }
}

/* Reads n bytes; what comes out is whole, and no count is above the whole file's. */
static void read_part(const char *text, size_t n, const struct fb_step *whole)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};
    char *exact = malloc(n ? n : 1); /* no byte behind it, so that a read past the end is seen */

    assert_non_null(exact);
    memcpy(exact, text, n);
    if (fb_steps_parse(exact, n, "part", &steps, &err) == FB_OK) {
        fb_steps_judge(steps);
        for (size_t i = 0; i < steps->count; i++) {
            assert_non_null(steps->items[i].name);
            assert_true(steps->items[i].load_end_ns >= steps->items[i].load_start_ns);
            assert_false(whole && steps->items[i].sent > whole->sent);
            assert_false(whole && steps->items[i].errors > whole->errors);
        }
        fb_steps_free(steps);
    } else if (strncmp(err.text, "part: ", 6) != 0) {
        fail_msg("%s", err.text);
    }
    free(exact);
}

static void a_result_cut_anywhere_is_a_part_or_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct fb_buf text = {0};
        struct fb_steps *whole;

        sample_read(i, &text);
        whole = parse(text.data, text.len, "whole");
        for (size_t n = 0; n < text.len; n++)
            if (text.len < 1600 || text.data[n] == '\n' || (n > 0 && text.data[n - 1] == '\n'))
                read_part(text.data, n, whole->items);
        fb_steps_free(whole);
        fb_buf_done(&text);
    }
}

static void a_flipped_byte_gives_a_sentence_or_sound_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct fb_buf text = {0};

        sample_read(i, &text);
        for (size_t at = 0; at < text.len; at += text.len < 1600 ? 1 : 7) {
            int bit = (int)(at * 5 % 8);

            text.data[at] = (char)(text.data[at] ^ 1 << bit);
            read_part(text.data, text.len, NULL);
            text.data[at] = (char)(text.data[at] ^ 1 << bit);
        }
        fb_buf_done(&text);
    }
}

/* Runs of a ramp are written behind each other. */
static void several_runs_in_one_file_are_steps(void **state)
{
    static const char *const files[] = {"h2load.txt", "wrk.txt", "hey.txt", "hey.csv",
                                        "vegeta.json"};

    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        struct fb_buf text = {0};
        struct fb_steps *steps;
        size_t i = 0, one;
        char *row;

        while (strcmp(samples[i].file, files[f]) != 0)
            i++;
        sample_read(i, &text);
        one = text.len;
        sample_read(i, &text);
        steps = parse(text.data, text.len, files[f]);
        assert_int_equal(steps->count, 2);
        row = row_of(&steps->items[1]);
        assert_string_equal(row, samples[i].row);
        assert_true(steps->items[1].line > 1 && one > 0);
        free(row);
        fb_steps_free(steps);
        fb_buf_done(&text);
    }
}

static const struct fb_step *first_of(const char *text, struct fb_steps **ret_steps)
{
    *ret_steps = parse(text, strlen(text), "text");
    return &(*ret_steps)->items[0];
}

static void errors_are_counted_by_class(void **state)
{
    struct fb_buf text = {0};
    struct fb_steps *steps;
    const struct fb_step *s;

    (void)state;
    sample_read(4, &text); /* wrk2 */
    steps = parse(text.data, text.len, "wrk2");
    s = steps->items;
    assert_true(s->errors_by[FB_ERROR_CONNECT] == 1 && s->errors_by[FB_ERROR_RESET] == 5);
    assert_true(s->errors_by[FB_ERROR_TIMEOUT] == 4 && s->errors_by[FB_ERROR_HTTP_OTHER] == 18);
    assert_true(isnan(s->errors_by[FB_ERROR_GRPC]));
    fb_steps_free(steps);
    fb_buf_done(&text);
    sample_read(0, &text); /* h2load */
    steps = parse(text.data, text.len, "h2load");
    s = steps->items;
    assert_true(s->errors_by[FB_ERROR_HTTP_4XX] == 67 && s->errors_by[FB_ERROR_HTTP_5XX] == 99);
    assert_string_equal(s->mode, "http/1.1");
    fb_steps_free(steps);
    fb_buf_done(&text);
}

static void as_fast_as_possible_is_no_rate(void **state)
{
    struct fb_steps *steps;

    (void)state;
    assert_true(isnan(
        first_of("{\"RequestedQPS\": \"max\", \"ActualDuration\": 1000000000}", &steps)->offered));
    fb_steps_free(steps);
    assert_true(isnan(first_of("{\"date\": \"2026-09-06T20:12:00Z\", \"options\": {\"qps\": 0}, "
                               "\"count\": 5, \"rps\": 7, \"total\": 1000000000}",
                               &steps)
                          ->offered));
    fb_steps_free(steps);
}

static void the_percentiles_of_newer_h2load_are_under_their_words(void **state)
{
    const struct fb_step *s;
    struct fb_steps *steps;

    (void)state;
    s = first_of(
        "starting benchmark...\n"
        "finished in 5.02s, 2000.00 req/s, 1.23MB/s\n"
        "requests: 10 total, 10 started, 10 done, 10 succeeded, 0 failed, 0 errored, 0 "
        "timeout\n"
        "                     min         max      median         p95         p99        "
        "mean         sd        +/- sd\n"
        "request     :    123us      4.56ms       2ms       3ms       4ms       230us       "
        "101us    85.00%\n"
        "time for request:    123us      4.56ms       2ms       3ms       4ms       230us   "
        "101us    85.00%\n",
        &steps);
    assert_true(s->p50_s == 2e-3 && s->p99_s == 4e-3 && isnan(s->p90_s) && isnan(s->p999_s));
    fb_steps_free(steps);
}

static void only_calls_that_the_end_cut_off_did_not_fail(void **state)
{
    static const char run[] =
        "{\"date\": \"2026-09-06T20:14:00Z\", \"endReason\": \"%s\", "
        "\"options\": {\"concurrency\": 5}, \"count\": 10, \"total\": 1000000000, "
        "\"statusCodeDistribution\": {\"OK\": 4, \"Canceled\": %d}}";
    static const struct {
        const char *reason;
        int canceled;
        double errors;
    } cases[] = {{"timeout", 5, 0}, {"timeout", 6, 6}, {"normal", 5, 5}};
    struct fb_steps *steps;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = fb_format(run, cases[i].reason, cases[i].canceled);
        const struct fb_step *s = first_of(text, &steps);

        assert_true(s->errors == cases[i].errors && s->delivered == 4);
        assert_true(s->grain_s == 1); /* its date has no fraction */
        assert_int_equal(steps->warnings_count, cases[i].errors == 0);
        fb_steps_free(steps);
        free(text);
    }
}

/* Nighthawk writes fortio's format as well: counts as texts, and a histogram that lacks some. */
static void answers_that_a_histogram_lacks_were_sent(void **state)
{
    struct fb_steps *steps;
    const struct fb_step *s =
        first_of("{\"RequestedQPS\": 30, \"ActualDuration\": 2000000429, \"DurationHistogram\": "
                 "{\"Count\": \"53\"}, \"RetCodes\": {\"200\": \"56\"}}",
                 &steps);

    (void)state;
    assert_true(s->sent == 56 && s->delivered == 56 && s->offered == 30);
    fb_steps_free(steps);
}

static void the_plan_cuts_a_log_of_requests_into_steps(void **state)
{
    struct fb_plan plan;
    struct fb_source *in;
    struct fb_steps *steps;
    struct fb_err err = {0};
    struct fb_buf text = {0};

    (void)state;
    sample_read(SAMPLES - 2, &text); /* 30 requests of JMeter, one each 100 ms */
    assert_int_equal(fb_plan_parse("start=2026-09-06T20:12:00Z,step=1,skip=0.25,rates=10:20:30,"
                                   "warmup=1",
                                   &plan, &err),
                     FB_OK);
    in = fb_source_of_bytes(text.data, text.len, "r.jtl");
    assert_int_equal(fb_steps_read_source(in, &plan, &steps, &err), FB_OK);
    assert_int_equal(steps->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct fb_step *s = &steps->items[i];

        assert_true(s->sent == 7 && s->secs == 0.75 && s->offered == 10 * (double)(i + 1));
        assert_true(s->warmup == (i == 0));
        assert_int_equal(s->load_start_ns - s->start_ns, 250000000);
    }
    assert_string_equal(steps->items[0].name, "10 (warmup)");
    assert_string_equal(steps->warnings[0], "9 requests lie outside the load windows of the plan");
    fb_steps_free(steps);
    fb_source_close(in);
    fb_buf_done(&text);
}

/* The same numbers by the exact list and by the histogram. */
static void the_histogram_is_right_to_a_thousandth(void **state)
{
    struct fb_buf text = {0};
    struct fb_steps *steps;
    const struct fb_step *s;

    (void)state;
    for (int i = 0; i < 20000; i++) /* 1 to 20,000 us, in a mixed order */
        fb_buf_printf(&text, "%lld\t200\t%d\n", 1788725520000000LL + i * 100, i * 7919 % 20000 + 1);
    s = first_of(text.data, &steps);
    assert_true(fabs(s->p50_s / 0.010 - 1) < 1e-3 && fabs(s->p90_s / 0.018 - 1) < 1e-3);
    assert_true(fabs(s->p99_s / 0.0198 - 1) < 1e-3 && fabs(s->p999_s / 0.01998 - 1) < 1e-3);
    assert_true(s->p999_point == 0.999 && s->delivered == 20000);
    fb_steps_free(steps);
    fb_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_generator_gives_one_record),
        cmocka_unit_test(a_packed_result_reads_as_the_plain_one),
        cmocka_unit_test(a_result_cut_anywhere_is_a_part_or_a_sentence),
        cmocka_unit_test(a_flipped_byte_gives_a_sentence_or_sound_steps),
        cmocka_unit_test(several_runs_in_one_file_are_steps),
        cmocka_unit_test(errors_are_counted_by_class),
        cmocka_unit_test(as_fast_as_possible_is_no_rate),
        cmocka_unit_test(the_percentiles_of_newer_h2load_are_under_their_words),
        cmocka_unit_test(only_calls_that_the_end_cut_off_did_not_fail),
        cmocka_unit_test(answers_that_a_histogram_lacks_were_sent),
        cmocka_unit_test(the_plan_cuts_a_log_of_requests_into_steps),
        cmocka_unit_test(the_histogram_is_right_to_a_thousandth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

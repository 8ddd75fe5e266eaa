/* The generator's document alone: which numbers of it count. */
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

static char *quoted(const char *text)
{
    char *copy = fb_strdup(text);

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static struct fb_steps *parse(const char *text)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};
    char *json = quoted(text);

    if (fb_steps_parse(json, strlen(json), "nh.json", &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(json);
    return steps;
}

#define WORKER                                                                                     \
    "{'name': 'worker_0', 'execution_duration': '9s', "                                            \
    "'counters': [{'name': 'benchmark.http_2xx', 'value': '1'}]}"

static void the_global_result_counts_and_the_rate_is_that_of_all_workers(void **state)
{
    struct fb_steps *steps =
        parse("{'options': {'requests_per_second': {'value': 250}, 'concurrency': '4', "
              "'protocol': {'value': 'HTTP2'}}, 'results': [" WORKER ", "
              "{'name': 'global', 'execution_start': '2026-09-06T20:12:00.5Z', "
              "'execution_duration': '10s', 'counters': [{'name': 'benchmark.http_2xx', "
              "'value': '9990'}, {'name': 'benchmark.pool_overflow', 'value': 10}]}]}");
    const struct fb_step *s = steps->items;

    (void)state;
    assert_string_equal(steps->format, "nighthawk");
    assert_int_equal(steps->count, 1);
    assert_string_equal(s->name, "1000");
    assert_string_equal(s->mode, "http2");
    assert_true(s->offered == 1000 && s->delivered == 9990 && s->not_sent == 10 && s->secs == 10);
    assert_true(isnan(s->sent) && isnan(s->conns) && isnan(s->p50_s));
    assert_int_equal(s->load_start_ns, INT64_C(1788725520500000000));
    assert_int_equal(s->load_end_ns, INT64_C(1788725530500000000));
    fb_steps_free(steps);
}

static void the_nearest_point_of_the_grid_is_taken_and_recorded(void **state)
{
    struct fb_steps *steps =
        parse("{'results': [{'name': 'global', 'execution_duration': '1.5s', 'statistics': ["
              "{'id': 'benchmark_http_client.latency_2xx', 'count': '9', 'percentiles': ["
              "{'percentile': 0.5, 'duration': '0.001s'}, "
              "{'percentile': 0.984375, 'duration': '0.008s'}, "
              "{'percentile': 0.990625, 'duration': '0.009s'}, "
              "{'percentile': 0.9990234375, 'raw_value': 5000000}]}]}]}");
    const struct fb_step *s = steps->items;

    (void)state;
    assert_true(s->p50_s == 0.001 && s->p99_s == 0.009 && s->p999_s == 0.005);
    assert_true(s->p99_point == 0.990625 && s->p999_point == 0.9990234375);
    assert_true(s->p90_point == 0.984375);
    fb_steps_free(steps);
}

static void latencies_of_no_request_are_unknown(void **state)
{
    struct fb_steps *steps =
        parse("{'results': [{'name': 'global', 'execution_duration': '1s', 'statistics': ["
              "{'id': 'benchmark_http_client.latency_2xx', 'count': '0', 'percentiles': ["
              "{'percentile': 0.5, 'duration': '0s'}]}]}]}");

    (void)state;
    assert_true(isnan(steps->items[0].p50_s));
    assert_true(steps->items[0].delivered == 0);
    fb_steps_free(steps);
}

static void documents_in_a_row_are_steps(void **state)
{
    const char *one = "{'results': [{'name': 'global', 'execution_duration': '1s'}]}\n";
    char *two = fb_format("%s\n%s {'results'", one, one);
    struct fb_steps *steps = parse(two);

    (void)state;
    assert_int_equal(steps->count, 2);
    assert_int_equal(steps->items[1].line, 3);
    assert_string_equal(steps->items[1].name, "step 2");
    assert_string_equal(steps->warnings[0],
                        "line 4: the document is cut short or damaged (byte 10: the JSON ends "
                        "where ':' was expected): left out");
    fb_steps_free(steps);
    free(two);
}

static void a_document_without_its_sum_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"{'results': [" WORKER "]}", "nh.json: line 1: a result of Nighthawk was expected: the "
                                      "generator's document has no result named 'global'"},
        {"{}", "nh.json: no steps were found"},
        {"{'options': {}, 'version': 1}", "has no result named 'global'"},
        {"{'results': 4}", "has no result named 'global'"},
        {"{'results': [", "nh.json: line 1: a result of Nighthawk was expected: byte"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fb_steps *steps = NULL;
        struct fb_err err = {0};
        char *json = quoted(bad[i].text);

        assert_int_equal(fb_steps_parse(json, strlen(json), "nh.json", &steps, &err), FB_EFORMAT);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s", err.text);
        free(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_global_result_counts_and_the_rate_is_that_of_all_workers),
        cmocka_unit_test(the_nearest_point_of_the_grid_is_taken_and_recorded),
        cmocka_unit_test(latencies_of_no_request_are_unknown),
        cmocka_unit_test(documents_in_a_row_are_steps),
        cmocka_unit_test(a_document_without_its_sum_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

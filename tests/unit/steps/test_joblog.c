/* Job logs: the row formulas to the last digit, and everything that can be wrong in a log. */
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

#define LOG(name) FB_FIXTURES "/joblog/" name
#define START     INT64_C(1788725520000000000)

static struct fb_steps *read_log(const char *path)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_read(path, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    return steps;
}

static bool warned(const struct fb_steps *steps, const char *text)
{
    for (size_t i = 0; i < steps->warnings_count; i++)
        if (strstr(steps->warnings[i], text))
            return true;
    for (size_t i = 0; i < steps->warnings_count; i++)
        print_message("warning: %s\n", steps->warnings[i]);
    return false;
}

/* The row as users publish it: 1, 2, 2, 2, 1, 3, 1, 0, 0 decimals. */
static void assert_row(const struct fb_step *s, const char *expected)
{
    char row[300];

    (void)snprintf(row, sizeof row,
                   "%s | %.1f | %.2f | %.2f | %.2f | %.1f | %.3f | %.1f | %.0f | %.0f", s->name,
                   fb_step_delivered_per_s(s), s->p50_s * 1e3, s->p99_s * 1e3, s->p999_s * 1e3,
                   fb_step_knee_per_s(s), fb_step_ms_per_request(s), s->throttled_s,
                   s->heap_bytes / 1048576, s->rss_bytes / 1048576);
    assert_string_equal(row, expected);
}

static void the_published_row_follows_from_the_log(void **state)
{
    struct fb_steps *steps = read_log(LOG("http1.log"));

    (void)state;
    assert_string_equal(steps->format, "job-log");
    assert_int_equal(steps->count, 3);
    assert_row(&steps->items[0],
               "200 (warmup) | 188.6 | 4.08 | 1338.31 | 2259.81 | 11.4 | 3.683 | 77.2 | 63 | 323");
    /* 68.728 s over 44,000; a zero pool_overflow is not in the document */
    assert_row(&steps->items[1],
               "400 | 400.0 | 2.45 | 21.71 | 57.61 | 0.0 | 1.562 | 0.3 | 100 | 326");
    /* the snapshot before failed: what needs it is unknown, never 0 */
    assert_row(&steps->items[2],
               "600 | 598.4 | 2.57 | 72.89 | 378.13 | 1.6 | nan | nan | 101 | 326");
    assert_true(warned(steps, "'metrics_before' is empty"));
    assert_int_equal(steps->warnings_count, 1);
    fb_steps_free(steps);
}

static void a_step_keeps_counts_points_and_spans(void **state)
{
    struct fb_steps *steps = read_log(LOG("http1.log"));
    const struct fb_step *s = &steps->items[1];

    (void)state;
    assert_string_equal(s->mode, "http1");
    assert_true(steps->items[0].warmup && !s->warmup);
    assert_int_equal(s->line, 211);
    assert_true(s->delivered == 44000 && s->not_sent == 0 && s->sent == 44002 && s->errors == 2);
    assert_true(s->conns == 20 && s->secs == 110.000123 && s->heap_max_bytes == 536870912);
    assert_true(s->grain_s == 1 && fb_step_counter(s, "upstream_rq_total") == 44002);
    assert_true(isnan(fb_step_counter(s, "pool_overflow"))); /* not in the document */
    assert_true(s->errors_by[FB_ERROR_HTTP_5XX] == 2 && s->errors_by[FB_ERROR_HTTP_4XX] == 0);
    assert_string_equal(s->source, LOG("http1.log"));
    assert_true(s->p50_point == 0.5 && s->p90_point == 0.9);
    assert_true(s->p99_point == 0.990625 && s->p999_point == 0.99902344);
    assert_int_equal(s->start_ns, START + INT64_C(120000000000));
    assert_int_equal(s->end_ns, START + INT64_C(231000000000));
    /* the load's 110.000123 s in the middle of the window of 111 s */
    assert_int_equal(s->load_start_ns - s->start_ns, 499938500);
    assert_int_equal(s->end_ns - s->load_end_ns, 499938500);
    assert_true(fabs(s->cpu_s - 68.728) < 1e-9);
    assert_true(fabs(s->cpu_span_s - 111) < 1e-9);
    assert_string_equal(s->cpu_source, "metrics");
    assert_true(fabs(fb_step_cores(s) - 68.728 / 110.000123) < 1e-12);
    fb_steps_free(steps);
}

static void streams_count_messages_even_where_a_step_shows_no_stream(void **state)
{
    struct fb_steps *steps = read_log(LOG("grpc-stream.log"));
    const struct fb_step *s = steps->items;

    (void)state;
    assert_row(&s[0], "4000 | 3995.0 | 0.97 | 12.56 | 29.31 | 5.0 | 0.113 | 0.0 | 16 | 128");
    assert_string_equal(s[0].mode, "grpc-stream");
    assert_true(s[0].sent == 479400 && s[0].conns == 8);
    /* its document has http_2xx alone: 40 responses are not 40 messages */
    assert_string_equal(s[1].mode, "grpc-stream");
    assert_true(s[1].delivered == 0 && s[1].errors == 43);
    assert_true(isnan(s[1].p50_s));
    fb_steps_judge(steps);
    assert_true(s[0].health == FB_STEP_SHED);
    assert_true(s[1].health & FB_STEP_VOID);
    fb_steps_free(steps);
}

static void unary_calls_count_by_grpc_status(void **state)
{
    struct fb_steps *steps = read_log(LOG("grpc-unary.log"));
    const struct fb_step *s = steps->items;

    (void)state;
    assert_row(s, "1000 | 999.1 | 2.22 | 23.88 | 46.24 | 0.0 | 0.647 | 0.0 | 16 | 128");
    assert_string_equal(s->mode, "grpc-unary");
    assert_true(s->errors == 100);
    fb_steps_free(steps);
}

static void what_is_broken_reads_unknown_and_is_named_with_its_line(void **state)
{
    struct fb_steps *steps = read_log(LOG("broken.log"));
    const struct fb_step *s = steps->items;

    (void)state;
    assert_int_equal(steps->count, 4);
    assert_true(isnan(s[0].cpu_s) && s[0].delivered == 11000); /* the counter began anew */
    assert_true(isnan(s[1].delivered) && isnan(s[1].not_sent) && isnan(s[1].p50_s));
    assert_true(fabs(s[1].cpu_s - 10) < 1e-9);
    assert_true(warned(steps, "line 184: step 200: the generator's document behind it is cut"));
    assert_false(s[2].warmup);
    assert_true(warned(steps, "line 226: 'warmup' is not true or false; read as false"));
    assert_true(warned(steps, "line 226: 'metrics_before': byte 0x21 at offset 0 is not base64"));
    assert_true(warned(steps, "line 226: 'metrics_after' is empty"));
    assert_true(warned(steps, "line 226: step 300 has no document"));
    assert_true(warned(steps, "line 229: a JSON object was expected after #NH-STEP"));
    assert_true(warned(steps, "line 412: the log ends before the #NH-END"));
    assert_true(warned(steps, "line 231: step 500: the load ran 110.0 s, its window is 200 s, the "
                              "CPU counters span 190.0 s: they differ by over 2 %"));
    fb_steps_judge(steps);
    assert_true(s[0].health & FB_STEP_VOID);
    assert_non_null(strstr(s[0].why, "restarted inside the step"));
    assert_true(s[1].health & FB_STEP_VOID);
    assert_non_null(strstr(s[1].why, "the generator left no result"));
    fb_steps_free(steps);
}

static void a_packed_log_reads_as_the_plain_one(void **state)
{
    struct fb_buf text = {0}, packed = {0};
    struct fb_steps *steps;
    struct fb_err err = {0};
    char *path = fb_format("%s/test_joblog.log.gz", FB_BUILD);

    (void)state;
    assert_int_equal(fb_file_read(LOG("http1.log"), &text, &err), FB_OK);
    fb_gzip_pack(text.data, text.len, &packed);
    assert_int_equal(fb_file_write(path, packed.data, packed.len, &err), FB_OK);
    steps = read_log(path);
    assert_int_equal(steps->count, 3);
    assert_row(&steps->items[1],
               "400 | 400.0 | 2.45 | 21.71 | 57.61 | 0.0 | 1.562 | 0.3 | 100 | 326");
    fb_steps_free(steps);
    (void)remove(path);
    free(path);
    fb_buf_done(&text);
    fb_buf_done(&packed);
}

/* Reads n bytes of text, judges them; whatever comes out must be whole. */
static size_t read_some(const char *text, size_t n)
{
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};
    char *exact = malloc(n ? n : 1); /* no byte behind it, so that a read past the end is seen */
    size_t count = 0;

    assert_non_null(exact);
    memcpy(exact, text, n);
    if (fb_steps_parse(exact, n, "some.log", &steps, &err) == FB_OK) {
        count = steps->count;
        fb_steps_judge(steps);
        for (size_t i = 0; i < count; i++) {
            assert_non_null(steps->items[i].name);
            assert_true(steps->items[i].load_end_ns >= steps->items[i].load_start_ns);
        }
        fb_steps_free(steps);
    } else {
        assert_int_equal(strncmp(err.text, "some.log: ", 10), 0);
    }
    free(exact);
    return count;
}

static void a_log_cut_at_any_byte_keeps_the_steps_before_the_cut(void **state)
{
    struct fb_buf text = {0};
    struct fb_err err = {0};
    size_t before = 0;

    (void)state;
    assert_int_equal(fb_file_read(LOG("tiny.log"), &text, &err), FB_OK);
    for (size_t n = 0; n <= text.len; n++) {
        size_t count = read_some(text.data, n);

        assert_true(count >= before && count <= 2);
        before = count;
    }
    assert_int_equal(before, 2);
    fb_buf_done(&text);
}

/* A log that was cut inside a line, and the next one behind it. */
static void a_mark_in_the_middle_of_a_line_begins_a_step(void **state)
{
    struct fb_buf text = {0}, both = {0};
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(fb_file_read(LOG("tiny.log"), &text, &err), FB_OK);
    for (size_t cut = 1; cut < text.len; cut++) {
        both.len = 0;
        fb_buf_add(&both, text.data, cut);
        fb_buf_add(&both, text.data, text.len);
        assert_int_equal(fb_steps_parse(both.data, both.len, "both.log", &steps, &err), FB_OK);
        assert_true(steps->count >= 2);
        assert_true(steps->items[steps->count - 1].delivered > 0);
        assert_true(steps->items[steps->count - 2].delivered > 0);
        fb_steps_free(steps);
    }
    fb_buf_done(&both);
    fb_buf_done(&text);
}

static void a_flipped_byte_gives_a_sentence_or_sound_steps(void **state)
{
    struct fb_buf text = {0};
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(fb_file_read(LOG("tiny.log"), &text, &err), FB_OK);
    for (size_t i = 0; i < text.len; i++) {
        for (int bit = 0; bit < 8; bit += 3) {
            text.data[i] = (char)(text.data[i] ^ 1 << (bit + (int)(i % 2)));
            (void)read_some(text.data, text.len);
            text.data[i] = (char)(text.data[i] ^ 1 << (bit + (int)(i % 2)));
        }
    }
    fb_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_row_follows_from_the_log),
        cmocka_unit_test(a_step_keeps_counts_points_and_spans),
        cmocka_unit_test(streams_count_messages_even_where_a_step_shows_no_stream),
        cmocka_unit_test(unary_calls_count_by_grpc_status),
        cmocka_unit_test(what_is_broken_reads_unknown_and_is_named_with_its_line),
        cmocka_unit_test(a_packed_log_reads_as_the_plain_one),
        cmocka_unit_test(a_log_cut_at_any_byte_keeps_the_steps_before_the_cut),
        cmocka_unit_test(a_mark_in_the_middle_of_a_line_begins_a_step),
        cmocka_unit_test(a_flipped_byte_gives_a_sentence_or_sound_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

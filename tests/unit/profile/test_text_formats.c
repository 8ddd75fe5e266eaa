/* Timed folded text and DTrace's aggregates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

static enum fb_status read_text(const char *text, size_t n, unsigned jobs,
                                struct fb_profile **ret_p, struct fb_read_report *report,
                                struct fb_err *err)
{
    struct fb_read_options options = {.jobs = jobs};
    struct fb_source *in = fb_source_of_bytes(text, n, "t");
    enum fb_status r = fb_profile_read(in, NULL, &options, ret_p, report, err);

    fb_source_close(in);
    return r;
}

/* The text written as `to`, or the error; of the last call. */
static const char *written(const char *text, const char *to)
{
    static char last[4096];
    struct fb_read_report report;
    const struct fb_writer *writer;
    struct fb_profile *p;
    struct fb_buf out = {0};
    struct fb_err err;

    if (read_text(text, strlen(text), 1, &p, &report, &err) != FB_OK) {
        (void)snprintf(last, sizeof last, "%s", err.text);
        return last;
    }
    assert_int_equal(fb_writer_find(to, "", &writer, &err), FB_OK);
    writer->write(p, NULL, &out);
    (void)snprintf(last, sizeof last, "%s", out.data ? out.data : "");
    fb_buf_done(&out);
    fb_profile_free(p);
    return last;
}

static void timed_text_comes_back_as_it_was(void **state)
{
    static const char text[] = "1796034987545\tnginx\t[[unknown]]_[k];main;f x 3\n"
                               "1796034987545.25\tpool 1 tid=12\tjava/A.run_[1];b_[j]\t7\n"
                               "1796034987546.000001\ttid=9\ta\n"
                               "1796034987547\t\ta;b\n";
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    assert_string_equal(written(text, "timed"), text);
    assert_int_equal(read_text(text, strlen(text), 1, &p, &report, &err), FB_OK);
    assert_true(p->has_times);
    assert_true(p->first_ns == 1796034987545000000);
    assert_true(p->samples.time_ns[2] == 1796034987546000001);
    assert_int_equal(p->threads[p->samples.thread[1]].tid, 12);
    assert_int_equal(fb_profile_weight(p), 10);
    assert_int_equal(p->rows_merged, 0);
    fb_profile_free(p);
}

static void what_is_no_timed_sample_is_named(void **state)
{
    static const char text[] = "# x\r\n1796034987545\tw\ta;b\r\n1796034987545\tw\nsoon\tw\ta\n"
                               "1796034987545\tw\ta\tmany\n";
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    assert_int_equal(read_text(text, strlen(text), 1, &p, &report, &err), FB_OK);
    assert_int_equal(report.skipped_lines, 3);
    assert_string_equal(report.first_skipped,
                        "line 3: a thread and a tab were expected after the time");
    fb_profile_free(p);
}

static const char dtrace[] = "CPU     ID                    FUNCTION:NAME\n"
                             "  8  35077                        :tick-60s\n\n\n"
                             "              0x104d08831\n"
                             "              libjvm.dylib`JavaThread::run()+0x1c0\n"
                             "                1\n\n"
                             "  a`leaf+0x1\n  a`operator->(int)\n  a`f->b->c\n  a`main\n  12\n"
                             "  a`leaf+0x2\n  a`operator->(int)\n  a`f->b->c\n  a`main\n  3\n";

static void dtrace_aggregates_are_folded(void **state)
{
    (void)state;
    assert_string_equal(written(dtrace, "folded"),
                        "a`main;a`f;b_[i];c_[i];a`operator->(int);a`leaf 15\n"
                        "libjvm.dylib`JavaThread::run();0x104d08831 1\n");
}

static void many_jobs_read_the_same(void **state)
{
    struct fb_buf text = {0}, aggregates = {0}, banks[4] = {{0}};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    for (unsigned i = 0; i < 40000; i++) {
        fb_buf_printf(&text, "17960349%05u.5\tw-%u tid=%u\ta;f%u;g%u\t%u.5\n", i, i % 7, i % 7,
                      i % 311, i * 7919 % 1009, i % 5);
        fb_buf_printf(&aggregates, "   m`g%u+0x%x\n   m`f%u\n   n`main\n   %u\n\n", i * 7919 % 1009,
                      i & 255, i % 311, 1 + i % 5);
    }
    for (unsigned i = 0; i < 4; i++) {
        const struct fb_buf *from = i < 2 ? &text : &aggregates;

        assert_int_equal(read_text(from->data, from->len, i % 2 ? 3 : 1, &p, &report, &err), FB_OK);
        fb_bank_encode(p, &banks[i]);
        fb_profile_free(p);
    }
    for (unsigned i = 0; i < 4; i += 2) {
        assert_int_equal(banks[i].len, banks[i + 1].len);
        assert_memory_equal(banks[i].data, banks[i + 1].data, banks[i].len);
    }
    for (unsigned i = 0; i < 4; i++)
        fb_buf_done(&banks[i]);
    fb_buf_done(&text);
    fb_buf_done(&aggregates);
}

static void cut_or_flip(const char *text, size_t n)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    char *copy = malloc(n);

    for (size_t i = 0; i < n; i++) {
        char *exact = malloc(i + 1);

        memcpy(exact, text, i);
        if (read_text(exact, i, 1, &p, &report, &err) == FB_OK)
            fb_profile_free(p);
        free(exact);
        for (int flip = 1; flip < 256; flip *= 2) {
            memcpy(copy, text, n);
            copy[i] = (char)(copy[i] ^ flip);
            if (read_text(copy, n, 1, &p, &report, &err) == FB_OK)
                fb_profile_free(p);
        }
    }
    free(copy);
}

static void cut_or_flipped_text_is_read_or_refused(void **state)
{
    static const char timed[] = "#\n1796034987545.25\tp tid=12\ta_[1];b\t7\n1\tx\t[m tid=1];a;b\n";

    (void)state;
    cut_or_flip(timed, sizeof timed - 1);
    cut_or_flip(dtrace, sizeof dtrace - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timed_text_comes_back_as_it_was),
        cmocka_unit_test(what_is_no_timed_sample_is_named),
        cmocka_unit_test(dtrace_aggregates_are_folded),
        cmocka_unit_test(many_jobs_read_the_same),
        cmocka_unit_test(cut_or_flipped_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

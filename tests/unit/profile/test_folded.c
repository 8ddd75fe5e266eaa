#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "profile/profile.h"

static enum fb_status read_as(const char *text, size_t n, const char *type, unsigned jobs,
                              struct fb_profile **ret_p, struct fb_read_report *report,
                              struct fb_err *err)
{
    struct fb_read_options options = {.type = type, .jobs = jobs};
    struct fb_source *in = fb_source_of_bytes(text, n, "t");
    enum fb_status r = fb_profile_read(in, NULL, &options, ret_p, report, err);

    fb_source_close(in);
    return r;
}

/* The text folded again, and freed with the test's end. */
static char *folded(const char *text, const char *type)
{
    static char last[4096];
    struct fb_read_report report;
    const struct fb_writer *writer;
    struct fb_profile *p;
    struct fb_buf out = {0};
    struct fb_err err;

    if (read_as(text, strlen(text), type, 1, &p, &report, &err) != FB_OK) {
        (void)snprintf(last, sizeof last, "%s", err.text);
        return last;
    }
    assert_int_equal(fb_writer_find("folded", "", &writer, &err), FB_OK);
    writer->write(p, NULL, &out);
    (void)snprintf(last, sizeof last, "%s", out.data ? out.data : "");
    fb_buf_done(&out);
    fb_profile_free(p);
    return last;
}

static void what_is_no_stack_is_left_out(void **state)
{
    (void)state;
    assert_string_equal(
        folded("# a comment 5\r\n\r\n  a;b 1\r\n\t #x;y 2\na;b\t3 \r\n;;c;; 4\n", NULL),
        " #x;y 2\na;b 4\nc 4\n");
    assert_string_equal(folded("a;b c 3 12\nx;y 1\n", NULL), "a;b c 3 12\nx;y 1\n");
}

static void what_stands_above_the_stacks_does_not_hide_them(void **state)
{
    (void)state;
    assert_string_equal(folded("// made by x\na;b 1\na;c 2\nno count\na;b 3\n", NULL),
                        "a;b 4\na;c 2\n");
    assert_non_null(strstr(folded("name\tvalue\nx\t2\ny\t3\n", NULL), "no known profile format"));
    assert_non_null(strstr(folded("a text\nof a;b 3\nlines\n", NULL), "no known profile format"));
}

static void two_counts_are_two_types_and_no_part_of_a_name(void **state)
{
    static const char text[] = "a;b 5 7\na;c 1 3\na;gone 2 0\n";

    (void)state;
    assert_string_equal(folded(text, "before"), "a;b 5\na;c 1\na;gone 2\n");
    assert_string_equal(folded(text, "after"), "a;b 7\na;c 3\n");
    assert_string_equal(folded(text, "count"), "a;b 5 7\na;c 1 3\n");
    assert_non_null(strstr(folded(text, NULL), "two counts a line, one was expected by --type"));
    assert_non_null(strstr(folded(text, "cycles"), "one was expected by --type"));
    assert_string_equal(folded("a;b 1\n", "cycles"),
                        "t: has no samples of type 'cycles', it has count");
}

/* A line that has its beginning in common with the one before is read like one that has not: a line
 * between them that is like none changes nothing. */
static void a_line_does_not_depend_on_the_one_before(void **state)
{
    static const char *const lines[] = {
        "[pool];a;b 1", "[pool] 2", "[pool];a 3", "[pool];a_[j] 1", "a;bc;d 1",   "a;b;d 1",
        "a;b 2",        "a;b;; 3",  "a;;b;d 1",   ";a;b 1",         "a;b;de 1",   "a;b;d_[k] 1",
        "a;b;d_[k] 1",  "a 1",      "a; 1",       "a;b;d;e;f;g 1",  "a;b;d;e;f 1"};
    struct fb_buf after = {0}, apart = {0}, deep = {0};
    size_t count = sizeof lines / sizeof *lines;
    char *together, *wanted;

    (void)state;
    for (size_t i = 0; i < 300; i++)
        fb_buf_puts(&deep, "q;");
    for (size_t i = 0; i < count + 3; i++) {
        size_t cut = i == count ? 600 : i == count + 1 ? 500 : 80; /* of the deep one */

        for (int k = 0; k < 2; k++) {
            struct fb_buf *to = k == 0 ? &after : &apart;

            if (i < count)
                fb_buf_puts(to, lines[i]);
            else
                fb_buf_printf(to, "%.*sx 1", (int)cut, deep.data);
            fb_buf_puts(to, k == 0 ? "\n" : "\n~ 1\n");
        }
    }
    together = fb_strdup(folded(after.data, NULL));
    wanted = fb_format("%s~ %zu\n", together, count + 3);
    assert_string_equal(folded(apart.data, NULL), wanted);
    assert_non_null(strstr(together, "\na;b;d 2\n"));
    assert_non_null(strstr(together, "\na;b 6\n"));
    free(together);
    free(wanted);
    fb_buf_done(&after);
    fb_buf_done(&apart);
    fb_buf_done(&deep);
}

static void fractions_keep_their_sum(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_buf text = {0};
    struct fb_err err;

    (void)state;
    for (unsigned i = 0; i < 30000; i++) /* sums to 9,000 and 30,000 thirds */
        fb_buf_printf(&text, "a;f%u 0.3\nb;f%u 0.333333333333\n", i % 700, i);
    for (unsigned jobs = 1; jobs < 4; jobs++) {
        assert_int_equal(read_as(text.data, text.len, NULL, jobs, &p, &report, &err), FB_OK);
        assert_in_range(fb_profile_weight(p), 18999, 19001);
        fb_profile_free(p);
    }
    fb_buf_done(&text);
}

static void weights_that_cannot_be_added_are_refused(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_buf text = {0};
    struct fb_err err;

    (void)state;
    for (unsigned i = 0; i < 4000; i++) /* 3.6e19: more than 64 bits hold */
        fb_buf_puts(&text, "a;b 8999999999999999\n");
    for (unsigned jobs = 1; jobs < 3; jobs++)
        assert_int_equal(read_as(text.data, text.len, NULL, jobs, &p, &report, &err), FB_ELIMIT);
    assert_string_equal(err.text, "t: the weights add up to more than 9e18");
    fb_buf_done(&text);
}

/* Many blocks of stacks that come again in others, with threads, kinds and fractions. */
static void make_text(struct fb_buf *text)
{
    uint32_t x = 1;

    for (unsigned i = 0; i < 60000; i++) {
        fb_buf_printf(text, "[t-%u tid=%u]", i % 5, i % 50);
        for (unsigned k = 0; k < 3 + i % 5; k++) {
            x = x * 1664525 + 1013904223;
            fb_buf_printf(text, ";function_number_%u%s", x >> 24, x & 1 << 20 ? "_[k]" : "");
        }
        fb_buf_printf(text, i % 17 ? " %u\n" : " %u.25\n", 1 + i % 9);
    }
}

static void jobs_do_not_change_a_byte(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_buf text = {0}, one = {0}, more = {0};
    struct fb_err err;

    (void)state;
    make_text(&text);
    assert_int_equal(read_as(text.data, text.len, NULL, 1, &p, &report, &err), FB_OK);
    fb_bank_encode(p, &one);
    fb_profile_free(p);
    for (unsigned jobs = 2; jobs < 5; jobs++) {
        assert_int_equal(read_as(text.data, text.len, NULL, jobs, &p, &report, &err), FB_OK);
        more.len = 0;
        fb_bank_encode(p, &more);
        fb_profile_free(p);
        assert_int_equal(more.len, one.len);
        assert_memory_equal(more.data, one.data, one.len);
    }
    fb_buf_done(&text);
    fb_buf_done(&one);
    fb_buf_done(&more);
}

static void the_first_skipped_line_is_named_whatever_the_jobs(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_buf text = {0};
    struct fb_err err;

    (void)state;
    for (unsigned i = 0; i < 200000; i++)
        fb_buf_puts(&text, i == 123456 || i > 150000 ? "no count here\n" : "a;b;c 12\n");
    for (unsigned jobs = 1; jobs < 4; jobs++) {
        assert_int_equal(read_as(text.data, text.len, NULL, jobs, &p, &report, &err), FB_OK);
        assert_string_equal(report.first_skipped,
                            "line 123457: a count was expected after the stack");
        assert_int_equal(report.lines, 200000);
        assert_int_equal(report.skipped_lines, 50000);
        assert_int_equal(p->samples.count, 1);
        fb_profile_free(p);
    }
    fb_buf_done(&text);
}

static void a_cut_or_flipped_text_is_read_or_refused(void **state)
{
    static const char text[] = "# x\n[m tid=1];a_[j];b_[k] 10\n;;x y;z 3.5\r\na 1 2\n";
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    char copy[sizeof text];

    (void)state;
    for (size_t i = 0; i < sizeof text; i++) {
        char *exact = malloc(i + 1);

        memcpy(exact, text, i);
        if (read_as(exact, i, NULL, 1, &p, &report, &err) == FB_OK)
            fb_profile_free(p);
        free(exact);
        for (int flip = 1; flip < 256; flip *= 2) {
            memcpy(copy, text, sizeof text);
            copy[i] = (char)(copy[i] ^ flip);
            if (read_as(copy, sizeof text - 1, NULL, 1, &p, &report, &err) == FB_OK)
                fb_profile_free(p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_stack_is_left_out),
        cmocka_unit_test(what_stands_above_the_stacks_does_not_hide_them),
        cmocka_unit_test(two_counts_are_two_types_and_no_part_of_a_name),
        cmocka_unit_test(a_line_does_not_depend_on_the_one_before),
        cmocka_unit_test(fractions_keep_their_sum),
        cmocka_unit_test(weights_that_cannot_be_added_are_refused),
        cmocka_unit_test(jobs_do_not_change_a_byte),
        cmocka_unit_test(the_first_skipped_line_is_named_whatever_the_jobs),
        cmocka_unit_test(a_cut_or_flipped_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_in.h"
#include "base/vec.h"

/* Walks any value; strings, numbers and brackets go to out in one spelling. */
static void walk(struct fb_json_in *in, struct fb_buf *out)
{
    struct fb_json_text text;
    double v;

    switch (fb_json_in_peek(in)) {
    case FB_JSON_OBJECT:
        fb_buf_putc(out, '{');
        for (fb_json_in_object(in); fb_json_in_key(in, &text);) {
            fb_buf_add(out, text.text, text.len);
            fb_buf_putc(out, '=');
            walk(in, out);
        }
        fb_buf_putc(out, '}');
        break;
    case FB_JSON_ARRAY:
        fb_buf_putc(out, '[');
        for (fb_json_in_array(in); fb_json_in_item(in);)
            walk(in, out);
        fb_buf_putc(out, ']');
        break;
    case FB_JSON_STRING:
        (void)fb_json_in_string(in, &text);
        fb_buf_putc(out, '\'');
        fb_buf_add(out, text.text, text.len);
        fb_buf_putc(out, ' ');
        break;
    case FB_JSON_NUMBER:
        (void)fb_json_in_double(in, &v);
        fb_buf_printf(out, "%.17g ", v);
        break;
    case FB_JSON_MISSING:
    case FB_JSON_NULL:
    case FB_JSON_BOOL:
        fb_json_in_skip(in);
        fb_buf_putc(out, '?');
        break;
    }
}

static char *walked(const char *text, size_t n, bool by_source, struct fb_err *ret_err)
{
    struct fb_source *s = by_source ? fb_source_of_bytes(text, n, "t") : NULL;
    struct fb_json_in in;
    struct fb_buf out = {0};

    if (s)
        fb_json_in_start_source(&in, s);
    else
        fb_json_in_start(&in, text, n);
    walk(&in, &out);
    fb_json_in_end(&in);
    ret_err->text[0] = '\0';
    if (fb_json_in_failed(&in)) {
        assert_int_equal(fb_json_in_fail(&in, "t", ret_err), FB_EFORMAT);
        fb_buf_done(&out);
    }
    fb_json_in_done(&in);
    fb_source_close(s);
    return out.data ? fb_buf_take(&out) : NULL;
}

static void values_come_in_the_order_of_the_text(void **state)
{
    static const char text[] =
        " {\"a\" : [1, -2.5e3 ,0.1,12345678901234567890, 1e400], \"b\\n\":\"\\u00e9\\ud83d\\ude00"
        "\\ud83d!\", \"c\":[[],{}, true,false,null]} ";
    struct fb_err err;
    char *got = walked(text, sizeof text - 1, false, &err);

    (void)state;
    assert_string_equal(err.text, "");
    assert_string_equal(got, "{a=[1 -2500 0.10000000000000001 1.2345678901234567e+19 inf ]b\n="
                             "'\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd! c=[[]{}???]}");
    free(got);
}

static void a_text_over_many_windows_is_the_same(void **state)
{
    struct fb_buf text = {0};
    struct fb_err err;
    char *one, *two;

    (void)state;
    fb_buf_putc(&text, '[');
    for (int i = 0; text.len < 900000; i++)
        fb_buf_printf(&text, "%s{ \"key %d\"  : [%d ,%d.25,-%d],\"s\":\"%.*s\\\\ \\\" x\"}",
                      i ? "," : "", i, i, i * 7, i, i % 97,
                      "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                      "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
    fb_buf_putc(&text, ']');
    one = walked(text.data, text.len, false, &err);
    two = walked(text.data, text.len, true, &err);
    assert_non_null(one);
    assert_string_equal(one, two);
    free(one);
    free(two);
    fb_buf_done(&text);
}

static void a_violation_is_named_by_its_place(void **state)
{
    static const char *const rows[][2] = {
        {"", "t: byte 0: the JSON ends where a value was expected"},
        {"[1", "t: byte 2: the JSON ends where ',' or ']' was expected"},
        {"[1,]", "t: byte 3: a value was expected"},
        {"[1 2]", "t: byte 3: ',' or ']' was expected"},
        {"{\"a\"}", "t: byte 4: ':' was expected after a key"},
        {"{\"a\":1,}", "t: byte 7: a string was expected"},
        {"{a:1}", "t: byte 1: a string was expected"},
        {"[\"a", "t: byte 1: the JSON ends where the end of a string was expected"},
        {"\"\\x\"", "t: byte 0: a string has an escape that JSON does not know"},
        {"[1]]", "t: byte 3: the end of the JSON was expected"},
        {"-", "t: byte 0: the JSON ends where a number was expected"},
        {"nul", "t: byte 0: the JSON ends where the rest of a word was expected"},
        {"nil", "t: byte 0: a value was expected"},
    };
    struct fb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = walked(rows[i][0], strlen(rows[i][0]), false, &err);

        assert_string_equal(err.text, rows[i][1]);
        free(got);
    }
}

static void whole_numbers_are_exact_and_bounded(void **state)
{
    static const char text[] = "[9223372036854775807,-9007199254740993,1.5e3,2.5,1,22,333]";
    static const int64_t want[] = {INT64_MAX, -9007199254740993, 1500, 2, 1, 22, 333};
    struct fb_json_in in;
    int64_t v;
    size_t i = 0;

    (void)state;
    fb_json_in_start(&in, text, sizeof text - 1);
    for (fb_json_in_array(&in); fb_json_in_next_int(&in, &v); i++)
        assert_true(v == want[i]);
    assert_int_equal(i, 7);
    assert_false(fb_json_in_failed(&in));
    fb_json_in_done(&in);
    fb_json_in_start(&in, "1e19", 4);
    assert_false(fb_json_in_int(&in, &v));
    assert_string_equal(in.err.text, "byte 4: a number of at most 9.2e18 was expected");
    fb_json_in_done(&in);
}

static void a_cut_text_ends_without_an_error_where_that_is_allowed(void **state)
{
    static const char text[] = "[{\"ts\":12},{\"ts\":345},";
    struct fb_json_text key;
    int64_t v, sum;

    (void)state;
    for (size_t n = 0; n <= sizeof text - 1; n++) {
        struct fb_json_in in;

        fb_json_in_start(&in, text, n);
        in.cut_ok = true;
        sum = 0;
        for (fb_json_in_array(&in); fb_json_in_item(&in);) {
            for (fb_json_in_object(&in); fb_json_in_key(&in, &key);)
                sum += fb_json_in_int(&in, &v) ? v : 0;
        }
        assert_false(fb_json_in_failed(&in));
        assert_true(in.cut);
        assert_int_equal(sum, n < 10 ? 0 : n < 21 ? 12 : 357);
        fb_json_in_done(&in);
    }
}

static void skipped_values_are_copied_whole_when_asked(void **state)
{
    struct fb_json_in in;
    struct fb_json_text key;
    struct fb_buf raw = {0}, big = {0};
    struct fb_source *s;

    (void)state;
    fb_buf_puts(&big, "{\"skip\":{\"]\":[1,{\"x\":\"}\\\"\"}]}, \"args\": [\"");
    for (int i = 0; i < 600000; i++)
        fb_buf_putc(&big, (char)('a' + i % 26));
    fb_buf_puts(&big, "\", {\"y\":[]}],\"z\":1}");
    s = fb_source_of_bytes(big.data, big.len, "t");
    fb_json_in_start_source(&in, s);
    for (fb_json_in_object(&in); fb_json_in_key(&in, &key);) {
        if (fb_json_text_is(&key, "args"))
            fb_json_in_raw(&in, &raw);
        else
            fb_json_in_skip(&in);
    }
    fb_json_in_end(&in);
    assert_false(fb_json_in_failed(&in));
    assert_int_equal(raw.len, 600000 + 14);
    assert_memory_equal(raw.data, "[\"abcd", 6);
    assert_string_equal(raw.data + raw.len - 12, "\", {\"y\":[]}]");
    fb_json_in_done(&in);
    fb_source_close(s);
    fb_buf_done(&raw);
    fb_buf_done(&big);
}

static void nesting_is_bounded(void **state)
{
    size_t n = FB_JSON_IN_DEPTH + 1;
    char *deep = fb_alloc(n);
    struct fb_json_in in;

    (void)state;
    memset(deep, '[', n);
    fb_json_in_start(&in, deep, n);
    fb_json_in_skip(&in);
    assert_true(fb_json_in_failed(&in));
    assert_string_equal(in.err.text, "byte 131072: nesting of at most 131072 was expected");
    fb_json_in_done(&in);
    free(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_the_order_of_the_text),
        cmocka_unit_test(a_text_over_many_windows_is_the_same),
        cmocka_unit_test(a_violation_is_named_by_its_place),
        cmocka_unit_test(whole_numbers_are_exact_and_bounded),
        cmocka_unit_test(a_cut_text_ends_without_an_error_where_that_is_allowed),
        cmocka_unit_test(skipped_values_are_copied_whole_when_asked),
        cmocka_unit_test(nesting_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

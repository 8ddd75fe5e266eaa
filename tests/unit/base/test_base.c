#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compress.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/regex.h"
#include "base/strings.h"
#include "base/utf8.h"

static void context_is_put_in_front_of_an_error(void **state)
{
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_fail(&err, FB_EFORMAT, "module %d does not exist", 7), FB_EFORMAT);
    assert_int_equal(fb_within(&err, "%s: frame %d", "x.fbank", 3), FB_EFORMAT);
    assert_string_equal(err.text, "x.fbank: frame 3: module 7 does not exist");
}

static void equal_texts_have_equal_ids(void **state)
{
    struct fb_strings s;
    char text[16];

    (void)state;
    fb_strings_init(&s);
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(text, sizeof text, "f%d", i);
        assert_int_equal(fb_strings_put_z(&s, text), i + 1);
    }
    assert_int_equal(fb_strings_put_z(&s, "f4711"), 4712);
    assert_int_equal(fb_strings_find(&s, "f9", 2), 10);
    assert_int_equal(fb_strings_find(&s, "absent", 6), UINT32_MAX);
    assert_int_equal(fb_strings_put(&s, "a\0b", 3), fb_strings_put(&s, "a\0b", 3));
    assert_int_equal(fb_strings_put_z(&s, ""), 0);
    fb_strings_done(&s);
}

static void a_buffer_stops_at_its_maximum(void **state)
{
    struct fb_buf b = {.max = 5};

    (void)state;
    fb_buf_puts(&b, "abc");
    fb_buf_puts(&b, "def");
    assert_true(b.overflow);
    assert_string_equal(b.data, "abc");
    fb_buf_done(&b);
}

static void what_is_packed_comes_back(void **state)
{
    struct fb_buf raw = {0}, packed = {0}, again = {0};
    struct fb_err err;

    (void)state;
    for (int i = 0; i < 100000; i++)
        fb_buf_printf(&raw, "line %d\n", i % 977);
    fb_zstd_pack(raw.data, raw.len, 3, &packed);
    assert_int_equal(fb_unpack(packed.data, packed.len, &again, &err), FB_OK);
    assert_int_equal(again.len, raw.len);
    assert_memory_equal(again.data, raw.data, raw.len);
    packed.len = again.len = 0;
    fb_gzip_pack(raw.data, raw.len, &packed);
    fb_gzip_pack("tail", 4, &packed); /* a second member */
    assert_int_equal(fb_unpack(packed.data, packed.len, &again, &err), FB_OK);
    assert_int_equal(again.len, raw.len + 4);
    fb_buf_done(&raw);
    fb_buf_done(&packed);
    fb_buf_done(&again);
}

static void a_packed_stream_cut_anywhere_is_refused(void **state)
{
    struct fb_buf zstd = {0}, gzip = {0}, out = {0};
    struct fb_err err;

    (void)state;
    fb_zstd_pack("hello hello hello hello hello hello", 35, 3, &zstd);
    fb_gzip_pack("hello hello hello hello hello hello", 35, &gzip);
    for (size_t n = 4; n < zstd.len; n++)
        assert_int_equal(fb_unpack(zstd.data, n, &out, &err), FB_EFORMAT);
    for (size_t n = 2; n < gzip.len; n++)
        assert_int_equal(fb_unpack(gzip.data, n, &out, &err), FB_EFORMAT);
    fb_buf_done(&zstd);
    fb_buf_done(&gzip);
    fb_buf_done(&out);
}

static void an_unpacked_stream_is_bounded(void **state)
{
    struct fb_buf raw = {0}, packed = {0}, out = {.max = 1000};
    struct fb_err err;

    (void)state;
    for (int i = 0; i < 100000; i++)
        fb_buf_putc(&raw, 'x');
    fb_gzip_pack(raw.data, raw.len, &packed);
    assert_int_equal(fb_unpack(packed.data, packed.len, &out, &err), FB_ELIMIT);
    fb_buf_done(&raw);
    fb_buf_done(&packed);
    fb_buf_done(&out);
}

static void a_pattern_error_names_its_offset(void **state)
{
    struct fb_regex *re;
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_regex_new("a(b", false, &re, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "'a(b'"));
    assert_non_null(strstr(err.text, "offset 3"));
    assert_int_equal(fb_regex_new("^ngx_http", false, &re, &err), FB_OK);
    assert_true(fb_regex_match(re, "ngx_http_write", 14));
    assert_false(fb_regex_match(re, "xngx_http", 9));
    fb_regex_free(re);
}

static void a_costly_pattern_gives_up(void **state)
{
    struct fb_regex *re;
    struct fb_err err;
    char text[64];

    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(fb_regex_new("^(a+)+$", false, &re, &err), FB_OK);
    text[63] = 'b';
    assert_false(fb_regex_match(re, text, sizeof text));
    fb_regex_free(re);
}

static void json_says_where_it_broke(void **state)
{
    struct fb_json_doc *doc;
    struct fb_err err;
    size_t used;

    (void)state;
    assert_int_equal(fb_json_parse("{\n \"a\": }", 9, FB_JSON_WHOLE, &doc, NULL, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "line 2"));
    assert_int_equal(fb_json_parse("{\"a\": 1} tail", 13, FB_JSON_PREFIX, &doc, &used, &err),
                     FB_OK);
    assert_int_equal(used, 8);
    assert_true(fb_json_number(fb_json_get(fb_json_root(doc), "a"), 0) == 1);
    assert_int_equal(fb_json_kind(fb_json_get(fb_json_root(doc), "b")), FB_JSON_MISSING);
    fb_json_free(doc);
}

static void json_text_cannot_break_out_of_a_script(void **state)
{
    struct fb_buf out = {0};

    (void)state;
    fb_json_put_string(&out, "</script>\"\\\n\x01\xff", 14);
    assert_string_equal(out.data, "\"\\u003c/script>\\\"\\\\\\u000a\\u0001\\ufffd\"");
    fb_buf_done(&out);
}

static void utf8_that_is_ill_formed_is_replaced(void **state)
{
    static const char text[] = "\xc3\xa9\xc0\x80\xed\xa0\x80\xf0\x9f\x98\x80\xe2\x82";
    uint32_t got[16];
    size_t at = 0, n = 0;

    (void)state;
    while (at < sizeof text - 1)
        got[n++] = fb_utf8_next(text, sizeof text - 1, &at);
    assert_int_equal(got[0], 0xe9);
    assert_int_equal(got[1], 0xfffd);
    assert_int_equal(got[6], 0x1f600);
    assert_int_equal(got[n - 1], 0xfffd);
}

static void a_file_is_replaced_whole(void **state)
{
    char path[] = "/tmp/fb-test-XXXXXX";
    int fd = mkstemp(path);
    struct fb_buf in = {0};
    struct fb_err err;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fb_file_write(path, "one", 3, &err), FB_OK);
    assert_int_equal(fb_file_write(path, "two!", 4, &err), FB_OK);
    assert_int_equal(fb_file_read(path, &in, &err), FB_OK);
    assert_string_equal(in.data, "two!");
    assert_int_equal(fb_file_write("/nonexistent/x", "a", 1, &err), FB_EIO);
    assert_string_equal(err.text, "/nonexistent/x: cannot be created: No such file or directory");
    (void)close(fd);
    (void)unlink(path);
    fb_buf_done(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_is_put_in_front_of_an_error),
        cmocka_unit_test(equal_texts_have_equal_ids),
        cmocka_unit_test(a_buffer_stops_at_its_maximum),
        cmocka_unit_test(what_is_packed_comes_back),
        cmocka_unit_test(a_packed_stream_cut_anywhere_is_refused),
        cmocka_unit_test(an_unpacked_stream_is_bounded),
        cmocka_unit_test(a_pattern_error_names_its_offset),
        cmocka_unit_test(a_costly_pattern_gives_up),
        cmocka_unit_test(json_says_where_it_broke),
        cmocka_unit_test(json_text_cannot_break_out_of_a_script),
        cmocka_unit_test(utf8_that_is_ill_formed_is_replaced),
        cmocka_unit_test(a_file_is_replaced_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

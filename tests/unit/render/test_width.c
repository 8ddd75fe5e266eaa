#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "render/width.h"

static char *cut(struct fb_buf *b, const char *text, size_t columns)
{
    b->len = 0;
    fb_buf_puts(b, "");
    fb_width_put(b, text, strlen(text), columns);
    return b->data;
}

static void width_counts_columns_and_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(fb_width("abc", 3), 3);
    assert_int_equal(fb_width("±é→", strlen("±é→")), 3);
    assert_int_equal(fb_width("日本", 6), 4);
    assert_int_equal(fb_width("e\xcc\x81", 3), 1); /* combining acute */
    assert_int_equal(fb_width("\xff\xfe", 2), 2);
}

static void cut_text_ends_with_an_ellipsis_and_keeps_the_width(void **state)
{
    struct fb_buf b = {0};

    (void)state;
    assert_string_equal(cut(&b, "deflate", 7), "deflate");
    assert_string_equal(cut(&b, "deflate", 6), "defla…");
    assert_string_equal(cut(&b, "日本語", 4), "日…");
    assert_string_equal(cut(&b, "ab", 1), "…");
    assert_string_equal(cut(&b, "ab", 0), "");
    fb_buf_done(&b);
}

static void what_a_terminal_would_obey_is_shown_instead(void **state)
{
    struct fb_buf b = {0};

    (void)state;
    assert_string_equal(cut(&b, "\x1b[31m\a\n\x7f", 99), "␛[31m␇␊␡");
    assert_string_equal(cut(&b,
                            "a\xe2\x80\xae"
                            "b\xc2\x9b",
                            99),
                        "a�b�"); /* RLO, C1 CSI */
    assert_string_equal(cut(&b, "\xc0\x80\xed\xa0\x80", 99), "�����");
    fb_buf_done(&b);
}

static void every_code_point_survives_encoding(void **state)
{
    static const char *const texts[] = {"A", "é", "€", "😀"};
    static const uint32_t codes[] = {'A', 0xe9, 0x20ac, 0x1f600};
    struct fb_buf b = {0};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        b.len = 0;
        fb_utf8_put(&b, codes[i]);
        assert_string_equal(b.data, texts[i]);
    }
    fb_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_counts_columns_and_not_bytes),
        cmocka_unit_test(cut_text_ends_with_an_ellipsis_and_keeps_the_width),
        cmocka_unit_test(what_a_terminal_would_obey_is_shown_instead),
        cmocka_unit_test(every_code_point_survives_encoding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

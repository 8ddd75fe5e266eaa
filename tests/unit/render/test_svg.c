#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render/svg.h"

static const char *safe(struct fb_buf *b, const char *text, size_t len)
{
    b->len = 0;
    fb_buf_puts(b, "");
    fb_svg_text_put(b, text, len);
    return b->data;
}

static void markup_is_escaped_for_text_and_attributes(void **state)
{
    struct fb_buf b = {0};

    (void)state;
    assert_string_equal(safe(&b, "a<b>&\"'", 7), "a&lt;b&gt;&amp;&quot;&#39;");
    assert_string_equal(safe(&b, "]]>", 3), "]]&gt;");
    fb_buf_done(&b);
}

static void every_byte_becomes_what_xml_allows(void **state)
{
    struct fb_buf b = {0};

    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;

        safe(&b, &c, 1);
        assert_true(b.len > 0);
        for (size_t k = 0; k < b.len; k++)
            assert_true((unsigned char)b.data[k] >= 0x20 && b.data[k] != 0x7f);
    }
    assert_string_equal(safe(&b, "\xef\xbf\xbe\xef\xbf\xbf", 6), "��"); /* U+FFFE, U+FFFF */
    assert_string_equal(safe(&b, "\xed\xa0\x80", 3), "���");            /* a surrogate */
    assert_string_equal(safe(&b, "x\0y", 3), "x␀y");
    fb_buf_done(&b);
}

static void cut_text_is_cut_before_it_is_escaped(void **state)
{
    struct fb_buf b = {0};

    (void)state;
    for (double px = 0; px < 80; px += 0.5) {
        const char *amp;

        b.len = 0;
        fb_buf_puts(&b, "");
        fb_svg_cut_text_put(&b, "a&b<c>d", 7, px);
        for (amp = b.data; (amp = strchr(amp, '&')) != NULL; amp++)
            assert_true(strncmp(amp, "&amp;", 5) == 0 || strncmp(amp, "&lt;", 4) == 0 ||
                        strncmp(amp, "&gt;", 4) == 0);
    }
    assert_string_equal(b.data, "a&amp;b&lt;c&gt;d");
    fb_buf_done(&b);
}

static void cut_text_never_passes_its_width(void **state)
{
    static const char text[] = "WWWWiiii日本—mm";
    struct fb_buf b = {0};

    (void)state;
    for (double px = 0; px < 200; px += 1) {
        b.len = 0;
        fb_buf_puts(&b, "");
        fb_svg_cut_text_put(&b, text, sizeof text - 1, px);
        assert_true(fb_svg_text_width(b.data, b.len) <= px + 1e-9);
    }
    fb_buf_done(&b);
}

static void counts_and_percents_are_for_people(void **state)
{
    struct fb_buf b = {0};

    (void)state;
    fb_svg_count_put(&b, 0);
    fb_buf_putc(&b, ' ');
    fb_svg_count_put(&b, 999);
    fb_buf_putc(&b, ' ');
    fb_svg_count_put(&b, 1234567);
    fb_buf_putc(&b, ' ');
    fb_svg_count_put(&b, UINT64_MAX);
    assert_string_equal(b.data, "0 999 1,234,567 18,446,744,073,709,551,615");
    b.len = 0;
    fb_svg_percent_put(&b, 0.12345);
    fb_buf_putc(&b, ' ');
    fb_svg_percent_put(&b, 0.00002);
    fb_buf_putc(&b, ' ');
    fb_svg_percent_put(&b, 0);
    assert_string_equal(b.data, "12.35 0.002 0");
    fb_buf_done(&b);
}

static void long_names_are_shown_in_part(void **state)
{
    char name[3 * FB_SVG_NAME_MAX];
    struct fb_buf b = {0};

    (void)state;
    memset(name, 'x', sizeof name);
    assert_int_equal(fb_svg_name_len(name, FB_SVG_NAME_MAX), FB_SVG_NAME_MAX);
    assert_int_equal(fb_svg_name_len(name, sizeof name), FB_SVG_NAME_MAX);
    fb_svg_name_put(&b, name, sizeof name);
    assert_int_equal(b.len, FB_SVG_NAME_MAX + 3);
    assert_string_equal(b.data + FB_SVG_NAME_MAX, "…");
    for (size_t i = 0; i < sizeof name; i += 3)
        (void)memcpy(name + i, "…", 3);
    assert_int_equal(fb_svg_name_len(name, sizeof name), FB_SVG_NAME_MAX / 3 * 3);
    memset(name, 0x80, sizeof name); /* no character begins anywhere */
    assert_int_equal(fb_svg_name_len(name, sizeof name), FB_SVG_NAME_MAX);
    fb_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped_for_text_and_attributes),
        cmocka_unit_test(every_byte_becomes_what_xml_allows),
        cmocka_unit_test(cut_text_is_cut_before_it_is_escaped),
        cmocka_unit_test(cut_text_never_passes_its_width),
        cmocka_unit_test(long_names_are_shown_in_part),
        cmocka_unit_test(counts_and_percents_are_for_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

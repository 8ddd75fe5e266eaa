/* Text tables fit 100 columns, whatever names they hold, and cut no number. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render/table.h"
#include "render/width.h"
#include "tests/unit/render/written.h"

enum { TABLES = 400, NAME_MAX = 300 };

static uint64_t seed;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* A name of up to 300 bytes: words, class names, wide letters, hostile bytes. */
static const char *random_name(char *out)
{
    static const char *const parts[] = {"org.eclipse.jetty.",
                                        "HttpConnection",
                                        "$$Lambda",
                                        " ",
                                        "::operator()",
                                        "测试",
                                        "é",
                                        "\t",
                                        "x",
                                        "λ$0",
                                        "<int, 3>",
                                        "write"};
    size_t wanted = below(4) == 0 ? below(NAME_MAX - 20) : below(30), len = 0;

    out[0] = '\0';
    while (len < wanted)
        len += (size_t)snprintf(out + len, NAME_MAX - len, "%s",
                                parts[below(sizeof parts / sizeof *parts)]);
    return out;
}

static void random_number(struct fb_table *t)
{
    double value = (double)below(2000000) / 1000 - (below(2) ? 0 : 400);
    char text[40];

    switch (below(4)) {
    case 0:
        fb_table_number(t, NAN, 1);
        break;
    case 1:
        fb_table_number(t, value, (int)below(4));
        break;
    default:
        fb_table_textf(t, value, "%.1f ±%.1f", value, fabs(value) / 7);
        (void)snprintf(text, sizeof text, "%.1f", value);
        fb_table_short(t, text);
    }
}

static struct fb_table *random_table(void)
{
    unsigned numbers = 1 + below(5), texts = below(3), rows = below(9);
    char name[NAME_MAX];
    struct fb_table *t = fb_table_new(random_name(name));

    fb_table_column(t, "name", "name", FB_ALIGN_LEFT);
    if (below(2))
        fb_table_clip(t, 48);
    fb_table_group(t, below(2) ? "a group of numbers" : NULL);
    for (unsigned i = 0; i < numbers; i++) {
        fb_table_column(t, "n", i % 2 ? "share of it %" : "ms/req", FB_ALIGN_RIGHT);
        fb_table_narrow(t, i % 3 == 2 ? FB_NARROW_DROP : FB_NARROW_SHORT, 2 + below(2));
    }
    fb_table_group(t, NULL);
    fb_table_column(t, "r", "95 % interval", FB_ALIGN_LEFT);
    fb_table_range(t);
    for (unsigned i = 0; i < texts; i++) {
        fb_table_column(t, "t", "what", FB_ALIGN_LEFT);
        if (i == 1)
            fb_table_narrow(t, FB_NARROW_FOOT, 1);
    }
    for (unsigned r = 0; r < rows; r++) {
        fb_table_row(t);
        fb_table_text(t, random_name(name));
        for (unsigned i = 0; i < numbers; i++)
            random_number(t);
        fb_table_text(t, below(3) ? "-12.5 to +1303" : "");
        for (unsigned i = 0; i < texts; i++)
            fb_table_text(t, random_name(name));
    }
    for (unsigned i = below(3); i > 0; i--)
        fb_table_note(t, random_name(name));
    return t;
}

static void lines_fit(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n");

        if (fb_width(line, len) > FB_TABLE_TEXT_WIDTH)
            fail_msg("%zu columns: %.*s", fb_width(line, len), (int)len, line);
        line += len + (line[len] == '\n');
    }
}

/* Each number stands in the text whole, or short, or its column gave way as a whole. */
static void numbers_are_whole(const struct fb_table *t, const char *text)
{
    for (size_t i = 0; i < t->cells_count; i++) {
        const struct fb_table_cell *c = &t->cells[i];

        if (c->is_number && t->columns[i % t->columns_count].narrow != FB_NARROW_DROP)
            assert_true(strstr(text, c->text) || (c->short_text && strstr(text, c->short_text)));
    }
}

static void every_table_fits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TABLES; i++) {
        struct fb_table *t;
        char *text;

        seed = i;
        t = random_table();
        text = written(t, "text");
        lines_fit(text);
        numbers_are_whole(t, text);
        free(text);
        fb_table_free(t);
    }
}

static struct fb_table *wide_table(size_t name_len)
{
    struct fb_table *t = fb_table_new("T");
    char name[200];

    memset(name, 'n', sizeof name);
    name[name_len] = '\0';
    fb_table_column(t, "frame", "frame", FB_ALIGN_LEFT);
    fb_table_clip(t, 48);
    fb_table_column(t, "share", "share %", FB_ALIGN_RIGHT);
    fb_table_narrow(t, FB_NARROW_SHORT, 2);
    fb_table_column(t, "range", "range", FB_ALIGN_LEFT);
    fb_table_range(t);
    fb_table_column(t, "points", "points", FB_ALIGN_RIGHT);
    fb_table_narrow(t, FB_NARROW_DROP, 3);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_column(t, "why", "", FB_ALIGN_LEFT);
    fb_table_narrow(t, FB_NARROW_FOOT, 1);
    for (int r = 0; r < 2; r++) {
        fb_table_row(t);
        fb_table_text(t, r ? "short" : name);
        fb_table_textf(t, 9, r ? "9.5 ±0.25" : "109.5 ±10.5");
        fb_table_short(t, r ? "9.5" : "109.5");
        fb_table_text(t, r ? "+1.0 to +2.0" : "-10.0 to +120.0");
        fb_table_number(t, 3.5, 1);
        fb_table_text(t, "DIFF");
        fb_table_text(t, "one and the same reason, which is told once for all rows that have it");
    }
    return t;
}

static void reasons_become_notes_and_names_get_a_line(void **state)
{
    struct fb_table *t = wide_table(8);
    char *text = written(t, "text");

    (void)state;
    assert_string_equal(text,
                        "T\n"
                        "\n"
                        "frame         share %  range            points  verdict\n"
                        "────────────────────────────────────────────────────────\n"
                        "nnnnnnnn  109.5 ±10.5  -10.0 to +120.0     3.5  DIFF [1]\n"
                        "short       9.5 ±0.25   +1.0 to   +2.0     3.5  DIFF [1]\n"
                        "\n"
                        "[1] one and the same reason, which is told once for all rows that have\n"
                        "it\n");
    free(text);
    fb_table_free(t);
    t = wide_table(150);
    text = written(t, "text");
    lines_fit(text);
    assert_null(strstr(text, "which is told once for all rows that have it\nwhich"));
    free(text);
    fb_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_fits),
        cmocka_unit_test(reasons_become_notes_and_names_get_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

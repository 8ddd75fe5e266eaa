#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "render/table.h"
#include "tests/unit/render/written.h"

/* Two groups, a data column, every kind of cell. */
static struct fb_table *sample(void)
{
    struct fb_table *t = fb_table_new("Layers");

    fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
    fb_table_group(t, "control");
    fb_table_column(t, "share", "share %", FB_ALIGN_RIGHT);
    fb_table_column(t, "ms", "ms/req", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_data_column(t, "samples");
    fb_table_row(t);
    fb_table_text(t, "codec");
    fb_table_textf(t, 9.4375, "%.1f ±%.1f", 9.4375, 0.7);
    fb_table_number(t, 0.0159, 4);
    fb_table_text(t, "DIFF");
    fb_table_tone(t, FB_TONE_LESS);
    fb_table_number(t, 1661, 0);
    fb_table_row(t);
    fb_table_text(t, "std");
    fb_table_number(t, NAN, 1);
    fb_table_mute(t);
    fb_table_rule(t);
    fb_table_row(t);
    fb_table_text(t, "total");
    fb_table_number(t, 100, 1);
    fb_table_number(t, 1.0 / 3, 4);
    fb_table_note(t, "On-CPU time only.");
    return t;
}

static void a_row_for_data_is_not_for_people(void **state)
{
    static const struct {
        const char *format;
        bool has_row;
    } rows[] = {{"text", false}, {"md", false}, {"csv", true}, {"json", true}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_table *t = fb_table_new("T");
        struct fb_buf out = {0};

        fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
        fb_table_row(t);
        fb_table_text(t, "shown");
        fb_table_row(t);
        fb_table_text(t, "hidden, and much wider");
        fb_table_data_row(t);
        fb_table_writer_find(rows[i].format)
            ->write((const struct fb_table *const *)&t, 1, false, &out);
        assert_int_equal(strstr(out.data, "hidden") != NULL, rows[i].has_row);
        assert_non_null(strstr(out.data, "shown"));
        if (i == 0)
            assert_string_equal(out.data, "T\n\nlayer\n─────\nshown\n");
        fb_buf_done(&out);
        fb_table_free(t);
    }
}

static void text_aligns_columns_under_their_groups(void **state)
{
    struct fb_table *t = sample();

    (void)state;
    assert_table(t, "text",
                 "Layers\n"
                 "\n"
                 "       control ──────────\n"
                 "layer     share %  ms/req  verdict\n"
                 "──────────────────────────────────\n"
                 "codec    9.4 ±0.7  0.0159  DIFF\n"
                 "std           n/a\n"
                 "──────────────────────────────────\n"
                 "total  100.0       0.3333\n"
                 "\n"
                 "On-CPU time only.\n");
    fb_table_free(t);
}

static void markdown_names_the_group_in_each_heading(void **state)
{
    struct fb_table *t = sample();

    (void)state;
    assert_table(t, "md",
                 "### Layers\n"
                 "\n"
                 "| layer | control: share % | control: ms/req | verdict |\n"
                 "| :--- | ---: | ---: | :--- |\n"
                 "| codec | 9.4 ±0.7 | 0.0159 | **DIFF** |\n"
                 "| std | n/a |  |  |\n"
                 "| total | 100.0 | 0.3333 |  |\n"
                 "\n"
                 "On-CPU time only.\n");
    fb_table_free(t);
}

static void csv_has_every_column_in_full_precision(void **state)
{
    struct fb_table *t = sample();

    (void)state;
    assert_table(t, "csv",
                 "layer,share,ms,verdict,samples\n"
                 "codec,9.4375,0.0159,DIFF,1661\n"
                 "std,,,,\n"
                 "total,100,0.3333333333333333,,\n");
    fb_table_free(t);
}

static void json_is_one_document_with_null_for_unknown(void **state)
{
    struct fb_table *t = sample();
    char *text = written(t, "json");
    struct fb_json_doc *doc;
    const struct fb_json *table, *rows, *columns;
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_json_parse(text, strlen(text), FB_JSON_WHOLE, &doc, NULL, &err), FB_OK);
    table = fb_json_at(fb_json_get(fb_json_root(doc), "tables"), 0);
    columns = fb_json_get(table, "columns");
    rows = fb_json_get(table, "rows");
    assert_int_equal(fb_json_count(columns), 5);
    assert_string_equal(fb_json_string(fb_json_get(fb_json_at(columns, 1), "group"), ""),
                        "control");
    assert_int_equal(fb_json_count(rows), 3);
    assert_true(fb_json_number(fb_json_get(fb_json_at(rows, 2), "ms"), 0) == 1.0 / 3);
    assert_int_equal(fb_json_kind(fb_json_get(fb_json_at(rows, 1), "share")), FB_JSON_NULL);
    assert_true(fb_json_bool(fb_json_get(fb_json_at(rows, 1), "muted"), false));
    assert_false(fb_json_bool(fb_json_get(fb_json_at(rows, 0), "muted"), true));
    assert_string_equal(fb_json_string(fb_json_at(fb_json_get(table, "notes"), 0), ""),
                        "On-CPU time only.");
    fb_json_free(doc);
    free(text);
    fb_table_free(t);
}

static void colour_changes_nothing_but_the_escapes(void **state)
{
    struct fb_table *t = sample();
    const struct fb_table *tables[] = {t};
    char *plain = written(t, "text"), *from, *to;
    struct fb_buf b = {0};

    (void)state;
    fb_table_write_text(tables, 1, true, &b);
    assert_non_null(strstr(b.data, "\033[1;34mDIFF\033[0m"));
    assert_non_null(strstr(b.data, "\033[2mstd\033[0m"));
    for (from = to = b.data; *from != '\0';)
        if (*from == '\033')
            from = strchr(from, 'm') + 1;
        else
            *to++ = *from++;
    *to = '\0';
    assert_string_equal(b.data, plain);
    fb_buf_done(&b);
    free(plain);
    fb_table_free(t);
}

static struct fb_table *hostile(void)
{
    struct fb_table *t = fb_table_new("a|b");

    fb_table_column(t, "name", "name", FB_ALIGN_LEFT);
    fb_table_row(t);
    fb_table_text_n(t, "x\0\x1b[2J|\n,\"<b>`_\xff", 14);
    return t;
}

static void hostile_names_stay_in_their_cell(void **state)
{
    struct fb_table *t = hostile();
    char *text = written(t, "json");
    struct fb_json_doc *doc;
    struct fb_err err;

    (void)state;
    assert_table(t, "text", "a|b\n\nname\n──────────────\nx␀␛[2J|␊,\"<b>`\n");
    assert_table(t, "md", "### a\\|b\n\n| name |\n| :--- |\n| x␀␛\\[2J\\|␊,\"&lt;b\\>\\` |\n");
    assert_int_equal(fb_json_parse(text, strlen(text), FB_JSON_WHOLE, &doc, NULL, &err), FB_OK);
    fb_json_free(doc);
    free(text);
    fb_table_free(t);
}

static void markdown_makes_no_formula_of_class_names(void **state)
{
    struct fb_table *t = fb_table_new("");

    (void)state;
    fb_table_column(t, "f", "f", FB_ALIGN_LEFT);
    fb_table_row(t);
    fb_table_text(t, "Pool$Runner.run_x$$Lambda");
    assert_table(t, "md", "| f |\n| :--- |\n| Pool\\$Runner.run\\_x\\$\\$Lambda |\n");
    fb_table_free(t);
}

static void csv_quotes_what_would_split_a_field(void **state)
{
    struct fb_table *t = fb_table_new("t");

    (void)state;
    fb_table_column(t, "a", "a", FB_ALIGN_LEFT);
    fb_table_column(t, "b", "b", FB_ALIGN_LEFT);
    fb_table_row(t);
    fb_table_text(t, "f(int, \"x\")");
    fb_table_text(t, "two\nlines");
    assert_table(t, "csv", "a,b\n\"f(int, \"\"x\"\")\",\"two\nlines\"\n");
    fb_table_free(t);
}

static void several_tables_in_csv_say_which_row_is_whose(void **state)
{
    struct fb_table *a = fb_table_new("one"), *b = fb_table_new("two, three");
    const struct fb_table *tables[] = {a, b};
    struct fb_buf out = {0};

    (void)state;
    fb_table_column(a, "x", "x", FB_ALIGN_LEFT);
    fb_table_row(a);
    fb_table_number(a, 1, 0);
    fb_table_column(b, "y", "y", FB_ALIGN_LEFT);
    fb_table_row(b);
    fb_table_number(b, 2, 0);
    fb_table_write_csv(tables, 2, false, &out);
    assert_string_equal(out.data, "table,x\none,1\n\ntable,y\n\"two, three\",2\n");
    fb_buf_done(&out);
    fb_table_free(a);
    fb_table_free(b);
}

static void long_names_are_clipped_in_text_only(void **state)
{
    struct fb_table *t = fb_table_new("");

    (void)state;
    fb_table_column(t, "f", "f", FB_ALIGN_LEFT);
    fb_table_clip(t, 8);
    fb_table_column(t, "n", "n", FB_ALIGN_RIGHT);
    fb_table_row(t);
    fb_table_text(t, "std::vector<int>");
    fb_table_number(t, 5, 0);
    assert_table(t, "text", "f         n\n───────────\nstd::ve…  5\n");
    assert_table(t, "md", "| f | n |\n| :--- | ---: |\n| std::vector&lt;int\\> | 5 |\n");
    fb_table_free(t);
}

static void notes_wrap_at_blanks_and_lose_no_word(void **state)
{
    struct fb_table *t = fb_table_new("");
    char *text, *notes;

    (void)state;
    fb_table_column(t, "a", "a", FB_ALIGN_LEFT);
    fb_table_note(t, "one two three four five six seven eight nine ten eleven twelve thirteen "
                     "fourteen fifteen sixteen seventeen eighteen nineteen twenty twenty-one in 5 "
                     "% or so");
    text = written(t, "text");
    notes = strstr(text, "one");
    assert_string_equal(notes,
                        "one two three four five six seven eight nine ten eleven twelve thirteen\n"
                        "fourteen fifteen sixteen seventeen eighteen nineteen twenty twenty-one\n"
                        "in 5 % or so\n");
    free(text);
    fb_table_free(t);
}

static void what_rounds_to_zero_has_no_sign(void **state)
{
    struct fb_table *t = fb_table_new("");

    (void)state;
    fb_table_column(t, "a", "a", FB_ALIGN_RIGHT);
    fb_table_row(t);
    fb_table_number(t, -0.04, 1);
    fb_table_row(t);
    fb_table_number(t, -0.06, 1);
    assert_table(t, "text", "   a\n────\n 0.0\n-0.1\n");
    fb_table_free(t);
}

static void doubles_read_back_as_themselves(void **state)
{
    static const double values[] = {0.1, 1.0 / 3, 1e-300, 123456789012345678.0, -2.5, 5e-324};
    struct fb_buf b = {0};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        b.len = 0;
        fb_double_put(&b, values[i]);
        assert_true(strtod(b.data, NULL) == values[i]);
    }
    b.len = 0;
    fb_double_put(&b, 0.1);
    assert_string_equal(b.data, "0.1");
    fb_buf_done(&b);
}

static void unknown_formats_are_not_found(void **state)
{
    (void)state;
    assert_null(fb_table_writer_find("xml"));
    assert_string_equal(fb_table_writer_find("csv")->name, "csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_for_data_is_not_for_people),
        cmocka_unit_test(text_aligns_columns_under_their_groups),
        cmocka_unit_test(markdown_names_the_group_in_each_heading),
        cmocka_unit_test(csv_has_every_column_in_full_precision),
        cmocka_unit_test(json_is_one_document_with_null_for_unknown),
        cmocka_unit_test(colour_changes_nothing_but_the_escapes),
        cmocka_unit_test(hostile_names_stay_in_their_cell),
        cmocka_unit_test(markdown_makes_no_formula_of_class_names),
        cmocka_unit_test(csv_quotes_what_would_split_a_field),
        cmocka_unit_test(several_tables_in_csv_say_which_row_is_whose),
        cmocka_unit_test(long_names_are_clipped_in_text_only),
        cmocka_unit_test(notes_wrap_at_blanks_and_lose_no_word),
        cmocka_unit_test(what_rounds_to_zero_has_no_sign),
        cmocka_unit_test(doubles_read_back_as_themselves),
        cmocka_unit_test(unknown_formats_are_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

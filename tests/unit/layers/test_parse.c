/* Rules files that are not right: each mistake has its sentence; no bytes crash the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "stack.h"

#define LAYERS "'layers': [{'name': 'a'}]"

static const struct {
    const char *text, *message;
} cases[] = {
    {"{'layers': [", "rules.json: line 1, column "},
    {"{'layers': [], 'rules': [], 'layers': []}",
     "rules.json: line 1, column 36: duplicate object key near"},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'leaf': 'x\\u0000y'}]}", "\\u0000 is not allowed"},
    {"[]", "rules.json: the file is a list; an object with 'layers' and 'rules' was expected"},
    {"{}", "rules.json: 'layers' is nothing; a list of objects was expected"},
    {"{'layers': 3, 'rules': []}", "rules.json: 'layers' is a number; a list of objects was"},
    {"{'layers': [], 'rules': []}", "rules.json: 'layers' is empty; one layer at least"},
    {"{" LAYERS "}", "rules.json: 'rules' is nothing; a list of objects was expected"},
    {"{" LAYERS ", 'rules': [], 'rule': []}",
     "rules.json: unknown key 'rule'; one of description include charge groups "},
    {"{" LAYERS ", 'rules': [], 'layers rules': []}", "rules.json: unknown key 'layers rules'"},
    {"{'layers': [7], 'rules': []}",
     "rules.json: 'layers', item 1: the item is a number; an object with a 'name' was expected"},
    {"{'layers': [{'nam': 'a'}], 'rules': []}", "rules.json: 'layers', item 1: unknown key 'nam'; "
                                                "one of name color description group rollup "},
    {"{'layers': [{'name': 1}], 'rules': []}",
     "rules.json: 'layers', item 1: 'name' is a number; a string was expected"},
    {"{'layers': [{'name': ''}], 'rules': []}", "'name' is not a name"},
    {"{'layers': [{'name': 'a\\n'}], 'rules': []}", "'name' is not a name"},
    {"{'layers': [{'name': 'a'}, {'name': 'b'}, {'name': 'a'}], 'rules': []}",
     "rules.json: 'layers', item 3: layer 'a' is already layer 1 of the list"},
    {"{'layers': [{'name': 'a', 'color': 'red'}], 'rules': []}",
     "'color' is 'red'; # and six hexadecimal digits were expected"},
    {"{'layers': [{'name': 'a', 'color': '#000080'}], 'rules': []}",
     "'color' is #000080, too dark for text on it"},
    {"{" LAYERS ", 'rules': ['x']}",
     "rules.json: rule 1: the item is a string; an object with a 'layer' was expected"},
    {"{" LAYERS ", 'rules': [{'leaf': 'x'}]}",
     "rules.json: rule 1: 'layer' is nothing; the name of a layer was expected"},
    {"{" LAYERS ", 'rules': [{'layer': 'b', 'leaf': 'x'}]}",
     "rules.json: rule 1: layer 'b' is not in the list 'layers'"},
    {"{" LAYERS ", 'rules': [{'layer': 'a'}]}", "rules.json: rule 1: no test; one of leaf, any, "},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'leaf': 'x'}, {'layer': 'a', 'leaf': 'f(x'}]}",
     "rules.json: rule 2: 'leaf': pattern 'f(x': missing closing parenthesis at offset 3"},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'under': ['x', '[']}]}",
     "rules.json: rule 1: 'under': pattern '[': "},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'module': 1}]}",
     "rules.json: rule 1: 'module' is a number; a string or a list of strings expected"},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'leaf': ['x', {}]}]}",
     "rules.json: rule 1: 'leaf' is a list with an object; a string or"},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'leaf': []}]}",
     "rules.json: rule 1: 'leaf' is an empty list; it would match nothing"},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'leaf': ''}]}",
     "rules.json: rule 1: 'leaf' is empty; it would match everything"},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'kind': 'wasm'}]}",
     "rules.json: rule 1: 'kind': no kind 'wasm'; one of native, kernel, "},
    {"{" LAYERS ", 'rules': [{'layer': 'a', 'leef': 'x'}]}",
     "rules.json: rule 1: unknown key 'leef'; one of layer charge leaf any "},
};

static char *quoted(const char *text)
{
    char *copy = fb_strdup(text);

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static void each_mistake_has_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = quoted(cases[i].text);
        struct fb_layers *layers = NULL;
        struct fb_err err = {0};

        if (fb_layers_parse(text, strlen(text), "rules.json", &layers, &err) == FB_OK)
            fail_msg("no error: %s", text);
        if (!strstr(err.text, cases[i].message))
            fail_msg("%s\nexpected: %s\ngot:      %s", text, cases[i].message, err.text);
        assert_null(layers);
        free(text);
    }
}

static void layers_keep_the_order_of_the_file_and_other_is_last(void **state)
{
    char *text = quoted("{'layers': [{'name': 'other', 'color': '#ffffff'}, {'name': 'syscalls'},"
                        "{'name': 'b', 'color': '#AABBCC', 'description': 'd'}], 'rules': []}");
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(fb_layers_parse(text, strlen(text), "x", &layers, &err), FB_OK);
    assert_int_equal(fb_layers_count(layers), 3);
    assert_string_equal(fb_layers_get(layers, 0)->name, "syscalls");
    assert_string_equal(fb_layers_get(layers, 0)->color, "#8fbfe6");
    assert_string_equal(fb_layers_get(layers, 0)->description, "");
    assert_string_equal(fb_layers_get(layers, 1)->color, "#AABBCC");
    assert_string_equal(fb_layers_get(layers, 1)->description, "d");
    assert_string_equal(fb_layers_get(layers, 2)->name, "other");
    assert_string_equal(fb_layers_get(layers, 2)->color, "#ffffff");
    assert_string_equal(fb_layers_name(layers), "x");
    fb_layers_free(layers);
    free(text);
}

static void an_unknown_preset_and_a_missing_file_are_told_apart(void **state)
{
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(fb_layers_load("nativ", &layers, &err), FB_ENOTFOUND);
    assert_non_null(strstr(err.text, "no layer preset 'nativ' (built in: native"));
    assert_int_equal(fb_layers_load("./nativ", &layers, &err), FB_EIO);
    assert_non_null(strstr(err.text, "./nativ"));
    assert_int_equal(fb_layers_load("nativ.json", &layers, &err), FB_EIO);
    assert_int_equal(fb_layers_load("native", &layers, &err), FB_OK);
    fb_layers_free(layers);
}

static const char small[] = "{\"description\": \"d\", \"layers\": [{\"name\": \"a\", \"color\": "
                            "\"#8fbfe6\"}], \"rules\": [{\"layer\": \"a\", \"leaf\": [\"^x+$\", "
                            "\"y\"], \"kind\": \"native\", \"under\": \"(?i)z{1,3}\"}]}";

static void a_cut_file_is_refused_at_every_byte(void **state)
{
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    (void)state;
    for (size_t n = 0; n < sizeof small - 1; n++)
        assert_int_equal(fb_layers_parse(small, n, "x", &layers, &err), FB_EFORMAT);
    assert_int_equal(fb_layers_parse(small, sizeof small - 1, "x", &layers, &err), FB_OK);
    fb_layers_free(layers);
}

static void a_flipped_byte_gives_a_sentence_or_sound_rules(void **state)
{
    char text[sizeof small];

    (void)state;
    memcpy(text, small, sizeof small);
    for (size_t i = 0; i < sizeof small - 1; i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct fb_layers *layers = NULL;
            struct fb_err err = {0};

            text[i] = (char)(text[i] ^ 1 << bit);
            if (fb_layers_parse(text, sizeof small - 1, "x", &layers, &err) == FB_OK) {
                assert_non_null(stack_layer(layers, "zz;y"));
                fb_layers_free(layers);
            } else {
                assert_non_null(strstr(err.text, "x: "));
            }
            text[i] = small[i];
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_sentence),
        cmocka_unit_test(layers_keep_the_order_of_the_file_and_other_is_last),
        cmocka_unit_test(an_unknown_preset_and_a_missing_file_are_told_apart),
        cmocka_unit_test(a_cut_file_is_refused_at_every_byte),
        cmocka_unit_test(a_flipped_byte_gives_a_sentence_or_sound_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

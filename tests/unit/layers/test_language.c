/* The language beyond plain rules: tests of the whole stack, callers, kernel frames, includes,
 * groups, boundaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "stack.h"

enum { AS_IS, CALLER, FOLD };

static const struct {
    const char *rules, *stack, *layer;
    int how;
} cases[] = {
    /* any: the leaf counts too */
    {"{'layer': 'a', 'any': '^deflate$'}", "main;deflate;memcpy", "a", AS_IS},
    {"{'layer': 'a', 'any': '^deflate$'}", "main;deflate", "a", AS_IS},
    {"{'layer': 'a', 'any': '^deflate$'}", "main;inflate", "other", AS_IS},
    /* root: the outermost frame, a thread is none */
    {"{'layer': 'a', 'root': '^main$'}", "main;x;y", "a", AS_IS},
    {"{'layer': 'a', 'root': '^x$'}", "main;x;y", "other", AS_IS},
    {"{'layer': 'a', 'root': '^main$'}", "[worker-1];main;x", "a", AS_IS},
    {"{'layer': 'a', 'root': 'main'}", "main", "a", AS_IS},
    /* thread: its name, in brackets at the root; no frame's test sees it */
    {"{'layer': 'a', 'thread': '^C2 Comp'}", "[C2 CompilerThre0 tid=7];x", "a", AS_IS},
    {"{'layer': 'a', 'thread': 'tid'}", "[C2 CompilerThre0 tid=7];x", "other", AS_IS},
    {"{'layer': 'a', 'thread': '7'}", "[C2 CompilerThre0 tid=7];x", "other", AS_IS},
    {"{'layer': 'a', 'thread': '^x$'}", "x;y", "other", AS_IS},
    {"{'layer': 'a', 'thread': '^x$'}", "y;[x];z", "other", AS_IS},
    {"{'layer': 'a', 'under': 'Comp'}", "[C2 CompilerThre0 tid=7];x", "other", AS_IS},
    {"{'layer': 'a', 'thread': '^w$', 'leaf': '^x$'}", "[w];y", "other", AS_IS},
    /* tier */
    {"{'layer': 'a', 'tier': 'interpreted'}", "main;a.B.c_[0]", "a", AS_IS},
    {"{'layer': 'a', 'tier': ['c1', 'c2']}", "main;a.B.c_[1]", "a", AS_IS},
    {"{'layer': 'a', 'tier': ['c1', 'c2']}", "main;a.B.c_[j]", "a", AS_IS},
    {"{'layer': 'a', 'tier': 'c1', 'leaf': 'c$'}", "main;a.B.c_[j]", "other", AS_IS},
    {"{'layer': 'a', 'tier': 'inlined'}", "main;f_[i]", "a", AS_IS},
    {"{'layer': 'a', 'tier': 'native'}", "main;f", "a", AS_IS},
    /* not: fails only if all of its tests pass */
    {"{'layer': 'a', 'leaf': '^mem', 'not': {'leaf': 'cpy$'}}", "memcpy", "other", AS_IS},
    {"{'layer': 'a', 'leaf': '^mem', 'not': {'leaf': 'cpy$'}}", "memset", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^mem', 'not': {'leaf': 'cpy$', 'under': '^z$'}}", "z;memcpy", "other",
     AS_IS},
    {"{'layer': 'a', 'leaf': '^mem', 'not': {'leaf': 'cpy$', 'under': '^z$'}}", "y;memcpy", "a",
     AS_IS},
    {"{'layer': 'a', 'leaf': '^mem', 'not': {'leaf': 'cpy$', 'under': '^z$'}}", "z;memset", "a",
     AS_IS},
    {"{'layer': 'a', 'not': {'any': 'x'}}, {'layer': 'b', 'leaf': '.'}", "x;y", "b", AS_IS},
    {"{'layer': 'a', 'not': {'any': 'x'}}, {'layer': 'b', 'leaf': '.'}", "w;y", "a", AS_IS},
    {"{'layer': 'a', 'not': {'thread': '^w$'}}", "[w];y", "other", AS_IS},
    {"{'layer': 'a', 'not': {'root': '^w$'}}", "w;y", "other", AS_IS},
    {"{'layer': 'a', 'not': {'kind': 'kernel'}}", "w;y", "a", AS_IS},
    {"{'layer': 'a', 'not': {'kind': 'kernel'}}", "w;y_[k]", "other", AS_IS},
    /* class paths: one spelling */
    {"{'layer': 'a', 'leaf': '^com/acme/'}", "com/acme/Box.open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com/acme/'}", "com.acme.Box.open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com/acme/'}", "com.acme.Box.open(La/B)V", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com/[^/]+/Box'}", "com.acme.lib.Box.open", "other", AS_IS},
    {"{'layer': 'a', 'leaf': '^com/acme/.*apply$'}", "com.acme.Box$$Lambda$7/0x0000f.apply", "a",
     AS_IS},
    {"{'layer': 'a', 'leaf': '^com\\\\.acme\\\\..*apply$'}", "com/acme/Box$$Lambda/0x00f.apply",
     "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^read/'}", "read.cold", "other", AS_IS},
    {"{'layer': 'a', 'leaf': '^acme/'}", "github.com/acme.Open", "other", AS_IS},
    {"{'layer': 'a', 'leaf': '^com\\\\.acme\\\\.'}", "com/acme/Box.open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com.acme.Box.open$'}", "com/acme/Box.open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com/[^/]+/Box\\\\.'}", "com/acme/Box.open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com/[^/]+/Box\\\\.'}", "com/acme/lib/Box.open", "other", AS_IS},
    {"{'layer': 'a', 'leaf': '^(x/|com\\\\.acme\\\\.)'}", "com/acme/Box.open(La/B)V", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^com\\\\/acme/'}", "com/acme/Box.open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^github\\\\.com/acme/'}", "github.com/acme/box.Open", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^github\\\\.com\\\\.acme'}", "github.com/acme/box.Open", "other",
     AS_IS},
    {"{'layer': 'a', 'leaf': '^/usr/lib/x'}", "/usr/lib/x.py", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^net/http\\\\.'}", "net/http.(*conn).serve", "a", AS_IS},
    {"{'layer': 'a', 'under': '^acme\\\\.'}", "acme/Box.open;x", "a", AS_IS},
    /* charge: caller, off and on */
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'}, {'layer': 'b', 'leaf': '^z'}",
     "main;zip;memcpy", "a", AS_IS},
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'}, {'layer': 'b', 'leaf': '^z'}",
     "main;zip;memcpy", "b", CALLER},
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'}, {'layer': 'b', 'leaf': '^z'}",
     "zip;memcpy;memset;memmove", "b", CALLER},
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'}, {'layer': 'b', 'leaf': '^z'}",
     "main;memcpy", "other", CALLER},
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'}", "memcpy", "a", CALLER},
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'}", "[w];memcpy", "a", CALLER},
    {"{'layer': 'a', 'leaf': '^mem', 'charge': 'caller'},"
     "{'layer': 'b', 'leaf': '^cpy', 'charge': 'caller'}",
     "memcpy;cpy", "b", CALLER},
    {"{'layer': 'a', 'leaf': '^z', 'under': '^y'},"
     "{'layer': 'b', 'leaf': '^mem', 'charge': 'caller'}",
     "y;z;memcpy", "a", CALLER},
    {"{'layer': 'a', 'leaf': '^mem', 'under': '^q', 'charge': 'caller'},"
     "{'layer': 'b', 'leaf': '.'}",
     "z;memcpy", "b", CALLER},
    /* kernel frames */
    {"{'layer': 'a', 'leaf': '^write'}, {'layer': 'b', 'kind': 'kernel'}",
     "main;write;sys_write_[k];tcp_[k]", "b", AS_IS},
    {"{'layer': 'a', 'leaf': '^write'}, {'layer': 'b', 'kind': 'kernel'}",
     "main;write;sys_write_[k];tcp_[k]", "a", FOLD},
    {"{'layer': 'a', 'leaf': '^write'}, {'layer': 'b', 'kind': 'kernel'}", "kthread_[k];tcp_[k]",
     "b", FOLD},
    {"{'layer': 'a', 'leaf': '^write'}, {'layer': 'b', 'kind': 'kernel'}",
     "[w];kthread_[k];tcp_[k]", "b", FOLD},
};

static char *quoted(const char *text)
{
    char *copy = fb_strdup(text);

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static struct fb_layers *parse_text(const char *single_quoted)
{
    char *text = quoted(single_quoted);
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    if (fb_layers_parse(text, strlen(text), "test", &layers, &err) != FB_OK)
        fail_msg("%s\n%s", single_quoted, err.text);
    free(text);
    return layers;
}

static struct fb_layers *parse(const char *rules)
{
    char *text = fb_format("{'layers': [{'name': 'a'}, {'name': 'b'}], 'rules': [%s]}", rules);
    struct fb_layers *layers = parse_text(text);

    free(text);
    return layers;
}

static void a_rule_means_what_the_manual_says(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_layers_options options = {.charge = cases[i].how == CALLER ? FB_CHARGE_CALLER
                                                                             : FB_CHARGE_AS_FILE,
                                            .fold_kernel = cases[i].how == FOLD};
        struct fb_layers *layers = parse(cases[i].rules);
        const char *layer = stack_layer_as(layers, cases[i].stack, NULL, &options);

        if (strcmp(layer, cases[i].layer) != 0) {
            print_error("%s\n%s\nexpected %s, got %s\n", cases[i].rules, cases[i].stack,
                        cases[i].layer, layer);
            wrong++;
        }
        fb_layers_free(layers);
    }
    assert_int_equal(wrong, 0);
}

static void transparent_frames_have_no_layer_of_their_own(void **state)
{
    struct fb_layers *layers =
        parse_text("{'charge': 'caller', 'transparent': [{'leaf': '^mem'}, {'kind': 'stub'}],"
                   "'layers': [{'name': 'a'}, {'name': 'b'}],"
                   "'rules': [{'layer': 'a', 'leaf': '^mem'}, {'layer': 'b', 'leaf': '^z'}]}");
    struct fb_layers_options self = {.charge = FB_CHARGE_SELF};

    (void)state;
    assert_string_equal(stack_layer(layers, "zip;memcpy"), "b");
    assert_string_equal(stack_layer(layers, "zip;memcpy;plt_[s]"), "b");
    assert_string_equal(stack_layer(layers, "memcpy"), "a");
    assert_string_equal(stack_layer_as(layers, "zip;memcpy", NULL, &self), "a");
    fb_layers_free(layers);
}

static void groups_and_rollups_follow_names_unless_a_file_says_otherwise(void **state)
{
    struct fb_layers *layers =
        parse_text("{'groups': [{'name': 'vm', 'description': 'd'}, {'name': 'transport'}],"
                   "'layers': [{'name': 'gc', 'group': 'vm'}, {'name': 'tls', 'group': 'transport',"
                   "'rollup': 'transport'}, {'name': 'transport'}, {'name': 'mine'}],"
                   "'rules': []}");

    (void)state;
    assert_int_equal(fb_layers_groups_count(layers), 2);
    assert_string_equal(fb_layers_group(layers, 0)->description, "d");
    assert_int_equal(fb_layers_get(layers, 0)->group, 0);
    assert_int_equal(fb_layers_get(layers, 0)->rollup, FB_ROLLUP_JIT_GC);
    assert_false(fb_layers_get(layers, 0)->has_rollup);
    assert_int_equal(fb_layers_get(layers, 1)->group, 1);
    assert_int_equal(fb_layers_get(layers, 1)->rollup, FB_ROLLUP_TRANSPORT);
    assert_true(fb_layers_get(layers, 1)->has_rollup);
    assert_int_equal(fb_layers_get(layers, 2)->group, 1);
    assert_int_equal(fb_layers_get(layers, 2)->rollup, FB_ROLLUP_TRANSPORT);
    assert_int_equal(fb_layers_get(layers, 3)->group, FB_NO_GROUP);
    assert_int_equal(fb_layers_get(layers, 3)->rollup, FB_ROLLUP_OTHER);
    fb_layers_free(layers);
}

static void a_boundary_is_anywhere_on_the_stack(void **state)
{
    struct fb_layers *layers =
        parse_text("{'layers': [{'name': 'codec'}], 'rules': [], 'boundaries': ["
                   "{'layer': 'codec', 'frames': '^acme/Json\\\\.', 'kind': 'native'},"
                   "{'name': 'handler', 'frames': '^h', 'module': '^app$'}, {'name': 'codec2',"
                   "'layer': 'codec', 'frames': 'x'}]}");
    static const struct {
        const char *stack;
        uint64_t bits;
    } rows[] = {{"main;acme/Json.write;y;z", 1},
                {"app!h;acme.Json.write", 3},
                {"app!h;acme.Jsonz.write", 2},
                {"app!h;acme/Json.write;acme/Json.write", 3},
                {"lib!h;y", 0},
                {"x", 4}};

    (void)state;
    assert_int_equal(fb_layers_boundaries_count(layers), 3);
    assert_string_equal(fb_layers_boundary(layers, 0)->name, "codec");
    assert_int_equal(fb_layers_boundary(layers, 0)->layer, 0);
    assert_int_equal(fb_layers_boundary(layers, 1)->layer, FB_NO_LAYER);
    assert_int_equal(fb_layers_boundary(layers, 2)->layer, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fb_functions fns;
        struct fb_calltree tree;
        uint64_t *bits;
        uint32_t node;

        fb_functions_init(&fns);
        fb_calltree_init(&tree);
        node = stack_put(&tree, &fns, rows[i].stack);
        bits = fb_layers_boundaries(layers, &tree, &fns);
        assert_int_equal(bits[node], rows[i].bits);
        free(bits);
        fb_calltree_done(&tree);
        fb_functions_done(&fns);
    }
    fb_layers_free(layers);
}

/* ---- include ---- */

static char folder[] = "/tmp/fb-layers-XXXXXX";

static void put_file(const char *name, const char *single_quoted)
{
    char *path = fb_format("%s/%s", folder, name), *text = quoted(single_quoted);
    struct fb_err err;

    assert_int_equal(fb_file_write(path, text, strlen(text), &err), FB_OK);
    free(path);
    free(text);
}

static enum fb_status load(const char *name, struct fb_layers **ret_layers, struct fb_err *err)
{
    char *path = fb_format("%s/%s", folder, name);
    enum fb_status r = fb_layers_load(path, ret_layers, err);

    free(path);
    return r;
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    put_file("base.json",
             "{'layers': [{'name': 'x', 'color': '#ffffff', 'description': 'base'},"
             "{'name': 'y'}], 'rules': [{'layer': 'x', 'leaf': 'f'}, {'layer': 'y', 'leaf': 'g'}],"
             "'boundaries': [{'name': 'b', 'frames': 'base'}]}");
    put_file("own.json",
             "{'include': ['base.json', 'native'], 'layers': [{'name': 'own'},"
             "{'name': 'x', 'color': '#eeeeee'}], 'rules': [{'layer': 'own', 'leaf': '^f$'},"
             "{'layer': 'y', 'leaf': '^mine$'}], 'boundaries': [{'name': 'b', 'frames': 'own'}]}");
    put_file("loop.json", "{'include': 'loop2.json'}");
    put_file("loop2.json", "{'include': 'loop.json'}");
    put_file("self.json", "{'include': './self.json'}");
    put_file("bad.json", "{'include': 'worse.json'}");
    put_file("worse.json", "{'layers': [{'name': 'z'}], 'rules': [{'layer': 'z'}]}");
    put_file("twice.json", "{'include': ['base.json', 'only.json', 'base.json']}");
    put_file("only.json", "{'include': './base.json'}");
    return 0;
}

static int remove_folder(void **state)
{
    char *command = fb_format("rm -rf '%s'", folder);
    int status = system(command);

    (void)state;
    free(command);
    return status;
}

static void own_rules_come_first_and_own_words_count(void **state)
{
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    (void)state;
    if (load("own.json", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_string_equal(fb_layers_get(layers, 0)->name, "own");
    assert_string_equal(fb_layers_get(layers, 1)->name, "x");
    assert_string_equal(fb_layers_get(layers, 1)->color, "#eeeeee");
    assert_string_equal(fb_layers_get(layers, 1)->description, "base");
    assert_string_equal(fb_layers_get(layers, 2)->name, "y");
    assert_string_equal(fb_layers_get(layers, fb_layers_count(layers) - 1)->name, "other");
    assert_string_equal(stack_layer(layers, "f"), "own");
    assert_string_equal(stack_layer(layers, "ff"), "x");
    assert_string_equal(stack_layer(layers, "mine"), "y");
    assert_string_equal(stack_layer(layers, "libz.so!crc32"), "codec");
    assert_int_equal(fb_layers_rule(layers, 2)->line, 1);
    assert_non_null(strstr(fb_layers_rule(layers, 2)->file, "base.json"));
    assert_string_equal(fb_layers_boundary(layers, 0)->text, "frames \"own\"");
    fb_layers_free(layers);
}

static void an_include_is_read_once_and_not_in_a_circle(void **state)
{
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    (void)state;
    assert_int_equal(load("twice.json", &layers, &err), FB_OK);
    assert_int_equal(fb_layers_rules_count(layers), 2);
    fb_layers_free(layers);
    layers = NULL;
    assert_int_equal(load("loop.json", &layers, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "loop2.json: 'include' of '"));
    assert_non_null(strstr(err.text, "which includes this file"));
    /* itself, by another spelling of its path: one sentence, not a chain of them */
    assert_int_equal(load("self.json", &layers, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "self.json: 'include' of '"));
    assert_null(strstr(strstr(err.text, "which includes"), "self.json"));
    assert_int_equal(load("bad.json", &layers, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "worse.json: rule 1: no test"));
    assert_null(layers);
}

static void mistakes_of_the_language_have_their_sentences(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{'include': 'nonesuch'}", "x: no layer preset 'nonesuch'"},
        {"{'include': './a.json'}", "x: 'include' of the path './a.json', but 'x' is no file"},
        {"{'include': 3}", "x: 'include' is a number; the name of a preset"},
        {"{'include': 'native', 'charge': 'me'}", "x: 'charge' is 'me'; caller or self was"},
        {"{'include': 'native', 'groups': [{'nam': 'a'}]}", "'groups', item 1: unknown key 'nam'"},
        {"{'include': 'native', 'layers': [{'name': 'a', 'group': 'g'}]}",
         "x: layer 'a': group 'g' is not in the list 'groups'"},
        {"{'include': 'native', 'layers': [{'name': 'a', 'rollup': 'gc'}]}",
         "'rollup': no row 'gc'; one of syscalls, runtime"},
        {"{'include': 'native', 'rules': [{'layer': 'codec', 'not': 3}]}",
         "rule 1: 'not' is a number; an object with tests was expected"},
        {"{'include': 'native', 'rules': [{'layer': 'codec', 'not': {}}]}", "rule 1: 'not': no te"},
        {"{'include': 'native', 'rules': [{'layer': 'codec', 'leaf': 'x', 'not': {'not': {}}}]}",
         "rule 1: unknown key 'not'; one of leaf any"},
        {"{'include': 'native', 'rules': [{'layer': 'codec', 'tier': 'c3'}]}",
         "rule 1: 'tier': no tier 'c3'; one of unknown, interpreted, c1"},
        {"{'include': 'native', 'rules': [{'layer': 'codec', 'leaf': 'x', 'charge': 'root'}]}",
         "rule 1: 'charge' is 'root'; caller or self was"},
        {"{'include': 'native', 'transparent': [{'layer': 'codec', 'leaf': 'x'}]}",
         "'transparent', item 1: unknown key 'layer'"},
        {"{'include': 'native', 'boundaries': [{'frames': 'x'}]}",
         "'boundaries', item 1: 'name' is nothing"},
        {"{'include': 'native', 'boundaries': [{'name': 'x'}]}", "no test; one of frames, module"},
        {"{'include': 'native', 'boundaries': [{'name': 'x', 'frames': 'y'},"
         "{'name': 'x', 'frames': 'z'}]}",
         "'boundaries', item 2: boundary 'x' is in the list already"},
        {"{'include': 'native', 'boundaries': [{'layer': 'z', 'frames': 'y'}]}",
         "'boundaries', item 1: layer 'z' is not in the list 'layers'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = quoted(rows[i].text);
        struct fb_layers *layers = NULL;
        struct fb_err err = {0};

        if (fb_layers_parse(text, strlen(text), "x", &layers, &err) == FB_OK)
            fail_msg("no error: %s", text);
        if (!strstr(err.text, rows[i].message))
            fail_msg("%s\nexpected: %s\ngot:      %s", text, rows[i].message, err.text);
        assert_null(layers);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_means_what_the_manual_says),
        cmocka_unit_test(transparent_frames_have_no_layer_of_their_own),
        cmocka_unit_test(groups_and_rollups_follow_names_unless_a_file_says_otherwise),
        cmocka_unit_test(a_boundary_is_anywhere_on_the_stack),
        cmocka_unit_test(own_rules_come_first_and_own_words_count),
        cmocka_unit_test(an_include_is_read_once_and_not_in_a_circle),
        cmocka_unit_test(mistakes_of_the_language_have_their_sentences),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* What one rule means: a rule, a stack, its layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stack.h"

static const struct {
    const char *rules, *stack, *layer;
} cases[] = {
    /* leaf: the innermost frame only, anywhere in its name unless anchored */
    {"{'layer': 'a', 'leaf': 'deflate'}", "main;zlib_deflate_fast", "a"},
    {"{'layer': 'a', 'leaf': '^deflate'}", "main;zlib_deflate_fast", "other"},
    {"{'layer': 'a', 'leaf': '^deflate'}", "deflate;memcpy", "other"},
    /* a list: any of its patterns */
    {"{'layer': 'a', 'leaf': ['^read$', '^write$']}", "main;write", "a"},
    /* the first rule wins, whatever follows */
    {"{'layer': 'a', 'leaf': '^mem'}, {'layer': 'b', 'leaf': '^memcpy$'}", "main;memcpy", "a"},
    {"{'layer': 'b', 'leaf': '^memcpy$'}, {'layer': 'a', 'leaf': '^mem'}", "main;memcpy", "b"},
    /* module: of the leaf frame, version cut */
    {"{'layer': 'a', 'module': '^libz\\\\.so$'}", "main;libz.so!crc32", "a"},
    {"{'layer': 'a', 'module': '^libz\\\\.so$'}", "libz.so!deflate;libc.so!memcpy", "other"},
    {"{'layer': 'a', 'module': '.'}", "main", "other"},
    {"{'layer': 'a', 'module': '^libz'}", "main;libz.so![unknown] libz.so", "a"},
    /* tests of one rule are joined by and */
    {"{'layer': 'a', 'module': '^libc', 'leaf': '^mem'}", "main;libc.so!memcpy", "a"},
    {"{'layer': 'a', 'module': '^libc', 'leaf': '^mem'}", "main;app!memcpy", "other"},
    /* kind */
    {"{'layer': 'a', 'kind': 'kernel'}", "main;tcp_sendmsg_[k]", "a"},
    {"{'layer': 'a', 'kind': ['stub', 'inlined']}", "main;f_[i]", "a"},
    {"{'layer': 'a', 'kind': 'kernel'}", "tcp_sendmsg_[k];main", "other"},
    /* under: a strict ancestor, at any depth */
    {"{'layer': 'a', 'under': '^deflate$'}", "main;deflate;x;y;memcpy", "a"},
    {"{'layer': 'a', 'under': '^deflate$'}", "main;deflate", "other"},
    {"{'layer': 'a', 'under': '^deflate$'}", "main;deflate;deflate", "a"},
    {"{'layer': 'a', 'under': '^deflate$', 'leaf': '^mem'}, {'layer': 'b', 'leaf': '^mem'}",
     "deflate;memcpy", "a"},
    {"{'layer': 'a', 'under': '^deflate$', 'leaf': '^mem'}, {'layer': 'b', 'leaf': '^mem'}",
     "inflate;memcpy", "b"},
    {"{'layer': 'a', 'under': ['^x$', '^y$'], 'leaf': 'z'}, {'layer': 'b', 'under': '^w$'}", "w;z",
     "b"},
    /* a rule may say "other" to keep later rules away */
    {"{'layer': 'other', 'leaf': '^idle$'}, {'layer': 'a', 'leaf': '.'}", "main;idle", "other"},
};

/* The rules with a list of two layers around them; ' stands for ". */
static struct fb_layers *parse(const char *rules)
{
    char *text = fb_format("{'layers': [{'name': 'a'}, {'name': 'b'}], 'rules': [%s]}", rules);
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (fb_layers_parse(text, strlen(text), "test", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(text);
    return layers;
}

static void a_rule_puts_a_stack_into_its_layer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_layers *layers = parse(cases[i].rules);
        const char *layer = stack_layer(layers, cases[i].stack);

        if (strcmp(layer, cases[i].layer) != 0)
            fail_msg("%s\n%s\nexpected %s, got %s", cases[i].rules, cases[i].stack, cases[i].layer,
                     layer);
        fb_layers_free(layers);
    }
}

static void more_than_64_under_tests_keep_their_bits_apart(void **state)
{
    struct fb_buf rules = {0};
    struct fb_layers *layers;

    (void)state;
    for (int i = 0; i < 130; i++)
        fb_buf_printf(&rules, "%s{'layer': '%s', 'under': '^f%d$'}", i ? ", " : "",
                      i == 129 ? "b" : "a", i);
    layers = parse(rules.data);
    assert_string_equal(stack_layer(layers, "f129;x"), "b");
    assert_string_equal(stack_layer(layers, "f64;x"), "a");
    assert_string_equal(stack_layer(layers, "f130;x"), "other");
    fb_layers_free(layers);
    fb_buf_done(&rules);
}

static void the_deciding_rule_is_told(void **state)
{
    struct fb_layers *layers = parse("{'layer': 'b', 'leaf': ['^x$', 'y'], 'kind': 'native'},"
                                     "{'layer': 'a', 'leaf': '.', 'under': 'z'}");
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t x, w, lonely;
    struct fb_layers_applied applied;
    struct fb_err err;
    uint16_t *rules;

    (void)state;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    x = stack_put(&tree, &fns, "z;x");
    w = stack_put(&tree, &fns, "z;w");
    lonely = stack_put(&tree, &fns, "w");
    assert_int_equal(fb_layers_apply(layers, &tree, &fns, NULL, &applied, &err), FB_OK);
    rules = applied.rule;
    assert_int_equal(rules[x], 0);
    assert_int_equal(rules[w], 1);
    assert_int_equal(rules[lonely], UINT16_MAX);
    assert_int_equal(rules[0], UINT16_MAX);
    assert_string_equal(fb_layers_rule(layers, 0)->text, "leaf \"^x$\" | \"y\", kind \"native\"");
    assert_int_equal(fb_layers_rule(layers, 1)->line, 2);
    fb_layers_applied_done(&applied);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_layers_free(layers);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void every_node_is_in_one_layer_and_sums_agree(void **state)
{
    struct fb_layers *layers = parse("{'layer': 'a', 'leaf': '[0-4]$', 'under': 'f7'},"
                                     "{'layer': 'b', 'leaf': '[3-8]$'}");
    struct fb_functions fns;
    struct fb_calltree tree;
    uint64_t seed = 20;
    double total = 0, sum = 0, *self, *by_layer;
    uint16_t *layer_of_node;

    (void)state;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    for (int i = 0; i < 3000; i++) {
        char name[16];
        uint32_t parent = (uint32_t)(next(&seed) % tree.count);

        (void)snprintf(name, sizeof name, "f%u", (unsigned)(next(&seed) % 40));
        (void)fb_calltree_child(&tree, parent, fb_functions_put(&fns, FB_FRAME_NATIVE, "", name));
    }
    self = fb_alloc_array(tree.count, sizeof *self);
    for (size_t i = 0; i < tree.count; i++)
        total += self[i] = (double)(next(&seed) % 1000);
    layer_of_node = fb_layers_assign(layers, &tree, &fns);
    by_layer = fb_layers_sum(layers, &tree, layer_of_node, self);
    for (size_t i = 0; i < tree.count; i++)
        assert_true(layer_of_node[i] < fb_layers_count(layers));
    for (size_t i = 0; i < fb_layers_count(layers); i++) {
        assert_true(by_layer[i] > 0); /* all three are reached, else the test says nothing */
        sum += by_layer[i];
    }
    assert_true(sum == total);
    free(by_layer);
    free(layer_of_node);
    free(self);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_layers_free(layers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_puts_a_stack_into_its_layer),
        cmocka_unit_test(more_than_64_under_tests_keep_their_bits_apart),
        cmocka_unit_test(the_deciding_rule_is_told),
        cmocka_unit_test(every_node_is_in_one_layer_and_sums_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

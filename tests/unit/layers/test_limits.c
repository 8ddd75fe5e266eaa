/* What is hostile ends with a sentence; and whatever the rules, nothing is lost or counted twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stack.h"

static struct fb_layers *parse(const char *single_quoted)
{
    char *text = fb_strdup(single_quoted);
    struct fb_layers *layers = NULL;
    struct fb_err err = {0};

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (fb_layers_parse(text, strlen(text), "test", &layers, &err) != FB_OK)
        fail_msg("%s\n%s", single_quoted, err.text);
    free(text);
    return layers;
}

/* `count` functions whose name makes "^(a+)+$" try all ways to cut it. */
static void put_hostile(struct fb_functions *fns, struct fb_calltree *tree, int count)
{
    for (int i = 0; i < count; i++) {
        char name[80];

        (void)snprintf(name, sizeof name, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!%d", i);
        (void)fb_calltree_child(tree, 0, fb_functions_put(fns, FB_FRAME_NATIVE, "", name));
    }
}

static void a_pattern_that_blows_up_is_named_and_in_the_end_refused(void **state)
{
    struct fb_layers *layers =
        parse("{'layers': [{'name': 'a'}], 'rules': [{'layer': 'a', 'leaf': '^(a+)+$'}]}");
    struct fb_layers_applied applied;
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_err err = {0};

    (void)state;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    put_hostile(&fns, &tree, 2);
    assert_int_equal(fb_layers_apply(layers, &tree, &fns, NULL, &applied, &err), FB_OK);
    assert_non_null(
        strstr(applied.warning, "rule 1 of 'test': the pattern '^(a+)+$' was given up"));
    assert_non_null(strstr(applied.warning, "frame 'aaaaa"));
    fb_layers_applied_done(&applied);
    put_hostile(&fns, &tree, 150);
    assert_int_equal(fb_layers_apply(layers, &tree, &fns, NULL, &applied, &err), FB_ELIMIT);
    assert_non_null(strstr(err.text, "this is a fault of the rule"));
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_layers_free(layers);
}

/* 1 MB of name against patterns that cost its square and cube. */
static void a_name_of_a_megabyte_is_seen_up_to_a_limit(void **state)
{
    struct fb_layers *layers = parse("{'layers': [{'name': 'a'}, {'name': 'b'}], 'rules': ["
                                     "{'layer': 'a', 'leaf': 'x*x*[yz]'},"
                                     "{'layer': 'a', 'leaf': '(x+x+)+[yz]'},"
                                     "{'layer': 'b', 'leaf': '^x{100}'}]}");
    size_t len = 1 << 20;
    char *name = fb_alloc(len + 1);
    struct fb_layers_applied applied;
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_err err = {0};
    uint32_t node;

    (void)state;
    memset(name, 'x', len);
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    node = fb_calltree_child(&tree, 0, fb_functions_put(&fns, FB_FRAME_NATIVE, "", name));
    assert_int_equal(fb_layers_apply(layers, &tree, &fns, NULL, &applied, &err), FB_OK);
    assert_string_equal(fb_layers_get(layers, applied.layer[node])->name, "b");
    assert_non_null(applied.warning);
    fb_layers_applied_done(&applied);
    fb_layers_free(layers);
    layers = parse("{'layers': [{'name': 'b'}], 'rules': [{'layer': 'b', 'leaf': '^x'}]}");
    assert_int_equal(fb_layers_apply(layers, &tree, &fns, NULL, &applied, &err), FB_OK);
    assert_string_equal(applied.warning,
                        "1 frame name is longer than 16384 bytes: rules saw the beginning only");
    fb_layers_applied_done(&applied);
    fb_layers_free(layers);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    free(name);
}

/* ---- any profile, any rules ---- */

static unsigned next(uint64_t *seed, unsigned most)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*seed >> 33) % most);
}

static void put_test(struct fb_buf *out, uint64_t *seed)
{
    static const char *const keys[] = {"leaf", "any", "under", "root", "thread", "module"};
    unsigned key = next(seed, 8);

    if (key < 6)
        fb_buf_printf(out, "'%s': 'f%u'", keys[key], next(seed, 40));
    else if (key == 6)
        fb_buf_puts(out, next(seed, 2) ? "'kind': 'kernel'" : "'kind': ['native', 'stub']");
    else
        fb_buf_puts(out, next(seed, 2) ? "'tier': 'native'" : "'tier': ['kernel', 'inlined']");
}

static struct fb_layers *random_rules(uint64_t *seed)
{
    struct fb_buf text = {0};
    struct fb_layers *layers;

    fb_buf_puts(&text, "{'layers': [{'name': 'l0'}, {'name': 'l1'}, {'name': 'l2'}],");
    if (next(seed, 2))
        fb_buf_puts(&text, "'charge': 'caller',");
    fb_buf_puts(&text, "'rules': [");
    for (unsigned i = 0, n = 1 + next(seed, 12); i < n; i++) {
        fb_buf_printf(&text, "%s{'layer': 'l%u', ", i ? ", " : "", next(seed, 3));
        put_test(&text, seed);
        if (next(seed, 3) == 0) {
            fb_buf_puts(&text, ", 'not': {");
            put_test(&text, seed);
            fb_buf_putc(&text, '}');
        }
        fb_buf_puts(&text, next(seed, 3) == 0 ? ", 'charge': 'caller'}" : "}");
    }
    fb_buf_puts(&text, "], 'transparent': [{");
    put_test(&text, seed);
    fb_buf_puts(&text, "}]}");
    layers = parse(text.data);
    fb_buf_done(&text);
    return layers;
}

static void random_tree(struct fb_functions *fns, struct fb_calltree *tree, uint64_t *seed)
{
    static const enum fb_frame_kind kinds[] = {FB_FRAME_NATIVE, FB_FRAME_KERNEL, FB_FRAME_INLINED,
                                               FB_FRAME_STUB};

    fb_functions_init(fns);
    fb_calltree_init(tree);
    for (unsigned i = 0, n = next(seed, 400); i < n; i++) {
        uint32_t parent = next(seed, (unsigned)tree->count);
        bool is_thread = parent == 0 && next(seed, 2);
        char name[16];

        (void)snprintf(name, sizeof name, is_thread ? "[f%u]" : "f%u", next(seed, 40));
        (void)fb_calltree_child(tree, parent,
                                fb_functions_put(fns,
                                                 is_thread ? FB_FRAME_MARK : kinds[next(seed, 4)],
                                                 next(seed, 2) ? "f1" : "", name));
    }
}

static void layers_add_up_to_the_samples_exactly(void **state)
{
    static const struct fb_layers_options options[] = {
        {.charge = FB_CHARGE_AS_FILE},
        {.charge = FB_CHARGE_SELF, .fold_kernel = true},
        {.charge = FB_CHARGE_CALLER},
        {.charge = FB_CHARGE_CALLER, .fold_kernel = true}};
    uint64_t seed = 3;
    size_t charged = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct fb_layers *layers = random_rules(&seed);
        struct fb_functions fns;
        struct fb_calltree tree;
        double total = 0, *self;

        random_tree(&fns, &tree, &seed);
        self = fb_alloc_array(tree.count, sizeof *self);
        for (size_t i = 0; i < tree.count; i++)
            total += self[i] = (double)next(&seed, 1000);
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            struct fb_layers_applied applied;
            struct fb_err err;
            double sum = 0, *by_layer;

            assert_int_equal(fb_layers_apply(layers, &tree, &fns, &options[o], &applied, &err),
                             FB_OK);
            by_layer = fb_layers_sum(layers, &tree, applied.layer, self);
            for (size_t i = 0; i < fb_layers_count(layers); i++)
                sum += by_layer[i];
            assert_true(sum == total);
            for (uint32_t i = 1; i < tree.count; i++) {
                uint32_t at = i;

                charged += applied.decider[i] != i;
                while (at != applied.decider[i] && at != 0) /* the decider is on the stack */
                    at = tree.nodes[at].parent;
                assert_int_not_equal(at, 0);
            }
            free(by_layer);
            fb_layers_applied_done(&applied);
        }
        free(self);
        fb_calltree_done(&tree);
        fb_functions_done(&fns);
        fb_layers_free(layers);
    }
    assert_true(charged > 10000); /* else callers were never charged */
}

/* The path to a node as the only one of a tree; returns the layer of its end. */
static uint16_t layer_of_path_alone(const struct fb_layers *layers, const struct fb_calltree *tree,
                                    const struct fb_functions *fns, uint32_t node,
                                    const struct fb_layers_options *options)
{
    uint32_t path[512];
    size_t depth = 0;
    struct fb_calltree alone;
    struct fb_layers_applied applied;
    struct fb_err err;
    uint16_t layer;

    fb_calltree_init(&alone);
    for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
        path[depth++] = tree->nodes[at].function;
    for (node = 0; depth > 0;)
        node = fb_calltree_child(&alone, node, path[--depth]);
    assert_int_equal(fb_layers_apply(layers, &alone, fns, options, &applied, &err), FB_OK);
    assert_null(applied.rule);
    layer = applied.layer[node];
    fb_layers_applied_done(&applied);
    fb_calltree_done(&alone);
    return layer;
}

static void a_stack_has_its_layer_whatever_else_is_in_the_tree(void **state)
{
    static const struct fb_layers_options full = {.charge = FB_CHARGE_CALLER, .fold_kernel = true},
                                          lean = {.charge = FB_CHARGE_CALLER,
                                                  .fold_kernel = true,
                                                  .layers_only = true};
    uint64_t seed = 11;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct fb_layers *layers = random_rules(&seed);
        struct fb_functions fns;
        struct fb_calltree tree;
        struct fb_layers_applied applied;
        struct fb_err err;

        random_tree(&fns, &tree, &seed);
        assert_int_equal(fb_layers_apply(layers, &tree, &fns, &full, &applied, &err), FB_OK);
        for (uint32_t i = 0; i < tree.count; i++)
            assert_int_equal(applied.layer[i], layer_of_path_alone(layers, &tree, &fns, i, &lean));
        fb_layers_applied_done(&applied);
        fb_calltree_done(&tree);
        fb_functions_done(&fns);
        fb_layers_free(layers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_that_blows_up_is_named_and_in_the_end_refused),
        cmocka_unit_test(a_name_of_a_megabyte_is_seen_up_to_a_limit),
        cmocka_unit_test(layers_add_up_to_the_samples_exactly),
        cmocka_unit_test(a_stack_has_its_layer_whatever_else_is_in_the_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

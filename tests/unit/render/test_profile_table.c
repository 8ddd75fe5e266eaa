#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/render/rules.h"
#include "tests/unit/render/tree.h"
#include "tests/unit/render/written.h"

static void layers_add_up_and_other_shows_its_frames(void **state)
{
    struct fb_layers *layers = rules_load();
    struct fb_table *t;
    struct tree tree;
    struct fb_layers_applied applied;
    struct fb_err err;

    (void)state;
    tree_init(&tree);
    tree_add(&tree, "main;deflate@libz.so", 60, 0);
    tree_add(&tree, "main;write@libc.so", 30, 0);
    tree_add(&tree, "main;what@app", 7, 0);
    tree_add(&tree, "main;zwhy@app", 3, 0);
    assert_int_equal(fb_layers_apply(layers, &tree.calls, &tree.fns, NULL, &applied, &err), FB_OK);
    t = fb_render_layers(layers, &tree.calls, &tree.fns, &applied, tree.self[0], NULL, "Layers");
    assert_table(t, "csv",
                 "layer,share_percent,weight,frame,module\n"
                 "codec,60,60,,\n"
                 "syscalls,30,30,,\n"
                 "other,10,10,,\n"
                 "of it,7,7,what,app\n"
                 "of it,3,3,zwhy,app\n"
                 "total,100,100,,\n");
    fb_table_free(t);
    fb_layers_applied_done(&applied);
    tree_done(&tree);
    fb_layers_free(layers);
}

static void what_the_list_of_other_leaves_out_is_one_row(void **state)
{
    struct fb_layers *layers = rules_load();
    struct fb_table *t;
    struct tree tree;
    struct fb_layers_applied applied;
    struct fb_err err;
    char *text, name[32];

    (void)state;
    tree_init(&tree);
    for (int i = 0; i < 14; i++) {
        (void)snprintf(name, sizeof name, "main;what%02d", i);
        tree_add(&tree, name, 20 - i, 0);
    }
    assert_int_equal(fb_layers_apply(layers, &tree.calls, &tree.fns, NULL, &applied, &err), FB_OK);
    t = fb_render_layers(layers, &tree.calls, &tree.fns, &applied, tree.self[0], NULL, "Layers");
    text = written(t, "csv");
    assert_non_null(strstr(text, ",11,what09,\nof it,"));
    assert_non_null(strstr(text, ",34,(all other frames)"));
    free(text);
    fb_table_free(t);
    fb_layers_applied_done(&applied);
    tree_done(&tree);
    fb_layers_free(layers);
}

static void top_counts_a_recursive_stack_once(void **state)
{
    struct fb_table *t;
    struct tree tree;

    (void)state;
    tree_init(&tree);
    tree_add(&tree, "main;fib;fib;fib", 8, 0);
    tree_add(&tree, "main", 2, 0);
    t = fb_render_top(&tree.calls, &tree.fns, tree.self[0], NULL, NULL, 10, "Top");
    assert_table(t, "text",
                 "Top\n\n"
                 "self %  self  total %  total  frame  module\n"
                 "───────────────────────────────────────────\n"
                 "  80.0     8     80.0      8  fib\n"
                 "  20.0     2    100.0     10  main\n\n"
                 "2 of 2 functions, with 100.0 % of all self time. A stack counts once in\n"
                 "a total, however often the function recurs in it.\n");
    fb_table_free(t);
    tree_done(&tree);
}

static void no_samples_is_said_and_no_share_is_made_up(void **state)
{
    struct fb_table *t;
    struct tree tree;

    (void)state;
    tree_init(&tree);
    tree_node(&tree, "main");
    t = fb_render_top(&tree.calls, &tree.fns, tree.self[0], NULL, NULL, 10, "");
    assert_table(t, "md", "\nNo samples.\n");
    fb_table_free(t);
    tree_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_add_up_and_other_shows_its_frames),
        cmocka_unit_test(what_the_list_of_other_leaves_out_is_one_row),
        cmocka_unit_test(top_counts_a_recursive_stack_once),
        cmocka_unit_test(no_samples_is_said_and_no_share_is_made_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

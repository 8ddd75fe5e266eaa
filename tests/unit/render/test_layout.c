#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "render/flame_layout.h"
#include "tests/unit/render/tree.h"

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* A tree of `count` random nodes with random weights on both sides. */
static void random_tree(struct tree *t, size_t count, uint64_t seed)
{
    char name[16];

    tree_init(t);
    while (t->calls.count < count) {
        uint32_t parent = (uint32_t)(next(&seed) % t->calls.count);

        (void)snprintf(name, sizeof name, "f%llu", (unsigned long long)(next(&seed) % 50));
        (void)fb_calltree_child(&t->calls, parent,
                                fb_functions_put(&t->fns, FB_FRAME_NATIVE, "m", name));
    }
    for (int side = 0; side < 2; side++) {
        t->self[side] = fb_alloc_array(count, sizeof *t->self[side]);
        for (size_t i = 0; i < count; i++)
            t->self[side][i] = next(&seed) % 3 ? (double)(next(&seed) % 100) : 0;
    }
}

static void lay_out(struct fb_flame_layout *l, const struct tree *t, size_t boxes_max)
{
    uint64_t *weights = fb_alloc_array(t->calls.count, sizeof *weights);
    double *totals[2];

    for (size_t i = 0; i < t->calls.count; i++)
        weights[i] = (uint64_t)(t->self[0][i] + t->self[1][i]);
    for (int side = 0; side < 2; side++)
        totals[side] = fb_calltree_total(&t->calls, t->self[side]);
    fb_flame_layout_init(l, &(struct fb_flame_layout_input){.tree = &t->calls,
                                                            .fns = &t->fns,
                                                            .weights = weights,
                                                            .sides = {totals[0], totals[1]},
                                                            .boxes_max = boxes_max});
    free(weights);
    free(totals[0]);
    free(totals[1]);
}

/* Every box: inside its parent, beside its siblings, as wide as self and children together. */
static void check_geometry(const struct fb_flame_layout *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct fb_flame_box *b = &l->boxes[i];
        uint64_t at = b->x, sides[2] = {0, 0};
        bool has_children = false;

        for (size_t k = i + 1; k < l->count && l->boxes[k].depth > b->depth; k++) {
            const struct fb_flame_box *c = &l->boxes[k];

            if (c->depth != b->depth + 1)
                continue;
            assert_int_equal(c->parent, i);
            assert_int_equal(c->x, at);
            at += c->width;
            sides[0] += (uint64_t)c->side[0];
            sides[1] += (uint64_t)c->side[1];
            has_children = true;
        }
        assert_int_equal(at + b->self, b->x + b->width);
        assert_int_equal((uint64_t)(b->side[0] + b->side[1]), b->width);
        assert_true(!has_children || b->hidden == 0);
        assert_true(sides[0] <= b->side[0] && sides[1] <= b->side[1]);
    }
}

static void widths_are_conserved_under_every_budget(void **state)
{
    static const size_t budgets[] = {2, 3, 7, 40, 333, 999, 1000, 100000};
    struct tree t;

    (void)state;
    random_tree(&t, 1000, 42);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        struct fb_flame_layout l;
        size_t nodes = 0, hidden = 0;

        lay_out(&l, &t, budgets[i]);
        assert_true(l.count <= budgets[i]);
        check_geometry(&l);
        for (size_t k = 0; k < l.count; k++) {
            nodes += l.boxes[k].hidden == 0;
            hidden += l.boxes[k].hidden;
        }
        assert_int_equal(nodes - 1 + hidden, l.nodes);
        assert_int_equal(hidden, l.hidden_frames);
        fb_flame_layout_done(&l);
    }
    tree_done(&t);
}

static void a_budget_for_all_hides_nothing(void **state)
{
    struct fb_flame_layout l;
    struct tree t;

    (void)state;
    random_tree(&t, 500, 7);
    lay_out(&l, &t, 501);
    assert_int_equal(l.hidden_frames, 0);
    assert_int_equal(l.count, l.nodes + 1);
    fb_flame_layout_done(&l);
    tree_done(&t);
}

static void siblings_stand_by_name_in_whatever_order_they_came(void **state)
{
    static const char *const stacks[] = {"main;c", "main;a;x", "main;b", "main;a;w@m2",
                                         "main;a;w@m1"};
    static const char *const want[] = {"", "main", "a", "w", "w", "x", "b", "c"};

    (void)state;
    for (size_t turn = 0; turn < 5; turn++) {
        struct fb_flame_layout l;
        struct tree t;

        tree_init(&t);
        for (size_t i = 0; i < 5; i++)
            tree_add(&t, stacks[(i + turn) % 5], 1, 0);
        lay_out(&l, &t, 100);
        assert_int_equal(l.count, 8);
        for (size_t i = 1; i < 8; i++)
            assert_string_equal(fb_function_name(&t.fns, t.calls.nodes[l.boxes[i].node].function),
                                want[i]);
        fb_flame_layout_done(&l);
        tree_done(&t);
    }
}

static void the_widest_are_drawn_and_the_rest_keeps_both_sides(void **state)
{
    struct fb_flame_layout l;
    struct tree t;

    (void)state;
    tree_init(&t);
    tree_add(&t, "main;big", 50, 50);
    tree_add(&t, "main;gone;leaf", 7, 0);
    tree_add(&t, "main;new", 0, 3);
    tree_add(&t, "main;never", 0, 0);
    lay_out(&l, &t, 4);
    assert_int_equal(l.count, 4);
    assert_int_equal(l.boxes[3].hidden, 3);
    assert_int_equal(l.boxes[3].width, 10);
    assert_true(l.boxes[3].side[0] == 7 && l.boxes[3].side[1] == 3);
    assert_int_equal(l.hidden_width, 10);
    fb_flame_layout_done(&l);
    tree_done(&t);
}

static void one_hidden_leaf_is_drawn_in_the_place_of_other(void **state)
{
    struct fb_flame_layout l;
    struct tree t;

    (void)state;
    tree_init(&t);
    tree_add(&t, "main;a", 9, 0);
    tree_add(&t, "main;b", 1, 0);
    lay_out(&l, &t, 4);
    assert_int_equal(l.count, 4);
    assert_int_equal(l.hidden_frames, 0);
    fb_flame_layout_done(&l);
    tree_done(&t);
}

static void deep_chains_of_equal_width_keep_to_the_budget(void **state)
{
    struct fb_flame_layout l;
    struct tree t;
    uint32_t node = 0, f;

    (void)state;
    tree_init(&t);
    f = fb_functions_put(&t.fns, FB_FRAME_NATIVE, "", "recurse");
    for (int i = 0; i < 10000; i++)
        node = fb_calltree_child(&t.calls, node, f);
    for (int side = 0; side < 2; side++)
        t.self[side] = fb_alloc_array(t.calls.count, sizeof *t.self[side]);
    t.self[0][node] = 5;
    lay_out(&l, &t, 20000);
    assert_int_equal(l.count, 10001);
    assert_int_equal(l.depth, 10000);
    fb_flame_layout_done(&l);
    lay_out(&l, &t, 100);
    assert_int_equal(l.count, 100);
    assert_int_equal(l.boxes[99].hidden, 10000 - 98);
    assert_int_equal(l.boxes[99].width, 5);
    fb_flame_layout_done(&l);
    tree_done(&t);
}

static void an_empty_tree_is_one_box_of_no_width(void **state)
{
    struct fb_flame_layout l;
    struct tree t;

    (void)state;
    tree_init(&t);
    tree_node(&t, "main");
    lay_out(&l, &t, 10);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.width, 0);
    fb_flame_layout_done(&l);
    tree_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_conserved_under_every_budget),
        cmocka_unit_test(a_budget_for_all_hides_nothing),
        cmocka_unit_test(siblings_stand_by_name_in_whatever_order_they_came),
        cmocka_unit_test(the_widest_are_drawn_and_the_rest_keeps_both_sides),
        cmocka_unit_test(one_hidden_leaf_is_drawn_in_the_place_of_other),
        cmocka_unit_test(deep_chains_of_equal_width_keep_to_the_budget),
        cmocka_unit_test(an_empty_tree_is_one_box_of_no_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

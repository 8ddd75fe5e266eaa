#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampler/intern.h"
#include "sampler/text.h"

static uint64_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static void the_same_frame_keeps_its_id_while_tables_grow(void **state)
{
    enum { COUNT = 50000 };
    static uint32_t ids[COUNT];
    struct fb_intern in;
    bool is_new;

    (void)state;
    assert_true(fb_intern_init(&in));
    for (uint32_t i = 0; i < COUNT; i++) {
        struct fb_frame_key key = {.address = i * 16u, .module = i % 7, .kind = (uint8_t)(i % 3)};

        ids[i] = fb_intern_frame(&in, &key, &is_new);
        assert_true(is_new);
        assert_int_equal(ids[i], i + 1);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        struct fb_frame_key key = {.address = i * 16u, .module = i % 7, .kind = (uint8_t)(i % 3)};

        assert_int_equal(fb_intern_frame(&in, &key, &is_new), ids[i]);
        assert_false(is_new);
    }
    fb_intern_done(&in);
}

static void frames_that_differ_in_one_field_differ(void **state)
{
    const struct fb_frame_key keys[] = {
        {.address = 1},
        {.address = 2},
        {.address = 1, .module = 1},
        {.address = 1, .name = 1},
        {.address = 1, .kind = 1},
    };
    struct fb_intern in;
    bool is_new;

    (void)state;
    assert_true(fb_intern_init(&in));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(fb_intern_frame(&in, &keys[i], &is_new), i + 1);
    fb_intern_done(&in);
}

/* Random stacks: a node's id is always above its parent's, and a stack that comes again is the same
 * as long as the table was not dropped. */
static void nodes_are_a_prefix_tree(void **state)
{
    struct fb_intern in;
    bool is_new;

    (void)state;
    assert_true(fb_intern_init(&in));
    for (int round = 0; round < 3000; round++) {
        uint32_t frames[20];
        uint32_t node = 0;
        uint32_t again = 0;

        for (int i = 0; i < 20; i++) {
            uint32_t child;

            frames[i] = 1 + next_random() % 6;
            child = fb_intern_node(&in, node, frames[i], &is_new);
            assert_true(child > node);
            node = child;
        }
        for (int i = 0; i < 20; i++) {
            again = fb_intern_node(&in, again, frames[i], &is_new);
            assert_false(is_new);
        }
        assert_int_equal(again, node);
    }
    fb_intern_done(&in);
}

static void a_full_table_starts_over_and_ids_go_on(void **state)
{
    struct fb_intern in;
    uint32_t last = 0;
    bool is_new;
    uint32_t most = 0;

    (void)state;
    assert_true(fb_intern_init(&in));
    for (uint32_t i = 0; i < FB_INTERN_NODES_MAX + 1000u; i++) {
        uint32_t id = fb_intern_node(&in, 0, i + 1, &is_new);

        assert_true(is_new && id == last + 1);
        last = id;
        most = in.node_used > most ? in.node_used : most;
    }
    assert_true(in.node_slots == FB_INTERN_NODES_MAX && most <= FB_INTERN_NODES_MAX / 4 * 3);
    assert_true(fb_intern_node(&in, 0, 1, &is_new) == last + 1 && is_new); /* it was forgotten */
    fb_intern_reset(&in);
    assert_true(fb_intern_node(&in, 0, 1, &is_new) == last + 2 && is_new);
    fb_intern_done(&in);
}

static void numbers_saturate_and_texts_are_cut(void **state)
{
    const char *after;
    const char *text = "99999999999999999999999 x";
    char small[4];
    struct fb_text t = {.data = small, .cap = sizeof small};
    uint64_t v = 0;

    (void)state;
    assert_true(fb_text_number(text, &after) == UINT64_MAX);
    assert_string_equal(after, " x");
    assert_int_equal(fb_text_number("", &after), 0);
    fb_text_str(&t, "abcdef");
    assert_string_equal(small, "abc");
    assert_true(t.cut);
    assert_true(fb_text_field("nr_x 1\nnr 22\n", "nr", &v) && v == 22);
    assert_false(fb_text_field("nrx 1\n", "nr", &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_frame_keeps_its_id_while_tables_grow),
        cmocka_unit_test(frames_that_differ_in_one_field_differ),
        cmocka_unit_test(nodes_are_a_prefix_tree),
        cmocka_unit_test(a_full_table_starts_over_and_ids_go_on),
        cmocka_unit_test(numbers_saturate_and_texts_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

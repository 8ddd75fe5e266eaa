/* Boundaries beside leaf layers: overlapping rows, and a shift that inlining made. */
#include "world.h"

#define RULES                                                                                      \
    "{\"layers\": [{\"name\": \"codec\"}, {\"name\": \"app\"}],"                                   \
    " \"rules\": [{\"layer\": \"codec\", \"leaf\": \"^json\"},"                                    \
    " {\"layer\": \"app\", \"leaf\": \"^app\"}],"                                                  \
    " \"boundaries\": [{\"layer\": \"codec\", \"frames\": \"^encode$\"},"                          \
    " {\"name\": \"all\", \"frames\": \"^main$\"}, {\"name\": \"none\", \"frames\": \"^x$\"}]}"

static const struct fb_diff_options wide = {.delta_share = 0.4};

/* 40 samples a second in encode, of which `json` end in json_put and the rest, once it is inlined
 * elsewhere, in app_put; 40 more outside of it. */
static void arm_fill(struct fb_profile *p, unsigned json, unsigned more)
{
    for (size_t s = 0; s < 110; s++) {
        unsigned up = s % 2 ? 3 : 0;

        world_samples(p, s, "main;encode;encode;json_put", json + up + more);
        world_samples(p, s, "main;encode;app_put", 43 - json - up);
        world_samples(p, s, "main;app_work", 40 + (unsigned)(s % 3));
    }
}

static struct fb_diff *compare(struct world *w, unsigned json, unsigned more)
{
    world_init(w, RULES);
    arm_fill(world_arm(w, false, 110), 20, 0);
    arm_fill(world_arm(w, true, 110), json, more);
    return world_diff(w, &wide);
}

static void a_boundary_counts_each_stack_once_and_rows_overlap(void **state)
{
    struct world w;
    struct fb_diff *diff = compare(&w, 20, 0);
    const struct fb_diff_step *s = &diff->steps[0];

    (void)state;
    assert_int_equal(s->boundaries_count, 3);
    assert_string_equal(s->boundaries[0].name, "codec");
    assert_int_equal(s->boundaries[0].layer, 0);
    assert_int_equal(s->boundaries[1].layer, FB_NO_LAYER);
    assert_true(s->boundaries[0].control.samples == 110 * 43);
    assert_true(s->boundaries[1].control.share == 1);
    assert_true(s->boundaries[2].control.samples == 0);
    assert_int_equal(s->boundaries[0].verdict, FB_VERDICT_SAME);
    assert_int_equal(s->boundaries[2].verdict, FB_VERDICT_NONE);
    world_done(&w, diff);
}

static void a_leaf_layer_that_moved_inside_its_boundary_is_marked(void **state)
{
    struct world w;
    struct fb_diff *diff = compare(&w, 40, 0);

    (void)state;
    assert_int_equal(world_layer(diff, 0, "codec")->verdict, FB_VERDICT_DIFF);
    assert_int_equal(diff->steps[0].boundaries[0].verdict, FB_VERDICT_SAME);
    assert_true(world_layer(diff, 0, "codec")->is_moved);
    assert_int_equal(world_layer(diff, 0, "app")->verdict, FB_VERDICT_DIFF);
    assert_false(world_layer(diff, 0, "app")->is_moved); /* no boundary stands beside it */
    world_done(&w, diff);
}

/* Seconds swing, so that the boundary is not resolved within 10 %; but it has not won what the
 * layer did.  Where the layer itself grew by as much, it may have. */
static void a_boundary_that_is_not_resolved_can_rule_the_change_out(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct world w;
        struct fb_diff *diff;

        world_init(&w, RULES);
        for (int a = 0; a < 2; a++) {
            struct fb_profile *p = world_arm(&w, a == 1, 110);

            for (size_t s = 0; s < 110; s++) {
                unsigned json = a == 1 ? 36 : 12, swing = s / 10 % 2 ? 12 : 0;

                world_samples(p, s, "main;encode;json_put", json);
                world_samples(p, s, "main;encode;app_put", (more ? 12 : 48 - json) + swing);
                world_samples(p, s, "main;app_work", 60 - swing);
            }
        }
        diff = world_diff(&w, NULL);
        assert_int_equal(world_layer(diff, 0, "codec")->verdict, FB_VERDICT_DIFF);
        if (!more)
            assert_int_equal(diff->steps[0].boundaries[0].verdict, FB_VERDICT_UNRESOLVED);
        assert_int_equal(world_layer(diff, 0, "codec")->is_moved, !more);
        world_done(&w, diff);
    }
}

/* Of a boundary that grows by 1.4, the layer shrinks by a half and the rest doubles: in a JVM some
 * of it was inlined elsewhere, whichever arm is the control.  A layer that grows with its boundary,
 * or by itself, was not. */
static void a_layer_that_its_boundary_moved_against_is_moved_in_part(void **state)
{
    static const struct {
        unsigned json[2], rest[2];
        bool is_jvm, is_moved;
    } cases[] = {{{20, 10}, {20, 46}, true, true},   {{10, 20}, {46, 20}, true, true},
                 {{20, 10}, {20, 46}, false, false}, {{20, 28}, {20, 28}, true, false},
                 {{20, 36}, {20, 20}, true, false},  {{20, 20}, {20, 36}, true, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct fb_diff *diff;

        world_init(&w, RULES);
        for (int a = 0; a < 2; a++) {
            struct fb_profile *p = world_arm(&w, a == 1, 110);

            for (size_t s = 0; s < 110; s++) {
                unsigned up = s % 2 ? 2 : 0;

                world_samples(p, s, "main;encode;json_put", cases[i].json[a] + up);
                world_samples(p, s, "main;encode;app_put", cases[i].rest[a]);
                world_samples(p, s, "main;app_work",
                              200 - cases[i].json[a] - cases[i].rest[a] - up);
            }
        }
        diff = world_diff(&w, &(struct fb_diff_options){.is_jvm = cases[i].is_jvm});
        assert_int_equal(diff->steps[0].boundaries[0].verdict, FB_VERDICT_DIFF);
        assert_int_equal(world_layer(diff, 0, "codec")->is_moved_in_part, cases[i].is_moved);
        assert_false(world_layer(diff, 0, "codec")->is_moved);
        world_done(&w, diff);
    }
}

static void a_layer_whose_boundary_grew_too_is_not_marked(void **state)
{
    struct world w;
    struct fb_diff *diff = compare(&w, 20, 120);

    (void)state;
    assert_int_equal(world_layer(diff, 0, "codec")->verdict, FB_VERDICT_DIFF);
    assert_int_equal(diff->steps[0].boundaries[0].verdict, FB_VERDICT_DIFF);
    assert_false(world_layer(diff, 0, "codec")->is_moved);
    world_done(&w, diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_boundary_counts_each_stack_once_and_rows_overlap),
        cmocka_unit_test(a_leaf_layer_that_moved_inside_its_boundary_is_marked),
        cmocka_unit_test(a_boundary_that_is_not_resolved_can_rule_the_change_out),
        cmocka_unit_test(a_layer_that_its_boundary_moved_against_is_moved_in_part),
        cmocka_unit_test(a_layer_whose_boundary_grew_too_is_not_marked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/diff/world.h"

#include "diff/unknown.h"

static void a_nameless_frame_hides_only_its_own_module(void **state)
{
    struct fb_functions fns;
    struct fb_unknown u = {0};
    uint32_t nameless, of_libz, of_libc;

    (void)state;
    fb_functions_init(&fns);
    nameless = fb_functions_put(&fns, FB_FRAME_NATIVE, "libz.so", "[unknown] libz.so");
    of_libz = fb_functions_put(&fns, FB_FRAME_NATIVE, "libz.so", "deflate");
    of_libc = fb_functions_put(&fns, FB_FRAME_NATIVE, "libc.so", "writev");
    u.modules = fns.strings.count;
    u.by_module = fb_alloc_array(u.modules, sizeof *u.by_module);
    u.by_module[fns.items[of_libz].module] = 0.30;
    assert_true(fb_unknown_hides_function(&u, &fns, of_libz, -0.20));
    assert_false(fb_unknown_hides_function(&u, &fns, of_libz, 0.40));
    assert_false(fb_unknown_hides_function(&u, &fns, of_libc, 0.05));
    assert_false(fb_unknown_hides_function(&u, &fns, nameless, 0.30)); /* it is what moved */
    u.by_module[0] = 0.10; /* frames in no module may be anything */
    assert_true(fb_unknown_hides_function(&u, &fns, of_libc, 0.05));
    fb_unknown_done(&u);
    fb_functions_done(&fns);
}

static void a_nameless_frame_that_a_rule_places_hides_no_layer(void **state)
{
    static const char rules[] =
        "{\"layers\":[{\"name\":\"a\"},{\"name\":\"c\"}],"
        "\"rules\":[{\"layer\":\"a\",\"leaf\":[\"^a\",\"^\\\\[unknown\\\\]\"]},"
        "{\"layer\":\"c\",\"leaf\":\"^c\"}]}";
    struct world w;
    struct fb_diff *diff;

    (void)state;
    world_init(&w, rules);
    for (int arm = 0; arm < 2; arm++) {
        (void)world_arm(&w, arm == 1, 110);
        for (size_t s = 0; s < 110; s++) {
            world_samples(w.profiles[arm], s, arm ? "main;[unknown]" : "main;a", 40);
            world_samples(w.profiles[arm], s, "main;c", 20);
        }
    }
    diff = world_diff(&w, NULL);
    assert_true(diff->steps[0].unknown_variant > 0.5);
    assert_string_equal(world_layer(diff, 0, "c")->reason, "");
    assert_int_equal(world_layer(diff, 0, "c")->verdict, FB_VERDICT_UNRESOLVED);
    world_done(&w, diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nameless_frame_hides_only_its_own_module),
        cmocka_unit_test(a_nameless_frame_that_a_rule_places_hides_no_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

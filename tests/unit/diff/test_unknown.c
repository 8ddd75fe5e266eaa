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

/* A second of samples that end in a nameless frame of libx, in a build of that ID. */
static void nameless_samples(struct fb_profile *p, size_t second, const char *build, unsigned count)
{
    struct fb_frame f = {.kind = FB_FRAME_NATIVE, .address = 0x1234};
    fb_stack_id stack;

    for (uint32_t i = 1; i < p->modules_count; i++)
        f.module = i;
    if (f.module == 0) {
        struct fb_module m = {.start = 0x1000, .end = 0x2000, .unload_ns = INT64_MAX};

        m.path = fb_strings_put_z(&p->strings, "/usr/lib/libx.so.1");
        m.build_id = fb_strings_put_z(&p->strings, build);
        f.module = fb_profile_module_add(p, &m);
    }
    stack = fb_profile_stack_put(p, FB_STACK_ROOT, fb_profile_frame_put(p, &f));
    for (unsigned i = 0; i < count; i++)
        fb_profile_sample_add(p, WORLD_START_NS + (int64_t)second * WORLD_SECOND + i, 0, stack, 1);
}

static double libx_gap(const char *control_build, const char *variant_build)
{
    struct world w;
    struct fb_diff *diff;
    struct fb_unknown u;
    uint32_t libx;
    double gap;

    world_init(&w, WORLD_RULES);
    for (int arm = 0; arm < 2; arm++) {
        (void)world_arm(&w, arm == 1, 110);
        for (size_t s = 0; s < 110; s++) {
            world_samples(w.profiles[arm], s, "main;a", 40);
            nameless_samples(w.profiles[arm], s, arm ? variant_build : control_build, arm ? 20 : 5);
        }
    }
    diff = world_diff(&w, NULL);
    fb_unknown_measure(diff->state, &diff->state->steps[0], &u);
    libx = fb_strings_find(&w.fns.strings, "libx.so", 7);
    gap = u.by_module[libx];
    fb_unknown_done(&u);
    world_done(&w, diff);
    return gap;
}

static void one_build_in_both_arms_hides_nothing(void **state)
{
    (void)state;
    assert_true(libx_gap("aa11", "aa11") == 0);
    assert_true(libx_gap("aa11", "bb22") > 0.2);
    assert_true(libx_gap("", "") > 0.2); /* nobody knows whether they are the same */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nameless_frame_hides_only_its_own_module),
        cmocka_unit_test(one_build_in_both_arms_hides_nothing),
        cmocka_unit_test(a_nameless_frame_that_a_rule_places_hides_no_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What stands around a frame: inlining and its callers, renames, what moved most. */
#include "world.h"

/* Every second; jitter without drift, the same in both arms. */
static void fill(struct fb_profile *p, const char *const *stacks, const unsigned *counts, size_t n)
{
    for (size_t s = 0; s < 110; s++)
        for (size_t i = 0; i < n; i++)
            if (counts[i] > 0)
                world_samples(p, s, stacks[i], counts[i] + (unsigned)((s + i) % 2));
}

static double sum_of(const unsigned *counts, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += counts[i] > 0 ? counts[i] + 0.5 : 0;
    return sum;
}

/* CPU known: 10 ms a sample. */
static struct fb_diff *two(struct world *w, const char *const *stacks, const unsigned *control,
                           const unsigned *variant, size_t n)
{
    world_init(w, WORLD_RULES);
    fill(world_arm(w, false, 110), stacks, control, n);
    world_last_step(w)->cpu_s = 1.1 * sum_of(control, n);
    fill(world_arm(w, true, 110), stacks, variant, n);
    world_last_step(w)->cpu_s = 1.1 * sum_of(variant, n);
    return world_diff(w, NULL);
}

static struct fb_diff *two_by_share(struct world *w, const char *const *stacks,
                                    const unsigned *control, const unsigned *variant, size_t n)
{
    world_init(w, WORLD_RULES);
    fill(world_arm(w, false, 110), stacks, control, n);
    fill(world_arm(w, true, 110), stacks, variant, n);
    return world_diff(w, NULL);
}

static const struct fb_diff_row *callers_of(const struct fb_diff *diff, const char *frame)
{
    const struct fb_diff_row *row = world_frame(diff, 0, frame);

    assert_true(row->callers < diff->steps[0].callers_count);
    return &diff->steps[0].callers[row->callers];
}

static const struct fb_diff_mover *mover_of(const struct fb_diff *diff, const char *frame)
{
    for (size_t i = 0; i < diff->steps[0].movers_count; i++)
        if (strcmp(diff->steps[0].frames[diff->steps[0].movers[i].frame].name, frame) == 0)
            return &diff->steps[0].movers[i];
    return NULL;
}

/* b_crc is inlined into a_deflate: it vanishes, and a_deflate grows by as much. */
static void a_callee_that_was_inlined_is_no_saving(void **state)
{
    const char *stacks[] = {"main;a_deflate", "main;a_deflate;b_crc", "main;c_rest"};
    const unsigned control[] = {20, 20, 60}, variant[] = {40, 0, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 3);

    (void)state;
    assert_int_equal(world_frame(diff, 0, "b_crc")->verdict, FB_VERDICT_ABSENT);
    assert_int_equal(world_frame(diff, 0, "b_crc")->move, FB_MOVE_INLINED);
    assert_string_equal(callers_of(diff, "b_crc")->name, "a_deflate");
    assert_true(fabs(callers_of(diff, "b_crc")->change) < 0.05);
    assert_int_equal(world_frame(diff, 0, "a_deflate")->verdict, FB_VERDICT_DIFF);
    assert_int_equal(world_frame(diff, 0, "a_deflate")->move, FB_MOVE_TOOK);
    assert_string_equal(world_frame(diff, 0, "a_deflate")->partner, "b_crc");
    assert_int_equal(mover_of(diff, "b_crc")->kind, FB_MOVER_MOVED);
    assert_int_equal(mover_of(diff, "a_deflate")->kind, FB_MOVER_MOVED);
    assert_null(mover_of(diff, "c_rest"));
    world_done(&w, diff);
}

/* The same, but saved: the caller lost what its callee lost. */
static void a_callee_that_got_cheaper_is_a_saving(void **state)
{
    const char *stacks[] = {"main;a_deflate", "main;a_deflate;b_crc", "main;c_rest"};
    const unsigned control[] = {20, 20, 60}, variant[] = {20, 0, 60};

    (void)state;
    for (int by_share = 0; by_share < 2; by_share++) {
        struct world w;
        struct fb_diff *diff = (by_share ? two_by_share : two)(&w, stacks, control, variant, 3);

        assert_int_equal(diff->steps[0].on_ms, !by_share);
        assert_int_equal(world_frame(diff, 0, "b_crc")->verdict, FB_VERDICT_ABSENT);
        assert_int_equal(world_frame(diff, 0, "b_crc")->move, FB_MOVE_NONE);
        assert_true(callers_of(diff, "b_crc")->change < -0.3);
        assert_int_equal(mover_of(diff, "b_crc")->kind, FB_MOVER_GONE);
        world_done(&w, diff);
    }
}

/* Two levels up: both the leaf and its caller vanish into the next one. */
static void inlining_is_found_over_several_levels(void **state)
{
    const char *stacks[] = {"main;a_top", "main;a_top;b_mid", "main;a_top;b_mid;b_leaf",
                            "main;c_rest"};
    const unsigned control[] = {10, 15, 15, 60}, variant[] = {40, 0, 0, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 4);

    (void)state;
    assert_int_equal(world_frame(diff, 0, "b_leaf")->move, FB_MOVE_INLINED);
    assert_string_equal(callers_of(diff, "b_leaf")->name, "a_top");
    assert_int_equal(world_frame(diff, 0, "b_mid")->move, FB_MOVE_INLINED);
    assert_int_equal(world_frame(diff, 0, "a_top")->move, FB_MOVE_TOOK);
    world_done(&w, diff);
}

/* A callee does what another did: the caller stayed, and no inlining did it. */
static void work_that_went_to_other_code_is_no_inlining(void **state)
{
    const char *stacks[] = {"main;a_read;b_copy", "main;a_read;c_checked", "main;c_rest"};
    const unsigned control[] = {30, 5, 60}, variant[] = {5, 30, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 3);

    (void)state;
    assert_int_equal(world_frame(diff, 0, "b_copy")->move, FB_MOVE_WITHIN);
    assert_int_equal(world_frame(diff, 0, "c_checked")->move, FB_MOVE_WITHIN);
    assert_string_equal(callers_of(diff, "b_copy")->name, "a_read");
    world_done(&w, diff);
}

static void a_real_change_is_more_or_less_and_never_moved(void **state)
{
    const char *stacks[] = {"main;a_work;b_codec", "main;a_work;c_parse", "main;a_work"};
    const unsigned control[] = {20, 40, 40}, variant[] = {60, 40, 40};

    (void)state;
    for (int by_share = 0; by_share < 2; by_share++) {
        struct world w;
        struct fb_diff *diff = (by_share ? two_by_share : two)(&w, stacks, control, variant, 3);

        assert_int_equal(world_frame(diff, 0, "b_codec")->verdict, FB_VERDICT_DIFF);
        assert_int_equal(world_frame(diff, 0, "b_codec")->move, FB_MOVE_NONE);
        assert_int_equal(mover_of(diff, "b_codec")->kind, FB_MOVER_MORE);
        world_done(&w, diff);
    }
}

static void no_caller_is_said_of_a_root_and_of_recursion(void **state)
{
    const char *stacks[] = {"b_alone", "main;a_self;a_self;a_self", "main;c_rest"};
    const unsigned control[] = {20, 20, 60}, variant[] = {40, 40, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 3);

    (void)state;
    assert_int_equal(world_frame(diff, 0, "b_alone")->verdict, FB_VERDICT_DIFF);
    assert_true(world_frame(diff, 0, "b_alone")->callers == SIZE_MAX);
    assert_string_equal(callers_of(diff, "a_self")->name, "main");
    world_done(&w, diff);
}

/* ---- renames ---- */

static void a_renamed_function_is_suggested_and_never_merged(void **state)
{
    const char *stacks[] = {"main;a_deflate;b_crc", "main;zng_a_deflate;b_crc", "main;a_deflate",
                            "main;zng_a_deflate", "main;c_rest"};
    const unsigned control[] = {20, 0, 20, 0, 60}, variant[] = {0, 20, 0, 20, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 5);
    const struct fb_diff_step *s = &diff->steps[0];

    (void)state;
    assert_int_equal(s->renames_count, 1);
    assert_string_equal(fb_function_name(&w.fns, s->renames[0].from), "a_deflate");
    assert_string_equal(fb_function_name(&w.fns, s->renames[0].to), "zng_a_deflate");
    assert_true(s->renames[0].callers > 0.99 && s->renames[0].callees > 0.9);
    assert_false(s->renames[0].is_ambiguous);
    assert_string_equal(world_frame(diff, 0, "a_deflate")->renamed, "zng_a_deflate");
    assert_int_equal(world_frame(diff, 0, "a_deflate")->verdict, FB_VERDICT_ABSENT);
    assert_int_equal(world_frame(diff, 0, "zng_a_deflate")->verdict, FB_VERDICT_ABSENT);
    assert_int_equal(mover_of(diff, "a_deflate")->kind, FB_MOVER_RENAMED);
    world_done(&w, diff);
}

/* Callers and callees were renamed with it. */
static void a_renamed_class_is_suggested_method_by_method(void **state)
{
    const char *stacks[] = {"main;v1.Codec.encode;v1.Codec.writeField;c_x",
                            "main;v2.Codec.encode;v2.Codec.writeField;c_x", "main;c_rest"};
    const unsigned control[] = {30, 0, 60}, variant[] = {0, 30, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 3);

    (void)state;
    assert_int_equal(diff->steps[0].renames_count, 2);
    world_done(&w, diff);
}

static void other_names_other_shares_and_other_callers_are_no_rename(void **state)
{
    const char *stacks[] = {"main;a_old_parser",  "main;b_quite",  "main;a_old_printer",
                            "main;a_new_printer", "main;a_reader", "main;c_rest;a_readers",
                            "main;c_rest"};
    /* b_quite: another name; a_new_printer: a fifth of the share; a_readers: another caller */
    const unsigned control[] = {30, 0, 50, 0, 20, 0, 60}, variant[] = {0, 30, 0, 8, 0, 20, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 7);

    (void)state;
    assert_int_equal(diff->steps[0].renames_count, 0);
    assert_null(world_frame(diff, 0, "a_old_parser")->renamed);
    world_done(&w, diff);
}

static void two_that_would_do_are_ambiguous(void **state)
{
    const char *stacks[] = {"main;a_copy_bytes", "main;a_copy_bytes1", "main;a_copy_bytes2",
                            "main;c_rest"};
    const unsigned control[] = {20, 0, 0, 60}, variant[] = {0, 20, 19, 60};
    struct world w;
    struct fb_diff *diff = two(&w, stacks, control, variant, 4);

    (void)state;
    assert_int_equal(diff->steps[0].renames_count, 1);
    assert_true(diff->steps[0].renames[0].is_ambiguous);
    world_done(&w, diff);
}

static void nothing_is_said_of_a_step_without_verdicts(void **state)
{
    const char *stacks[] = {"main;a_deflate", "main;a_deflate;b_crc", "main;c_rest"};
    const unsigned control[] = {20, 20, 60}, variant[] = {40, 0, 60};
    struct world w;
    struct fb_diff *diff;

    (void)state;
    world_init(&w, WORLD_RULES);
    fill(world_arm(&w, false, 110), stacks, control, 3);
    fill(world_arm(&w, true, 110), stacks, variant, 3);
    w.arms[1].steps->items[0].warmup = true;
    w.arms[1].steps->items[0].health = FB_STEP_WARMUP;
    w.arms[0].steps->items[0].warmup = true;
    w.arms[0].steps->items[0].health = FB_STEP_WARMUP;
    diff = world_diff(&w, NULL);
    assert_true(diff->steps[0].denial[0] != '\0');
    assert_int_equal(diff->steps[0].movers_count + diff->steps[0].renames_count +
                         diff->steps[0].callers_count,
                     0);
    world_done(&w, diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callee_that_was_inlined_is_no_saving),
        cmocka_unit_test(a_callee_that_got_cheaper_is_a_saving),
        cmocka_unit_test(inlining_is_found_over_several_levels),
        cmocka_unit_test(work_that_went_to_other_code_is_no_inlining),
        cmocka_unit_test(a_real_change_is_more_or_less_and_never_moved),
        cmocka_unit_test(no_caller_is_said_of_a_root_and_of_recursion),
        cmocka_unit_test(a_renamed_function_is_suggested_and_never_merged),
        cmocka_unit_test(a_renamed_class_is_suggested_method_by_method),
        cmocka_unit_test(other_names_other_shares_and_other_callers_are_no_rename),
        cmocka_unit_test(two_that_would_do_are_ambiguous),
        cmocka_unit_test(nothing_is_said_of_a_step_without_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

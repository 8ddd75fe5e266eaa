/* Who is compared with whom. */
#include "diff/align.h"
#include "world.h"

struct plan {
    const char *name;
    double offered; /* NAN: no rate */
    bool warmup;
    const char *mode; /* NULL: unknown */
};

static void arm_plan(struct world *w, bool is_variant, const struct plan *plan, size_t count)
{
    (void)world_arm_bare(w, is_variant);
    for (size_t i = 0; i < count; i++) {
        struct fb_step *s = world_step_add(w->arms[w->count - 1].steps, plan[i].name,
                                           plan[i].offered, 100 * i, 100);

        s->warmup = plan[i].warmup;
        if (plan[i].mode != NULL)
            s->mode = plan[i].mode;
    }
}

/* The names that the variant's steps were matched to the control's, "-" for none. */
static const char *matched(const struct plan *control, size_t controls, const struct plan *variant,
                           size_t variants)
{
    static char text[200];
    struct world w;
    struct fb_lineup lineup;
    struct fb_matching m;
    struct fb_err err;

    world_init(&w, WORLD_RULES);
    arm_plan(&w, false, control, controls);
    arm_plan(&w, true, variant, variants);
    world_close(&w);
    assert_int_equal(fb_lineup_build(&w.in, &lineup, &err), FB_OK);
    fb_matching_by_rate(&w.in, &lineup, &m);
    text[0] = '\0';
    for (size_t i = 0; i < m.count; i++) {
        const struct fb_step *s = fb_matching_step(&m, i, 1);

        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 s ? s->name : "-");
    }
    fb_matching_done(&m);
    fb_lineup_done(&lineup);
    world_done(&w, NULL);
    return text;
}

static void rates_match_within_half_a_percent_the_nearest_first(void **state)
{
    const struct plan c[] = {{"c1", 1000, false, NULL}, {"c2", 2000, false, NULL}};
    const struct plan v[] = {
        {"v1", 2009, false, NULL}, {"v2", 1004, false, NULL}, {"v3", 999, false, NULL}};
    const struct plan far[] = {{"v1", 1006, false, NULL}, {"v2", 1989, false, NULL}};

    (void)state;
    assert_string_equal(matched(c, 2, v, 3), "v3 v1");
    assert_string_equal(matched(c, 2, far, 2), "- -");
}

static void a_rate_that_recurs_is_matched_in_order(void **state)
{
    const struct plan c[] = {
        {"c1", 1000, false, NULL}, {"c2", 2000, false, NULL}, {"c3", 1000, false, NULL}};
    const struct plan v[] = {
        {"v1", 1000, false, NULL}, {"v2", 2000, false, NULL}, {"v3", 1000, false, NULL}};

    (void)state;
    assert_string_equal(matched(c, 3, v, 3), "v1 v2 v3");
}

static void steps_match_within_their_mode(void **state)
{
    const struct plan c[] = {{"c1", 1000, false, "http1"}, {"c2", 1000, false, "http2"}};
    const struct plan v[] = {{"v1", 1000, false, "http2"}, {"v2", 1000, false, "http1"}};
    const struct plan other[] = {{"v1", 1000, false, "grpc-unary"}};

    (void)state;
    assert_string_equal(matched(c, 2, v, 2), "v2 v1");
    assert_string_equal(matched(c, 2, other, 1), "- -");
}

static void arms_of_one_mode_each_match_by_rate(void **state)
{
    const struct plan c[] = {{"c1", 1000, false, "grpc-unary"}, {"c2", 2000, false, "grpc-unary"}};
    const struct plan v[] = {{"v1", 2000, false, "grpc-stream"}, {"v2", 1000, false, ""}};

    (void)state;
    assert_string_equal(matched(c, 2, v, 2), "v2 v1");
}

static void warmups_match_warmups_only(void **state)
{
    const struct plan c[] = {{"warm", 200, true, NULL}, {"c", 200, false, NULL}};
    const struct plan v[] = {{"v", 200, false, NULL}, {"hot", 200, true, NULL}};

    (void)state;
    assert_string_equal(matched(c, 2, v, 2), "hot v");
}

static void steps_without_rates_match_by_name_and_else_by_order(void **state)
{
    const struct plan c[] = {{"read", NAN, false, NULL}, {"write", NAN, false, NULL}};
    const struct plan named[] = {{"write", NAN, false, NULL}, {"scan", NAN, false, NULL}};
    const struct plan other[] = {{"phase 1", NAN, false, NULL}, {"phase 2", NAN, false, NULL}};
    const struct plan more[] = {
        {"x", NAN, false, NULL}, {"y", NAN, false, NULL}, {"z", NAN, false, NULL}};

    (void)state;
    assert_string_equal(matched(c, 2, named, 2), "- write");
    assert_string_equal(matched(c, 2, other, 2), "phase 1 phase 2");
    assert_string_equal(matched(c, 2, more, 3), "- -");
}

static void runs_pair_in_order_and_the_odd_one_is_left(void **state)
{
    const struct plan one[] = {{"s", 1000, false, NULL}};
    struct world w;
    struct fb_lineup lineup;
    struct fb_err err;

    (void)state;
    world_init(&w, WORLD_RULES);
    arm_plan(&w, true, one, 1);
    arm_plan(&w, false, one, 1);
    arm_plan(&w, false, one, 1);
    arm_plan(&w, true, one, 1);
    arm_plan(&w, false, one, 1);
    w.profiles[4]->run_id = w.profiles[1]->run_id; /* a second worker of the first control */
    world_close(&w);
    assert_int_equal(fb_lineup_build(&w.in, &lineup, &err), FB_OK);
    assert_int_equal(lineup.controls, 2);
    assert_int_equal(lineup.variants, 2);
    assert_int_equal(lineup.pairs, 2);
    assert_int_equal(lineup.replicates[0].arms_count, 2);
    assert_int_equal(fb_lineup_side(&lineup, 0, true)->arms[0], 0);
    assert_int_equal(fb_lineup_side(&lineup, 1, true)->arms[0], 3);
    fb_lineup_done(&lineup);
    world_done(&w, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_match_within_half_a_percent_the_nearest_first),
        cmocka_unit_test(a_rate_that_recurs_is_matched_in_order),
        cmocka_unit_test(steps_match_within_their_mode),
        cmocka_unit_test(arms_of_one_mode_each_match_by_rate),
        cmocka_unit_test(warmups_match_warmups_only),
        cmocka_unit_test(steps_without_rates_match_by_name_and_else_by_order),
        cmocka_unit_test(runs_pair_in_order_and_the_odd_one_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

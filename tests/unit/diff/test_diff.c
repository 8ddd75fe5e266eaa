/* Whole diffs of small worlds: what is conserved, what is symmetric, and every way to no verdict.
 */
#include "world.h"

/* Every second: a, b and c in the given counts, jittered without drift. */
static void arm_fill(struct fb_profile *p, size_t seconds, unsigned a, unsigned b, unsigned c)
{
    for (size_t s = 0; s < seconds; s++) {
        unsigned up = s % 2 ? 3 : 0;

        world_samples(p, s, "main;a_work", a + up);
        world_samples(p, s, "main;b_work", b + 3 - up);
        world_samples(p, s, "main;c_work", c + (unsigned)(s % 3));
    }
}

static void two_arms(struct world *w, unsigned a, unsigned b, unsigned c)
{
    world_init(w, WORLD_RULES);
    arm_fill(world_arm(w, false, 110), 110, 20, 40, 20);
    arm_fill(world_arm(w, true, 110), 110, a, b, c);
}

static void known_cpu(struct world *w, double control_s, double variant_s)
{
    w->arms[0].steps->items[0].cpu_s = control_s;
    w->arms[1].steps->items[0].cpu_s = variant_s;
}

static void shares_sum_to_one_and_ms_to_the_steps_cost(void **state)
{
    struct world w;
    struct fb_diff *diff;
    double samples = 0, share = 0, ms = 0;

    (void)state;
    two_arms(&w, 30, 40, 20);
    known_cpu(&w, 88, 97);
    diff = world_diff(&w, NULL);
    for (size_t i = 0; i + 1 < diff->steps[0].layers_count; i++) {
        const struct fb_diff_row *r = &diff->steps[0].layers[i];

        samples += r->variant.samples;
        share += r->variant.share;
        ms += r->variant.ms;
        assert_true(r->variant.share_lo <= r->variant.share &&
                    r->variant.share <= r->variant.share_hi);
    }
    assert_true(diff->steps[0].layers[diff->steps[0].layers_count - 1].is_total);
    assert_true(fabs(share - 1) < 1e-12);
    assert_true(samples == diff->steps[0].samples_variant);
    assert_true(fabs(ms - 97 * 1000 / (110 * 1000.0)) < 1e-12);
    assert_true(fabs(world_layer(diff, 0, "total")->variant.ms - ms) < 1e-12);
    world_done(&w, diff);
}

static void a_doubled_layer_is_a_diff_and_the_rest_is_not(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    two_arms(&w, 42, 40, 20); /* 22 more samples a second, and the CPU for them */
    known_cpu(&w, 84.5, 106.5);
    diff = world_diff(&w, NULL);
    assert_true(diff->steps[0].on_ms && diff->has_ms);
    assert_int_equal(world_layer(diff, 0, "a")->verdict, FB_VERDICT_DIFF);
    assert_true(fabs(world_layer(diff, 0, "a")->change - 1) < 0.1);
    assert_true(world_layer(diff, 0, "b")->verdict != FB_VERDICT_DIFF);
    assert_true(fabs(world_layer(diff, 0, "b")->change) < 0.05);
    assert_int_equal(world_layer(diff, 0, "total")->verdict, FB_VERDICT_DIFF);
    assert_int_equal(world_frame(diff, 0, "a_work")->verdict, FB_VERDICT_DIFF);
    assert_int_equal(world_frame(diff, 0, "b_work")->verdict, FB_VERDICT_UNRESOLVED);
    world_done(&w, diff);
}

static void swapping_the_arms_negates_every_row(void **state)
{
    struct world w, v;
    struct fb_diff *forth, *back;

    (void)state;
    two_arms(&w, 30, 44, 17);
    world_init(&v, WORLD_RULES);
    arm_fill(world_arm(&v, false, 110), 110, 30, 44, 17);
    arm_fill(world_arm(&v, true, 110), 110, 20, 40, 20);
    forth = world_diff(&w, NULL);
    back = world_diff(&v, NULL);
    for (size_t i = 0; i < 3; i++) {
        const struct fb_diff_row *f = &forth->steps[0].layers[i], *b = &back->steps[0].layers[i];

        assert_true(fabs(f->d + b->d) < 1e-12);
        assert_true(fabs(f->d_lo + b->d_hi) < 1e-12 && fabs(f->d_hi + b->d_lo) < 1e-12);
        assert_int_equal(f->verdict, b->verdict);
    }
    assert_true(fabs(world_frame(forth, 0, "a_work")->d + world_frame(back, 0, "a_work")->d) <
                1e-12);
    world_done(&w, forth);
    world_done(&v, back);
}

static void scaling_all_weights_changes_nothing(void **state)
{
    struct world w, v;
    struct fb_diff *plain, *scaled;

    (void)state;
    two_arms(&w, 30, 44, 17);
    two_arms(&v, 30, 44, 17);
    for (size_t i = 0; i < 2; i++)
        for (size_t s = 0; s < v.profiles[i]->samples.count; s++)
            v.profiles[i]->samples.weight[s] = 1000;
    plain = world_diff(&w, NULL);
    scaled = world_diff(&v, NULL);
    for (size_t i = 0; i < 3; i++) {
        const struct fb_diff_row *p = &plain->steps[0].layers[i], *s = &scaled->steps[0].layers[i];

        assert_true(fabs(p->d - s->d) < 1e-12 && fabs(p->d_lo - s->d_lo) < 1e-12);
        assert_true(fabs(p->control.share_lo - s->control.share_lo) < 1e-12);
        assert_true(p->control.samples == s->control.samples && p->verdict == s->verdict);
    }
    world_done(&w, plain);
    world_done(&v, scaled);
}

/* The sum of two layers is what one layer of both would be: never the sum of two variances. */
static void a_sum_of_layers_is_one_layer(void **state)
{
    static const char *const joined =
        "{\"layers\":[{\"name\":\"ab\"},{\"name\":\"c\"},{\"name\":\"other\"}],\"rules\":["
        "{\"layer\":\"ab\",\"leaf\":\"^[ab]\"},{\"layer\":\"c\",\"leaf\":\"^c\"}]}";
    struct world w, v;
    struct fb_diff *apart, *together;
    const struct fb_diff_row *a, *b, *ab, *c;

    (void)state;
    two_arms(&w, 30, 30, 20);
    world_init(&v, joined);
    arm_fill(world_arm(&v, false, 110), 110, 20, 40, 20);
    arm_fill(world_arm(&v, true, 110), 110, 30, 30, 20);
    apart = world_diff(&w, NULL);
    together = world_diff(&v, NULL);
    a = world_layer(apart, 0, "a");
    b = world_layer(apart, 0, "b");
    ab = world_layer(together, 0, "ab");
    c = world_layer(together, 0, "c");
    assert_true(fabs(a->variant.share + b->variant.share - ab->variant.share) < 1e-12);
    assert_int_equal(a->verdict, FB_VERDICT_DIFF);
    assert_true(fabs(ab->d) < 1e-3); /* the work moved, one for one */
    assert_int_equal(ab->verdict, FB_VERDICT_SAME);
    assert_true(fabs(c->d - world_layer(apart, 0, "c")->d) < 1e-12);
    world_done(&w, apart);
    world_done(&v, together);
}

static void banks_of_one_run_are_one_replicate(void **state)
{
    struct world w, v;
    struct fb_diff *one, *two;

    (void)state;
    two_arms(&w, 30, 40, 20);
    world_init(&v, WORLD_RULES);
    arm_fill(world_arm(&v, false, 110), 110, 20, 40, 20);
    for (int half = 0; half < 2; half++) { /* two workers with every second second each */
        struct fb_profile *p = world_arm(&v, true, 110);

        p->run_id = 77;
        for (size_t s = (size_t)half; s < 110; s += 2) {
            world_samples(p, s, "main;a_work", 30 + (s % 2 ? 3 : 0));
            world_samples(p, s, "main;b_work", 40 + (s % 2 ? 0 : 3));
            world_samples(p, s, "main;c_work", 20 + (unsigned)(s % 3));
        }
    }
    one = world_diff(&w, NULL);
    two = world_diff(&v, NULL);
    assert_int_equal(two->pairs, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabs(one->steps[0].layers[i].d - two->steps[0].layers[i].d) < 1e-12);
        assert_true(fabs(one->steps[0].layers[i].d_lo - two->steps[0].layers[i].d_lo) < 1e-12);
    }
    world_done(&w, one);
    world_done(&v, two);
}

static void a_layer_of_one_arm_is_absent_with_a_bound(void **state)
{
    struct world w;
    struct fb_diff *diff;
    const struct fb_diff_row *c;

    (void)state;
    world_init(&w, WORLD_RULES);
    arm_fill(world_arm(&w, false, 110), 110, 20, 40, 20);
    for (size_t s = 0; s < 110; s++) {
        if (s == 0)
            (void)world_arm(&w, true, 110);
        world_samples(w.profiles[1], s, "main;a_work", 20 + (unsigned)(s % 3));
        world_samples(w.profiles[1], s, "main;b_work", 40);
    }
    world_samples(w.profiles[0], 50, "main;b_once", 2);
    diff = world_diff(&w, NULL);
    c = world_layer(diff, 0, "c");
    assert_int_equal(c->verdict, FB_VERDICT_ABSENT);
    assert_true(c->bound > 0 && c->bound < 0.005);
    assert_true(c->change == -1);
    assert_int_equal(world_frame(diff, 0, "b_once")->verdict, FB_VERDICT_NOT_SEEN);
    assert_true(world_frame(diff, 0, "b_once")->bound >= 3 * 2.0 / 6720);
    world_done(&w, diff);
}

static void rare_bursts_get_no_verdict(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    two_arms(&w, 20, 40, 20);
    for (size_t s = 0; s < 3; s++) {
        world_samples(w.profiles[0], 30 * s, "main;other_gc", 60);
        world_samples(w.profiles[1], 33 * s, "main;other_gc", 20);
    }
    diff = world_diff(&w, NULL);
    assert_int_equal(world_layer(diff, 0, "other")->verdict, FB_VERDICT_BURSTY);
    world_done(&w, diff);
}

static void a_larger_unknown_share_denies_small_rows(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    world_init(&w, WORLD_RULES);
    arm_fill(world_arm(&w, false, 110), 110, 20, 40, 20);
    arm_fill(world_arm(&w, true, 110), 110, 20, 40, 16);
    for (size_t s = 0; s < 110; s++)
        world_samples(w.profiles[1], s, "main;[unknown]", 6);
    diff = world_diff(&w, NULL);
    assert_true(diff->steps[0].unknown_variant > 0.05);
    assert_int_equal(world_layer(diff, 0, "c")->verdict, FB_VERDICT_NONE);
    assert_true(strstr(world_layer(diff, 0, "c")->reason, "[unknown]") != NULL);
    world_done(&w, diff);
}

/* The reason on layer a after `change` was done to a world of a doubled layer. */
static const char *reason_after(void (*change)(struct world *), enum fb_verdict *verdict)
{
    static char reason[200];
    struct world w;
    struct fb_diff *diff;

    two_arms(&w, 42, 40, 20);
    change(&w);
    diff = world_diff(&w, NULL);
    snprintf(reason, sizeof reason, "%s", world_layer(diff, 0, "a")->reason);
    *verdict = world_layer(diff, 0, "a")->verdict;
    assert_true(world_layer(diff, 0, "a")->change > 0.1); /* shown all the same */
    world_done(&w, diff);
    return reason;
}

static void unchanged(struct world *w)
{
    (void)w;
}

static void make_warmup(struct world *w)
{
    for (int i = 0; i < 2; i++) {
        w->arms[i].steps->items[0].warmup = true;
        w->arms[i].steps->items[0].health = FB_STEP_WARMUP;
    }
}

static void make_sick(struct world *w)
{
    w->arms[1].steps->items[0].health = FB_STEP_EVENT;
}

static void make_slower(struct world *w)
{
    w->arms[1].steps->items[0].delivered *= 0.99;
}

static void make_itimer(struct world *w)
{
    for (int i = 0; i < 2; i++) {
        fb_profile_manifest_set(w->profiles[i], "clock_got", "itimer");
        w->arms[i].steps->items[0].yield = 0.9 + 0.1 * i;
    }
}

/* A profile that ended before the step did: nothing is "absent" from it. */
static void make_empty_is_denied(void)
{
    struct world w;
    struct fb_diff *diff;

    two_arms(&w, 42, 40, 20);
    (void)world_step_add(w.arms[0].steps, "2000", 2000, 200, 110);
    (void)world_step_add(w.arms[1].steps, "2000", 2000, 200, 110);
    for (size_t s = 200; s < 310; s++)
        world_samples(w.profiles[0], s, "main;a_work", 50);
    diff = world_diff(&w, NULL);
    assert_int_equal(diff->steps_count, 2);
    assert_int_equal(world_layer(diff, 1, "a")->verdict, FB_VERDICT_NONE);
    assert_non_null(strstr(world_layer(diff, 1, "a")->reason, "no sample"));
    world_done(&w, diff);
}

static void every_sick_step_is_shown_without_a_verdict(void **state)
{
    enum fb_verdict v;

    (void)state;
    assert_string_equal(reason_after(unchanged, &v), "");
    assert_int_equal(v, FB_VERDICT_DIFF);
    assert_true(strstr(reason_after(make_warmup, &v), "warm-up") && v == FB_VERDICT_NONE);
    assert_true(strstr(reason_after(make_sick, &v), "EVENT") && v == FB_VERDICT_NONE);
    assert_true(strstr(reason_after(make_slower, &v), "delivered") && v == FB_VERDICT_NONE);
    make_empty_is_denied();
    assert_true(strstr(reason_after(make_itimer, &v), "yield") && v == FB_VERDICT_NONE);
}

/* CPU by second: steady in the control; in the variant it sinks by a third half-way. */
static void counters_fill(struct fb_profile *p, size_t seconds, double late)
{
    uint32_t cpu = fb_profile_counter_put(p, "cgroup.cpu_ns", "ns", FB_COUNTER_CUMULATIVE);
    double total = 0;

    for (size_t s = 0; s <= seconds; s++) {
        size_t row = fb_profile_counter_row_add(p, WORLD_START_NS + (int64_t)s * WORLD_SECOND);

        p->counters.items[cpu].values[row] = (int64_t)total;
        total += 8e8 * (1 + 0.01 * (double)(s % 3)) * (s >= seconds / 2 ? late : 1);
    }
}

static void an_unsteady_window_leaves_layers_to_shares(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    two_arms(&w, 42, 40, 20);
    known_cpu(&w, 88, 106);
    counters_fill(w.profiles[0], 110, 1);
    counters_fill(w.profiles[1], 110, 1.5);
    diff = world_diff(&w, NULL);
    assert_true(diff->steps[0].health & FB_STEP_UNSTEADY);
    assert_true(diff->has_ms && !diff->steps[0].on_ms);
    assert_int_equal(diff->steps[0].metrics[FB_METRIC_CPU_PER_REQUEST].verdict, FB_VERDICT_NONE);
    assert_true(world_layer(diff, 0, "a")->on_share);
    assert_int_equal(world_layer(diff, 0, "a")->verdict, FB_VERDICT_DIFF);
    world_done(&w, diff);
}

static void an_unsteady_window_still_shows_a_change_beyond_the_wander_of_machines(void **state)
{
    struct world w;
    struct fb_diff *diff;
    const struct fb_diff_row *cost;

    (void)state;
    two_arms(&w, 42, 40, 20);
    known_cpu(&w, 88, 440);
    counters_fill(w.profiles[0], 110, 1);
    counters_fill(w.profiles[1], 110, 1.5);
    diff = world_diff(&w, NULL);
    cost = &diff->steps[0].metrics[FB_METRIC_CPU_PER_REQUEST];
    assert_true(diff->steps[0].health & FB_STEP_UNSTEADY);
    assert_int_equal(cost->verdict, FB_VERDICT_DIFF);
    assert_true(cost->floor >= 0.16 && strstr(cost->reason, "UNSTEADY") != NULL);
    /* Rows follow in ms, with that floor: shares would mirror the change of the whole. */
    assert_false(world_layer(diff, 0, "a")->on_share);
    assert_true(world_layer(diff, 0, "a")->floor >= 0.16);
    assert_int_equal(world_layer(diff, 0, "a")->verdict, FB_VERDICT_DIFF);
    world_done(&w, diff);
}

static void a_short_window_judges_only_a_cost_beyond_the_wander_of_machines(void **state)
{
    for (int large = 0; large < 2; large++) {
        struct world w;
        struct fb_diff *diff;
        const struct fb_diff_row *cost;

        (void)state;
        two_arms(&w, 42, 40, 20);
        known_cpu(&w, 88, large ? 440 : 95);
        for (int arm = 0; arm < 2; arm++)
            w.arms[arm].steps->items[0].health |= FB_STEP_SHORT;
        diff = world_diff(&w, NULL);
        cost = &diff->steps[0].metrics[FB_METRIC_CPU_PER_REQUEST];
        assert_int_equal(cost->verdict, large ? FB_VERDICT_DIFF : FB_VERDICT_NONE);
        assert_non_null(strstr(cost->reason, "SHORT"));
        assert_int_equal(world_layer(diff, 0, "a")->on_share, !large);
        world_done(&w, diff);
    }
}

static void steady_cpu_by_second_widens_ms_beyond_shares_by_little(void **state)
{
    struct world w;
    struct fb_diff *diff;
    const struct fb_diff_row *a;

    (void)state;
    two_arms(&w, 42, 40, 20);
    known_cpu(&w, 88, 106);
    counters_fill(w.profiles[0], 110, 1);
    counters_fill(w.profiles[1], 110, 1);
    diff = world_diff(&w, NULL);
    a = world_layer(diff, 0, "a");
    assert_true(diff->steps[0].on_ms);
    assert_true(a->control.ms_lo < a->control.ms && a->control.ms < a->control.ms_hi);
    assert_true((a->control.ms_hi / a->control.ms - 1) <
                1.3 * (a->control.share_hi / a->control.share - 1) + 0.01);
    assert_int_equal(world_layer(diff, 0, "total")->verdict, FB_VERDICT_DIFF);
    world_done(&w, diff);
}

static void steps_match_by_rate_and_the_others_are_named(void **state)
{
    struct world w;
    struct fb_diff *diff;
    bool is_named = false;

    (void)state;
    world_init(&w, WORLD_RULES);
    for (int arm = 0; arm < 2; arm++) {
        struct fb_profile *p = world_arm_bare(&w, arm == 1);
        struct fb_steps *steps = w.arms[arm].steps;

        (void)world_step_add(steps, "x", arm ? 1002 : 1000, 0, 40);
        (void)world_step_add(steps, "y", arm ? 3000 : 2000, 40, 40);
        (void)world_step_add(steps, "z", arm ? 4000.5 : 4000, 80, 30);
        arm_fill(p, 110, 20, 40, 20);
    }
    diff = world_diff(&w, NULL);
    assert_int_equal(diff->steps_count, 2);
    assert_string_equal(diff->steps[1].name, "z");
    assert_true(diff->steps[0].samples_control + diff->steps[1].samples_control <
                (double)w.profiles[0]->samples.count);
    for (size_t i = 0; i < diff->notes_count; i++)
        is_named |= strstr(diff->notes[i], "step y") != NULL;
    assert_true(is_named);
    world_done(&w, diff);
}

static enum fb_status refused(struct world *w, struct fb_err *err)
{
    struct fb_diff *diff = NULL;
    enum fb_status r;

    world_close(w);
    r = fb_diff_new(&w->in, NULL, &diff, err);
    assert_null(diff);
    world_done(w, NULL);
    return r;
}

static void arms_that_cannot_be_compared_are_refused_in_a_sentence(void **state)
{
    struct world w;
    struct fb_err err;

    (void)state;
    two_arms(&w, 20, 40, 20);
    fb_profile_manifest_set(w.profiles[0], "clock_got", "cpu");
    fb_profile_manifest_set(w.profiles[1], "clock_got", "itimer");
    assert_int_equal(refused(&w, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "clocks differ"));
    two_arms(&w, 20, 40, 20);
    w.arms[1].steps->items[0].load_start_ns += 5000LL * WORLD_SECOND;
    w.arms[1].steps->items[0].load_end_ns += 5000LL * WORLD_SECOND;
    assert_int_equal(refused(&w, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "lies in a step"));
    two_arms(&w, 20, 40, 20);
    w.arms[1].steps->items[0].offered = 1500;
    assert_int_equal(refused(&w, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "matches"));
    two_arms(&w, 20, 40, 20);
    arm_fill(world_arm(&w, true, 110), 110, 20, 40, 20);
    for (size_t i = 0; i < 3; i++) {
        fb_profile_manifest_set(w.profiles[i], "host", "box");
        fb_profile_manifest_set(w.profiles[i], "cgroup_path", "/arm");
        fb_profile_span_update(w.profiles[i]);
    }
    assert_int_equal(refused(&w, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, "cgroup"));
    world_init(&w, WORLD_RULES);
    (void)world_arm(&w, false, 110);
    assert_int_equal(refused(&w, &err), FB_EUSAGE);
    assert_non_null(strstr(err.text, "variant"));
}

static void a_profile_without_times_has_an_assumed_design_effect(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    world_init(&w, WORLD_RULES);
    for (int arm = 0; arm < 2; arm++) {
        struct fb_profile *p = world_arm(&w, arm == 1, 110);
        fb_stack_id a = world_stack(p, "main;a_work", FB_FRAME_NATIVE);
        fb_stack_id b = world_stack(p, "main;b_work", FB_FRAME_NATIVE);

        p->has_times = false;
        p->rows_merged = 2;
        fb_profile_sample_add(p, 0, 0, a, arm ? 2300 : 2500);
        fb_profile_sample_add(p, 0, 0, b, 7500);
    }
    diff = world_diff(&w, NULL);
    assert_true(world_layer(diff, 0, "a")->control.deff_assumed);
    assert_true(world_layer(diff, 0, "a")->control.deff == 7);
    assert_true(world_layer(diff, 0, "a")->control.samples == 2500);
    assert_int_equal(world_layer(diff, 0, "a")->verdict, FB_VERDICT_UNRESOLVED);
    world_done(&w, diff);
}

static void one_pair_of_jvm_arms_ranks_frames_only(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    two_arms(&w, 42, 40, 20);
    diff = world_diff(&w, &(struct fb_diff_options){.is_jvm = true});
    assert_int_equal(world_frame(diff, 0, "a_work")->verdict, FB_VERDICT_NONE);
    assert_string_equal(diff->steps[0].frames[0].name, "a_work"); /* the largest change */
    assert_int_equal(world_layer(diff, 0, "a")->verdict, FB_VERDICT_DIFF);
    world_done(&w, diff);
}

static void two_pairs_of_jvm_arms_judge_against_their_own_spread(void **state)
{
    struct world w;
    struct fb_diff *diff;

    (void)state;
    world_init(&w, WORLD_RULES);
    arm_fill(world_arm(&w, false, 110), 110, 20, 40, 20);
    arm_fill(world_arm(&w, false, 110), 110, 21, 39, 33);
    arm_fill(world_arm(&w, true, 110), 110, 80, 40, 20);
    arm_fill(world_arm(&w, true, 110), 110, 79, 41, 33);
    for (size_t i = 0; i < 4; i++) /* 10 ms a sample */
        w.arms[i].steps->items[0].cpu_s = (double)w.profiles[i]->samples.count / 100;
    diff = world_diff(&w, &(struct fb_diff_options){.is_jvm = true});
    assert_int_equal(diff->pairs, 2);
    assert_int_equal(world_frame(diff, 0, "a_work")->verdict, FB_VERDICT_DIFF);
    assert_true(world_frame(diff, 0, "c_work")->verdict != FB_VERDICT_DIFF);
    world_done(&w, diff);
}

static void an_arm_without_a_profile_still_has_its_numbers(void **state)
{
    struct world w;
    struct fb_diff *diff = NULL;
    struct fb_err err;

    (void)state;
    two_arms(&w, 20, 40, 20);
    known_cpu(&w, 88, 120);
    world_close(&w);
    w.arms[1].profile = NULL;
    w.arms[1].node_of_stack = NULL;
    assert_int_equal(fb_diff_new(&w.in, NULL, &diff, &err), FB_OK);
    assert_int_equal(diff->steps[0].layers_count, 0);
    assert_int_equal(diff->steps[0].metrics[FB_METRIC_CPU_PER_REQUEST].verdict, FB_VERDICT_DIFF);
    world_done(&w, diff);
}

/* What a change in one leaf does to the tree: its own path is real, the sibling is not. */
static void nodes_outside_the_noise_are_marked(void **state)
{
    struct world w;
    struct fb_diff *diff;
    struct fb_diff_nodes nodes;
    uint32_t main_f, node = 0, a, b;
    size_t rows = 0;

    (void)state;
    two_arms(&w, 42, 40, 20);
    known_cpu(&w, 84.5, 106.5);
    diff = world_diff(&w, NULL);
    fb_diff_nodes(diff, 0, &nodes);
    main_f = fb_functions_put(&w.fns, FB_FRAME_NATIVE, "", "main");
    node = fb_calltree_child(&w.tree, 0, main_f);
    a = fb_calltree_child(&w.tree, node, fb_functions_put(&w.fns, FB_FRAME_NATIVE, "", "a_work"));
    b = fb_calltree_child(&w.tree, node, fb_functions_put(&w.fns, FB_FRAME_NATIVE, "", "b_work"));
    assert_true(fabs(nodes.control_total[node] - 1) < 1e-12);
    assert_true(nodes.self_is_real[a] && nodes.total_is_real[a]);
    assert_false(nodes.self_is_real[b] || nodes.total_is_real[b]);
    assert_true(nodes.self_change[a].lo > 0 && nodes.self_change[a].hi > nodes.self_change[a].lo);
    assert_true(nodes.self_change[b].lo < 0 && nodes.self_change[b].hi > 0);
    assert_true(isnan(nodes.self_change[node].lo)); /* it has no self time */
    for (size_t i = 0; i < diff->steps[0].frames_count; i++) {
        const struct fb_diff_row *row = &diff->steps[0].frames[i];

        if (row->id == w.tree.nodes[a].function && !isnan(row->d_lo)) {
            assert_true(fabs(row->d_lo - nodes.self_change[a].lo) < 0.02);
            assert_true(fabs(row->d_hi - nodes.self_change[a].hi) < 0.02);
            rows++;
        }
    }
    assert_int_equal(rows, 1);
    for (size_t m = 0; m < diff->steps[0].metrics_count; m++)
        if (diff->steps[0].metrics[m].id == FB_METRIC_CPU_PER_REQUEST)
            assert_true(fabs(diff->steps[0].metrics[m].d_hi - nodes.total_change[0].hi) < 1e-6);
    assert_true(fabs(nodes.variant_ms - 106.5 / 110) < 1e-9);
    fb_diff_nodes_done(&nodes);
    fb_diff_nodes(diff, SIZE_MAX, &nodes);
    assert_true(nodes.self_is_real[a] && !nodes.self_is_real[b]);
    fb_diff_nodes_done(&nodes);
    world_done(&w, diff);
}

static unsigned random_below(struct world_random *r, unsigned n)
{
    return (unsigned)(world_u64(r) % n);
}

static void random_world(struct world *w, struct world_random *r)
{
    static const char *const stacks[] = {"main;a_1",     "main;a_1;a_2",   "main;b_1",
                                         "b_1;main;c_1", "main;[unknown]", "other"};
    size_t pairs = 1 + random_below(r, 3), seconds = 1 + random_below(r, 60);

    world_init(w, WORLD_RULES);
    for (size_t arm = 0; arm < 2 * pairs; arm++) {
        struct fb_profile *p = world_arm_bare(w, arm % 2 == 1);

        for (size_t step = 0; step < 2; step++) {
            struct fb_step *s = world_step_add(w->arms[arm].steps, "s", 1000 + 1000 * (double)step,
                                               step * seconds, seconds);

            s->cpu_s = random_below(r, 3) ? 1 + (double)random_below(r, 50) : NAN;
            s->health = random_below(r, 4) ? 0 : FB_STEP_UNSTEADY;
        }
        world_samples(p, 0, "main;b_1", 1);
        for (size_t i = 0; i < seconds * random_below(r, 60); i++)
            world_samples(p, random_below(r, (unsigned)(2 * seconds + 3)),
                          stacks[random_below(r, 1 + random_below(r, 6))], 1 + random_below(r, 3));
        if (random_below(r, 2))
            counters_fill(p, 2 * seconds, 1);
    }
}

static void row_check(const struct fb_diff_row *r)
{
    assert_true(r->verdict < FB_VERDICT_COUNT);
    assert_true((r->verdict == FB_VERDICT_NONE) == (r->reason[0] != '\0'));
    if (r->control.samples > 0)
        assert_true(r->control.share_lo <= r->control.share + 1e-12 &&
                    r->control.share <= r->control.share_hi + 1e-12 && r->control.share_hi <= 1);
    if (r->verdict == FB_VERDICT_DIFF)
        assert_true(r->d_lo > 0 || r->d_hi < 0);
    if (r->verdict == FB_VERDICT_SAME || r->verdict == FB_VERDICT_UNRESOLVED)
        assert_true(r->d_lo <= r->d && r->d <= r->d_hi);
    if (r->verdict == FB_VERDICT_ABSENT || r->verdict == FB_VERDICT_NOT_SEEN)
        assert_true(r->bound > 0 && r->bound <= 1);
}

static void random_worlds_keep_the_laws(void **state)
{
    struct world_random r = {99};

    (void)state;
    for (int round = 0; round < 150; round++) {
        struct fb_diff_options options = {.is_jvm = round % 3 == 0};
        struct world w;
        struct fb_diff *diff;

        random_world(&w, &r);
        diff = world_diff(&w, &options);
        for (size_t i = 0; i < diff->steps_count; i++) {
            const struct fb_diff_step *s = &diff->steps[i];
            struct fb_diff_nodes nodes;
            double samples = 0;

            for (size_t l = 0; l + 1 < s->layers_count; l++) {
                row_check(&s->layers[l]);
                samples += s->layers[l].control.samples;
            }
            for (size_t f = 0; f < s->frames_count; f++)
                row_check(&s->frames[f]);
            assert_true(samples == s->samples_control);
            fb_diff_nodes(diff, round % 2 ? i : SIZE_MAX, &nodes);
            assert_true(nodes.control_weight <= 0 || fabs(nodes.control_total[0] - 1) < 1e-9);
            fb_diff_nodes_done(&nodes);
        }
        world_done(&w, diff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_sum_to_one_and_ms_to_the_steps_cost),
        cmocka_unit_test(a_doubled_layer_is_a_diff_and_the_rest_is_not),
        cmocka_unit_test(swapping_the_arms_negates_every_row),
        cmocka_unit_test(scaling_all_weights_changes_nothing),
        cmocka_unit_test(a_sum_of_layers_is_one_layer),
        cmocka_unit_test(banks_of_one_run_are_one_replicate),
        cmocka_unit_test(a_layer_of_one_arm_is_absent_with_a_bound),
        cmocka_unit_test(rare_bursts_get_no_verdict),
        cmocka_unit_test(a_larger_unknown_share_denies_small_rows),
        cmocka_unit_test(every_sick_step_is_shown_without_a_verdict),
        cmocka_unit_test(an_unsteady_window_leaves_layers_to_shares),
        cmocka_unit_test(a_short_window_judges_only_a_cost_beyond_the_wander_of_machines),
        cmocka_unit_test(an_unsteady_window_still_shows_a_change_beyond_the_wander_of_machines),
        cmocka_unit_test(steady_cpu_by_second_widens_ms_beyond_shares_by_little),
        cmocka_unit_test(steps_match_by_rate_and_the_others_are_named),
        cmocka_unit_test(arms_that_cannot_be_compared_are_refused_in_a_sentence),
        cmocka_unit_test(a_profile_without_times_has_an_assumed_design_effect),
        cmocka_unit_test(one_pair_of_jvm_arms_ranks_frames_only),
        cmocka_unit_test(two_pairs_of_jvm_arms_judge_against_their_own_spread),
        cmocka_unit_test(an_arm_without_a_profile_still_has_its_numbers),
        cmocka_unit_test(nodes_outside_the_noise_are_marked),
        cmocka_unit_test(random_worlds_keep_the_laws),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

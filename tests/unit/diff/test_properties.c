/* What holds of every diff, on random profiles: swapped arms negate every change, an equal run
 * changes no sign, and layers and frames add up to the whole. */
#include "world.h"

enum { WORLDS = 24, SECONDS = 40, FUNCTIONS = 12, STACKS = 18 };

/* One random program: stacks, and how often each is seen a second. */
struct program {
    char stacks[STACKS][256];
    double rates[2][STACKS]; /* by arm; 0: that arm has it not */
};

static void stack_put(struct world_random *r, char *out, size_t room)
{
    size_t depth = 1 + world_u64(r) % 5, len = 0;

    for (size_t i = 0; i < depth; i++)
        len += (size_t)snprintf(out + len, room - len, "%s%c_function_%u", i > 0 ? ";" : "",
                                "abcx"[world_u64(r) % 4], (unsigned)(world_u64(r) % FUNCTIONS));
}

static void program_make(struct world_random *r, struct program *p)
{
    for (size_t i = 0; i < STACKS; i++) {
        double rate = exp(3 * world_uniform(r) - 1);

        stack_put(r, p->stacks[i], sizeof p->stacks[i]);
        p->rates[0][i] = world_uniform(r) < 0.15 ? 0 : rate;
        p->rates[1][i] = world_uniform(r) < 0.15  ? 0
                         : world_uniform(r) < 0.5 ? rate
                                                  : rate * exp(world_uniform(r) * 2 - 1);
    }
}

/* A run of one arm; the same seed gives the same samples. */
static void run_make(struct world *w, const struct program *program, int arm, bool is_variant,
                     uint64_t seed, bool has_cpu)
{
    struct fb_profile *p = world_arm(w, is_variant, SECONDS);
    struct world_random r = {seed * 2 + (uint64_t)arm};

    for (size_t s = 0; s < SECONDS; s++)
        for (size_t i = 0; i < STACKS; i++) {
            unsigned n = program->rates[arm][i] > 0 ? world_poisson(&r, program->rates[arm][i]) : 0;

            if (n > 0)
                world_samples(p, s, program->stacks[i], n);
        }
    if (has_cpu)
        world_last_step(w)->cpu_s = (double)p->samples.count / 100 * (1 + 0.02 * world_normal(&r));
}

/* control: the arm of the program that is the control. */
static struct fb_diff *program_diff(struct world *w, const struct program *program, int control,
                                    size_t pairs, const uint64_t *seeds, bool has_cpu)
{
    const struct fb_diff_options options = {.frames_max = 10000};

    world_init(w, WORLD_RULES);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < pairs; i++)
            run_make(w, program, side == 0 ? control : 1 - control, side == 1, seeds[i], has_cpu);
    return world_diff(w, &options);
}

static void is_opposite(double a, double b)
{
    assert_true(isnan(a) == isnan(b));
    if (!isnan(a))
        assert_true(fabs(a + b) <= 1e-9 * (1 + fabs(a)));
}

static void rows_are_opposite(const struct fb_diff_row *f, const struct fb_diff_row *b)
{
    is_opposite(f->change_points, b->change_points);
    is_opposite(f->change_ms, b->change_ms);
    is_opposite(f->d, b->d);
    is_opposite(f->d_lo, b->d_hi);
    is_opposite(f->d_hi, b->d_lo);
    if (f->control.samples > 0 && f->variant.samples > 0 && !isnan(f->change))
        assert_true(fabs((1 + f->change) * (1 + b->change) - 1) < 1e-9);
    assert_int_equal(f->verdict, b->verdict);
    assert_string_equal(f->reason, b->reason);
    assert_int_equal(f->within_delta, b->within_delta);
    assert_int_equal(f->move, b->move);
    assert_int_equal(f->renamed != NULL, b->renamed != NULL);
}

static enum fb_mover_kind mirrored(enum fb_mover_kind kind)
{
    switch (kind) {
    case FB_MOVER_MORE:
        return FB_MOVER_LESS;
    case FB_MOVER_LESS:
        return FB_MOVER_MORE;
    case FB_MOVER_NEW:
        return FB_MOVER_GONE;
    case FB_MOVER_GONE:
        return FB_MOVER_NEW;
    default:
        return kind;
    }
}

static void diffs_are_opposite(const struct fb_diff *forth, const struct fb_diff *back)
{
    const struct fb_diff_step *f = &forth->steps[0], *b = &back->steps[0];

    assert_int_equal(f->layers_count, b->layers_count);
    for (size_t i = 0; i < f->layers_count; i++)
        rows_are_opposite(&f->layers[i], &b->layers[i]);
    for (size_t i = 0; i < f->metrics_count; i++)
        is_opposite(f->metrics[i].d, b->metrics[i].d);
    assert_int_equal(f->frames_count, b->frames_count);
    for (size_t i = 0; i < f->frames_count; i++)
        rows_are_opposite(&f->frames[i], world_frame(back, 0, f->frames[i].name));
    assert_int_equal(f->renames_count, b->renames_count);
    assert_int_equal(f->movers_count, b->movers_count);
    for (size_t i = 0; i < f->movers_count; i++)
        for (size_t k = 0; k < b->movers_count; k++)
            if (strcmp(f->frames[f->movers[i].frame].name, b->frames[b->movers[k].frame].name) == 0)
                assert_int_equal(f->movers[i].kind, mirrored(b->movers[k].kind));
}

static void swapping_the_arms_negates_every_change(void **state)
{
    struct world_random r = {41};

    (void)state;
    for (size_t n = 0; n < WORLDS; n++) {
        const uint64_t seeds[] = {100 + n, 200 + n, 300 + n};
        struct program program;
        struct world w, v;
        struct fb_diff *forth, *back;

        program_make(&r, &program);
        forth = program_diff(&w, &program, 0, 1 + n % 3, seeds, n % 2 == 0);
        back = program_diff(&v, &program, 1, 1 + n % 3, seeds, n % 2 == 0);
        diffs_are_opposite(forth, back);
        world_done(&w, forth);
        world_done(&v, back);
    }
}

static int sign(double x)
{
    return (x > 0) - (x < 0);
}

/* The pair once more, under other run ids: the same changes, and no interval is wider. */
static void an_equal_run_changes_no_sign(void **state)
{
    struct world_random r = {43};

    (void)state;
    for (size_t n = 0; n < WORLDS; n++) {
        const uint64_t seeds[] = {400 + n, 400 + n};
        struct program program;
        struct world w, v;
        struct fb_diff *one, *two;

        program_make(&r, &program);
        one = program_diff(&w, &program, 0, 1, seeds, n % 2 == 0);
        two = program_diff(&v, &program, 0, 2, seeds, n % 2 == 0);
        for (size_t i = 0; i < one->steps[0].layers_count; i++) {
            const struct fb_diff_row *a = &one->steps[0].layers[i], *b = &two->steps[0].layers[i];

            assert_int_equal(sign(a->change), sign(b->change));
            assert_true(isnan(a->d) || fabs(a->d - b->d) < 1e-9);
            assert_true(isnan(a->d) || b->d_hi - b->d_lo <= a->d_hi - a->d_lo + 1e-9);
        }
        for (size_t i = 0; i < one->steps[0].frames_count; i++) {
            const struct fb_diff_row *a = &one->steps[0].frames[i];
            const struct fb_diff_row *b = world_frame(two, 0, a->name);

            assert_int_equal(sign(a->change_points), sign(b->change_points));
            assert_int_equal(sign(a->change_ms), sign(b->change_ms));
        }
        world_done(&w, one);
        world_done(&v, two);
    }
}

struct sums {
    double samples[2], share[2], ms[2], cores[2], points, change_ms;
};

static void sums_add(struct sums *s, const struct fb_diff_row *row)
{
    const struct fb_diff_side *sides[2] = {&row->control, &row->variant};

    for (int a = 0; a < 2; a++) {
        s->samples[a] += sides[a]->samples;
        s->share[a] += sides[a]->share;
        s->ms[a] += sides[a]->ms;
        s->cores[a] += sides[a]->cores;
    }
    s->points += row->change_points;
    s->change_ms += row->change_ms;
}

static void is_near(double a, double b)
{
    assert_true(isnan(a) == isnan(b));
    assert_true(isnan(a) || fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

static void sums_are_total(const struct sums *s, const struct fb_diff_row *total)
{
    const struct fb_diff_side *sides[2] = {&total->control, &total->variant};

    for (int a = 0; a < 2; a++) {
        is_near(s->samples[a], sides[a]->samples);
        is_near(s->share[a], 1);
        is_near(s->ms[a], sides[a]->ms);
        is_near(s->cores[a], sides[a]->cores);
    }
    is_near(s->points, 0);
    is_near(s->change_ms, total->change_ms);
}

static void layers_and_frames_add_up_to_the_whole(void **state)
{
    struct world_random r = {47};

    (void)state;
    for (size_t n = 0; n < WORLDS; n++) {
        const uint64_t seeds[] = {500 + n, 600 + n, 700 + n};
        struct sums layers = {0}, frames = {0};
        struct program program;
        struct world w;
        struct fb_diff *diff;
        const struct fb_diff_step *s;
        const struct fb_diff_row *total;

        program_make(&r, &program);
        diff = program_diff(&w, &program, 0, 1 + n % 3, seeds, n % 2 == 0);
        s = &diff->steps[0];
        total = &s->layers[s->layers_count - 1];
        assert_true(total->is_total);
        for (size_t i = 0; i + 1 < s->layers_count; i++)
            sums_add(&layers, &s->layers[i]);
        for (size_t i = 0; i < s->frames_count; i++)
            sums_add(&frames, &s->frames[i]);
        sums_are_total(&layers, total);
        sums_are_total(&frames, total);
        world_done(&w, diff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swapping_the_arms_negates_every_change),
        cmocka_unit_test(an_equal_run_changes_no_sign),
        cmocka_unit_test(layers_and_frames_add_up_to_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

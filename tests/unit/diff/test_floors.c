/* The user's own floors: what the pairs of runs give, what few runs leave open, and the file. */
#include <string.h>

#include "diff/distribution.h"
#include "diff/floor.h"
#include "world.h"

/* A diff of two runs that had this CPU per request in each of the steps. */
static void add_pair(struct fb_floors_sum *sum, const double *a, const double *b, size_t count)
{
    struct fb_diff_step *steps = calloc(count, sizeof *steps);
    struct fb_diff_row *rows = calloc(count, sizeof *rows);
    struct fb_diff diff = {.steps = steps, .steps_count = count};

    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct fb_diff_row){
            .id = FB_METRIC_CPU_PER_REQUEST, .value_control = a[i], .value_variant = b[i]};
        steps[i] = (struct fb_diff_step){
            .metrics = &rows[i], .metrics_count = 1, .is_comparable = true, .denial = ""};
    }
    fb_floors_add(sum, &diff);
    free(steps);
    free(rows);
}

static void pairs_give_the_pooled_variance(void **state)
{
    /* ln: 0, 0.1, 0.2 and 0, 0, 0.3: variances 0.01 and 0.03, two degrees of freedom each */
    const double runs[3][2] = {{1, 1}, {exp(0.1), 1}, {exp(0.2), exp(0.3)}};
    struct fb_floors_sum sum = {0};
    struct fb_floors floors;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = i + 1; j < 3; j++)
            add_pair(&sum, runs[i], runs[j], 2);
    fb_floors_finish(&sum, 3, &floors);
    assert_true(fabs(floors.of[FB_FLOOR_OF_CPU].df - 4) < 1e-9);
    assert_true(fabs(floors.of[FB_FLOOR_OF_CPU].sd - sqrt(0.02)) < 1e-9);
    assert_true(isnan(floors.of[FB_FLOOR_OF_P99].sd));
}

static void few_runs_have_a_wide_floor(void **state)
{
    struct fb_floors floors = {0};

    (void)state;
    floors.of[FB_FLOOR_OF_CPU] = (struct fb_floor){0.01, 1};
    assert_true(fabs(fb_floors_tau(&floors, FB_FLOOR_OF_CPU) - 0.01 * 12.706205 / 2.0796138) <
                1e-7);
    floors.of[FB_FLOOR_OF_CPU].df = 21;
    assert_true(fabs(fb_floors_tau(&floors, FB_FLOOR_OF_CPU) - 0.01) < 1e-9);
    assert_true(isnan(fb_floors_tau(&floors, FB_FLOOR_OF_P50)));
    assert_true(isnan(fb_floors_tau(NULL, FB_FLOOR_OF_CPU)));
    assert_true(fb_floor_cpu(&floors, FB_STEP_FIRST, 0) == 0.05); /* not measured: the usual one */
    assert_true(fb_floor_cpu(&floors, 0, 0) < 0.0100001);
}

static void sick_steps_have_no_part(void **state)
{
    const double a = 1, b = 2;
    struct fb_diff_row row = {
        .id = FB_METRIC_CPU_PER_REQUEST, .value_control = a, .value_variant = b};
    struct fb_diff_step step = {.metrics = &row, .metrics_count = 1, .is_comparable = true};
    struct fb_diff diff = {.steps = &step, .steps_count = 1};
    struct fb_floors_sum sum = {0};

    (void)state;
    step.health = FB_STEP_EVENT;
    fb_floors_add(&sum, &diff);
    step.health = FB_STEP_WARMUP;
    fb_floors_add(&sum, &diff);
    assert_int_equal(sum.pairs[FB_FLOOR_OF_CPU], 0);
    step.health = FB_STEP_FIRST;
    fb_floors_add(&sum, &diff);
    assert_int_equal(sum.pairs[FB_FLOOR_OF_CPU_FIRST], 1);
    assert_int_equal(sum.pairs[FB_FLOOR_OF_CPU], 0);
}

/* One pair judged by a floor from n runs covers as the t of that floor's degrees says. */
static void one_pair_is_covered_by_a_measured_floor(void **state)
{
    const size_t counts[] = {2, 3, 6};
    const double truth = 0.05;
    struct world_random seed = {7};

    (void)state;
    for (size_t c = 0; c < 3; c++) {
        size_t n = counts[c], covered = 0, draws = 4000;

        for (size_t draw = 0; draw < draws; draw++) {
            struct fb_floors_sum sum = {0};
            struct fb_floors floors;
            double x[6], d;

            for (size_t i = 0; i < n; i++)
                x[i] = exp(truth * world_normal(&seed));
            for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++)
                    add_pair(&sum, &x[i], &x[j], 1);
            fb_floors_finish(&sum, n, &floors);
            d = truth * M_SQRT2 * world_normal(&seed);
            covered += fabs(d) <=
                       fb_t_quantile(0.975, 21) * M_SQRT2 * fb_floors_tau(&floors, FB_FLOOR_OF_CPU);
        }
        printf("floor of %zu runs: one pair of equal arms is covered in %.1f %%\n", n,
               100 * (double)covered / (double)draws);
        assert_in_range(covered, (size_t)(0.94 * (double)draws), (size_t)(0.96 * (double)draws));
    }
}

static void the_file_keeps_what_was_measured(void **state)
{
    struct fb_floors floors = {.runs = 4}, back;
    struct fb_buf text = {0};
    struct fb_err err;

    (void)state;
    for (size_t i = 0; i < FB_FLOOR_OF_COUNT; i++)
        floors.of[i].sd = NAN;
    floors.of[FB_FLOOR_OF_P99] = (struct fb_floor){0.125, 9};
    floors.of[FB_FLOOR_OF_LAYER_SMALL] = (struct fb_floor){0.25, 3};
    fb_floors_write(&floors, &text);
    assert_int_equal(fb_floors_read(text.data, text.len, "f", &back, &err), FB_OK);
    assert_int_equal(back.runs, 4);
    assert_true(back.of[FB_FLOOR_OF_P99].sd == 0.125 && back.of[FB_FLOOR_OF_P99].df == 9);
    assert_true(isnan(back.of[FB_FLOOR_OF_CPU].sd));
    for (size_t cut = 0; cut + 2 < text.len; cut++)
        assert_int_equal(fb_floors_read(text.data, cut, "f", &back, &err), FB_EFORMAT);
    fb_buf_done(&text);
}

static void is_refused(const char *text, const char *says)
{
    struct fb_floors floors;
    struct fb_err err;

    assert_int_equal(fb_floors_read(text, strlen(text), "f.json", &floors, &err), FB_EFORMAT);
    assert_non_null(strstr(err.text, says));
    assert_non_null(strstr(err.text, "f.json"));
}

static void what_is_no_file_of_floors_is_said(void **state)
{
    (void)state;
    is_refused("{}", "`flamebank floor -o`");
    is_refused("{\"flamebank_floor\": 1, \"runs\": 3, \"floors\": [{\"of\": \"speed\"}]}",
               "floor 1: 'of'");
    is_refused("{\"flamebank_floor\": 1, \"runs\": 3, \"floors\": []}", "one floor at least");
    is_refused("{\"flamebank_floor\": 1, \"runs\": -1, \"floors\": [{\"of\": \"cpu\"}]}", "'runs'");
    is_refused("{\"flamebank_floor\": 1, \"runs\": 2.5, \"floors\": [{\"of\": \"cpu\"}]}",
               "'runs'");
    is_refused("{\"flamebank_floor\": 1, \"floors\": [{\"of\": \"cpu\"}]}", "'runs'");
    is_refused("{\"flamebank_floor\": 1, \"runs\": 3, \"floors\": [{\"of\": \"cpu\", \"sd\": -1, "
               "\"df\": 3}]}",
               "'sd' between");
    is_refused("{\"flamebank_floor\": 1, \"runs\": 3, \"floors\": [{\"of\": \"cpu\", \"sd\": 0.1, "
               "\"df\": 0}]}",
               "'df' of 1 or more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_give_the_pooled_variance),
        cmocka_unit_test(few_runs_have_a_wide_floor),
        cmocka_unit_test(sick_steps_have_no_part),
        cmocka_unit_test(one_pair_is_covered_by_a_measured_floor),
        cmocka_unit_test(the_file_keeps_what_was_measured),
        cmocka_unit_test(what_is_no_file_of_floors_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What 43 published runs say of themselves, against what follows from their tables; where the text
 * does not follow from its own tables, what we say instead.  Skipped, and seen to be, where the
 * data is not there (FB_SHARED names the folder that has data/campaign; default ../shared beside
 * the tree). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "steps/steps.h"

static char *path_of(const char *name)
{
    const char *shared = getenv("FB_SHARED");

    return fb_format("%s/data/campaign/%s", shared ? shared : FB_FIXTURES "/../../shared", name);
}

static bool is_there(void)
{
    char *path = path_of("R1.tsv");
    FILE *f = fopen(path, "r");

    if (f)
        (void)fclose(f);
    else
        print_message("no %s: skipped\n", path);
    free(path);
    return f != NULL;
}

#define NEED_DATA()                                                                                \
    do {                                                                                           \
        (void)state;                                                                               \
        if (!is_there())                                                                           \
            skip();                                                                                \
    } while (0)

static struct fb_steps *run(const char *name)
{
    char *path = path_of(name);
    struct fb_steps *steps = NULL;
    struct fb_err err = {0};

    if (fb_steps_read(path, &steps, &err) != FB_OK)
        fail_msg("%s", err.text);
    free(path);
    fb_steps_judge(steps);
    return steps;
}

static const struct fb_step *step_of(const struct fb_steps *steps, double offered)
{
    for (size_t i = 0; i < steps->count; i++)
        if (!steps->items[i].warmup && steps->items[i].offered == offered)
            return &steps->items[i];
    fail_msg("%s has no step %g", steps->source, offered);
    return NULL;
}

static void ramp_of(const char *name, const char *rule, struct fb_steps **ret_steps,
                    struct fb_ramp *ret_ramp)
{
    struct fb_knee knee;
    struct fb_err err;

    assert_int_equal(fb_knee_parse(rule, &knee, &err), FB_OK);
    *ret_steps = run(name);
    fb_ramp_measure(*ret_steps, &knee, ret_ramp);
}

/* As printed: rounded to so many decimals. */
#define assert_prints(value, decimals, expected)                                                   \
    do {                                                                                           \
        char text_[40];                                                                            \
        (void)snprintf(text_, sizeof text_, "%.*f", decimals, value);                              \
        assert_string_equal(text_, expected);                                                      \
    } while (0)

/* ---- plateaus and knees ---- */

static void plateaus_are_those_that_were_published(void **state)
{
    static const struct {
        const char *file, *plateau;
        int decimals;
    } cases[] = {{"R1.tsv", "925.8", 1}, {"R2.tsv", "926.1", 1}, {"R5.tsv", "752", 0}};

    NEED_DATA();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_steps *steps;
        struct fb_ramp ramp;

        ramp_of(cases[i].file, "not-sent", &steps, &ramp);
        assert_prints(ramp.plateau, cases[i].decimals, cases[i].plateau);
        fb_steps_free(steps);
    }
}

/* Published as the end of a ramp; and tops that were read off one step, or below the knee. */
static void what_is_no_plateau_is_called_none_with_its_reason(void **state)
{
    static const struct {
        const char *file, *reason;
    } cases[] = {
        {"R6.tsv", "does not stay at one level past the knee: 733, 517, 544, 657"},
        {"R3.tsv", "under 2 %: the ramp ends before the arm does"},
        {"R4c.tsv", "under 2 %: the ramp ends before the arm does"},
        {"R7b.tsv", "one step alone (4458/s) sheds over 10 %"},
        {"RB-vt-stream.tsv", "one step alone (7866/s) sheds over 10 %"},
        {"AUG3.tsv", "does not stay at one level"},
    };

    NEED_DATA();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_steps *steps;
        struct fb_ramp ramp;

        ramp_of(cases[i].file, "not-sent", &steps, &ramp);
        if (!isnan(ramp.plateau) || !strstr(ramp.no_plateau, cases[i].reason))
            fail_msg("%s: %g, %s", cases[i].file, ramp.plateau, ramp.no_plateau);
        fb_steps_free(steps);
    }
}

/* Published: 600 and 1,000 by the rule of 0.1 %, and 4,000 by p50 under 10 ms, which was 10.37. */
static void knees_are_those_of_their_rule(void **state)
{
    static const struct {
        const char *file, *rule;
        double knee; /* 0: none */
        bool is_open;
    } cases[] = {
        {"R1.tsv", "not-sent", 400, false},  {"R5.tsv", "not-sent", 400, false},
        {"R2.tsv", "not-sent", 1000, false}, {"R6.tsv", "not-sent", 800, false},
        {"R3.tsv", "not-sent", 4800, true},  {"R7b.tsv", "not-sent", 4000, false},
        {"R7b.tsv", "p50", 0, false},        {"R7.tsv", "p50", 3200, true},
        {"R1.tsv", "p50", 800, false},       {"R4c.tsv", "p99", 28000, false},
    };

    NEED_DATA();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_steps *steps;
        struct fb_ramp ramp;

        ramp_of(cases[i].file, cases[i].rule, &steps, &ramp);
        if ((ramp.knee ? ramp.knee->offered : 0) != cases[i].knee ||
            ramp.knee_is_open != cases[i].is_open)
            fail_msg("%s by %s: %g %d", cases[i].file, cases[i].rule,
                     ramp.knee ? ramp.knee->offered : 0, ramp.knee_is_open);
        fb_steps_free(steps);
    }
}

/* Published as 44 %. */
static void what_was_not_sent_is_39_percent(void **state)
{
    struct fb_steps *steps;
    bool inferred;

    NEED_DATA();
    steps = run("R5.tsv");
    assert_prints(fb_step_shed(step_of(steps, 1200), &inferred) * 100, 0, "39");
    assert_non_null(strstr(step_of(steps, 1200)->why, "39.1 % of the offered load was not sent"));
    fb_steps_free(steps);
}

/* ---- changes ---- */

static double change_at(const char *from, const char *to, double offered)
{
    struct fb_steps *a = run(from), *b = run(to);
    const struct fb_steps *const arms[] = {a, b};
    struct fb_matched *m = fb_matched_new(arms, 2);
    double change =
        fb_matched_change(&m->rows[fb_matched_find(m, offered)], 1, fb_step_ms_per_request) * 100;

    fb_matched_free(m);
    fb_steps_free(a);
    fb_steps_free(b);
    return change;
}

static void an_agent_costs_half_a_percent_to_six(void **state)
{
    struct fb_steps *a, *b;
    struct fb_matched *m;
    struct fb_matched_median all, sound;

    NEED_DATA();
    a = run("R3.tsv");
    b = run("R3-agent.tsv");
    m = fb_matched_new((const struct fb_steps *const[]){a, b}, 2);
    all = fb_matched_median_of(m, 1, fb_step_ms_per_request, false);
    sound = fb_matched_median_of(m, 1, fb_step_ms_per_request, true);
    assert_int_equal(all.rows, 12);
    assert_prints(all.least * 100, 1, "0.5");
    assert_prints(all.most * 100, 1, "5.9");
    assert_prints(all.median * 100, 1, "3.0");
    /* the most was the first step after the warm-up, which is no step to compare by */
    assert_int_equal(sound.rows, 11);
    assert_prints(sound.most * 100, 1, "4.3");
    assert_prints(sound.median * 100, 1, "2.8");
    fb_matched_free(m);
    fb_steps_free(a);
    fb_steps_free(b);
}

static void savings_follow_from_the_tables(void **state)
{
    static const struct {
        const char *from, *to;
        double offered;
        const char *change;
    } cases[] = {
        {"DL-unary-base.tsv", "DL-unary-linked.tsv", 1000, "-5.2"},
        {"DL-unary-base.tsv", "DL-unary-linked.tsv", 2000, "-3.3"},
        {"DL-unary-base.tsv", "DL-unary-linked.tsv", 3000, "-13.4"},
        {"DL-stream-base.tsv", "DL-stream-linked.tsv", 2000, "-17.5"},
        {"DL-stream-base.tsv", "DL-stream-linked.tsv", 3500, "-2.6"},
        {"DL-stream-base.tsv", "DL-stream-linked.tsv", 5000, "-6.8"},
        {"TR-unary-p1-codec.tsv", "TR-unary-p1-interop.tsv", 2000, "5.2"},
        {"TR-unary-p2-codec.tsv", "TR-unary-p2-interop.tsv", 2000, "4.2"},
        {"TR-stream-p1-codec.tsv", "TR-stream-p1-interop.tsv", 5000, "1.2"},
        {"TR-stream-p2-codec.tsv", "TR-stream-p2-interop.tsv", 5000, "0.6"},
        /* one sign in a pair whose control was sick, the other in the pair that was well */
        {"TR-unary-p1-codec.tsv", "TR-unary-p1-interop.tsv", 3000, "-6.4"},
        {"TR-unary-p2-codec.tsv", "TR-unary-p2-interop.tsv", 3000, "3.0"},
    };
    struct fb_steps *sick, *well;

    NEED_DATA();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_prints(change_at(cases[i].from, cases[i].to, cases[i].offered), 1, cases[i].change);
    sick = run("TR-unary-p1-codec.tsv");
    well = run("TR-unary-p2-codec.tsv");
    assert_true(step_of(sick, 3000)->health & FB_STEP_SICK);
    assert_non_null(strstr(sick->warnings[sick->warnings_count - 1], "looks like an event"));
    assert_false(step_of(well, 3000)->health & FB_STEP_SICK);
    /* and the largest savings are of a first step, and of a control past its knee */
    fb_steps_free(sick);
    fb_steps_free(well);
    sick = run("DL-unary-base.tsv");
    assert_true(step_of(sick, 3000)->health & FB_STEP_OVER);
    fb_steps_free(sick);
    sick = run("DL-stream-base.tsv");
    assert_true(step_of(sick, 2000)->health & FB_STEP_FIRST);
    fb_steps_free(sick);
}

/* ---- cores ---- */

static void cores_of_the_two_core_cells(void **state)
{
    static const struct {
        const char *file;
        double offered;
        const char *cores;
    } cases[] = {
        {"2C-direct-unary.tsv", 8000, "1.02"},   {"2C-direct-unary.tsv", 10000, "1.33"},
        {"2C-vt-unary.tsv", 8000, "1.57"},       {"2C-vt-unary.tsv", 10000, "1.81"},
        {"2C-direct-stream.tsv", 16000, "0.88"}, {"2C-direct-stream.tsv", 20000, "0.90"},
        {"2C-vt-stream.tsv", 16000, "1.51"},     {"2C-vt-stream.tsv", 20000, "1.57"},
    };

    NEED_DATA();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_steps *steps = run(cases[i].file);

        assert_prints(fb_step_cores(step_of(steps, cases[i].offered)), 2, cases[i].cores);
        fb_steps_free(steps);
    }
}

/* Cells of a table of another shape, by row and column; the first row are headings. */
struct cells {
    struct fb_buf text;
    char *rows[40];
    size_t count;
};

static void cells_read(const char *name, struct cells *c)
{
    char *path = path_of(name), *next;
    struct fb_err err;

    *c = (struct cells){0};
    assert_int_equal(fb_file_read(path, &c->text, &err), FB_OK);
    fb_buf_putc(&c->text, '\0');
    for (next = c->text.data; next && *next && c->count < 40;)
        c->rows[c->count++] = strsep(&next, "\n");
    free(path);
}

static double cell(const struct cells *c, size_t row, size_t column)
{
    const char *at = c->rows[row];

    for (size_t i = 0; i < column && at; i++)
        at = strchr(at, '\t') ? strchr(at, '\t') + 1 : NULL;
    return at && *at && *at != '\t' ? strtod(at, NULL) : 0;
}

/* A statement that was computed from unrounded numbers lies within what the rounded ones allow. */
static void is_within(double stated, double least, double most, double grain, const char *what)
{
    if (stated < least - grain / 2 - 1e-9 || stated > most + grain / 2 + 1e-9)
        fail_msg("%s: %g is stated, %g to %g follows", what, stated, least, most);
}

static void the_lock_follows_from_its_cells(void **state)
{
    struct cells c;

    NEED_DATA();
    cells_read("lock-ab.tsv", &c);
    assert_int_equal(c.count, 6);
    for (size_t i = 1; i < c.count; i++) {
        double from = cell(&c, i, 1), to = cell(&c, i, 4), ms = cell(&c, i, 3),
               ms_to = cell(&c, i, 6);
        struct fb_step step = {.secs = 1, .delivered = from, .cpu_s = from * ms / 1000};

        is_within(cell(&c, i, 2), fb_step_cores(&step) * (ms - 0.0005) / ms,
                  fb_step_cores(&step) * (ms + 0.0005) / ms, 0.01, "cores");
        is_within(cell(&c, i, 5), to * (ms_to - 0.0005) / 1000, to * (ms_to + 0.0005) / 1000, 0.01,
                  "variant's cores");
        is_within(cell(&c, i, 7), (to / from - 1) * 100, (to / from - 1) * 100, 0.1, "throughput");
        is_within(cell(&c, i, 8), ((ms_to - 0.0005) / (ms + 0.0005) - 1) * 100,
                  ((ms_to + 0.0005) / (ms - 0.0005) - 1) * 100, 0.1, "cpu per message");
    }
    fb_buf_done(&c.text);
}

static void throughput_per_core_follows_from_its_cells(void **state)
{
    struct cells c;

    NEED_DATA();
    cells_read("conn-sweep-saturated.tsv", &c);
    for (size_t i = 1; i < c.count; i++)
        is_within(cell(&c, i, 3), cell(&c, i, 1) / (cell(&c, i, 2) + 0.005),
                  cell(&c, i, 1) / (cell(&c, i, 2) - 0.005), 10, "msg/s per core");
    fb_buf_done(&c.text);
}

static void rows_of_the_layers_add_up(void **state)
{
    static const char *const sums[] = {"1.612", "0.270", "0.160"};
    struct cells c;

    NEED_DATA();
    cells_read("layers-profiled.tsv", &c);
    for (size_t arm = 0; arm < 3; arm++) {
        double sum = 0;

        for (size_t i = 1; i < c.count; i++)
            sum += cell(&c, i, 2 + 2 * arm);
        assert_prints(sum, 3, sums[arm]);
    }
    fb_buf_done(&c.text);
    cells_read("layers-typedread.tsv", &c);
    assert_prints(cell(&c, 1, 1) + cell(&c, 2, 1), 1, "12.4"); /* the work moved, one for one */
    assert_prints(cell(&c, 1, 2) + cell(&c, 2, 2), 1, "12.3");
    fb_buf_done(&c.text);
}

/* ---- steps that stand out ---- */

static void outliers_are_flagged(void **state)
{
    static const struct {
        const char *file;
        double offered;
        uint32_t marks; /* any of them */
    } cases[] = {
        {"RB-direct-unary.tsv", 2400, FB_STEP_EVENT},
        {"TR-unary-p1-codec.tsv", 3000, FB_STEP_OVER},
        {"R7.tsv", 2400, FB_STEP_EVENT},
        {"R7b.tsv", 3600, FB_STEP_EVENT},
        {"R4c.tsv", 18000, FB_STEP_OVER},
        {"DL-unary-base.tsv", 3000, FB_STEP_OVER},
        {"RB-vt-unary.tsv", 3200, FB_STEP_INVERSION},
        {"RB-direct-unary.tsv", 4000, FB_STEP_INVERSION},
        {"R3b.tsv", 6400, FB_STEP_INVERSION},
        {"R4.tsv", 1200, FB_STEP_INVERSION},
        {"R8.tsv", 2000, FB_STEP_INVERSION},
        {"R8b.tsv", 4000, FB_STEP_OVER},
        {"2C-vt-unary.tsv", 6000, FB_STEP_OVER},
        {"E1.tsv", 4000, FB_STEP_OVER},
        {"E2.tsv", 4000, FB_STEP_OVER},
        {"AUG2.tsv", 1400, FB_STEP_INVERSION},
        {"AUG3.tsv", 2000, FB_STEP_OVER},
        {"AUG4.tsv", 200, FB_STEP_RATE},
    };

    NEED_DATA();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fb_steps *steps = run(cases[i].file);

        if (!(step_of(steps, cases[i].offered)->health & cases[i].marks))
            fail_msg("%s %g: %s", cases[i].file, cases[i].offered,
                     step_of(steps, cases[i].offered)->why);
        fb_steps_free(steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plateaus_are_those_that_were_published),
        cmocka_unit_test(what_is_no_plateau_is_called_none_with_its_reason),
        cmocka_unit_test(knees_are_those_of_their_rule),
        cmocka_unit_test(what_was_not_sent_is_39_percent),
        cmocka_unit_test(an_agent_costs_half_a_percent_to_six),
        cmocka_unit_test(savings_follow_from_the_tables),
        cmocka_unit_test(cores_of_the_two_core_cells),
        cmocka_unit_test(the_lock_follows_from_its_cells),
        cmocka_unit_test(throughput_per_core_follows_from_its_cells),
        cmocka_unit_test(rows_of_the_layers_add_up),
        cmocka_unit_test(outliers_are_flagged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

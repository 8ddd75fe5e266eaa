#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/render/rules.h"
#include "tests/unit/render/written.h"

static char name_step[] = "3000", name_codec[] = "codec", name_sys[] = "syscalls",
            name_other[] = "other", name_total[] = "total", name_cpu[] = "CPU per request",
            name_p99[] = "p99", name_frame[] = "deflate_slow", empty[] = "",
            note_own[] = "a window under 30 s is short",
            note_foreign[] = "a window that another step has",
            note_all[] = "one pair: the floor between runs is assumed, not measured";

static struct fb_diff_side side(double share, double half, double ms, double ms_half)
{
    return (struct fb_diff_side){.share = share,
                                 .share_lo = share - half,
                                 .share_hi = share + half,
                                 .ms = ms,
                                 .ms_lo = ms - ms_half,
                                 .ms_hi = ms + ms_half,
                                 .samples = share * 1000,
                                 .cores = NAN,
                                 .deff = NAN};
}

static struct fb_diff_row row(char *name, enum fb_verdict verdict)
{
    return (struct fb_diff_row){.name = name,
                                .unit = "",
                                .d = NAN,
                                .d_lo = NAN,
                                .d_hi = NAN,
                                .change = NAN,
                                .change_points = NAN,
                                .change_ms = NAN,
                                .floor = NAN,
                                .mde = NAN,
                                .bound = NAN,
                                .verdict = verdict,
                                .reason = ""};
}

static void set_change(struct fb_diff_row *r, double change, double lo, double hi)
{
    r->change = change;
    r->d = log(1 + change);
    r->d_lo = log(1 + lo);
    r->d_hi = log(1 + hi);
    r->change_points = r->variant.share - r->control.share;
}

struct fixture {
    struct fb_diff_arm arms[2];
    struct fb_diff_run runs[2];
    struct fb_diff_row metrics[2], layers[4], frames[1];
    struct fb_diff_step steps[2];
    char *notes[1], *step_notes[2];
    struct fb_layers *rules;
    struct fb_diff_input input;
    struct fb_diff diff;
};

static void rows_make(struct fixture *f)
{
    f->layers[0] = row(name_codec, FB_VERDICT_ABSENT);
    f->layers[0].control = side(0, 0, 0, 0);
    f->layers[0].control.share_hi = 0.0003;
    f->layers[0].control.ms_hi = 0.00005;
    f->layers[0].variant = side(0.25, 0.01, 0.05, 0.002);
    f->layers[0].change_points = 0.25;
    f->layers[0].bound = 0.0003;
    f->layers[1] = row(name_sys, FB_VERDICT_DIFF);
    f->layers[1].control = side(0.30, 0.012, 0.0507, 0.0027);
    f->layers[1].variant = side(0.20, 0.01, 0.0400, 0.0020);
    set_change(&f->layers[1], -0.211, -0.25, -0.17);
    f->layers[2] = row(name_other, FB_VERDICT_UNRESOLVED);
    f->layers[2].control = side(0.70, 0.02, 0.11, 0.005);
    f->layers[2].variant = side(0.55, 0.02, 0.112, 0.005);
    set_change(&f->layers[2], 0.018, -0.05, 0.09);
    f->layers[2].mde = 0.12;
    f->layers[3] = row(name_total, FB_VERDICT_SAME);
    f->layers[3].control = side(1, 0, 0.1691, 0.003);
    f->layers[3].variant = side(1, 0, 0.171, 0.003);
    f->layers[3].is_total = true;
    set_change(&f->layers[3], 0.0112, -0.01, 0.03);
    f->frames[0] = f->layers[0];
    f->frames[0].name = name_frame;
    f->frames[0].layer = 0;
    f->metrics[0] = row(name_cpu, FB_VERDICT_SAME);
    f->metrics[0].id = FB_METRIC_CPU_PER_REQUEST;
    f->metrics[0].unit = "ms";
    f->metrics[0].value_control = 0.16912;
    f->metrics[0].value_variant = 0.17103;
    set_change(&f->metrics[0], 0.0112, -0.01, 0.03);
    f->metrics[1] = row(name_p99, FB_VERDICT_NONE);
    f->metrics[1].id = FB_METRIC_P99;
    f->metrics[1].unit = "ms";
    f->metrics[1].value_control = 12.5;
    f->metrics[1].value_variant = NAN;
    f->metrics[1].reason = "the latency floor is unknown";
}

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){0};
    f->arms[0].label = "off.fbank";
    f->arms[1].label = "on.fbank";
    f->arms[1].is_variant = true;
    f->runs[0].arm = &f->arms[0];
    f->runs[1].arm = &f->arms[1];
    f->rules = rules_load();
    f->input.layers = f->rules;
    rows_make(f);
    f->steps[0] = (struct fb_diff_step){.name = name_step,
                                        .why = empty,
                                        .denial = "",
                                        .is_comparable = true,
                                        .on_ms = true,
                                        .runs = f->runs,
                                        .runs_count = 2,
                                        .pairs = 1,
                                        .metrics = f->metrics,
                                        .metrics_count = 2,
                                        .layers = f->layers,
                                        .layers_count = 4,
                                        .frames = f->frames,
                                        .frames_count = 1,
                                        .frames_tested = 1,
                                        .samples_control = 17648,
                                        .samples_variant = 17500,
                                        .unknown_control = 0.012,
                                        .unknown_variant = 0.01};
    f->steps[1] = f->steps[0];
    f->steps[1].name = (char *)(uintptr_t) "200";
    f->step_notes[0] = note_own;
    f->step_notes[1] = note_foreign;
    for (size_t i = 0; i < 2; i++) {
        f->steps[i].notes = &f->step_notes[i];
        f->steps[i].notes_count = 1;
    }
    f->notes[0] = note_all;
    f->diff = (struct fb_diff){.input = &f->input,
                               .steps = f->steps,
                               .steps_count = 2,
                               .notes = f->notes,
                               .notes_count = 1,
                               .pairs = 1,
                               .has_ms = true,
                               .options = {.q = 0.05}};
}

static void layers_show_both_arms_the_change_and_its_interval(void **state)
{
    struct fixture f;
    struct fb_table *t;

    (void)state;
    fixture_init(&f);
    t = fb_render_diff_layers(&f.diff, 0);
    assert_table(t, "text",
                 "Layers by self time, step 3000: control off.fbank, variant on.fbank;\n"
                 "  change = (variant - control) / control\n"
                 "\n"
                 "          control ──────────  variant ──────────  change of ms/req ────────────\n"
                 "layer        share %  ms/req     share %  ms/req      %  95 % interval   points  "
                 "verdict\n"
                 "────────────────────────────────────────────────────────────────────────────────"
                 "─────────────────\n"
                 "codec              —       —   25.0 ±1.0  0.0500    new                   +25.0  "
                 "absent ≤0.03 %\n"
                 "syscalls   30.0 ±1.2  0.0507   20.0 ±1.0  0.0400  -21.1  -25.0 to -17.0   -10.0  "
                 "DIFF\n"
                 "other      70.0 ±2.0  0.1100   55.0 ±2.0  0.1120   +1.8   -5.0 to  +9.0   -15.0  "
                 "UNRESOLVED ±12 %\n"
                 "────────────────────────────────────────────────────────────────────────────────"
                 "─────────────────\n"
                 "total     100.0 ±0.0  0.1691  100.0 ±0.0  0.1710   +1.1   -1.0 to  +3.0    +0.0  "
                 "SAME\n"
                 "\n"
                 "17648 samples in the control and 17500 in the variant, of which 1.2 % and 1.0 % "
                 "end in a frame\n"
                 "without a name.\n");
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void notes_of_the_whole_say_what_is_not_charged_and_notes_of_a_step_stand_with_it(
    void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    t = fb_render_diff_notes(&f.diff);
    text = written(t, "text");
    assert_non_null(strstr(text, "waiting and parked"));
    assert_non_null(strstr(text, "one pair: the floor"));
    assert_null(strstr(text, "under 30 s"));
    assert_null(strstr(text, "───"));
    free(text);
    fb_table_free(t);
    t = fb_render_diff_metrics(&f.diff, 0);
    text = written(t, "json");
    assert_non_null(strstr(text, "\"a window under 30 s is short.\""));
    assert_null(strstr(text, "one pair"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void the_summary_has_a_row_a_step_with_the_layers_that_differ(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    t = fb_render_diff_summary(&f.diff);
    text = written(t, "md");
    assert_non_null(strstr(text, "| 3000 | 0.1691 | 0.1710 | +1.1 | -1.0 to +3.0 | SAME | codec "
                                 "new, syscalls -21.1 % | healthy |"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void layers_that_neither_arm_has_are_one_sentence(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    f.layers[2].control.samples = f.layers[2].variant.samples = 0;
    t = fb_render_diff_layers(&f.diff, 0);
    text = written(t, "text");
    assert_non_null(strstr(text, "No sample in either arm: other."));
    assert_null(strstr(text, "\nother"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void a_fact_beside_the_verdicts_has_a_dash(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    f.metrics[1].reason = "shown, not judged";
    t = fb_render_diff_metrics(&f.diff, 0);
    text = written(t, "md");
    assert_non_null(strstr(text, "| p99 | ms | 12.50 | n/a | n/a |  | - |  |"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void frames_name_their_layer_and_the_tests_made(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    t = fb_render_diff_frames(&f.diff, 0);
    text = written(t, "md");
    assert_non_null(strstr(text, "| deflate\\_slow | codec | — | — | "
                                 "25.0 ±1.0 | 0.0500 ±0.0020 | **new** |  | +25.0 | **absent in "
                                 "control** | at most 0.03 % there |"));
    assert_non_null(strstr(text, "1 frame, the largest changes first; 1 had enough samples"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void metrics_have_units_and_reasons(void **state)
{
    struct fixture f;
    struct fb_table *t;

    (void)state;
    fixture_init(&f);
    t = fb_render_diff_metrics(&f.diff, 0);
    assert_table(
        t, "md",
        "### Metrics, step 3000: control off.fbank, variant on.fbank; change = (variant - control) "
        "/ control\n\n"
        "| metric | unit | control | variant | change: % | "
        "change: 95 % interval | verdict |  |\n"
        "| :--- | :--- | ---: | ---: | ---: | :--- | :--- | :--- |\n"
        "| CPU per request | ms | 0.1691 | 0.1710 | +1.1 | -1.0 to +3.0 | SAME |  |\n"
        "| p99 | ms | 12.50 | n/a | n/a |  | NO VERDICT | the latency floor is unknown |\n"
        "\na window under 30 s is short.\n");
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void what_neither_arm_knows_is_one_sentence(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    f.arms[0].label = "runs/a/same.fbank";
    f.arms[1].label = "runs/b/same.fbank";
    f.metrics[1].value_control = NAN;
    t = fb_render_diff_metrics(&f.diff, 0);
    text = written(t, "text");
    assert_null(strstr(text, "n/a"));
    assert_non_null(strstr(text, "Unknown in both arms: p99.\n"));
    assert_non_null(strstr(text, ": control a/same.fbank, variant b/same.fbank;"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void small_costs_get_the_decimals_that_they_need(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    f.layers[3].control.ms = 0.0042;
    f.layers[3].variant.ms = 0.0041;
    f.layers[1].control = side(0.30, 0.012, 0.00126, 0.00005);
    f.layers[0].variant.ms = f.layers[1].variant.ms = f.layers[2].control.ms = NAN;
    f.layers[2].variant.ms = NAN;
    t = fb_render_diff_layers(&f.diff, 0);
    text = written(t, "md");
    assert_non_null(strstr(text, "| syscalls | 30.0 ±1.2 | 0.001260 ±0.000050 |"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void a_denied_step_says_why_once_and_keeps_its_rows_muted(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    f.steps[0].denial = "FIRST: a sick step is shown and not judged";
    for (size_t i = 0; i < 4; i++) {
        f.layers[i].verdict = FB_VERDICT_NONE;
        f.layers[i].reason = f.steps[0].denial;
    }
    t = fb_render_diff_metrics(&f.diff, 0);
    text = written(t, "text");
    assert_non_null(strstr(text, "No verdicts in this step: FIRST: a sick step"));
    free(text);
    fb_table_free(t);
    t = fb_render_diff_layers(&f.diff, 0);
    text = written(t, "text");
    assert_null(strstr(text, "a sick step")); /* said once, under the metrics */
    free(text);
    text = written(t, "json");
    assert_null(strstr(text, "\"muted\": false"));
    assert_non_null(strstr(text, "\"reason\": \"FIRST: a sick step is shown and not judged\""));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

static void without_cpu_there_is_no_column_of_ms(void **state)
{
    struct fixture f;
    struct fb_table *t;
    char *text;

    (void)state;
    fixture_init(&f);
    f.diff.has_ms = false;
    f.steps[0].on_ms = false;
    t = fb_render_diff_layers(&f.diff, 0);
    text = written(t, "text");
    assert_null(strstr(text, "ms/req"));
    assert_non_null(strstr(text, "change of share"));
    free(text);
    fb_table_free(t);
    fb_layers_free(f.rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_show_both_arms_the_change_and_its_interval),
        cmocka_unit_test(
            notes_of_the_whole_say_what_is_not_charged_and_notes_of_a_step_stand_with_it),
        cmocka_unit_test(the_summary_has_a_row_a_step_with_the_layers_that_differ),
        cmocka_unit_test(layers_that_neither_arm_has_are_one_sentence),
        cmocka_unit_test(a_fact_beside_the_verdicts_has_a_dash),
        cmocka_unit_test(frames_name_their_layer_and_the_tests_made),
        cmocka_unit_test(metrics_have_units_and_reasons),
        cmocka_unit_test(what_neither_arm_knows_is_one_sentence),
        cmocka_unit_test(small_costs_get_the_decimals_that_they_need),
        cmocka_unit_test(a_denied_step_says_why_once_and_keeps_its_rows_muted),
        cmocka_unit_test(without_cpu_there_is_no_column_of_ms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

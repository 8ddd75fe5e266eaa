#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "layers/layers.h"
#include "render/palette.h"

enum { SIGHTS = 4, SAME_MOST = 5 };

/* Linear RGB as it is seen: normal sight, and Machado et al. 2009 at severity 1. */
static const double sight[SIGHTS][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

static double curve(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* CIELAB under D65 as somebody with that sight has it. */
static void lab_of(const char *color, int kind, double lab[3])
{
    unsigned long rgb = strtoul(color + 1, NULL, 16);
    double linear[3], seen[3], xyz[3];

    for (int i = 0; i < 3; i++) {
        double c = (double)(rgb >> (16 - 8 * i) & 0xff) / 255;

        linear[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        seen[i] = 0;
        for (int k = 0; k < 3; k++)
            seen[i] += sight[kind][i][k] * linear[k];
        seen[i] = fmin(1, fmax(0, seen[i]));
    }
    xyz[0] = (0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047;
    xyz[1] = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2];
    xyz[2] = (0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883;
    lab[0] = 116 * curve(xyz[1]) - 16;
    lab[1] = 500 * (curve(xyz[0]) - curve(xyz[1]));
    lab[2] = 200 * (curve(xyz[1]) - curve(xyz[2]));
}

/* The least ΔE that any of the four sights has. */
static double apart(const char *a, const char *b)
{
    double least = INFINITY, x[3], y[3];

    for (int kind = 0; kind < SIGHTS; kind++) {
        lab_of(a, kind, x);
        lab_of(b, kind, y);
        least = fmin(least, sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2)));
    }
    return least;
}

static void assert_readable(const struct fb_tint *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(fb_palette_is_color(t[i].fill) && fb_palette_is_color(t[i].dark_fill));
        assert_true(fb_palette_contrast(t[i].fill, t[i].text) >= 4.5);
        assert_true(fb_palette_contrast(t[i].dark_fill, t[i].dark_text) >= 4.5);
    }
}

static void assert_apart(const struct fb_tint *t, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            if (apart(t[i].fill, t[k].fill) < SAME_MOST ||
                apart(t[i].dark_fill, t[k].dark_fill) < SAME_MOST)
                fail_msg("%s and %s are %.1f apart, %s and %s %.1f", t[i].fill, t[k].fill,
                         apart(t[i].fill, t[k].fill), t[i].dark_fill, t[k].dark_fill,
                         apart(t[i].dark_fill, t[k].dark_fill));
        }
}

static void the_measure_knows_red_from_green_only_where_people_do(void **state)
{
    double red[3], green[3];

    (void)state;
    lab_of("#c44e52", 0, red);
    lab_of("#55803f", 0, green);
    assert_true(fabs(red[1] - green[1]) > 60);
    assert_true(apart("#a06a40", "#7d7a3d") < 12); /* deuteranopia takes them for one */
    assert_true(apart("#000000", "#ffffff") > 99);
}

static void text_is_readable_on_every_fill(void **state)
{
    (void)state;
    assert_readable(&fb_palette_none, 1);
    assert_readable(fb_palette_kinds, FB_FRAME_KIND_COUNT);
    assert_readable(fb_palette_tiers, FB_TIER_COUNT);
    assert_readable(fb_palette_names, FB_PALETTE_NAMES);
    assert_readable(fb_palette_changes, FB_CHANGE_COUNT);
}

static void classes_are_told_apart_under_every_sight(void **state)
{
    (void)state;
    assert_apart(fb_palette_kinds, FB_FRAME_KIND_COUNT);
    assert_apart(fb_palette_tiers, FB_TIER_COUNT);
    assert_apart(fb_palette_names, FB_PALETTE_NAMES);
}

/* Noise and "several frames" are both greys that say "no finding"; all else is told apart. */
static void less_more_and_noise_are_told_apart_under_every_sight(void **state)
{
    (void)state;
    assert_apart(fb_palette_changes, FB_CHANGE_UNTESTED);
}

static void the_stronger_change_stands_out_more(void **state)
{
    double light = 0, before, lab[3];

    (void)state;
    for (unsigned from = FB_CHANGE_LESS; from <= FB_CHANGE_MORE; from += 5) {
        before = 100;
        for (unsigned i = from; i < from + 5; i++) {
            lab_of(fb_palette_changes[i].fill, 0, lab);
            light = lab[0];
            assert_true(light < before);
            before = light;
        }
    }
}

static void a_change_has_one_class(void **state)
{
    (void)state;
    assert_int_equal(fb_palette_change(1, 1.5, 0.5, false), FB_CHANGE_NOISE);
    assert_int_equal(fb_palette_change(0, 0, NAN, true), FB_CHANGE_NOISE);
    assert_int_equal(fb_palette_change(0, 1, NAN, true), FB_CHANGE_NEW);
    assert_int_equal(fb_palette_change(1, 0, -1, true), FB_CHANGE_GONE);
    assert_int_equal(fb_palette_change(1, 1.09, 0.09, true), FB_CHANGE_MORE);
    assert_int_equal(fb_palette_change(1, 1.1, 0.1, true), FB_CHANGE_MORE + 1);
    assert_int_equal(fb_palette_change(1, 0.5, -0.5, true), FB_CHANGE_LESS + 3);
}

static void a_name_has_its_color_on_every_machine(void **state)
{
    (void)state;
    assert_int_equal(fb_palette_of_name("libz.so", 7), fb_palette_of_name("libz.so.1", 7));
    assert_int_equal(fb_palette_of_name("libz.so", 7), 1);
    assert_int_equal(fb_palette_of_name("", 0), 9);
}

static void assert_layers_apart(const struct fb_layers *layers)
{
    for (size_t i = 0; i < fb_layers_count(layers); i++)
        for (size_t k = 0; k < i; k++) {
            const struct fb_layer *a = fb_layers_get(layers, i), *b = fb_layers_get(layers, k);

            if (apart(a->color, b->color) < SAME_MOST)
                fail_msg("%s: %s %s and %s %s are %.1f apart", fb_layers_name(layers), a->name,
                         a->color, b->name, b->color, apart(a->color, b->color));
        }
}

/* All layers of a preset may stand side by side in one picture. */
static void layers_are_told_apart_under_every_sight(void **state)
{
    struct fb_layers *layers;
    struct fb_err err;

    (void)state;
    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++) {
        assert_int_equal(fb_layers_load(p->name, &layers, &err), FB_OK);
        assert_true(fb_layers_count(layers) > 5);
        assert_layers_apart(layers);
        fb_layers_free(layers);
    }
}

/* So may those that rules name without a colour. */
static void layers_of_the_usual_names_are_told_apart(void **state)
{
    static const char *const names[] = {"syscalls", "runtime",     "stdlib", "transport",
                                        "codec",    "application", "jit",    "gc",
                                        "kernel",   "protobuf",    "stubs",  "other"};
    struct fb_buf text = {0};
    struct fb_layers *layers;
    struct fb_err err;

    (void)state;
    fb_buf_puts(&text, "{\"layers\": [");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fb_buf_printf(&text, "%s{\"name\": \"%s\"}", i > 0 ? ", " : "", names[i]);
    fb_buf_puts(&text, "], \"rules\": [{\"layer\": \"codec\", \"leaf\": \"^f$\"}]}");
    if (fb_layers_parse(text.data, text.len, "rules", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(fb_layers_count(layers), sizeof names / sizeof *names);
    assert_layers_apart(layers);
    fb_layers_free(layers);
    fb_buf_done(&text);
}

static void what_is_no_color_is_grey(void **state)
{
    (void)state;
    assert_true(fb_palette_is_color("#8fbfE6"));
    assert_false(fb_palette_is_color("#8fbfe"));
    assert_false(fb_palette_is_color("red"));
    assert_false(fb_palette_is_color("#8fbfe6}"));
    assert_false(fb_palette_is_color("#8fbf;6"));
    assert_false(fb_palette_is_color(NULL));
    assert_string_equal(fb_palette_fill("url(x)").fill, "#e2e4e7");
    assert_string_equal(fb_palette_text_on("#efe07c"), "#1d2126");
    assert_string_equal(fb_palette_text_on("#1c4a80"), "#ffffff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measure_knows_red_from_green_only_where_people_do),
        cmocka_unit_test(text_is_readable_on_every_fill),
        cmocka_unit_test(classes_are_told_apart_under_every_sight),
        cmocka_unit_test(less_more_and_noise_are_told_apart_under_every_sight),
        cmocka_unit_test(the_stronger_change_stands_out_more),
        cmocka_unit_test(a_change_has_one_class),
        cmocka_unit_test(a_name_has_its_color_on_every_machine),
        cmocka_unit_test(layers_are_told_apart_under_every_sight),
        cmocka_unit_test(layers_of_the_usual_names_are_told_apart),
        cmocka_unit_test(what_is_no_color_is_grey),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

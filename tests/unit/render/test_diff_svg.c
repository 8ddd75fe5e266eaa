#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/render/picture.h"
#include "tests/unit/render/rules.h"

struct fixture {
    struct fb_layers *layers;
    struct tree tree;
    struct picture picture;
};

/* control: old 20, same 50, less 30; variant: same 50, less 10, deflate 40. */
static void fixture_init(struct fixture *f)
{
    tree_init(&f->tree);
    tree_add(&f->tree, "main;old", 20, 0);
    tree_add(&f->tree, "main;same", 50, 50);
    tree_add(&f->tree, "main;less", 30, 10);
    tree_add(&f->tree, "main;deflate", 0, 40);
    f->layers = rules_load();
    picture_diff_init(&f->picture, &f->tree, f->layers);
}

static void fixture_done(struct fixture *f)
{
    picture_done(&f->picture);
    tree_done(&f->tree);
    fb_layers_free(f->layers);
}

static void vanished_and_new_frames_have_their_place(void **state)
{
    struct fixture f;
    char *svg, *box;

    (void)state;
    fixture_init(&f);
    svg = picture_diff(&f.picture);
    box = picture_box(svg, "old");
    assert_has(box, "class=\"b t5 s5\"");
    assert_has(box, "data-w=\"100000000000\"");
    assert_has(box, "data-c=\"200000000\" data-v=\"0\" data-t=\" gone\"");
    assert_has(box, "inclusive: control 20.00 % → variant 0 %: gone, −20.00 points");
    assert_has(box, ">old gone</text>");
    free(box);
    box = picture_box(svg, "deflate");
    assert_has(box, "class=\"b t10 s10\"");
    assert_has(box, "data-w=\"200000000000\"");
    assert_has(box, "control 0 % → variant 40.00 %: new, +40.00 points");
    assert_has(box, "layer codec");
    free(box);
    free(svg);
    fixture_done(&f);
}

static void what_noise_explains_is_grey_and_says_so(void **state)
{
    struct fb_diff_interval changes[64];
    struct fixture f;
    char *svg, *box;
    uint32_t node;

    (void)state;
    fixture_init(&f);
    node = tree_node(&f.tree, "main;less");
    assert_true(f.tree.calls.count <= 64);
    f.picture.nodes.total_is_real[node] = 0;
    for (size_t i = 0; i < f.tree.calls.count; i++)
        changes[i] = (struct fb_diff_interval){NAN, NAN};
    changes[node] = (struct fb_diff_interval){-0.5f, 0.25f};
    f.picture.nodes.total_change = changes;
    svg = picture_diff(&f.picture);
    box = picture_box(svg, "main");
    assert_null(strstr(box, "interval"));
    free(box);
    box = picture_box(svg, "less");
    assert_has(box, "\n95 % interval of the change: inclusive −39.3 % to +28.4 %\n");
    assert_has(box, "class=\"b t0 s4\"");
    assert_null(strstr(box, "data-t="));
    assert_has(box, "data-s=\" −67 %\"");
    assert_has(box, "inclusive inside the noise, self outside it");
    assert_has(box, ">less</text>");
    free(box);
    assert_has(svg, "Grey: the 95 % interval of the change holds 0, or the change is under the "
                    "floor");
    free(svg);
    fixture_done(&f);
}

static void what_is_not_judged_is_not_called_noise(void **state)
{
    struct fixture f;
    char *svg, *box;

    (void)state;
    fixture_init(&f);
    f.picture.nodes.is_judged = false;
    svg = picture_diff(&f.picture);
    box = picture_box(svg, "less");
    assert_has(box, "not judged");
    free(box);
    assert_has(svg, ">not judged</text>");
    assert_has(svg, "Grey: not judged, whatever the change");
    assert_null(strstr(svg, "inside the noise"));
    free(svg);
    fixture_done(&f);
}

static void with_ms_the_change_is_of_ms_per_request(void **state)
{
    struct fixture f;
    char *svg, *box;

    (void)state;
    fixture_init(&f);
    f.picture.nodes.on_ms = true;
    f.picture.nodes.control_ms = 0.1;
    f.picture.nodes.variant_ms = 0.2;
    svg = picture_diff(&f.picture);
    box = picture_box(svg, "same");
    assert_has(box, "class=\"b t9 s9\"");
    assert_has(box, "control 50.00 % (0.05 ms) → variant 50.00 % (0.1 ms): +100.0 %, +0.00 points, "
                    "+0.0500 ms per request");
    assert_has(box, ">same +100 %</text>");
    free(box);
    assert_has(svg, "change of CPU ms per request, (variant − control) / control");
    free(svg);
    f.picture.nodes.control_ms = NAN;
    svg = picture_diff(&f.picture);
    assert_has(svg, "change of the share of samples, (variant − control) / control");
    assert_null(strstr(svg, "ms per request, (variant"));
    free(svg);
    fixture_done(&f);
}

static void hidden_frames_keep_the_amounts_of_both_sides(void **state)
{
    struct fixture f;
    char *svg, *box;

    (void)state;
    fixture_init(&f);
    f.picture.in.nodes_max = 4;
    svg = picture_diff(&f.picture);
    box = picture_box(svg, "other (3 frames, 50.00 %)");
    assert_has(box, "class=\"b o t11 s11\"");
    assert_has(box, "data-c=\"500000000\" data-v=\"500000000\"");
    assert_has(box, "not tested against noise");
    free(box);
    assert_has(svg, "2 of 5 frames are drawn; the others, 50 % of the control and 50 % of the "
                    "variant");
    assert_has(svg, ">several frames, not tested</text>");
    free(svg);
    fixture_done(&f);
}

static void one_empty_side_is_all_new(void **state)
{
    struct fixture f;
    char *svg, *box;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main", 0, 5);
    f.layers = rules_load();
    picture_diff_init(&f.picture, &f.tree, f.layers);
    svg = picture_diff(&f.picture);
    box = picture_box(svg, "main");
    assert_has(box, "class=\"b t10 s10\"");
    free(box);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf %"));
    free(svg);
    fixture_done(&f);
}

/* Relative luminance by WCAG 2. */
static double luminance(const char *hex)
{
    static const double part[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        char two[3] = {hex[1 + 2 * i], hex[2 + 2 * i], '\0'};
        double c = (double)strtol(two, NULL, 16) / 255;

        sum += part[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(const char *a, const char *b)
{
    double x = luminance(a), y = luminance(b);

    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* Every rule pair ".t3 rect,.k3 rect{fill:#76abdd}.t3 text{fill:#1d2126}" of both themes. */
static void labels_have_a_contrast_of_4_5_on_every_fill(void **state)
{
    struct fixture f;
    size_t pairs = 0;
    char *svg;

    (void)state;
    fixture_init(&f);
    svg = picture_diff(&f.picture);
    for (const char *at = svg; (at = strstr(at, " rect{fill:#")) != NULL; at++) {
        const char *text = strstr(at, " text{fill:#");

        if (at[13 + 5] == '}' && text && text < strchr(at, '\n')) {
            assert_true(contrast(at + 11, text + 11) >= 4.5);
            pairs++;
        }
    }
    assert_int_equal(pairs, 12 * 2 * 2);
    assert_true(contrast("#5f6770", "#fdfdfc") >= 4.5 && strstr(svg, ".note{fill:#5f6770}"));
    assert_true(contrast("#98a1ab", "#15181c") >= 4.5 && strstr(svg, "fill:#98a1ab"));
    free(svg);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vanished_and_new_frames_have_their_place),
        cmocka_unit_test(what_noise_explains_is_grey_and_says_so),
        cmocka_unit_test(what_is_not_judged_is_not_called_noise),
        cmocka_unit_test(with_ms_the_change_is_of_ms_per_request),
        cmocka_unit_test(hidden_frames_keep_the_amounts_of_both_sides),
        cmocka_unit_test(one_empty_side_is_all_new),
        cmocka_unit_test(labels_have_a_contrast_of_4_5_on_every_fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/svg.h"
#include "tests/unit/render/picture.h"
#include "tests/unit/render/rules.h"

struct fixture {
    struct fb_layers *layers;
    struct tree tree;
    struct picture picture;
};

/* After the tree has its stacks. */
static char *draw(struct fixture *f)
{
    f->layers = rules_load();
    picture_init(&f->picture, &f->tree, f->layers);
    return picture_flame(&f->picture);
}

static void fixture_done(struct fixture *f, char *svg)
{
    free(svg);
    picture_done(&f->picture);
    tree_done(&f->tree);
    fb_layers_free(f->layers);
}

static void a_box_says_samples_share_ms_layer_and_module(void **state)
{
    struct fixture f = {0};
    char *svg, *box;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main@app;deflate@libz.so", 1500, 0);
    tree_add(&f.tree, "main@app;write@libc.so", 500, 0);
    svg = draw(&f);
    free(svg);
    f.picture.in.ms_per_request = 0.2;
    f.picture.in.cores = 0.8;
    svg = picture_flame(&f.picture);
    box = picture_box(svg, "deflate");
    assert_has(box, "class=\"b l0\" data-w=\"1500\" data-f=\"1500\" data-n=\"1\"");
    assert_has(box, "\ntotal 1,500 samples, 75.00 %, 0.15 ms per request, 0.6 cores\n");
    assert_has(box, "\nlayer codec · native · module libz.so</title>");
    assert_has(box, ">deflate</text>");
    free(box);
    assert_has(svg, ">codec 75.0 %</text>");
    assert_has(svg, ">syscalls 25.0 %</text>");
    assert_has(svg, ">other 0.0 %</text>"); /* main is drawn in its colour */
    fixture_done(&f, svg);
}

static void hostile_names_are_only_ever_text(void **state)
{
    static const char name[] = "</title><script>alert(1)</script>]]>\x1b[31m\"'&\xff";
    struct fixture f = {0};
    const char *script, *end;
    char *svg;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, name, 10, 0);
    svg = draw(&f);
    assert_has(svg,
               "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;]]&gt;␛[31m&quot;&#39;&amp;�");
    assert_null(strstr(svg, "alert(1)</script>"));
    script = strstr(svg, "<script>");
    assert_null(strstr(script + 1, "<script"));
    end = strstr(script, "</script>");
    for (const char *at = script; at < end; at++)
        assert_false(strncmp(at, "alert", 5) == 0);
    for (const char *at = svg; (at = strstr(at, " on")) != NULL && at < script; at++)
        assert_int_not_equal(at[3 + strspn(at + 3, "abcdefghijklmnopqrstuvwxyz")], '=');
    fixture_done(&f, svg);
}

static void nothing_is_fetched(void **state)
{
    struct fixture f = {0};
    char *svg;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main", 1, 0);
    svg = draw(&f);
    for (const char *at = svg; (at = strstr(at, "http")) != NULL; at++)
        assert_true(strncmp(at, "http://www.w3.org/", 18) == 0);
    assert_null(strstr(svg, "url("));
    assert_null(strstr(svg, "@import"));
    assert_null(strstr(svg, "href"));
    fixture_done(&f, svg);
}

static void the_script_cannot_end_its_cdata(void **state)
{
    struct fixture f = {0};
    const char *script;
    char *svg;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main", 1, 0);
    svg = draw(&f);
    script = strstr(svg, "<![CDATA[");
    assert_non_null(script);
    assert_string_equal(strstr(script, "]]>"), "]]></script>\n</svg>\n");
    fixture_done(&f, svg);
}

static void same_input_same_bytes_whatever_the_order(void **state)
{
    static const char *const stacks[] = {"m;a;x", "m;b", "m;a;y", "m;c;z"};
    char *first = NULL;

    (void)state;
    for (size_t turn = 0; turn < 4; turn++) {
        struct fixture f = {0};
        char *svg;

        tree_init(&f.tree);
        for (size_t i = 0; i < 4; i++) {
            size_t k = (i + turn) % 4;

            tree_add(&f.tree, stacks[k], (double)(10 * k + 5), 0);
        }
        svg = draw(&f);
        if (!first)
            first = fb_strdup(svg);
        assert_string_equal(svg, first);
        fixture_done(&f, svg);
    }
    free(first);
}

static void a_budget_keeps_all_samples_in_other(void **state)
{
    struct fixture f = {0};
    char name[32], *svg, *box;

    (void)state;
    tree_init(&f.tree);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "main;f%02d", i);
        tree_add(&f.tree, name, i < 3 ? 100 : 1, 0);
    }
    svg = draw(&f);
    free(svg);
    f.picture.in.nodes_max = 6;
    svg = picture_flame(&f.picture);
    box = picture_box(svg, "other (97 frames, 24.43 %)");
    assert_has(box, "class=\"b o l3\" data-w=\"97\">");
    free(box);
    assert_has(svg, "4 of 101 frames are drawn; the others, 24 % of the width");
    fixture_done(&f, svg);
}

static void names_without_room_lose_their_folders_first(void **state)
{
    struct fixture f = {0};
    char *svg, *box;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main;org/eclipse/jetty/server/Handler.run(java/lang/String)", 12, 0);
    tree_add(&f.tree, "main;other/code", 88, 0);
    svg = draw(&f);
    box = picture_box(svg, "org/eclipse/jetty/server/Handler.run(java/lang/String)");
    assert_has(box, "\">Handler.run(java/");
    free(box);
    box = picture_box(svg, "other/code");
    assert_has(box, "\">other/code</text>");
    free(box);
    fixture_done(&f, svg);
}

static void root_is_at_the_foot_or_as_an_icicle_at_the_head(void **state)
{
    struct fixture f = {0};
    char *svg, *box;
    double top = 0, y = 0;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main;work", 1, 0);
    svg = draw(&f);
    box = picture_box(svg, "all");
    top = strtod(strstr(svg, "data-top=\"") + 10, NULL);
    y = strtod(strstr(box, " y=\"") + 4, NULL);
    assert_true(fabs(y - (top + 2 * FB_SVG_ROW)) < 0.01);
    free(box);
    free(svg);
    f.picture.in.is_icicle = true;
    svg = picture_flame(&f.picture);
    box = picture_box(svg, "all");
    y = strtod(strstr(box, " y=\"") + 4, NULL);
    assert_true(fabs(y - top) < 0.01);
    free(box);
    fixture_done(&f, svg);
}

static void weights_that_are_shares_keep_their_proportion(void **state)
{
    struct fixture f = {0};
    char *svg, *box;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main;a", 0.25, 0);
    tree_add(&f.tree, "main;b", 0.125, 0);
    svg = draw(&f);
    box = picture_box(svg, "a");
    assert_has(box, "data-w=\"666666667\"");
    assert_has(box, "total 0.25 samples, 66.67 %");
    free(box);
    fixture_done(&f, svg);
}

static void no_samples_is_a_picture_that_says_so(void **state)
{
    struct fixture f = {0};
    char *svg;

    (void)state;
    tree_init(&f.tree);
    tree_node(&f.tree, "main");
    svg = draw(&f);
    assert_has(svg, ">No samples.</text>");
    assert_null(strstr(svg, "nan"));
    fixture_done(&f, svg);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Two modules, a package of each, four kinds. */
static void colours_can_be_of_what_a_function_belongs_to(void **state)
{
    static const char *const expected[FB_FLAME_COLOR_COUNT][2] = {
        [FB_FLAME_BY_LAYER] = {">codec 60.0 %<", ">other 40.0 %<"},
        [FB_FLAME_BY_KIND] = {">native 60.0 %<", ">java 40.0 %<"},
        [FB_FLAME_BY_MODULE] = {">libz.so 60.0 %<", ">(no module) 40.0 %<"},
        [FB_FLAME_BY_PACKAGE] = {">libz.so 60.0 %<", ">org.acme 40.0 %<"},
        [FB_FLAME_BY_TIER] = {">native 60.0 %<", ">c2 40.0 %<"},
    };
    struct fixture f = {0};
    uint32_t java;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main@app;deflate@libz.so", 60, 0);
    java = fb_functions_put_tier(&f.tree.fns, FB_FRAME_JAVA, FB_TIER_C2, "", "org/acme/Disk.write");
    java = fb_calltree_child(&f.tree.calls, tree_node(&f.tree, "main@app"), java);
    tree_add(&f.tree, "main@app;x", 0, 0); /* room for the node */
    f.tree.self[0][java] = 40;
    free(draw(&f));
    for (int c = 0; c < FB_FLAME_COLOR_COUNT; c++) {
        enum fb_flame_color back;
        char *svg;

        f.picture.in.color = (enum fb_flame_color)c;
        svg = picture_flame(&f.picture);
        assert_has(svg, expected[c][0]);
        assert_has(svg, expected[c][1]);
        assert_has(svg, fb_flame_color_text(f.picture.in.color));
        assert_true(fb_flame_color_parse(fb_flame_color_text(f.picture.in.color), &back));
        assert_int_equal(back, c);
        free(svg);
    }
    fixture_done(&f, NULL);
}

static void a_module_keeps_its_colour_in_another_profile(void **state)
{
    char *fills[2];

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct fixture f = {0};
        const char *at;
        char *svg, *box, rule[32];

        tree_init(&f.tree);
        tree_add(&f.tree, "main@app;deflate@libz.so", 60, 0);
        if (turn == 1)
            tree_add(&f.tree, "start@other;work@heavier.so", 6000, 0);
        free(draw(&f));
        f.picture.in.color = FB_FLAME_BY_MODULE;
        svg = picture_flame(&f.picture);
        box = picture_box(svg, "deflate");
        (void)snprintf(rule, sizeof rule, "\n.l%d rect", atoi(strstr(box, "b l") + 3));
        at = strstr(svg, rule);
        assert_non_null(at);
        fills[turn] = fb_strndup(strstr(at, "fill:"), 12);
        free(box);
        fixture_done(&f, svg);
    }
    assert_string_equal(fills[0], fills[1]);
    free(fills[0]);
    free(fills[1]);
}

static void the_heaviest_modules_share_no_colour(void **state)
{
    struct fixture f = {0};
    char stack[64], *svg;
    const char *fills[FB_PALETTE_NAMES];

    (void)state;
    tree_init(&f.tree);
    for (int i = 0; i < FB_PALETTE_NAMES; i++) {
        (void)snprintf(stack, sizeof stack, "work@lib%d.so", i);
        tree_add(&f.tree, stack, 10 + i, 0);
    }
    free(draw(&f));
    f.picture.in.color = FB_FLAME_BY_MODULE;
    svg = picture_flame(&f.picture);
    for (int i = 0; i < FB_PALETTE_NAMES; i++) {
        (void)snprintf(stack, sizeof stack, "\n.l%d rect", i);
        fills[i] = strstr(strstr(svg, stack), "fill:");
        for (int k = 0; k < i; k++)
            assert_int_not_equal(strncmp(fills[i], fills[k], 12), 0);
    }
    fixture_done(&f, svg);
}

static void half_and_double(void *arg, const uint32_t *nodes, size_t count, double *lo, double *hi)
{
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || nodes[i - 1] < nodes[i]);
        if (nodes[i] != 1) { /* of one nothing is known */
            lo[i] = 0.125;
            hi[i] = 0.5;
        }
    }
}

static void intervals_are_shown_where_they_are_known(void **state)
{
    struct fixture f = {0};
    char *box, *svg;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main;deflate", 1, 0);
    tree_add(&f.tree, "main;write", 3, 0);
    free(draw(&f));
    f.picture.in.intervals = half_and_double;
    svg = picture_flame(&f.picture);
    box = picture_box(svg, "deflate");
    assert_has(box, "\n95 % interval 12.50 to 50.00 %\n");
    assert_has(box, "data-i=\"12.50 to 50.00\"");
    free(box);
    box = picture_box(svg, "main");
    assert_null(strstr(box, "interval"));
    free(box);
    fixture_done(&f, svg);
}

static void a_raw_name_is_told_where_it_is_another(void **state)
{
    struct fixture f = {0};
    char *box, *svg;
    uint32_t id;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main;work", 1, 0);
    id = f.tree.calls.nodes[tree_node(&f.tree, "main;work")].function;
    f.tree.fns.items[id].raw = fb_strings_put(&f.tree.fns.strings, "_Z4<work>\tv", 11);
    f.tree.fns.items[id].raw_names = 3;
    f.tree.fns.items[id].file = fb_strings_put(&f.tree.fns.strings, "a b.c", 5);
    f.tree.fns.items[id].line = 7;
    svg = draw(&f);
    box = picture_box(svg, "work");
    assert_has(box,
               "layer other · native · a b.c:7\nraw name _Z4&lt;work&gt;␉v and 2 more</title>");
    free(box);
    assert_has(svg, "\nnative\t\ta b.c:7\t_Z4&lt;work&gt;␉v and 2 more\n");
    fixture_done(&f, svg);
}

static void boxes_that_nobody_can_point_at_say_less(void **state)
{
    struct fixture f = {0};
    char *box, *svg;

    (void)state;
    tree_init(&f.tree);
    tree_add(&f.tree, "main;wide", 9990, 0);
    tree_add(&f.tree, "main;narrow", 5, 0);
    svg = draw(&f);
    box = picture_box(svg, "narrow");
    assert_has(box, "<title>narrow\ntotal 5 samples, 0.05 %</title>");
    free(box);
    fixture_done(&f, svg);
}

static void a_stack_of_ten_thousand_keeps_the_picture_bounded(void **state)
{
    struct fixture f = {0};
    uint32_t node = 0, id;
    double height;
    char *svg;

    (void)state;
    tree_init(&f.tree);
    id = fb_functions_put(&f.tree.fns, FB_FRAME_NATIVE, "", "recurse");
    for (int i = 0; i < 10000; i++)
        node = fb_calltree_child(&f.tree.calls, node, id);
    for (int side = 0; side < 2; side++)
        f.tree.self[side] = fb_alloc_array(f.tree.calls.count, sizeof *f.tree.self[side]);
    f.tree.self[0][node] = 1;
    svg = draw(&f);
    height = strtod(strstr(svg, "height=\"") + 8, NULL);
    assert_true(height > FB_SVG_HEIGHT_MAX && height < FB_SVG_HEIGHT_MAX + 400);
    assert_int_equal(count_of(svg, "<g class=\"b"), 10001);
    fixture_done(&f, svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_says_samples_share_ms_layer_and_module),
        cmocka_unit_test(hostile_names_are_only_ever_text),
        cmocka_unit_test(nothing_is_fetched),
        cmocka_unit_test(the_script_cannot_end_its_cdata),
        cmocka_unit_test(same_input_same_bytes_whatever_the_order),
        cmocka_unit_test(a_budget_keeps_all_samples_in_other),
        cmocka_unit_test(names_without_room_lose_their_folders_first),
        cmocka_unit_test(root_is_at_the_foot_or_as_an_icicle_at_the_head),
        cmocka_unit_test(weights_that_are_shares_keep_their_proportion),
        cmocka_unit_test(no_samples_is_a_picture_that_says_so),
        cmocka_unit_test(colours_can_be_of_what_a_function_belongs_to),
        cmocka_unit_test(a_module_keeps_its_colour_in_another_profile),
        cmocka_unit_test(the_heaviest_modules_share_no_colour),
        cmocka_unit_test(intervals_are_shown_where_they_are_known),
        cmocka_unit_test(a_raw_name_is_told_where_it_is_another),
        cmocka_unit_test(boxes_that_nobody_can_point_at_say_less),
        cmocka_unit_test(a_stack_of_ten_thousand_keeps_the_picture_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

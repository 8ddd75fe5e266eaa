/* Chains of inlined functions with known answers, in each form of DWARF, whole and damaged. */
#include "symbolize/symbolize.h"
#include "tests/unit/symbolize/fixture.h"

static const char *const files[] = {BUILT "inlines-4.so", BUILT "inlines-5.so",
                                    BUILT "inlines-64.so", BUILT "inlines-z.so"};

enum { FILES = sizeof files / sizeof files[0] };

struct expected {
    const char *mark;
    size_t count;
    const char *functions[3];
    uint32_t lines[3];
};

static const struct expected all[] = {
    {"mark_inner", 3, {"inline_inner", "inline_middle", "inline_outer"}, {10, 15, 23}},
    {"mark_middle", 2, {"inline_middle", "inline_outer"}, {16, 23}},
    {"mark_before", 1, {"inline_outer"}, {22}},
    {"mark_alone", 1, {"inline_alone"}, {30}},
};

static void every_form_gives_functions_and_lines_of_calls(void **state)
{
    (void)state;
    for (size_t f = 0; f < FILES; f++) {
        struct fb_symbols *s = open_symbols(NULL, files[f], BUILD_ID);

        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            struct fb_place places[FB_PLACES_MAX];
            uint64_t at = nm_address(files[f], all[i].mark);

            assert_int_equal(fb_symbols_places(s, at, true, places), all[i].count);
            for (size_t k = 0; k < all[i].count; k++) {
                assert_string_equal(places[k].function, all[i].functions[k]);
                assert_string_equal(strrchr(places[k].file, '/'), "/inlines.c");
                assert_int_equal(places[k].line, all[i].lines[k]);
            }
            /* Without inlined functions: the one that has the code, and the line of the address. */
            assert_int_equal(fb_symbols_places(s, at, false, places), 1);
            assert_string_equal(places[0].function, all[i].functions[all[i].count - 1]);
            assert_int_equal(places[0].line, all[i].lines[0]);
        }
        fb_symbols_free(s);
    }
}

/* A profile of one stack: inline_outer at mark_inner, called from inline_alone. */
static struct fb_profile *profile_of(const char *path)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_module m = {.path = fb_strings_put_z(&p->strings, path),
                          .build_id = fb_strings_put_z(&p->strings, BUILD_ID),
                          .unload_ns = INT64_MAX};
    uint32_t module = fb_profile_module_add(p, &m);
    const char *const marks[] = {"mark_alone", "mark_inner"};
    fb_stack_id stack = FB_STACK_ROOT;

    for (size_t i = 0; i < 2; i++)
        stack = fb_profile_stack_put(
            p, stack,
            fb_profile_frame_put(p, &(struct fb_frame){.kind = FB_FRAME_NATIVE,
                                                       .module = module,
                                                       .address = nm_address(path, marks[i])}));
    fb_profile_sample_add(p, 1, FB_NO_THREAD, stack, 7);
    return p;
}

static void symbolize(struct fb_profile *p, bool no_inlined, struct fb_symbolize_report *ret_report)
{
    const struct fb_symbolizer_options options = {.again = true, .no_inlined = no_inlined};
    struct fb_symbolizer *s = fb_symbolizer_new(&options);

    fb_symbolize_profile(s, p, ret_report);
    fb_symbolizer_free(s);
}

/* The stack of the only sample, "outermost:line;...;leaf:line". */
static void expect_stack(const struct fb_profile *p, const char *expected)
{
    struct fb_buf text = {0};
    const struct fb_frame *frames[16];
    size_t n = 0;

    for (uint32_t at = p->samples.stack[0]; at != 0 && n < 16; at = p->stacks[at].parent.n)
        frames[n++] = &p->frames[p->stacks[at].frame.n];
    while (n-- > 0)
        fb_buf_printf(&text, "%s%s:%u%s", fb_profile_text(p, frames[n]->name),
                      frames[n]->kind == FB_FRAME_INLINED ? "_[i]" : "", frames[n]->line,
                      n > 0 ? ";" : "");
    assert_string_equal(text.data, expected);
    fb_buf_done(&text);
}

static void inlined_functions_are_frames_that_come_and_go(void **state)
{
    static const char with[] = "inline_alone:30;inline_outer:23;inline_middle_[i]:15;"
                               "inline_inner_[i]:10";
    static const char without[] = "inline_alone:30;inline_outer:10";
    struct fb_profile *p = profile_of(files[1]);
    struct fb_symbolize_report r;
    size_t frames;

    (void)state;
    symbolize(p, false, &r);
    expect_stack(p, with);
    assert_int_equal(r.frames, 2);
    assert_int_equal(r.inlined, 2);
    assert_int_equal(r.inlined_before, 0);
    assert_int_equal(r.lines, 2);
    fb_symbolize_report_done(&r);
    frames = p->frames_count;

    symbolize(p, false, &r); /* again: nothing is added */
    expect_stack(p, with);
    assert_int_equal(p->frames_count, frames);
    assert_int_equal(r.inlined_before, 2);
    fb_symbolize_report_done(&r);

    symbolize(p, true, &r);
    expect_stack(p, without);
    assert_int_equal(p->frames_count, frames - 2);
    fb_symbolize_report_done(&r);

    symbolize(p, false, &r);
    expect_stack(p, with);
    fb_symbolize_report_done(&r);
    fb_profile_inlined_drop(p);
    expect_stack(p, "inline_alone:30;inline_outer:23");
    assert_int_equal(fb_profile_weight(p), 7);
    fb_profile_free(p);
}

/* Asks for a chain every few bytes; nothing but survival is expected. */
static size_t survive(const void *bytes, size_t n)
{
    struct fb_symbols *s;
    struct fb_err err;
    void *copy = fb_alloc(n);
    size_t answers = 0;

    memcpy(copy, bytes, n);
    if (fb_symbols_open_memory(copy, n, "hostile", &s, &err) != FB_OK)
        return 0;
    for (uint64_t at = 0x200; at < 0x480; at += 3) {
        struct fb_place places[FB_PLACES_MAX];
        size_t count = fb_symbols_places(s, at, true, places);

        assert_true(count <= FB_PLACES_MAX);
        for (size_t i = 0; i < count; i++)
            answers += places[i].function && strlen(places[i].function) > 0;
    }
    fb_symbols_free(s);
    return answers;
}

static void damaged_debug_data_does_no_harm(void **state)
{
    (void)state;
    for (size_t f = 0; f < FILES; f++) {
        struct fb_buf bytes = {0};
        unsigned seed = 5;
        struct fb_err err;

        if (fb_file_read(files[f], &bytes, &err) != FB_OK)
            fail_msg("%s", err.text);
        assert_true(survive(bytes.data, bytes.len) > 8);
        for (size_t n = 0; n < bytes.len; n += 7)
            survive(bytes.data, n);
        for (size_t at = 0; at < bytes.len; at += f < 2 ? 1 : 5) {
            char was = bytes.data[at];

            bytes.data[at] = (char)(rand_r(&seed) % 2 ? ~was : was ^ (1 << rand_r(&seed) % 8));
            survive(bytes.data, bytes.len);
            bytes.data[at] = was;
        }
        fb_buf_done(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_functions_and_lines_of_calls),
        cmocka_unit_test(inlined_functions_are_frames_that_come_and_go),
        cmocka_unit_test(damaged_debug_data_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

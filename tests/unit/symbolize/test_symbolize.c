#include <dlfcn.h>
#include <unistd.h>

#include "symbolize/symbolize.h"
#include "tests/unit/symbolize/fixture.h"

#define LAZY     BUILT "shapes-lazy.so"
#define STRIPPED BUILT "split/stripped.so"

static uint32_t add_module(struct fb_profile *p, const char *path, const char *build_id)
{
    struct fb_module m = {.path = fb_strings_put_z(&p->strings, path),
                          .build_id = fb_strings_put_z(&p->strings, build_id),
                          .unload_ns = INT64_MAX};

    return fb_profile_module_add(p, &m);
}

/* One sample of that weight with the address as its only frame. */
static fb_frame_id add_sample(struct fb_profile *p, uint32_t module, uint64_t address,
                              uint64_t weight)
{
    fb_frame_id f = fb_profile_frame_put(
        p, &(struct fb_frame){.kind = FB_FRAME_NATIVE, .module = module, .address = address});

    fb_profile_sample_add(p, 1, FB_NO_THREAD, fb_profile_stack_put(p, FB_STACK_ROOT, f), weight);
    return f;
}

static struct fb_symbolize_report symbolize(struct fb_profile *p, const char *debug_dir, bool again)
{
    const struct fb_symbolizer_options options = {.debug_dir = debug_dir, .again = again};
    struct fb_symbolizer *s = fb_symbolizer_new(&options);
    struct fb_symbolize_report report;

    fb_symbolize_profile(s, p, &report);
    fb_symbolizer_free(s);
    assert_int_equal(report.frames, report.named + report.already_named + report.unknown);
    return report;
}

static const char *name_of(const struct fb_profile *p, fb_frame_id f)
{
    return fb_profile_text(p, p->frames[f.n].name);
}

static void every_frame_gets_its_name(void **state)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t m = add_module(p, LAZY, BUILD_ID), again = add_module(p, LAZY, BUILD_ID);
    uint64_t area = nm_address(LAZY, "shape_area"), side = nm_address(LAZY, "_ZN5shape4sideEi");
    fb_frame_id a = add_sample(p, m, area, 1), b = add_sample(p, m, area + 1, 1);
    fb_frame_id c = add_sample(p, again, area, 1), d = add_sample(p, m, side, 1);
    fb_frame_id gap = add_sample(p, m, nm_address(LAZY, "shape_label") - 1, 1);
    struct fb_symbolize_report r = symbolize(p, NULL, false);

    (void)state;
    assert_int_equal(p->frames[gap.n].name, 0);
    assert_string_equal(name_of(p, a), "shape_area");
    assert_string_equal(name_of(p, b), "shape_area");
    assert_string_equal(name_of(p, c), "shape_area");
    assert_string_equal(name_of(p, d), "shape::side(int)");
    assert_int_equal(p->frames[a.n].address, area);
    assert_int_equal(r.named, 4);
    assert_int_equal(r.unknown, 1);
    assert_int_equal(r.notes_count, 0);
    fb_symbolize_report_done(&r);
    fb_profile_free(p);
}

static void a_plt_entry_becomes_a_stub(void **state)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_symbols *s = open_symbols(NULL, LAZY, BUILD_ID);
    uint32_t m = add_module(p, LAZY, BUILD_ID);
    fb_frame_id f = {0};
    struct fb_symbolize_report r;

    (void)state;
    for (uint64_t at = 0x400; at < 0x2000 && f.n == 0; at += 4) {
        const struct fb_symbol *symbol = fb_symbols_find(s, at);

        if (symbol && symbol->kind == FB_SYMBOL_STUB && strcmp(symbol->name, "malloc") == 0)
            f = add_sample(p, m, at, 1);
    }
    assert_int_not_equal(f.n, 0);
    r = symbolize(p, NULL, false);
    assert_string_equal(name_of(p, f), "malloc@plt");
    assert_int_equal(p->frames[f.n].kind, FB_FRAME_STUB);
    fb_symbolize_report_done(&r);
    fb_symbols_free(s);
    fb_profile_free(p);
}

static void what_cannot_be_named_is_counted_and_noted(void **state)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t gone = add_module(p, "/nowhere/gone.so", BUILD_ID);
    uint32_t other = add_module(p, BUILT "shapes-other.so", BUILD_ID);
    uint32_t stripped = add_module(p, STRIPPED, BUILD_ID);
    uint64_t area = nm_address(LAZY, "shape_area"), hidden = nm_address(LAZY, "shape_hidden");
    struct fb_symbolize_report r;

    (void)state;
    add_sample(p, gone, area, 1);
    add_sample(p, other, area, 2);
    add_sample(p, stripped, area, 4);
    add_sample(p, stripped, hidden, 8);
    add_sample(p, add_module(p, "/nowhere/gone.so", BUILD_ID), area, 0);
    add_sample(p, FB_NO_MODULE, 0x1234, 16);
    r = symbolize(p, NULL, false);
    assert_int_equal(r.frames, 6);
    assert_int_equal(r.named, 1);
    assert_int_equal(r.unknown, 5);
    assert_float_equal(r.samples, 31, 0);
    assert_float_equal(r.unknown_samples, 27, 0);
    assert_int_equal(r.notes_count, 4);
    assert_non_null(strstr(r.notes[0], "/nowhere/gone.so"));
    assert_non_null(strstr(r.notes[0], "2 addresses without a name"));
    assert_non_null(strstr(r.notes[1], "another file than in the run"));
    assert_non_null(strstr(r.notes[2], "stripped: 1 of 2 addresses"));
    assert_non_null(strstr(r.notes[3], "1 address in no module"));
    fb_symbolize_report_done(&r);
    fb_profile_free(p);
}

static void better_files_name_the_rest_later(void **state)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t m = add_module(p, STRIPPED, BUILD_ID);
    fb_frame_id area = add_sample(p, m, nm_address(LAZY, "shape_area"), 1);
    fb_frame_id hidden = add_sample(p, m, nm_address(LAZY, "shape_hidden"), 1);
    struct fb_symbolize_report r = symbolize(p, NULL, false);

    (void)state;
    assert_int_equal(r.unknown, 1);
    assert_int_equal(p->frames[area.n].line, 0);
    fb_symbolize_report_done(&r);
    r = symbolize(p, FIXTURE_DEBUG, false);
    assert_int_equal(r.already_named, 1);
    assert_int_equal(r.named, 1);
    assert_string_equal(name_of(p, hidden), "shape_hidden");
    fb_symbolize_report_done(&r);
    r = symbolize(p, FIXTURE_DEBUG, true);
    assert_true(p->frames[area.n].line > 0);
    assert_int_equal(r.already_named, 2);
    fb_symbolize_report_done(&r);
    fb_profile_free(p);
}

/* The oracle is addr2line; the compared part is the base name and the line. */
static void lines_are_those_of_addr2line(void **state)
{
    struct fb_symbols *s = open_symbols(NULL, LAZY, BUILD_ID);
    uint64_t from = nm_address(LAZY, "shape_area"), to = nm_address(LAZY, "shape_parse") + 16;
    size_t compared = 0;

    (void)state;
    for (uint64_t at = from; at < to; at += 3) {
        char *command = fb_format("addr2line -e '%s' %#lx", LAZY, (unsigned long)at), text[500];
        FILE *out = popen(command, "r");
        const char *file = NULL;
        uint32_t line = 0;

        assert_non_null(out);
        assert_non_null(fgets(text, sizeof text, out));
        pclose(out);
        free(command);
        if (!strchr(text, '?')) {
            assert_true(fb_symbols_line(s, at, &file, &line));
            assert_int_equal(line, atoi(strrchr(text, ':') + 1));
            assert_non_null(strstr(file, "shapes.c"));
            compared++;
        }
    }
    assert_in_range(compared, 20, 10000);
    fb_symbols_free(s);
}

/* With real load addresses, as the dynamic linker says them. */
static void addresses_of_a_live_process_are_named(void **state)
{
    static const char *const names[] = {"getenv", "strtol", "_cmocka_run_group_tests"};
    struct fb_profile *p = fb_profile_new();
    fb_frame_id frames[3];
    struct fb_symbolize_report r;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        void *function = dlsym(RTLD_DEFAULT, names[i]);
        Dl_info info;

        assert_non_null(function);
        assert_int_not_equal(dladdr(function, &info), 0);
        frames[i] = add_sample(p, add_module(p, info.dli_fname, ""),
                               (uintptr_t)function - (uintptr_t)info.dli_fbase + 1, 1);
    }
    r = symbolize(p, NULL, false);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(name_of(p, frames[i]), names[i]);
    fb_symbolize_report_done(&r);
    fb_profile_free(p);
}

static void one_symbolizer_serves_several_profiles(void **state)
{
    const struct fb_symbolizer_options options = {0};
    struct fb_symbolizer *s = fb_symbolizer_new(&options);
    uint64_t area = nm_address(LAZY, "shape_area");

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fb_profile *p = fb_profile_new();
        fb_frame_id f = add_sample(p, add_module(p, LAZY, BUILD_ID), area, 1);
        fb_frame_id g = add_sample(p, add_module(p, "/nowhere/gone.so", ""), area, 1);
        struct fb_symbolize_report r;

        fb_symbolize_profile(s, p, &r);
        assert_string_equal(name_of(p, f), "shape_area");
        assert_int_equal(p->frames[g.n].name, 0);
        assert_int_equal(r.notes_count, 1);
        fb_symbolize_report_done(&r);
        fb_profile_free(p);
    }
    fb_symbolizer_free(s);
}

static void names_without_an_address_are_left_alone(void **state)
{
    struct fb_profile *p = fb_profile_new();
    uint32_t name = fb_strings_put_z(&p->strings, "folded");
    fb_frame_id f =
        fb_profile_frame_put(p, &(struct fb_frame){.kind = FB_FRAME_NATIVE, .name = name});
    struct fb_symbolize_report r;

    (void)state;
    fb_profile_sample_add(p, 1, FB_NO_THREAD, fb_profile_stack_put(p, FB_STACK_ROOT, f), 3);
    fb_profile_sample_add(p, 1, FB_NO_THREAD, FB_STACK_ROOT, 2);
    r = symbolize(p, NULL, true);
    assert_string_equal(name_of(p, f), "folded");
    assert_int_equal(r.frames, 0);
    assert_float_equal(r.samples, 5, 0);
    assert_float_equal(r.unknown_samples, 0, 0);
    fb_symbolize_report_done(&r);
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_gets_its_name),
        cmocka_unit_test(a_plt_entry_becomes_a_stub),
        cmocka_unit_test(what_cannot_be_named_is_counted_and_noted),
        cmocka_unit_test(better_files_name_the_rest_later),
        cmocka_unit_test(lines_are_those_of_addr2line),
        cmocka_unit_test(addresses_of_a_live_process_are_named),
        cmocka_unit_test(one_symbolizer_serves_several_profiles),
        cmocka_unit_test(names_without_an_address_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

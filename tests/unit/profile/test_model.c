#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/profile/build_profile.h"

static struct fb_profile *read_folded(const char *text, struct fb_read_report *report)
{
    struct fb_profile *p = NULL;
    struct fb_err err;

    *report = (struct fb_read_report){0};
    if (fb_profile_decode(text, strlen(text), "t.folded", "folded", &p, report, &err) != FB_OK)
        fail_msg("%s", err.text);
    return p;
}

static void folded_text_comes_back_sorted_and_merged(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p = read_folded("\xef\xbb\xbf# comment\n"
                                       "main;b with blank 3\r\n"
                                       "main 1\n"
                                       "main;a;k_[k] 2\n"
                                       "no count here\n"
                                       "main;b with blank 4\n"
                                       "main;ab 1.6\nmain;ab 1.6\nmain;ab 1.8",
                                       &report);
    struct fb_buf out = {0};

    (void)state;
    fb_writers[1].write(p, NULL, &out);
    assert_string_equal(out.data, "main 1\nmain;a;k_[k] 2\nmain;ab 5\nmain;b with blank 7\n");
    assert_int_equal(report.skipped_lines, 1);
    assert_string_equal(report.first_skipped, "line 5: a count was expected after the stack");
    fb_buf_done(&out);
    fb_profile_free(p);
}

static void a_folded_file_without_a_stack_is_refused(void **state)
{
    struct fb_read_report report = {0};
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_profile_decode("a;b\n", 4, "t", "folded", &p, &report, &err), FB_EFORMAT);
    assert_string_equal(err.text, "t: line 1: a count was expected after the stack");
}

static void one_function_has_one_id_in_two_profiles(void **state)
{
    struct fb_profile *p = build_profile(10), *q = build_profile(20);
    struct fb_functions fns;
    uint32_t *a, *b;

    (void)state;
    fb_functions_init(&fns);
    a = fb_functions_add(&fns, p, NULL);
    b = fb_functions_add(&fns, q, NULL);
    for (size_t i = 0; i < p->frames_count; i++)
        assert_int_equal(a[i], b[i]);
    assert_string_equal(fb_function_name(&fns, a[3]), "[unknown] libdemo.so");
    assert_int_equal(fns.items[a[1]].raw_names, 1);
    free(a);
    free(b);
    fb_functions_done(&fns);
    fb_profile_free(p);
    fb_profile_free(q);
}

static void every_sample_is_in_the_tree_once(void **state)
{
    struct fb_profile *p = build_profile(1000);
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t *f, *nodes;
    double *self, *total, *early, sum = 0;

    (void)state;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    f = fb_functions_add(&fns, p, NULL);
    nodes = fb_calltree_add(&tree, p, f);
    self = fb_calltree_self(&tree, p, nodes, INT64_MIN, INT64_MAX);
    total = fb_calltree_total(&tree, self);
    assert_true(total[0] == (double)fb_profile_weight(p));
    early = fb_calltree_self(&tree, p, nodes, T0, T0 + 1000000000);
    for (size_t i = 0; i < tree.count; i++)
        sum += early[i];
    assert_true(sum == 100 + 15);
    free(self);
    free(total);
    free(early);
    free(nodes);
    free(f);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_profile_free(p);
}

static void recursion_counts_once_in_the_total(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p = read_folded("a;b;a;b 5\na 1\n", &report);
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t *f, *nodes;
    double *self, *by_self, *by_total;

    (void)state;
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    f = fb_functions_add(&fns, p, NULL);
    nodes = fb_calltree_add(&tree, p, f);
    self = fb_calltree_self(&tree, p, nodes, INT64_MIN, INT64_MAX);
    fb_calltree_by_function(&tree, &fns, self, &by_self, &by_total);
    assert_true(by_total[f[1]] == 6 && by_self[f[1]] == 1);
    assert_true(by_total[f[2]] == 5 && by_self[f[2]] == 5);
    free(self);
    free(by_self);
    free(by_total);
    free(nodes);
    free(f);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_profile_free(p);
}

static void a_counter_is_read_between_its_rows(void **state)
{
    struct fb_profile *p = build_profile(1000);
    double v, max, last;

    (void)state;
    assert_true(fb_profile_counter_delta(p, "process.cpu_ns", T0 + 500000000, T0 + 2500000000, &v));
    assert_true(fabs(v - 1800000000) < 1);
    assert_false(fb_profile_counter_delta(p, "process.cpu_ns", T0, T0 + 60000000000, &v));
    assert_false(fb_profile_counter_delta(p, "absent", T0, T0 + 1, &v));
    assert_true(fb_profile_counter_level(p, "process.rss_bytes", T0, T0 + 3000000000, &max, &last));
    assert_true(max == 5000003 && last == 5000003);
    p->counters.items[0].values[4] = 0; /* a restart */
    assert_true(fb_profile_counter_delta(p, "process.cpu_ns", T0, T0 + 3000000000, &v));
    assert_true(
        fb_profile_counter_delta(p, "process.cpu_ns", T0 + 4000000000, T0 + 5000000000, &v));
    assert_false(fb_profile_counter_delta(p, "process.cpu_ns", T0, T0 + 3500000000, &v));
    assert_false(fb_profile_counter_delta(p, "process.cpu_ns", T0, T0 + 8000000000, &v));
    fb_profile_free(p);
}

/* The numbers of a process, a clock or a random UUID, and not those of a version. */
static void a_module_that_a_program_unpacks_has_one_name(void **state)
{
    static const char *const cases[][2] = {
        {"/tmp/liblz4-java-8712345678901234567.so", "liblz4-java-.so"},
        {"/tmp/snappy-1.1.8-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0-libsnappyjava.so",
         "snappy-1.1.8--libsnappyjava.so"},
        {"/root/.cache/JNA/temp/jna1234567890123.tmp", "jna.tmp"},
        {"/tmp/perf-4711.map", "perf-.map"},
        {"perf-4711.map", "perf-.map"},
        {"/tmp/x1234.so", "x1234.so"},
        {"/usr/lib/libfoo-20231201.so.2", "libfoo-20231201.so"},
        {"/opt/perf-47.exe/perf-map", "perf-map"},
        {"/usr/lib/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f"}};
    struct fb_buf b = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b.len = 0;
        fb_module_short_name(cases[i][0], &b);
        assert_string_equal(b.data, cases[i][1]);
    }
    fb_buf_done(&b);
}

static void a_module_is_named_without_folder_and_version(void **state)
{
    static const char *const cases[][2] = {{"/usr/lib/libz.so.1.2.13", "libz.so"},
                                           {"/usr/sbin/nginx", "nginx"},
                                           {"[vdso]", "[vdso]"},
                                           {"/tmp/x.so (deleted)", "x.so"}};
    struct fb_buf b = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b.len = 0;
        fb_module_short_name(cases[i][0], &b);
        assert_string_equal(b.data, cases[i][1]);
    }
    fb_buf_done(&b);
}

static void tiers_and_threads_of_folded_text_are_kept(void **state)
{
    struct fb_read_report report;
    const char *text = "[C2 CompilerThre0 tid=7];a/B.c_[0];a/B.c_[1];a/B.c_[j];a/B.c_[i] 2\n"
                       "[libz.so.1];x 3\n[unknown];x 1\n[w];x 5\n[z] 4\n";
    struct fb_profile *p = read_folded(text, &report);
    struct fb_functions fns;
    struct fb_buf out = {0}, name = {0};
    uint32_t *of_frame;
    int threads = 0;

    (void)state;
    fb_writers[1].write(p, NULL, &out);
    assert_string_equal(out.data, text);
    fb_functions_init(&fns);
    of_frame = fb_functions_add(&fns, p, NULL);
    for (uint32_t f = 1; f < fns.count; f++)
        threads += fb_function_is_thread(&fns, f, &name);
    assert_int_equal(threads, 2);
    assert_string_equal(name.data, "C2 CompilerThre0w");
    assert_int_equal(fb_function_tier(&fns.items[2]), FB_TIER_INTERPRETED);
    assert_int_equal(fb_function_tier(&fns.items[3]), FB_TIER_C1);
    assert_int_equal(fb_function_tier(&fns.items[4]), FB_TIER_C2);
    assert_int_equal(fb_function_tier(&fns.items[5]), FB_TIER_INLINED);
    for (uint32_t f = 2; f <= 5; f++) /* one function, made in four ways */
        assert_int_equal(fns.items[f].same, 2);
    free(of_frame);
    fb_functions_done(&fns);
    fb_buf_done(&name);
    fb_buf_done(&out);
    fb_profile_free(p);
}

static void threads_become_roots_and_no_weight_is_lost(void **state)
{
    struct fb_profile *p = fb_profile_new();
    fb_frame_id main_frame, f;
    fb_stack_id outer, inner;
    uint32_t one, two;
    struct fb_buf out = {0};

    (void)state;
    main_frame =
        fb_profile_frame_put(p, &(struct fb_frame){.name = fb_strings_put_z(&p->strings, "main")});
    f = fb_profile_frame_put(p, &(struct fb_frame){.name = fb_strings_put_z(&p->strings, "f")});
    outer = fb_profile_stack_put(p, FB_STACK_ROOT, main_frame);
    inner = fb_profile_stack_put(p, outer, f);
    one = fb_profile_thread_add(p, 7, fb_strings_put_z(&p->strings, "w-1"));
    two = fb_profile_thread_add(p, 8, 0);
    fb_profile_sample_add(p, 0, one, inner, 1);
    fb_profile_sample_add(p, 0, one, outer, 2);
    fb_profile_sample_add(p, 0, two, inner, 4);
    fb_profile_sample_add(p, 0, FB_NO_THREAD, inner, 8);
    fb_profile_sample_add(p, 0, one, FB_STACK_ROOT, 16);
    fb_profile_sample_add(p, 0, one, inner, 32);
    fb_profile_root_threads(p);
    fb_writers[1].write(p, NULL, &out);
    assert_string_equal(out.data, "[tid=8];main;f 4\n[w-1 tid=7] 16\n[w-1 tid=7];main 2\n"
                                  "[w-1 tid=7];main;f 33\nmain;f 8\n");
    fb_buf_done(&out);
    fb_profile_free(p);
}

static void only_native(const char *raw, size_t len, enum fb_frame_kind kind, struct fb_buf *out)
{
    fb_buf_puts(out, kind == FB_FRAME_JAVA ? "" : "native ");
    fb_buf_add(out, raw, len);
}

/* An inlined method is a method: what is done to names of C++ code is not done to it.  The
 * descriptor is a part of raw names alone. */
static void an_inlined_method_has_a_methods_name(void **state)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_frame f = {.kind = FB_FRAME_JAVA, .tier = FB_TIER_C2};
    struct fb_functions fns;
    uint32_t *of_frame;
    uint32_t java, inlined, native;

    (void)state;
    f.name = fb_strings_put_z(&p->strings, "a.B.cold");
    f.signature = fb_strings_put_z(&p->strings, "(I)V");
    java = fb_profile_frame_put(p, &f).n;
    f.kind = FB_FRAME_INLINED;
    f.tier = FB_TIER_UNKNOWN;
    inlined = fb_profile_frame_put(p, &f).n;
    f.signature = 0;
    native = fb_profile_frame_put(p, &f).n;
    fb_functions_init(&fns);
    of_frame = fb_functions_add(&fns, p, only_native);
    assert_string_equal(fb_strings_get(&fns.strings, fns.items[of_frame[java]].name), "a.B.cold");
    assert_int_equal(fns.items[of_frame[inlined]].same, of_frame[java]);
    assert_string_equal(fb_strings_get(&fns.strings, fns.items[of_frame[native]].name),
                        "native a.B.cold");
    free(of_frame);
    of_frame = fb_functions_add(&fns, p, NULL);
    assert_string_equal(fb_strings_get(&fns.strings, fns.items[of_frame[inlined]].name),
                        "a.B.cold(I)V");
    free(of_frame);
    fb_functions_done(&fns);
    fb_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_text_comes_back_sorted_and_merged),
        cmocka_unit_test(a_folded_file_without_a_stack_is_refused),
        cmocka_unit_test(one_function_has_one_id_in_two_profiles),
        cmocka_unit_test(every_sample_is_in_the_tree_once),
        cmocka_unit_test(recursion_counts_once_in_the_total),
        cmocka_unit_test(a_counter_is_read_between_its_rows),
        cmocka_unit_test(a_module_that_a_program_unpacks_has_one_name),
        cmocka_unit_test(a_module_is_named_without_folder_and_version),
        cmocka_unit_test(tiers_and_threads_of_folded_text_are_kept),
        cmocka_unit_test(threads_become_roots_and_no_weight_is_lost),
        cmocka_unit_test(an_inlined_method_has_a_methods_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

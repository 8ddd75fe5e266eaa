#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "profile/read/perf_header.h"

static void a_header_is_read_whatever_the_command_is_called(void **state)
{
    static const struct {
        const char *line, *comm, *event, *rest;
        uint32_t pid, tid;
        int64_t time_ns;
        uint64_t period; /* 0: none */
    } rows[] = {
        {"dd 29776 666709.771979:   10101010 cpu-clock:", "dd", "cpu-clock", "", 0, 29776,
         666709771979000, 10101010},
        {"java 19983 cycles:", "java", "cycles", "", 0, 19983, 0, 0},
        {"java 19983 7 cycles:u:", "java", "cycles:u", "", 0, 19983, 0, 7},
        {"Thread 3 19983 7 cycles:", "Thread 3", "cycles", "", 0, 19983, 0, 7},
        {"simple-terminat     9/10     198791.127353: cpu-clock:", "simple-terminat", "cpu-clock",
         "", 9, 10, 198791127353000, 0},
        {"c 1 1.0: cycles:", "c", "cycles", "", 0, 1, 1000000000, 0},
        {":-1    -1 2.5: 1 cycles:", ":-1", "cycles", "", 0, UINT32_MAX, 2500000000, 1},
        {"swapper     0 [001]  1333.768770: cpu-clock:", "swapper", "cpu-clock", "", 0, 0,
         1333768770000, 0},
        {"C2 CompilerThre 7/8 [003] 5.000000001: 3 cycles:ppp:", "C2 CompilerThre", "cycles:ppp",
         "", 7, 8, 5000000001, 3},
        {"x [1] 12 3.5: 9 [2] 1.5: cycles:", "x [1] 12 3.5: 9", "", "cycles:", 0, 0, 0, 0},
        {"a 7 1.5: b 12 3.25: 4 cycles:", "a 7 1.5: b", "cycles", "", 0, 12, 3250000000, 4},
        {"  1.5: 8 2.5: cycles:", "1.5:", "cycles", "", 0, 8, 2500000000, 0},
        {"123 2.5: cycles:", "", "cycles", "", 0, 123, 2500000000, 0},
        {"sh 5 [000] 1.25: syscalls:sys_enter_brk: brk: 0x0", "sh", "syscalls:sys_enter_brk",
         "brk: 0x0", 0, 5, 1250000000, 0},
        {"sh 5 1.25: 2 cpu/event=0x3c,umask=0/u:  7f12 main+0x1 (/bin/sh)", "sh",
         "cpu/event=0x3c,umask=0/u", "7f12 main+0x1 (/bin/sh)", 0, 5, 1250000000, 2},
        {"a.out\t  512\t[002] 10.5:\t\t77 cycles:u:", "a.out", "cycles:u", "", 0, 512, 10500000000,
         77},
        {"kworker/u8:2-ev 99 [001] 1.5: 3 cycles:", "kworker/u8:2-ev", "cycles", "", 0, 99,
         1500000000, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_perf_header h;
        bool is_header = fb_perf_header_parse(rows[i].line, strlen(rows[i].line), &h);

        if (rows[i].event[0] == '\0') /* two cpus: what stands before the last time is no thread */
            continue;
        if (!is_header || h.comm_len != strlen(rows[i].comm) ||
            memcmp(h.comm, rows[i].comm, h.comm_len) != 0 || h.event_len != strlen(rows[i].event) ||
            memcmp(h.event, rows[i].event, h.event_len) != 0 ||
            h.rest_len != strlen(rows[i].rest) || memcmp(h.rest, rows[i].rest, h.rest_len) != 0 ||
            h.pid != rows[i].pid || h.tid != rows[i].tid || h.time_ns != rows[i].time_ns ||
            h.period != rows[i].period)
            fail_msg("'%s': '%.*s' '%.*s' '%.*s' %u/%u %lld %llu", rows[i].line, (int)h.comm_len,
                     h.comm, (int)h.event_len, h.event, (int)h.rest_len, h.rest, h.pid, h.tid,
                     (long long)h.time_ns, (unsigned long long)h.period);
    }
}

static void what_is_no_header_is_none(void **state)
{
    static const char *const lines[] = {"",
                                        "a;b;c 12",
                                        "12",
                                        "main.c:12",
                                        "\t7f12 main+0x1 (/bin/sh)",
                                        "java 12",
                                        "java: 12",
                                        "12 3.5 cycles",
                                        "Warning: 3.5: nothing",
                                        "2026-01-01 10:00:00: x",
                                        ": 1.5:"};
    struct fb_perf_header h;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (fb_perf_header_parse(lines[i], strlen(lines[i]), &h))
            fail_msg("'%s' is read as a sample of '%.*s'", lines[i], (int)h.comm_len, h.comm);
    }
}

static enum fb_status read_as(const char *text, size_t n, const struct fb_read_options *options,
                              struct fb_profile **ret_p, struct fb_read_report *report,
                              struct fb_err *err)
{
    struct fb_source *in = fb_source_of_bytes(text, n, "t");
    enum fb_status r = fb_profile_read(in, "perf-script", options, ret_p, report, err);

    fb_source_close(in);
    return r;
}

/* The text folded, or the error; of the last call. */
static const char *folded(const char *text, const char *event, enum fb_weight_by weight)
{
    static char last[4096];
    struct fb_read_options options = {.type = event, .weight = weight};
    struct fb_read_report report;
    const struct fb_writer *writer;
    struct fb_profile *p;
    struct fb_buf out = {0};
    struct fb_err err;

    if (read_as(text, strlen(text), &options, &p, &report, &err) != FB_OK) {
        (void)snprintf(last, sizeof last, "%s", err.text);
        return last;
    }
    assert_int_equal(fb_writer_find("folded", "", &writer, &err), FB_OK);
    writer->write(p, NULL, &out);
    (void)snprintf(last, sizeof last, "%s", out.data ? out.data : "");
    fb_buf_done(&out);
    fb_profile_free(p);
    return last;
}

#define FOLDS(text, want) assert_string_equal(folded(text, NULL, FB_WEIGHT_AS_FORMAT), want)

static void frames_have_any_name_and_any_file(void **state)
{
    (void)state;
    FOLDS("a 1 1.0: 5 cycles: \n"
          "\t 7f12 std::function<void (int)>::operator()(int) const+0x1f (/usr/lib/a b.so)\n"
          "\t 7f13 (anonymous namespace)::f(int) (/tmp/x (deleted))\n"
          "\t 7f14 operator->+0x0 (/bin/x)\n"
          "\t 7f15 inner (inlined)\n"
          "\t ffff sys_read ([kernel.kallsyms])\n"
          "\t ffff nf_hook ([nf_conntrack])\n"
          "\t ffff idle (/lib/modules/6.1/vmlinux)\n"
          "\t ffff ext4_x+0x1 (/lib/modules/6.1/ext4.ko.xz)\n"
          "\t 7f16 __vdso_gettime ([vdso])\n"
          "\t 7f17 [unknown] (/usr/lib/libz.so.1)\n"
          "\t 7f18 [unknown] ([unknown])\n"
          "\t 7f19 [unknown] (/tmp/perf-12.map)\n"
          "\t 7f19\n\n",
          "a;[unknown];[unknown jit]_[j];[unknown];[unknown] libz.so.1;__vdso_gettime;ext4_x_[k];"
          "idle_[k];nf_hook_[k];sys_read_[k];inner_[i];operator->;(anonymous namespace)::f(int);"
          "std::function<void (int)>::operator()(int) const 5\n");
}

static void offsets_and_other_fields_make_no_frames(void **state)
{
    (void)state;
    /* -F +dsoff, +brstack, +phys_addr, +iregs; PERF_RECORD_* lines */
    FOLDS("a 1 1.0: 5 cycles:      7f00 7f1200 1234|OP\n"
          "\t 7f12 [unknown] (/lib/libx.so.1+0x1f20)\n"
          "\t 7f13 [unknown] (/lib/libx.so.1+0x1f40)\n"
          "\t 7f14 main+0x2 (/bin/a+0x12)\n"
          " 0x401000/0x401020/P/-/-/0  0x401030/0x401040/M/-/-/0\n"
          " ABI:2    AX:0x1    BX:0x2\n\n"
          "a 1 1.1: PERF_RECORD_MMAP2 1/1: [0x7f00(0x1000) @ 0 08:01 12 1]: r-xp /bin/a\n"
          "a 1 1.1: PERF_RECORD_LOST lost 7\n"
          "a 1 1.2: 5 cycles: \n\t 7f14 main+0x2 (/bin/a+0x12)\n\n",
          "a;main 5\na;main;[unknown] libx.so.1;[unknown] libx.so.1 5\n");
}

static void generated_java_is_named_as_elsewhere(void **state)
{
    (void)state;
    FOLDS(
        "java 1/2 1.0: 1 cycles: \n"
        "\t 7f12 Lorg/x/A;::b->Lorg/x/C$1;::<init>->La/D;::e+0x4 (/tmp/perf-1.map)\n"
        "\t 7f12 Ljava/util/HashMap;get(Ljava/lang/Object;)I (/root/.debug/jit/jitted-1-2.so)\n"
        "\t 7f12 Interpreter ([JIT] tid 12)\n\n",
        "java;Interpreter_[j];java/util/HashMap.get_[j];org/x/A.b_[j];org/x/C$1.<init>_[i];a/D.e_["
        "i] 1\n");
}

static void a_sample_ends_where_the_next_one_begins(void **state)
{
    (void)state;
    /* no blank line at the end, none between, one behind the header, CRLF, comments, no frames */
    FOLDS("# cmdline : perf record\n#\na 1 1.0: 1 cycles: \r\n\t 1 x (y)\r\n\r\na 1 1.1: 2 cycles: "
          "\n\t 1 x (y)",
          "a;x 3\n");
    FOLDS("a 1 1.0: 1 cycles:\n\t 1 x (y)\nb 2 1.1: 2 cycles:\n\n\t 1 z (y)\n", "a;x 1\nb;z 2\n");
    FOLDS("a 1 1.0: 4 cycles: \n\nb 1 1.0: 5 cycles: \n", "a 4\nb 5\n");
    FOLDS(
        "           false 39654 1.5:          1 cycles:  ffff [unknown] ([unknown])\n"
        "            dead 39654 1.6:          2 cycles:      7fa6 _dl_start+0x4 (/usr/lib/ld.so)\n",
        "dead;_dl_start 2\nfalse;[unknown] 1\n");
    /* a payload is no frame where frames follow */
    FOLDS("a 1 1.0: sched:sched_switch: prev=x ==> next (y)\n\t 1 x (y)\n\n", "a;x 1\n");
}

static void source_lines_are_kept(void **state)
{
    static const char text[] = "a 1 1.0: 1 cycles:\n\t 12 f+0x2 (/bin/a)\n  a.c:7\n\t 13 main "
                               "(/bin/a)\n  my c.c:12\n\n";
    struct fb_read_options options = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    const struct fb_frame *leaf, *caller;

    (void)state;
    assert_int_equal(read_as(text, strlen(text), &options, &p, &report, &err), FB_OK);
    leaf = &p->frames[p->stacks[p->samples.stack[0]].frame.n];
    caller = &p->frames[p->stacks[p->stacks[p->samples.stack[0]].parent.n].frame.n];
    assert_string_equal(fb_profile_text(p, leaf->file), "a.c");
    assert_int_equal(leaf->line, 7);
    assert_string_equal(fb_profile_text(p, caller->file), "my c.c");
    assert_int_equal(caller->line, 12);
    assert_string_equal(fb_profile_text(p, p->modules[caller->module].path), "/bin/a");
    assert_int_equal(report.skipped_lines, 0);
    fb_profile_free(p);
}

static void a_period_that_cannot_be_added_is_refused_and_not_1(void **state)
{
    static const char text[] = "t 1 1.000001:  18446744073709551615 cycles: \n\t4011 a (/t)\n\n"
                               "t 1 1.000002:  18446744073709551615 cycles: \n\t4011 a (/t)\n\n";
    struct fb_read_options options = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    assert_int_equal(read_as(text, strlen(text), &options, &p, &report, &err), FB_ELIMIT);
}

static void events_are_never_added_up(void **state)
{
    static const char text[] =
        "a 1 1.0: 10 cycles:u: \n\t 1 x (y)\n\na 1 1.1: 20 instructions: \n\t "
        "1 z (y)\n\na 1 1.2: 30 cycles:u: \n\t 1 x (y)\n\n";

    (void)state;
    assert_string_equal(folded(text, NULL, FB_WEIGHT_AS_FORMAT),
                        "t: holds several types, one was expected by --type: cycles:u (2 samples), "
                        "instructions (1 samples)");
    assert_string_equal(folded(text, "cycles", FB_WEIGHT_AS_FORMAT), "a;x 40\n");
    assert_string_equal(folded(text, "cycles:u", FB_WEIGHT_SAMPLES), "a;x 2\n");
    assert_string_equal(folded(text, "instructions", FB_WEIGHT_PERIOD), "a;z 20\n");
    assert_non_null(
        strstr(folded(text, "faults", FB_WEIGHT_PERIOD), "no samples of type 'faults'"));
    assert_non_null(strstr(
        folded("a 1 1.0: 1 cycles:u:\n\na 1 1.0: 1 cycles:k:\n\n", "cycles", FB_WEIGHT_PERIOD),
        "holds several types"));
    assert_string_equal(
        folded("a 1 1.0: 1 cycles:u:\n\na 1 1.0: 2 cycles:\n\n", "cycles", FB_WEIGHT_PERIOD),
        "a 2\n");
}

static void times_threads_and_units_are_kept(void **state)
{
    static const char text[] = "w 7/8 1.5: 1000 cpu-clock: \n\t 1 x (y)\n\nw 7/9 2.25: 1000 "
                               "cpu-clock: \n\t 1 x (y)\n\n";
    struct fb_read_options options = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    assert_int_equal(read_as(text, strlen(text), &options, &p, &report, &err), FB_OK);
    assert_true(p->has_times);
    assert_int_equal(p->samples.time_ns[1], 2250000000);
    assert_int_equal(p->threads[p->samples.thread[1]].tid, 9);
    assert_int_equal(p->threads[p->samples.thread[1]].pid, 7);
    assert_string_equal(fb_profile_text(p, p->unit), "nanoseconds");
    assert_string_equal(fb_profile_text(p, p->type), "cpu-clock");
    assert_int_equal(p->interval_ns, 1000);
    fb_profile_free(p);
    options.weight = FB_WEIGHT_SAMPLES;
    assert_int_equal(read_as(text, strlen(text), &options, &p, &report, &err), FB_OK);
    assert_string_equal(fb_profile_text(p, p->unit), "samples");
    assert_int_equal(fb_profile_weight(p), 2);
    fb_profile_free(p);
}

static void make_text(struct fb_buf *text)
{
    uint32_t x = 1;

    for (unsigned i = 0; i < 20000; i++) {
        fb_buf_printf(text, "java %u/%u [%03u] %u.%06u: %u cycles:\n", i % 3, i % 11, i % 4,
                      i / 1000, i % 1000, 1 + i % 7);
        for (unsigned k = 0; k < 1 + i % 9; k++) {
            x = x * 1664525 + 1013904223;
            fb_buf_printf(text, "\t%16x f%u+0x%x (%s)\n", x, x >> 23, x & 255,
                          x >> 16 & 1 ? "[kernel.kallsyms]" : "/lib/x.so");
        }
        fb_buf_putc(text, '\n');
    }
}

static void jobs_do_not_change_a_byte(void **state)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_buf text = {0}, one = {0}, more = {0};
    struct fb_err err;

    (void)state;
    make_text(&text);
    for (unsigned jobs = 1; jobs < 5; jobs++) {
        struct fb_read_options options = {.jobs = jobs};

        assert_int_equal(read_as(text.data, text.len, &options, &p, &report, &err), FB_OK);
        assert_int_equal(p->samples.count, 20000);
        more.len = 0;
        fb_bank_encode(p, jobs == 1 ? &one : &more);
        fb_profile_free(p);
        if (jobs > 1) {
            assert_int_equal(more.len, one.len);
            assert_memory_equal(more.data, one.data, one.len);
        }
    }
    fb_buf_done(&text);
    fb_buf_done(&one);
    fb_buf_done(&more);
}

static void a_cut_or_flipped_text_is_read_or_refused(void **state)
{
    static const char text[] =
        "# x\njava 1/2 [003] 1.5: 10 cycles:u: \n\t 7f La/B;::c->d+0x1 "
        "(/tmp/perf-1.map)\n  x.c:12\n\t 1 y ([k])\n\n a 1 2.5: b: 1 x (y)\n";
    struct fb_read_options options = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    char copy[sizeof text];

    (void)state;
    for (size_t i = 0; i < sizeof text; i++) {
        char *exact = malloc(i + 1);

        memcpy(exact, text, i);
        if (read_as(exact, i, &options, &p, &report, &err) == FB_OK)
            fb_profile_free(p);
        free(exact);
        for (int flip = 1; flip < 256; flip *= 2) {
            memcpy(copy, text, sizeof text);
            copy[i] = (char)(copy[i] ^ flip);
            if (read_as(copy, sizeof text - 1, &options, &p, &report, &err) == FB_OK)
                fb_profile_free(p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_read_whatever_the_command_is_called),
        cmocka_unit_test(what_is_no_header_is_none),
        cmocka_unit_test(frames_have_any_name_and_any_file),
        cmocka_unit_test(offsets_and_other_fields_make_no_frames),
        cmocka_unit_test(generated_java_is_named_as_elsewhere),
        cmocka_unit_test(a_sample_ends_where_the_next_one_begins),
        cmocka_unit_test(source_lines_are_kept),
        cmocka_unit_test(a_period_that_cannot_be_added_is_refused_and_not_1),
        cmocka_unit_test(events_are_never_added_up),
        cmocka_unit_test(times_threads_and_units_are_kept),
        cmocka_unit_test(jobs_do_not_change_a_byte),
        cmocka_unit_test(a_cut_or_flipped_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

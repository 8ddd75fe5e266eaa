#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/profile/build_jfr.h"
#include "tests/unit/profile/hostile.h"

static struct fb_profile *read_jfr(const struct fb_buf *file, const char *type,
                                   struct fb_read_report *report)
{
    struct fb_profile *p = NULL;
    struct fb_err err;

    if (!read_bytes(file->data, file->len, NULL, type, &p, report, &err))
        fail_msg("%s", err.text);
    return p;
}

static const struct fb_frame *frame_of(const struct fb_profile *p, uint32_t stack)
{
    return &p->frames[p->stacks[stack].frame.n];
}

static void samples_have_their_time_thread_and_frames(void **state)
{
    struct fb_buf file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    const struct fb_frame *f;

    (void)state;
    jfr_chunk(&file, false);
    p = read_jfr(&file, NULL, &report);
    assert_int_equal(p->samples.count, 3);
    assert_int_equal(report.samples_in, 3);
    assert_true(p->has_times && p->ended);
    assert_int_equal(p->samples.time_ns[1], 1700000000040000000);
    assert_int_equal(p->interval_ns, 20000000);
    assert_string_equal(fb_profile_text(p, p->type), "cpu");
    assert_int_equal(p->threads[p->samples.thread[0]].tid, 4711);
    assert_string_equal(fb_profile_text(p, p->threads[p->samples.thread[0]].name), "w\xc3\xb6");
    f = frame_of(p, p->samples.stack[0]);
    assert_string_equal(fb_profile_text(p, f->name), "app.Work.fib");
    assert_string_equal(fb_profile_text(p, f->signature), "(I)J");
    assert_int_equal(f->kind, FB_FRAME_INLINED);
    assert_int_equal(f->line, 7);
    f = frame_of(p, p->stacks[p->samples.stack[0]].parent.n);
    assert_string_equal(fb_profile_text(p, f->name), "app.Work.run");
    assert_int_equal(f->tier, FB_TIER_INTERPRETED);
    f = frame_of(p, p->samples.stack[1]);
    assert_string_equal(fb_profile_text(p, f->name), "write");
    assert_int_equal(f->kind, FB_FRAME_NATIVE);
    assert_int_equal(p->losses[FB_LOSS_TRUNCATED], 1);
    fb_profile_free(p);
    fb_buf_done(&file);
}

static void several_types_are_listed_and_one_is_read(void **state)
{
    struct fb_buf file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    const struct fb_label_set *labels;

    (void)state;
    jfr_chunk(&file, true);
    assert_false(read_bytes(file.data, file.len, NULL, NULL, &p, &report, &err));
    assert_string_equal(err.text,
                        "t: holds several types, one was expected by --type: cpu/samples (3 "
                        "samples), alloc-sample/bytes (2 samples)");
    assert_false(read_bytes(file.data, file.len, NULL, "wall", &p, &report, &err));
    p = read_jfr(&file, "jdk.ObjectAllocationSample", &report);
    assert_int_equal(fb_profile_weight(p), 4196);
    assert_string_equal(fb_profile_text(p, p->unit), "bytes");
    labels = &p->label_sets[fb_profile_sample_labels(p, 1)];
    assert_string_equal(fb_profile_text(p, p->label_items[labels->first].key), "class");
    assert_string_equal(fb_profile_text(p, p->label_items[labels->first].text), "app.Work");
    fb_profile_free(p);
    fb_buf_done(&file);
}

static void chunks_have_constants_of_their_own_and_threads_in_common(void **state)
{
    struct fb_buf file = {0};
    struct fb_read_report report;
    struct fb_profile *p;

    (void)state;
    jfr_chunk(&file, true);
    jfr_chunk(&file, false);
    p = read_jfr(&file, "cpu", &report);
    assert_int_equal(p->samples.count, 6);
    assert_int_equal(p->samples.stack[0], p->samples.stack[3]);
    assert_int_equal(p->threads_count, 2);
    fb_profile_free(p);
    fb_buf_done(&file);
}

/* A JVM that is killed leaves a header of size 0, or that of its last flush; what came after it
 * has no constants. */
static void a_chunk_that_was_never_finished_is_read_as_far_as_it_goes(void **state)
{
    struct fb_buf body = {0}, file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    size_t flushed;

    (void)state;
    jfr_metadata(&body);
    jfr_events(&body, false);
    jfr_checkpoint(&body);
    flushed = body.len;
    jfr_sample(&body, 90000, 2);
    jfr_sample(&body, 95000, 3);
    for (int i = 0; i < 2; i++) {
        file.len = 0;
        jfr_header(&file, i == 0 ? 0 : 68 + flushed, 3);
        fb_buf_add(&file, body.data, body.len - 1);
        p = read_jfr(&file, NULL, &report);
        assert_int_equal(p->samples.count, 4);
        assert_false(p->ended);
        assert_true(report.damage.torn_tail);
        assert_int_equal(report.damage.torn_bytes, 10);
        fb_profile_free(p);
    }
    fb_buf_add(&file, body.data + body.len - 1, 1);
    p = read_jfr(&file, NULL, &report);
    assert_int_equal(p->samples.count, 4);
    assert_int_equal(report.samples_in, 5);
    assert_string_equal(report.losses[0].what, "samples whose stack was not written any more");
    fb_profile_free(p);
    fb_buf_done(&file);
    fb_buf_done(&body);
}

static void hostile_recordings_are_a_sentence_or_a_profile(void **state)
{
    struct fb_buf file = {0};

    (void)state;
    jfr_chunk(&file, true);
    be_hostile(file.data, file.len, "jfr", "cpu");
    be_hostile(file.data, file.len, "jfr", "alloc-sample");
    fb_buf_done(&file);
}

/* A list of what holds the list would be read for ever. */
static void descriptions_that_never_end_are_refused(void **state)
{
    struct fb_buf file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    struct jfr_field *frames = &jfr_classes[9].fields[1];

    (void)state;
    assert_string_equal(frames->name, "frames");
    frames->type = JFR_STACK;
    jfr_chunk(&file, false);
    frames->type = JFR_FRAME;
    assert_false(read_bytes(file.data, file.len, NULL, NULL, &p, &report, &err));
    assert_non_null(strstr(err.text, "a checkpoint is damaged"));
    fb_buf_done(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_have_their_time_thread_and_frames),
        cmocka_unit_test(several_types_are_listed_and_one_is_read),
        cmocka_unit_test(chunks_have_constants_of_their_own_and_threads_in_common),
        cmocka_unit_test(a_chunk_that_was_never_finished_is_read_as_far_as_it_goes),
        cmocka_unit_test(hostile_recordings_are_a_sentence_or_a_profile),
        cmocka_unit_test(descriptions_that_never_end_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

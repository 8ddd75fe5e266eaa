#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/profile/build_profile.h"
#include "tests/unit/profile/hostile.h"

/* ---- messages by hand, as other programs may write them ---- */

static void put_varint(struct fb_buf *out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        fb_buf_putc(out, (char)(v | 0x80));
    fb_buf_putc(out, (char)v);
}

static void put_number(struct fb_buf *out, unsigned field, uint64_t v)
{
    put_varint(out, field << 3);
    put_varint(out, v);
}

static void put_message(struct fb_buf *out, unsigned field, struct fb_buf *m)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, m->len);
    fb_buf_add(out, m->data, m->len);
    fb_buf_done(m);
}

static void put_numbers(struct fb_buf *out, unsigned field, const uint64_t *v, size_t n)
{
    struct fb_buf m = {0};

    for (size_t i = 0; i < n; i++)
        put_varint(&m, v[i]);
    put_message(out, field, &m);
}

static void put_pairs(struct fb_buf *out, unsigned field, const uint64_t *v, size_t n)
{
    struct fb_buf m = {0};

    for (size_t i = 0; i < n; i++)
        put_number(&m, (unsigned)i + 1, v[i]);
    put_message(out, field, &m);
}

static const char *const strings[] = {"",     "samples", "count", "cpu",    "nanoseconds", "main",
                                      "work", "inner",   "a.c",   "/bin/x", "ABcd01",      "thread",
                                      "io-1", "route",   "/a",    "tid",    "bytes"};

/* Strings last, functions behind the locations that want them, ids sparse. */
static void put_tables(struct fb_buf *out)
{
    struct fb_buf location = {0};

    put_number(&location, 1, 900000000001);
    put_number(&location, 2, 77);
    put_number(&location, 3, 0x401010);
    put_pairs(&location, 4, (uint64_t[]){5, 11}, 2); /* innermost first */
    put_pairs(&location, 4, (uint64_t[]){3000000, 22}, 2);
    put_message(out, 4, &location);
    put_number(&location, 1, 4);
    put_pairs(&location, 4, (uint64_t[]){9, 33}, 2);
    put_message(out, 4, &location);
    put_number(&location, 1, 6);
    put_number(&location, 2, 77);
    put_number(&location, 3, 0x401020);
    put_message(out, 4, &location);
    put_pairs(out, 3, (uint64_t[]){77, 0x400000, 0x500000, 0x1000, 9, 10}, 6);
    put_pairs(out, 5, (uint64_t[]){5, 7, 7, 8}, 4);
    put_pairs(out, 5, (uint64_t[]){3000000, 6, 6, 8}, 4);
    put_pairs(out, 5, (uint64_t[]){9, 5, 5, 8}, 4);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        put_varint(out, 6 << 3 | 2);
        put_varint(out, strlen(strings[i]));
        fb_buf_puts(out, strings[i]);
    }
}

static void put_sample(struct fb_buf *out, const uint64_t *locations, size_t n, uint64_t count,
                       int64_t ns)
{
    struct fb_buf m = {0};

    put_numbers(&m, 1, locations, n);
    put_numbers(&m, 2, (uint64_t[]){count, (uint64_t)ns}, 2);
    put_pairs(&m, 3, (uint64_t[]){11, 12}, 2);         /* thread: io-1 */
    put_pairs(&m, 3, (uint64_t[]){13, 14}, 2);         /* route: /a    */
    put_pairs(&m, 3, (uint64_t[]){15, 0, 4711}, 3);    /* tid: 4711    */
    put_pairs(&m, 3, (uint64_t[]){16, 0, 512, 16}, 4); /* bytes: 512 */
    put_message(out, 2, &m);
}

static void put_file(struct fb_buf *out)
{
    static const uint64_t deep[] = {900000000001, 4}, raw[] = {6, 4};
    struct fb_buf m = {0};

    put_pairs(out, 1, (uint64_t[]){1, 2}, 2);
    put_pairs(out, 1, (uint64_t[]){3, 4}, 2);
    put_sample(out, deep, 2, 3, 30000000);
    put_sample(out, raw, 2, 1, 10000000);
    put_sample(out, deep, 2, 0, 0);
    put_sample(out, deep, 2, 1, -10000000);
    put_number(&m, 1, 900000000001); /* not packed */
    put_number(&m, 1, 4);
    put_number(&m, 2, 2);
    put_number(&m, 2, 20000000);
    put_message(out, 2, &m);
    put_tables(out);
    put_pairs(out, 11, (uint64_t[]){3, 4}, 2);
    put_number(out, 12, 10000000);
}

static struct fb_profile *read_file(const struct fb_buf *file, const char *type,
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

static void what_others_write_is_read_as_it_was_meant(void **state)
{
    struct fb_buf file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    const struct fb_frame *f;
    const struct fb_label_set *labels;
    uint32_t stack;

    (void)state;
    put_file(&file);
    p = read_file(&file, NULL, &report);
    assert_int_equal(report.samples_in, 5);
    assert_int_equal(p->samples.count, 3);
    assert_int_equal(report.losses_count, 2);
    assert_int_equal(report.losses[0].count + report.losses[1].count, 2);
    assert_int_equal(fb_profile_weight(p), 60000000); /* the last type, where none is the default */
    assert_string_equal(fb_profile_text(p, p->unit), "nanoseconds");
    assert_string_equal(fb_profile_text(p, p->type), "cpu");
    assert_int_equal(p->interval_ns, 10000000);
    assert_non_null(strstr(report.note, "samples/count"));
    stack = p->samples.stack[0];
    assert_int_equal(stack, p->samples.stack[2]); /* packed or not */
    f = frame_of(p, stack);
    assert_string_equal(fb_profile_text(p, f->name), "inner");
    assert_int_equal(f->kind, FB_FRAME_INLINED);
    assert_int_equal(f->line, 11);
    f = frame_of(p, p->stacks[stack].parent.n);
    assert_string_equal(fb_profile_text(p, f->name), "work");
    assert_int_equal(f->kind, FB_FRAME_NATIVE);
    assert_int_equal(f->line, 22);
    assert_string_equal(fb_profile_text(p, f->file), "a.c");
    f = frame_of(p, p->samples.stack[1]); /* raw: the file's offset, until there is a header */
    assert_int_equal(f->name, 0);
    assert_int_equal(f->address, 0x2020);
    assert_true(p->modules[f->module].by_offset);
    assert_string_equal(fb_profile_text(p, p->modules[f->module].build_id), "abcd01");
    assert_int_equal(p->threads[p->samples.thread[0]].tid, 4711);
    assert_string_equal(fb_profile_text(p, p->threads[p->samples.thread[0]].name), "io-1");
    labels = &p->label_sets[fb_profile_sample_labels(p, 0)];
    assert_int_equal(labels->count, 2);
    assert_string_equal(fb_profile_text(p, p->label_items[labels->first].text), "/a");
    assert_int_equal(p->label_items[labels->first + 1].number, 512);
    assert_int_equal(fb_profile_sample_labels(p, 2), 0);
    fb_profile_free(p);
    fb_buf_done(&file);
}

static void a_type_is_read_by_its_name_and_never_added_to_another(void **state)
{
    struct fb_buf file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    put_file(&file);
    p = read_file(&file, "samples/count", &report);
    assert_int_equal(fb_profile_weight(p), 7);
    assert_string_equal(fb_profile_text(p, p->unit), "samples");
    assert_int_equal(p->interval_ns, 10000000);
    fb_profile_free(p);
    assert_false(read_bytes(file.data, file.len, NULL, "alloc", &p, &report, &err));
    assert_string_equal(err.text, "t: has no samples of type 'alloc', it has samples/count (5 "
                                  "samples), cpu/nanoseconds (5 samples)");
    fb_buf_done(&file);
}

static void what_is_missing_is_named_with_both_sides(void **state)
{
    static const struct {
        uint64_t location, function;
        const char *text;
    } rows[] = {{8, 9, "t: sample 0: location 5 does not exist"},
                {5, 8, "t: location 5: function 8 does not exist"}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fb_buf file = {0}, location = {0}, sample = {0};
        struct fb_read_report report;
        struct fb_profile *p;
        struct fb_err err;

        put_pairs(&file, 1, (uint64_t[]){0, 0}, 2);
        put_number(&location, 1, rows[i].location);
        put_pairs(&location, 4, (uint64_t[]){rows[i].function, 1}, 2);
        put_message(&file, 4, &location);
        put_pairs(&file, 5, (uint64_t[]){9, 0}, 2);
        put_number(&sample, 1, 5);
        put_number(&sample, 2, 1);
        put_message(&file, 2, &sample);
        assert_false(read_bytes(file.data, file.len, "pprof", NULL, &p, &report, &err));
        assert_string_equal(err.text, rows[i].text);
        fb_buf_done(&file);
    }
}

static void hostile_files_are_a_sentence_or_a_profile(void **state)
{
    struct fb_buf file = {0};

    (void)state;
    put_file(&file);
    be_hostile(file.data, file.len, "pprof", NULL);
    fb_buf_done(&file);
}

/* Ours: read, written and read again. */
static void a_bank_keeps_in_pprof_what_pprof_can_hold(void **state)
{
    struct fb_profile *p = build_profile(500), *q;
    const struct fb_writer *writer;
    struct fb_read_report report;
    struct fb_buf out = {0}, again = {0};
    struct fb_err err;

    (void)state;
    assert_int_equal(fb_writer_find(NULL, "x.pb.gz", &writer, &err), FB_OK);
    writer->write(p, NULL, &out);
    q = read_file(&out, NULL, &report);
    assert_int_equal(fb_profile_weight(q), fb_profile_weight(p));
    assert_int_equal(q->interval_ns, p->interval_ns);
    assert_int_equal(q->threads_count, p->threads_count);
    assert_string_equal(fb_profile_text(q, q->unit), "samples");
    assert_string_equal(fb_profile_manifest_get(q, "start_wall_ns"), "1700000000000000000");
    writer->write(q, NULL, &again);
    assert_int_equal(again.len, out.len);
    fb_profile_free(q);
    q = read_file(&out, "cpu", &report);
    assert_int_equal(fb_profile_weight(q), fb_profile_weight(p) * p->interval_ns);
    fb_profile_free(q);
    fb_profile_free(p);
    fb_buf_done(&out);
    fb_buf_done(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_write_is_read_as_it_was_meant),
        cmocka_unit_test(a_type_is_read_by_its_name_and_never_added_to_another),
        cmocka_unit_test(what_is_missing_is_named_with_both_sides),
        cmocka_unit_test(hostile_files_are_a_sentence_or_a_profile),
        cmocka_unit_test(a_bank_keeps_in_pprof_what_pprof_can_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

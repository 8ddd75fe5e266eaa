#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compress.h"
#include "profile/profile.h"
#include "profile/read/perf_file.h"
#include "profile/read/perf_maps.h"

enum { USER = 2, KERNEL = 1, SAMPLE_TYPE = 1 | 2 | 4 | 32 | 256 /* ip tid time chain period */ };

static void put32(struct fb_buf *b, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        fb_buf_putc(b, (char)(v >> 8 * i));
}

static void put64(struct fb_buf *b, uint64_t v)
{
    put32(b, (uint32_t)v);
    put32(b, (uint32_t)(v >> 32));
}

static void put_text(struct fb_buf *b, const char *text)
{
    fb_buf_puts(b, text);
    do
        fb_buf_putc(b, '\0');
    while (b->len % 8 != 0);
}

/* A record of what is in `body`, which is emptied. */
static void put_record(struct fb_buf *out, uint32_t type, unsigned misc, struct fb_buf *body)
{
    put32(out, type);
    put32(out, misc | (uint32_t)(body->len + 8) << 16);
    fb_buf_add(out, body->data, body->len);
    body->len = 0;
}

static void put_sample_id(struct fb_buf *b, uint32_t pid, uint64_t time)
{
    put32(b, pid);
    put32(b, pid);
    put64(b, time);
}

static void put_mmap(struct fb_buf *out, unsigned misc, uint32_t pid, uint64_t start, uint64_t len,
                     uint64_t offset, const char *path, uint64_t time)
{
    struct fb_buf b = {0};

    put32(&b, pid);
    put32(&b, pid);
    put64(&b, start);
    put64(&b, len);
    put64(&b, offset);
    put_text(&b, path);
    put_sample_id(&b, pid, time);
    put_record(out, FB_PERF_MMAP, misc, &b);
    fb_buf_done(&b);
}

static void put_comm(struct fb_buf *out, unsigned misc, uint32_t pid, const char *comm,
                     uint64_t time)
{
    struct fb_buf b = {0};

    put32(&b, pid);
    put32(&b, pid);
    put_text(&b, comm);
    put_sample_id(&b, pid, time);
    put_record(out, FB_PERF_COMM, misc, &b);
    fb_buf_done(&b);
}

static void put_sample(struct fb_buf *out, uint32_t pid, uint64_t time, uint64_t period,
                       const uint64_t *chain, size_t n)
{
    struct fb_buf b = {0};

    put64(&b, n > 1 ? chain[1] : 0);
    put32(&b, pid);
    put32(&b, pid);
    put64(&b, time);
    put64(&b, period);
    put64(&b, n);
    for (size_t i = 0; i < n; i++)
        put64(&b, chain[i]);
    put_record(out, FB_PERF_SAMPLE, USER, &b);
    fb_buf_done(&b);
}

/* The events of one small life, not in the order of their times. */
static void put_events(struct fb_buf *out)
{
    static const uint64_t first[] = {(uint64_t)-128, 0xffffffff81000010, (uint64_t)-512,
                                     0x401010,       0x401100,           0x7000};
    static const uint64_t second[] = {(uint64_t)-512, 0x501010, 0x501100};
    struct fb_buf b = {0};

    put_mmap(out, KERNEL, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
             "[kernel.kallsyms]_text", 0);
    put_comm(out, 0, 7, "first", 0);
    put_mmap(out, USER, 7, 0x401000, 0x1000, 0x1000, "/bin/first", 0);
    put_sample(out, 8, 300, 20, second, 3);
    put_sample(out, 7, 100, 10, first, 6);
    put32(&b, 8); /* pid 8 of 7 at 200 */
    put32(&b, 7);
    put32(&b, 8);
    put32(&b, 7);
    put64(&b, 200);
    put_sample_id(&b, 8, 200);
    put_record(out, FB_PERF_FORK, 0, &b);
    put_comm(out, 1 << 13, 8, "second", 250);
    put_mmap(out, USER, 8, 0x501000, 0x1000, 0, "/bin/second", 260);
    put32(&b, 0);
    put32(&b, 0);
    put64(&b, 5); /* id 0, 5 lost */
    put_sample_id(&b, 0, 400);
    put_record(out, FB_PERF_LOST, 0, &b);
    fb_buf_done(&b);
}

static void put_attr(struct fb_buf *out)
{
    put32(out, 1);   /* software */
    put32(out, 128); /* size     */
    put64(out, 0);   /* cpu-clock */
    put64(out, 1000);
    put64(out, SAMPLE_TYPE);
    put64(out, 0);
    put64(out, 1 << 18); /* sample_id_all */
    while (out->len % 128 != 104 % 128)
        fb_buf_putc(out, '\0');
}

static void put_file(struct fb_buf *out, const struct fb_buf *data)
{
    fb_buf_puts(out, "PERFILE2");
    put64(out, 104);
    put64(out, 144);
    put64(out, 104);
    put64(out, 144); /* attrs */
    put64(out, 248);
    put64(out, data->len); /* data */
    for (int i = 0; i < 6; i++)
        put64(out, 0);
    put_attr(out);
    put64(out, 0); /* no ids */
    put64(out, 0);
    fb_buf_add(out, data->data, data->len);
}

static enum fb_status read_bytes(const void *bytes, size_t n, struct fb_profile **ret_p,
                                 struct fb_read_report *report, struct fb_err *err)
{
    return fb_profile_decode(bytes, n, "t.data", NULL, ret_p, report, err);
}

static const struct fb_frame *frame_above(const struct fb_profile *p, size_t row, unsigned up)
{
    uint32_t stack = p->samples.stack[row];

    while (up-- > 0)
        stack = p->stacks[stack].parent.n;
    return &p->frames[p->stacks[stack].frame.n];
}

static void expect_the_life(const struct fb_buf *file)
{
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;
    const struct fb_frame *f;

    if (read_bytes(file->data, file->len, &p, &report, &err) != FB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(p->samples.count, 2);
    assert_int_equal(p->samples.time_ns[0], 100);
    assert_int_equal(p->samples.weight[0], 10);
    assert_string_equal(fb_profile_text(p, p->unit), "nanoseconds");
    assert_string_equal(fb_profile_text(p, p->threads[p->samples.thread[0]].name), "first");
    assert_string_equal(fb_profile_text(p, p->threads[p->samples.thread[1]].name), "second");
    assert_int_equal(p->threads[p->samples.thread[1]].pid, 8);
    f = frame_above(p, 0, 0);
    assert_int_equal(f->kind, FB_FRAME_KERNEL);
    assert_true(f->address == 0xffffffff81000010);
    f = frame_above(p, 0, 1); /* the first of the user's: as it is */
    assert_string_equal(fb_profile_text(p, p->modules[f->module].path), "/bin/first");
    assert_true(p->modules[f->module].by_offset);
    assert_int_equal(f->address, 0x1010);
    f = frame_above(p, 0, 2); /* a caller: within its call */
    assert_int_equal(f->address, 0x10ff);
    f = frame_above(p, 0, 3);
    assert_int_equal(f->module, FB_NO_MODULE);
    f = frame_above(p, 0, 4);
    assert_int_equal(f->kind, FB_FRAME_MARK);
    f = frame_above(p, 1, 0);
    assert_string_equal(fb_profile_text(p, p->modules[f->module].path), "/bin/second");
    assert_int_equal(f->address, 0x10);
    assert_int_equal(report.losses_count, 1);
    assert_int_equal(report.losses[0].count, 5);
    fb_profile_free(p);
}

static void records_are_taken_in_the_order_of_time(void **state)
{
    struct fb_buf data = {0}, file = {0};

    (void)state;
    put_events(&data);
    put_file(&file, &data);
    expect_the_life(&file);
    fb_buf_done(&data);
    fb_buf_done(&file);
}

static void a_pipe_and_compressed_records_are_the_same(void **state)
{
    struct fb_buf data = {0}, file = {0}, body = {0}, packed = {0};
    size_t plain;

    (void)state;
    put_events(&data);
    fb_buf_puts(&file, "PERFILE2");
    put64(&file, 16);
    while (body.len < 104 % 128) /* put_attr() fills up to a place in a file */
        fb_buf_putc(&body, '\0');
    put_attr(&body);
    memmove(body.data, body.data + 104, body.len - 104);
    body.len -= 104;
    put64(&body, 77); /* its id */
    put_record(&file, FB_PERF_TOOL_ATTR, 0, &body);
    fb_buf_add(&packed, file.data, file.len);
    fb_buf_add(&file, data.data, data.len);
    expect_the_life(&file);
    plain = data.len;
    fb_buf_add(&body, data.data, plain);
    fb_zstd_pack(body.data, plain, 3, &data);
    body.len = 0; /* in two, with another record between */
    fb_buf_add(&body, data.data + plain, 40);
    put_record(&packed, FB_PERF_TOOL_COMPRESSED, 0, &body);
    put_record(&packed, 68, 0, &body);
    fb_buf_add(&body, data.data + plain + 40, data.len - plain - 40);
    put_record(&packed, FB_PERF_TOOL_COMPRESSED, 0, &body);
    expect_the_life(&packed);
    fb_buf_done(&data);
    fb_buf_done(&file);
    fb_buf_done(&body);
    fb_buf_done(&packed);
}

static void a_cut_or_flipped_file_is_read_or_refused(void **state)
{
    struct fb_buf data = {0}, file = {0};
    struct fb_read_report report;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    put_events(&data);
    put_file(&file, &data);
    for (size_t i = 0; i < file.len; i++) {
        char *exact = malloc(i + 1);

        memcpy(exact, file.data, i);
        if (read_bytes(exact, i, &p, &report, &err) == FB_OK)
            fb_profile_free(p);
        free(exact);
        for (int flip = 1; flip < 256; flip *= 2) {
            file.data[i] = (char)(file.data[i] ^ flip);
            if (read_bytes(file.data, file.len, &p, &report, &err) == FB_OK)
                fb_profile_free(p);
            file.data[i] = (char)(file.data[i] ^ flip);
        }
    }
    assert_int_equal(read_bytes("2ELIFREP01234567", 16, &p, &report, &err), FB_EUNSUPPORTED);
    fb_buf_done(&data);
    fb_buf_done(&file);
}

static void a_later_map_replaces_what_it_overlaps(void **state)
{
    struct fb_perf_maps maps = {0};
    const struct fb_perf_map *m;

    (void)state;
    fb_perf_maps_add(&maps, 1, &(struct fb_perf_map){100, 200, 1000, 1});
    fb_perf_maps_add(&maps, 1, &(struct fb_perf_map){200, 300, 0, 2});
    fb_perf_maps_add(&maps, 1, &(struct fb_perf_map){140, 160, 0, 3});
    fb_perf_maps_add(&maps, 1, &(struct fb_perf_map){190, 210, 0, 4});
    fb_perf_maps_fork(&maps, 1, 2);
    fb_perf_maps_exec(&maps, 1);
    assert_null(fb_perf_maps_find(&maps, 1, 150));
    assert_null(fb_perf_maps_find(&maps, 2, 99));
    assert_int_equal(fb_perf_maps_find(&maps, 2, 139)->file, 1);
    assert_int_equal(fb_perf_maps_find(&maps, 2, 140)->file, 3);
    m = fb_perf_maps_find(&maps, 2, 160);
    assert_int_equal(m->file, 1);
    assert_int_equal(m->offset, 1060);
    assert_int_equal(fb_perf_maps_find(&maps, 2, 209)->file, 4);
    m = fb_perf_maps_find(&maps, 2, 210);
    assert_int_equal(m->file, 2);
    assert_int_equal(m->offset, 10);
    assert_null(fb_perf_maps_find(&maps, 2, 300));
    fb_perf_maps_done(&maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_taken_in_the_order_of_time),
        cmocka_unit_test(a_pipe_and_compressed_records_are_the_same),
        cmocka_unit_test(a_cut_or_flipped_file_is_read_or_refused),
        cmocka_unit_test(a_later_map_replaces_what_it_overlaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

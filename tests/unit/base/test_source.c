#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compress.h"
#include "base/source.h"

/* Some thousand lines of many lengths. */
static void make_lines(struct fb_buf *out, unsigned lines)
{
    for (unsigned i = 0; i < lines; i++) {
        fb_buf_printf(out, "%u;", i);
        for (unsigned k = 0; k < i % 97; k++)
            fb_buf_putc(out, (char)('a' + (i + k) % 26));
        fb_buf_putc(out, '\n');
    }
}

/* All blocks of a source; asserts that each ends with a whole line, but for the last. */
static void read_blocks(struct fb_source *s, size_t size, struct fb_buf *out)
{
    struct fb_block block = {0};
    struct fb_err err;
    bool was_cut = false;

    for (;;) {
        assert_int_equal(fb_source_block(s, size, fb_cut_lines, &block, &err), FB_OK);
        if (block.len == 0)
            break;
        assert_false(was_cut);
        was_cut = block.text[block.len - 1] != '\n';
        for (size_t i = 0; i < FB_BLOCK_PAD; i++)
            assert_int_equal(block.text[block.len + i], 0);
        fb_buf_add(out, block.text, block.len);
    }
    fb_block_done(&block);
    fb_source_close(s);
}

static void expect_blocks(const struct fb_buf *bytes, size_t head, size_t size,
                          const struct fb_buf *text)
{
    struct fb_source *s = fb_source_of_bytes(bytes->data, bytes->len, "t");
    struct fb_buf out = {0};
    struct fb_err err;
    const char *start;
    size_t n;

    if (head > 0) {
        assert_int_equal(fb_source_head(s, head, &start, &n, &err), FB_OK);
        assert_int_equal(n, head < text->len ? head : text->len);
        assert_memory_equal(start, text->data, n);
    }
    read_blocks(s, size, &out);
    assert_int_equal(out.len, text->len);
    assert_memory_equal(out.data, text->data, text->len);
    fb_buf_done(&out);
}

static void a_stream_has_the_bytes_however_it_is_packed_and_read(void **state)
{
    struct fb_buf text = {0}, gzip = {0}, members = {0}, zstd = {0};

    (void)state;
    make_lines(&text, 4000);
    fb_buf_puts(&text, "the last line has no end");
    fb_gzip_pack(text.data, text.len, &gzip);
    fb_gzip_pack(text.data, 1000, &members);
    fb_gzip_pack(text.data + 1000, text.len - 1000, &members);
    fb_buf_add(&members, "\0\0\0", 3);
    fb_zstd_pack(text.data, 5000, 3, &zstd);
    fb_zstd_pack(text.data + 5000, text.len - 5000, 3, &zstd);
    for (size_t size = 128; size < 500000; size = size * 3 + 1) {
        for (size_t head = 0; head < 200000; head = head * 5 + 7) {
            expect_blocks(&text, head, size, &text);
            expect_blocks(&gzip, head, size, &text);
            expect_blocks(&members, head, size, &text);
            expect_blocks(&zstd, head, size, &text);
        }
    }
    fb_buf_done(&text);
    fb_buf_done(&gzip);
    fb_buf_done(&members);
    fb_buf_done(&zstd);
}

static void text_with_a_mark_becomes_utf8(void **state)
{
    static const char text[] = "a;\xc3\xa9;\xe2\x82\xac;\xf0\x9f\x94\xa5 1\nb\xef\xbf\xbd 2\n";
    static const uint16_t units[] = {0xfeff, 'a', ';',  0xe9, ';',    0x20ac, ';', 0xd83d, 0xdd25,
                                     ' ',    '1', '\n', 'b',  0xd83d, ' ',    '2', '\n'};
    struct fb_buf want = {0}, little = {0}, big = {0}, mark = {0}, packed = {0};

    (void)state;
    fb_buf_puts(&want, text);
    fb_buf_printf(&mark, "\xef\xbb\xbf%s", text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        fb_buf_putc(&little, (char)(units[i] & 0xff));
        fb_buf_putc(&little, (char)(units[i] >> 8));
        fb_buf_putc(&big, (char)(units[i] >> 8));
        fb_buf_putc(&big, (char)(units[i] & 0xff));
    }
    fb_gzip_pack(big.data, big.len, &packed);
    for (size_t size = 8; size < 200; size += 13) {
        for (size_t head = 0; head < 40; head += 3) {
            expect_blocks(&mark, head, size, &want);
            expect_blocks(&little, head, size, &want);
            expect_blocks(&big, head, size, &want);
            expect_blocks(&packed, head, size, &want);
        }
    }
    fb_buf_done(&want);
    fb_buf_done(&mark);
    fb_buf_done(&little);
    fb_buf_done(&big);
    fb_buf_done(&packed);
}

static enum fb_status read_all(const void *bytes, size_t n, struct fb_err *err)
{
    struct fb_source *s = fb_source_of_bytes(bytes, n, "t.gz");
    const char *all;
    size_t len;
    enum fb_status r = fb_source_all(s, &all, &len, err);

    fb_source_close(s);
    return r;
}

static void a_cut_or_damaged_stream_is_an_error_that_names_it(void **state)
{
    struct fb_buf text = {0}, gzip = {0}, zstd = {0};
    struct fb_err err;

    (void)state;
    make_lines(&text, 200);
    fb_gzip_pack(text.data, text.len, &gzip);
    fb_zstd_pack(text.data, text.len, 3, &zstd);
    for (size_t i = 2; i < gzip.len; i++)
        assert_int_equal(read_all(gzip.data, i, &err), FB_EFORMAT);
    assert_string_equal(err.text, "t.gz: gzip data ends early");
    for (size_t i = 4; i < zstd.len; i++)
        assert_int_equal(read_all(zstd.data, i, &err), FB_EFORMAT);
    for (size_t i = 0; i < gzip.len; i++) {
        gzip.data[i] ^= 0x20;
        (void)read_all(gzip.data, gzip.len, &err);
        gzip.data[i] ^= 0x20;
    }
    assert_int_equal(read_all("\xff\xfe\x41", 3, &err), FB_EFORMAT);
    assert_string_equal(err.text, "t.gz: UTF-16 text ends inside a character");
    fb_buf_done(&text);
    fb_buf_done(&gzip);
    fb_buf_done(&zstd);
}

static void a_decompression_bomb_is_refused(void **state)
{
    size_t n = (size_t)300 << 20;
    char *zeros = calloc(n, 1);
    struct fb_buf packed = {0};
    struct fb_block block = {0};
    struct fb_source *s;
    struct fb_err err;
    enum fb_status r;
    uint64_t had = 0;

    (void)state;
    assert_non_null(zeros);
    for (size_t i = 1000; i < n; i += 1000)
        zeros[i] = '\n';
    fb_zstd_pack(zeros, n, 1, &packed);
    free(zeros);
    s = fb_source_of_bytes(packed.data, packed.len, "b.zst");
    while ((r = fb_source_block(s, 1 << 20, fb_cut_lines, &block, &err)) == FB_OK && block.len)
        had += block.len;
    assert_int_equal(r, FB_ELIMIT);
    assert_non_null(strstr(err.text, "b.zst: unpacks to more than 500 times its size"));
    assert_true(had <= FB_UNPACK_FREE);
    fb_block_done(&block);
    fb_source_close(s);
    fb_buf_done(&packed);
}

static void a_file_is_read_and_a_missing_one_named(void **state)
{
    char path[] = "/tmp/fb-source-XXXXXX";
    int fd = mkstemp(path);
    struct fb_source *s;
    struct fb_err err;
    char bytes[16];
    size_t n;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    (void)close(fd);
    assert_int_equal(fb_source_open(path, &s, &err), FB_OK);
    assert_string_equal(fb_source_name(s), path);
    assert_int_equal(fb_source_read(s, bytes, 3, &n, &err), FB_OK);
    assert_int_equal(n, 3);
    assert_int_equal(fb_source_read(s, bytes, sizeof bytes, &n, &err), FB_OK);
    assert_int_equal(n, 7);
    assert_memory_equal(bytes, "3456789", 7);
    assert_int_equal(fb_source_read(s, bytes, 4, &n, &err), FB_OK);
    assert_int_equal(n, 0);
    fb_source_close(s);
    (void)unlink(path);
    assert_int_equal(fb_source_open(path, &s, &err), FB_EIO);
    assert_non_null(strstr(err.text, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_has_the_bytes_however_it_is_packed_and_read),
        cmocka_unit_test(text_with_a_mark_becomes_utf8),
        cmocka_unit_test(a_cut_or_damaged_stream_is_an_error_that_names_it),
        cmocka_unit_test(a_decompression_bomb_is_refused),
        cmocka_unit_test(a_file_is_read_and_a_missing_one_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

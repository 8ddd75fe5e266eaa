#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/crc32.h"
#include "base/wire.h"

static const uint64_t values[] = {0,          1,          127,       128,       300,
                                  UINT32_MAX, 1ull << 32, INT64_MAX, UINT64_MAX};

static void varints_come_back(void **state)
{
    uint8_t bytes[256];
    struct fb_wire_out out = {.data = bytes, .cap = sizeof bytes};
    struct fb_wire_in in;

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fb_wire_put_varint(&out, values[i]);
        fb_wire_put_signed(&out, (int64_t)values[i]);
    }
    assert_false(out.overflow);
    in = (struct fb_wire_in){.data = bytes, .len = out.len};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(fb_wire_get_varint(&in) == values[i]);
        assert_true(fb_wire_get_signed(&in) == (int64_t)values[i]);
    }
    assert_false(in.bad);
    assert_int_equal(in.pos, in.len);
}

static void a_varint_of_eleven_bytes_or_more_than_64_bits_is_bad(void **state)
{
    static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x01};
    static const uint8_t wide[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    struct fb_wire_in a = {.data = eleven, .len = sizeof eleven};
    struct fb_wire_in b = {.data = wide, .len = sizeof wide};

    (void)state;
    (void)fb_wire_get_varint(&a);
    (void)fb_wire_get_varint(&b);
    assert_true(a.bad);
    assert_true(b.bad);
}

static void a_bad_cursor_stays_bad_and_reads_zero(void **state)
{
    static const uint8_t bytes[] = {5, 'a', 'b', 1, 2, 3};
    struct fb_wire_in in = {.data = bytes, .len = 3};
    size_t n;

    (void)state;
    assert_null(fb_wire_get_blob(&in, &n));
    assert_true(in.bad);
    assert_int_equal(fb_wire_get_u8(&in), 0);
    assert_int_equal(fb_wire_left(&in), 0);
}

static void writing_past_the_room_writes_nothing(void **state)
{
    uint8_t bytes[4] = {9, 9, 9, 9};
    struct fb_wire_out out = {.data = bytes, .cap = 3};

    (void)state;
    fb_wire_put_le(&out, 0x01020304, 4);
    assert_true(out.overflow);
    assert_int_equal(out.len, 0);
    assert_int_equal(bytes[0], 9);
}

static void the_checksum_is_that_of_zlib(void **state)
{
    uint32_t table[256], ours;
    uint8_t bytes[1000];

    (void)state;
    fb_crc32_init(table);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 13);
    ours = fb_crc32(table, 0, bytes, 400);
    ours = fb_crc32(table, ours, bytes + 400, 600);
    assert_int_equal(ours, crc32(0, bytes, sizeof bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_come_back),
        cmocka_unit_test(a_varint_of_eleven_bytes_or_more_than_64_bits_is_bad),
        cmocka_unit_test(a_bad_cursor_stays_bad_and_reads_zero),
        cmocka_unit_test(writing_past_the_room_writes_nothing),
        cmocka_unit_test(the_checksum_is_that_of_zlib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

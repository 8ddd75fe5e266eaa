#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sampler/foreign.h"

enum { RUN = 0x1234 };

static uint32_t crc_table[256];
static int file;
static uint8_t bytes[1 << 20];
static size_t length;

static int begin(void **state)
{
    (void)state;
    fb_crc32_init(crc_table);
    file = memfd_create("bank", MFD_CLOEXEC);
    length = FB_BANK_HEADER_SIZE;
    return file < 0;
}

static int finish(void **state)
{
    (void)state;
    return close(file);
}

static uint8_t *add(enum fb_chunk_type type, unsigned flags, uint64_t run, const void *payload,
                    size_t n)
{
    struct fb_chunk_header h = {.type = (uint16_t)type,
                                .flags = (uint16_t)flags,
                                .run_id = run,
                                .raw_length = (uint32_t)n,
                                .stored_length = (uint32_t)n};
    uint8_t *at = bytes + length;

    fb_chunk_header_store(at, &h, payload, crc_table);
    memcpy(at + FB_CHUNK_HEADER_SIZE, payload, n);
    memset(at + FB_CHUNK_HEADER_SIZE + n, 0, FB_CHUNK_ALIGN);
    length += FB_CHUNK_HEADER_SIZE + n + fb_chunk_padding(n);
    return at;
}

static uint8_t *add_question(unsigned flags, uint64_t run, uint8_t kind)
{
    const uint8_t payload[] = {1, 0, 0, kind, 0};

    return add(FB_CHUNK_EVENTS, flags, run, payload, sizeof payload);
}

static unsigned ask(void)
{
    assert_int_equal(pwrite(file, bytes, length, 0), (ssize_t)length);
    assert_return_code(ftruncate(file, (off_t)length), 0);
    return fb_foreign_ask(file, FB_BANK_HEADER_SIZE, length, RUN, crc_table);
}

static void the_last_question_counts(void **state)
{
    static const uint8_t own[5000];

    (void)state;
    assert_int_equal(ask(), 0);
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_RESUME);
    assert_int_equal(ask(), FB_EVENT_ASK_RESUME);
    add(FB_CHUNK_SAMPLES, 0, RUN, own, sizeof own);
    add(FB_CHUNK_MARKS, FB_CHUNK_FOREIGN, RUN, own, 100);
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_PAUSE);
    add(FB_CHUNK_SAMPLES, 0, RUN, own, sizeof own);
    assert_int_equal(ask(), FB_EVENT_ASK_PAUSE);
}

static void what_is_ours_or_of_another_run_asks_nothing(void **state)
{
    (void)state;
    add_question(0, RUN, FB_EVENT_ASK_PAUSE);
    add_question(FB_CHUNK_FOREIGN, RUN + 1, FB_EVENT_ASK_PAUSE);
    add_question(FB_CHUNK_FOREIGN | FB_CHUNK_PACKED, RUN, FB_EVENT_ASK_PAUSE);
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_PAUSED);
    add_question(FB_CHUNK_FOREIGN, RUN, 99);
    assert_int_equal(ask(), 0);
}

static void a_question_with_a_flipped_bit_asks_nothing(void **state)
{
    size_t begun = length;

    (void)state;
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_PAUSE);
    for (size_t i = begun; i < begun + FB_CHUNK_HEADER_SIZE + 5; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(ask(), 0);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(ask(), FB_EVENT_ASK_PAUSE);
}

static void a_question_that_is_cut_asks_nothing(void **state)
{
    size_t begun = length;
    size_t whole;

    (void)state;
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_PAUSE);
    whole = begun + FB_CHUNK_HEADER_SIZE + 5;
    for (length = begun; length < whole; length++)
        assert_int_equal(ask(), 0);
    length = whole;
    assert_int_equal(ask(), FB_EVENT_ASK_PAUSE);
}

static void a_payload_that_breaks_its_rules_asks_nothing(void **state)
{
    const uint8_t too_many[] = {9, 0, 0, FB_EVENT_ASK_PAUSE, 0};
    const uint8_t too_long[] = {1, 0, 0, FB_EVENT_ASK_PAUSE, 0, 0};
    static uint8_t large[400] = {80, 0, 0, FB_EVENT_ASK_PAUSE};

    (void)state;
    add(FB_CHUNK_EVENTS, FB_CHUNK_FOREIGN, RUN, too_many, sizeof too_many);
    add(FB_CHUNK_EVENTS, FB_CHUNK_FOREIGN, RUN, too_long, sizeof too_long);
    add(FB_CHUNK_EVENTS, FB_CHUNK_FOREIGN, RUN, large, sizeof large);
    add(FB_CHUNK_EVENTS, FB_CHUNK_FOREIGN, RUN, "", 0);
    assert_int_equal(ask(), 0);
}

static void a_question_behind_rubbish_is_found(void **state)
{
    (void)state;
    memset(bytes + length, 0xfb, 4096);
    length += 4096;
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_RESUME)[31] ^= 1; /* its checksum */
    fb_wire_store_le(add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_RESUME) + 24, 1 << 25, 4);
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_PAUSE);
    assert_int_equal(ask(), FB_EVENT_ASK_PAUSE);
}

static void rubbish_without_end_is_read_no_further_than_the_limit(void **state)
{
    (void)state;
    memset(bytes + length, 0xfb, sizeof bytes - length - 4096);
    length = sizeof bytes - 4096;
    add_question(FB_CHUNK_FOREIGN, RUN, FB_EVENT_ASK_PAUSE);
    assert_int_equal(ask(), 0);
}

#define FOREIGN_TEST(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOREIGN_TEST(the_last_question_counts),
        FOREIGN_TEST(what_is_ours_or_of_another_run_asks_nothing),
        FOREIGN_TEST(a_question_with_a_flipped_bit_asks_nothing),
        FOREIGN_TEST(a_question_that_is_cut_asks_nothing),
        FOREIGN_TEST(a_payload_that_breaks_its_rules_asks_nothing),
        FOREIGN_TEST(a_question_behind_rubbish_is_found),
        FOREIGN_TEST(rubbish_without_end_is_read_no_further_than_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

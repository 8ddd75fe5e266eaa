#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "tests/unit/profile/build_profile.h"

static struct fb_profile *decode(const struct fb_buf *b, struct fb_bank_damage *damage)
{
    struct fb_profile *p = NULL;
    struct fb_err err;

    if (fb_bank_decode(b->data, b->len, "test", &p, damage, &err) != FB_OK)
        fail_msg("%s", err.text);
    return p;
}

static void a_bank_comes_back_as_it_was(void **state)
{
    struct fb_profile *p = build_profile(1000), *q;
    struct fb_buf one = {0}, two = {0};
    struct fb_bank_damage damage;

    (void)state;
    fb_bank_encode(p, &one);
    q = decode(&one, &damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_false(damage.torn_tail);
    assert_int_equal(q->samples.count, 1000);
    assert_int_equal(fb_profile_weight(q), fb_profile_weight(p));
    assert_int_equal(q->samples.time_ns[7], p->samples.time_ns[7]);
    assert_int_equal(q->stacks_count, p->stacks_count);
    assert_int_equal(q->threads_count, p->threads_count);
    assert_string_equal(fb_profile_text(q, q->threads[2].name), "io");
    assert_string_equal(fb_profile_text(q, q->modules[1].build_id), "00ff10ab");
    assert_int_equal(q->modules[1].load_ns, T0);
    assert_int_equal(q->counters.rows, 11);
    assert_int_equal(q->counters.items[1].values[0], FB_COUNTER_ABSENT);
    assert_int_equal(q->counters.items[1].values[10], 5000010);
    assert_int_equal(q->marks[0].time_ns, T0 + 1000000000);
    assert_true(q->marks[0].offered == 400);
    assert_int_equal(q->losses[FB_LOSS_NO_SEGMENT], 3);
    assert_int_equal(q->interval_ns, 10101010);
    assert_true(q->ended);
    fb_bank_encode(q, &two);
    assert_int_equal(two.len, one.len);
    assert_memory_equal(two.data, one.data, one.len);
    fb_profile_free(p);
    fb_profile_free(q);
    fb_buf_done(&one);
    fb_buf_done(&two);
}

static fb_frame_id put_java(struct fb_profile *p, enum fb_tier tier, const char *signature,
                            uint32_t line)
{
    struct fb_frame f = {.kind = FB_FRAME_JAVA, .tier = tier, .line = line};

    f.name = fb_strings_put_z(&p->strings, "a.B.c");
    f.signature = fb_strings_put_z(&p->strings, signature);
    return fb_profile_frame_put(p, &f);
}

/* Overloads, tiers and lines of one name are frames of their own, and stay that. */
static void frames_of_one_name_are_told_apart_by_their_facts(void **state)
{
    struct fb_profile *p = build_profile(10), *q;
    fb_frame_id frames[] = {
        put_java(p, FB_TIER_INTERPRETED, "()V", 7), put_java(p, FB_TIER_C1, "()V", 7),
        put_java(p, FB_TIER_C2, "()V", 7),          put_java(p, FB_TIER_C2, "(I)V", 7),
        put_java(p, FB_TIER_C2, "(I)V", 8),         put_java(p, FB_TIER_UNKNOWN, "", 0)};
    struct fb_buf b = {0};
    struct fb_bank_damage damage;

    (void)state;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(frames[i].n, frames[k].n);
    for (size_t i = 0; i < 6; i++)
        fb_profile_sample_add(p, T0, 1, fb_profile_stack_put(p, FB_STACK_ROOT, frames[i]), 1);
    fb_bank_encode(p, &b);
    q = decode(&b, &damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_int_equal(q->frames_count, p->frames_count);
    for (size_t i = 0; i < 6; i++) {
        const struct fb_frame *f = &p->frames[frames[i].n], *g = &q->frames[frames[i].n];

        assert_int_equal(g->tier, f->tier);
        assert_int_equal(g->line, f->line);
        assert_string_equal(fb_profile_text(q, g->signature), fb_profile_text(p, f->signature));
    }
    fb_profile_free(p);
    fb_profile_free(q);
    fb_buf_done(&b);
}

/* Cut anywhere: it reads, or one sentence says why not; no sample is invented; and a cut inside a
 * chunk is a torn tail, not damage. */
static void a_bank_cut_at_any_byte_is_a_torn_tail(void **state)
{
    struct fb_profile *p = build_profile(300), *q;
    struct fb_buf b = {0};
    size_t readable = 0;

    (void)state;
    fb_bank_encode(p, &b);
    for (size_t n = 0; n < b.len; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        struct fb_bank_damage damage;
        struct fb_err err;

        memcpy(copy, b.data, n);
        if (fb_bank_decode(copy, n, "cut", &q, &damage, &err) == FB_OK) {
            readable++;
            assert_false(fb_bank_is_damaged(&damage));
            assert_true(q->samples.count <= 300);
            assert_false(q->ended && damage.torn_bytes > FB_CHUNK_ALIGN);
            fb_profile_free(q);
        } else {
            assert_int_equal(strncmp(err.text, "cut: ", 5), 0);
        }
        free(copy);
    }
    assert_true(readable > b.len / 2);
    fb_profile_free(p);
    fb_buf_done(&b);
}

static void every_flipped_byte_is_noticed(void **state)
{
    struct fb_profile *p = build_profile(300), *q;
    struct fb_buf b = {0};

    (void)state;
    fb_bank_encode(p, &b);
    for (size_t i = 0; i < b.len; i++) {
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            struct fb_bank_damage damage;
            struct fb_err err;

            b.data[i] = (char)(b.data[i] ^ (char)bit);
            if (fb_bank_decode(b.data, b.len, "flip", &q, &damage, &err) == FB_OK) {
                if (!fb_bank_is_damaged(&damage))
                    fail_msg("bit %u of byte %zu was flipped unnoticed", bit, i);
                assert_true(q->samples.count <= 300);
                fb_profile_free(q);
            }
            b.data[i] = (char)(b.data[i] ^ (char)bit);
        }
    }
    fb_profile_free(p);
    fb_buf_done(&b);
}

static void what_is_after_damage_is_still_read(void **state)
{
    struct fb_profile *p = build_profile(200000), *q;
    struct fb_buf b = {0};
    struct fb_bank_damage damage;

    (void)state;
    fb_bank_encode(p, &b);
    b.data[b.len / 2] = (char)(b.data[b.len / 2] ^ 0x40);
    q = decode(&b, &damage);
    assert_true(fb_bank_is_damaged(&damage));
    assert_int_equal(damage.missing_chunks, 1);
    assert_true(q->samples.count >= 100000 && q->samples.count < 200000);
    assert_int_equal(damage.unwritten_samples, 200000 - q->samples.count);
    assert_true(q->ended);
    fb_profile_free(p);
    fb_profile_free(q);
    fb_buf_done(&b);
}

static void a_newer_major_version_is_refused(void **state)
{
    uint8_t bytes[FB_BANK_HEADER_SIZE];
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;

    (void)state;
    fb_bank_header_store(bytes, 1, 1);
    bytes[8] = FB_BANK_MAJOR + 1;
    fb_wire_store_le(bytes + 12, fb_bank_header_crc(bytes), 4);
    assert_int_equal(fb_bank_decode(bytes, sizeof bytes, "new.fbank", &p, &damage, &err),
                     FB_EUNSUPPORTED);
    assert_string_equal(err.text,
                        "new.fbank: is of bank format version 2, this flamebank reads version 1");
}

static void append_chunk(struct fb_buf *b, unsigned type, uint32_t sequence, const void *payload,
                         uint32_t n)
{
    uint32_t table[256];
    uint8_t header[FB_CHUNK_HEADER_SIZE];
    struct fb_chunk_header h = {.type = (uint16_t)type,
                                .run_id = 7,
                                .sequence = sequence,
                                .raw_length = n,
                                .stored_length = n};

    fb_crc32_init(table);
    fb_chunk_header_store(header, &h, payload, table);
    fb_buf_add(b, header, sizeof header);
    fb_buf_add(b, payload, n);
    fb_buf_add(b, "\0\0\0\0\0\0\0", fb_chunk_padding(n));
}

static void an_unknown_chunk_type_is_skipped(void **state)
{
    struct fb_buf b = {0};
    uint8_t header[FB_BANK_HEADER_SIZE];
    struct fb_bank_damage damage;
    struct fb_profile *p;

    (void)state;
    fb_bank_header_store(header, 7, 1);
    fb_buf_add(&b, header, sizeof header);
    append_chunk(&b, 999, 0, "future", 6);
    append_chunk(&b, FB_CHUNK_MANIFEST, 1, "\1\1k\1v", 5);
    p = decode(&b, &damage);
    assert_false(fb_bank_is_damaged(&damage));
    assert_int_equal(damage.unknown_chunks, 1);
    assert_string_equal(fb_profile_manifest_get(p, "k"), "v");
    fb_profile_free(p);
    fb_buf_done(&b);
}

static void a_lost_definition_keeps_its_sample(void **state)
{
    struct fb_buf b = {0};
    uint8_t header[FB_BANK_HEADER_SIZE];
    struct fb_bank_damage damage;
    struct fb_profile *p;

    (void)state;
    fb_bank_header_store(header, 7, 1);
    fb_buf_add(&b, header, sizeof header);
    /* base 0, grain 1, one sample: time 0, thread 0, stack 9, weight 2 */
    append_chunk(&b, FB_CHUNK_SAMPLES, 0, "\0\1\1\0\0\11\2", 7);
    p = decode(&b, &damage);
    assert_int_equal(damage.orphan_samples, 1);
    assert_int_equal(fb_profile_weight(p), 2);
    assert_string_equal(fb_profile_text(p, p->frames[p->stacks[p->samples.stack[0]].frame.n].name),
                        "[lost definition]");
    fb_profile_free(p);
    fb_buf_done(&b);
}

static void an_id_cannot_cost_more_memory_than_its_file(void **state)
{
    struct fb_buf b = {0};
    uint8_t header[FB_BANK_HEADER_SIZE];
    struct fb_bank_damage damage;

    (void)state;
    fb_bank_header_store(header, 7, 1);
    fb_buf_add(&b, header, sizeof header);
    append_chunk(&b, FB_CHUNK_STRINGS, 0, "\xff\xff\xff\xff\x0e\1\1x", 8);
    fb_profile_free(decode(&b, &damage));
    assert_int_equal(damage.bad_payloads, 1);
    fb_buf_done(&b);
}

/* The bank of one sample and one row of one counter. */
static void check_value(int64_t time_ns, uint64_t weight, int64_t counter, bool is_damage)
{
    struct fb_profile *p = build_profile(10), *q;
    struct fb_bank_damage damage;
    struct fb_buf b = {0};

    p->samples.time_ns[9] = time_ns;
    p->samples.weight[9] = weight;
    p->counters.items[0].values[p->counters.rows - 1] = counter;
    fb_bank_encode(p, &b);
    q = decode(&b, &damage);
    assert_int_equal(fb_bank_is_damaged(&damage), is_damage);
    assert_int_equal(q->samples.count, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_in_range(q->samples.weight[i], 1, (uint64_t)1 << 53);
        assert_true(q->samples.time_ns[i] >= -((int64_t)1 << 61));
        assert_true(q->samples.time_ns[i] <= (int64_t)1 << 62);
    }
    fb_profile_free(p);
    fb_profile_free(q);
    fb_buf_done(&b);
}

static void a_value_out_of_range_is_damage_and_keeps_its_sample(void **state)
{
    int64_t most = (int64_t)1 << 62;

    (void)state;
    check_value(T0, 1, 1, false);
    check_value(T0, (uint64_t)1 << 53, most, false);
    check_value(T0, 0, 1, true);
    check_value(T0, UINT64_MAX, 1, true);
    check_value(T0, 1, most + 1, true);
    check_value(T0, 1, -most, true);
    check_value(most + 1000000, 1, 1, true);
    check_value(-most, 1, 1, true);
}

/* Headers of the right run, each of which claims the rest of the file. */
static void looking_for_whole_chunks_is_not_quadratic(void **state)
{
    enum { HEADERS = 60000 };
    struct fb_profile *p = build_profile(10);
    struct fb_bank_damage damage;
    struct fb_buf b = {0};

    (void)state;
    fb_bank_encode(p, &b);
    for (size_t i = 0; i < HEADERS; i++) {
        uint8_t header[FB_CHUNK_HEADER_SIZE] = {0};
        size_t left = (HEADERS - i - 1) * sizeof header + 8;

        fb_wire_store_le(header, FB_CHUNK_SYNC, 4);
        fb_wire_store_le(header + 4, FB_CHUNK_SAMPLES, 2);
        fb_wire_store_le(header + 8, p->run_id, 8);
        fb_wire_store_le(header + 20, left, 4);
        fb_wire_store_le(header + 24, left, 4);
        fb_buf_add(&b, header, sizeof header);
    }
    fb_profile_free(decode(&b, &damage));
    assert_int_equal(damage.skipped_bytes, HEADERS * FB_CHUNK_HEADER_SIZE);
    assert_false(damage.torn_tail);
    fb_profile_free(p);
    fb_buf_done(&b);
}

static void a_mark_is_appended_to_a_bank(void **state)
{
    char path[] = "/tmp/fb-mark-XXXXXX";
    struct fb_profile *p = build_profile(100), *q;
    struct fb_bank_damage damage;
    struct fb_err err;

    (void)state;
    (void)close(mkstemp(path));
    p->ended = false;
    assert_int_equal(fb_bank_write(p, path, &err), FB_OK);
    assert_int_equal(fb_bank_mark(path, "600", T0 + 500000000, 600.5, FB_MARK_WARMUP, &err), FB_OK);
    assert_int_equal(fb_bank_read(path, &q, &damage, &err), FB_OK);
    assert_false(fb_bank_is_damaged(&damage));
    assert_int_equal(q->marks_count, 2);
    assert_string_equal(fb_profile_text(q, q->marks[0].name), "600");
    assert_true(q->marks[0].offered == 600.5);
    assert_int_equal(q->marks[0].flags, FB_MARK_WARMUP);
    fb_profile_free(p);
    fb_profile_free(q);
    (void)unlink(path);
}

/* A steady run of 60 s at 99 Hz on one thread: the stacks of a real server repeat, some rarely. */
static void a_packed_bank_is_small(void **state)
{
    struct fb_profile *p = fb_profile_new();
    struct fb_buf with = {0}, without = {0};
    fb_stack_id stacks[1000];
    uint64_t random = 12345;
    size_t n = 60 * 99;

    (void)state;
    p->run_id = p->writer_id = 1;
    p->has_times = true;
    for (size_t i = 0; i < 1000; i++) {
        fb_stack_id parent = i < 8 ? FB_STACK_ROOT : stacks[i / 8];

        stacks[i] = fb_profile_stack_put(p, parent, put_native(p, 0, 0x1000 + i * 64, ""));
    }
    fb_bank_encode(p, &without);
    for (size_t i = 0; i < n; i++) {
        double u;

        random = random * 6364136223846793005u + 1442695040888963407u;
        u = (double)(random >> 11) / 9007199254740992.0;
        fb_profile_sample_add(p, (int64_t)i * 10101010 + (int64_t)(random >> 42) % 4000000, 1,
                              stacks[(size_t)(1000 * u * u * u)], 1 + (random >> 40) % 10 / 9);
    }
    fb_bank_encode(p, &with);
    print_message("%.2f bytes a sample\n", (double)(with.len - without.len) / (double)n);
    assert_true((double)(with.len - without.len) / (double)n <= 3.5);
    fb_profile_free(p);
    fb_buf_done(&with);
    fb_buf_done(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bank_comes_back_as_it_was),
        cmocka_unit_test(frames_of_one_name_are_told_apart_by_their_facts),
        cmocka_unit_test(a_bank_cut_at_any_byte_is_a_torn_tail),
        cmocka_unit_test(every_flipped_byte_is_noticed),
        cmocka_unit_test(what_is_after_damage_is_still_read),
        cmocka_unit_test(a_newer_major_version_is_refused),
        cmocka_unit_test(an_unknown_chunk_type_is_skipped),
        cmocka_unit_test(a_lost_definition_keeps_its_sample),
        cmocka_unit_test(an_id_cannot_cost_more_memory_than_its_file),
        cmocka_unit_test(a_value_out_of_range_is_damage_and_keeps_its_sample),
        cmocka_unit_test(looking_for_whole_chunks_is_not_quadratic),
        cmocka_unit_test(a_mark_is_appended_to_a_bank),
        cmocka_unit_test(a_packed_bank_is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

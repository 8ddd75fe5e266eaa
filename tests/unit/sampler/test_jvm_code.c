/* test_jvm_code.c - what is at a pc of the code cache, from a cache of our own memory. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/fault.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/real.h"
#include "tests/unit/sampler/fake_code_cache.h"

enum { ROOM = 32 };

static struct sigaction fronts[2];
static uint64_t words[ROOM];
static struct fb_jvm_code code;

static struct fake_method *run, *put, *hash;

static void begin(int release)
{
    fake_cache_begin(release);
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
}

/* A method with two inlined ones at one place. */
static struct fake_blob compiled(uint32_t compile_id)
{
    const struct fake_place places[] = {
        {40, 1, {{run, 7}}},
        {64, 3, {{hash, 3}, {put, 300}, {run, 70000 % 65536}}},
        {200, 2, {{put, -1}, {run, 9}}},
    };

    return fake_nmethod_make(run, 4, compile_id, 6, 12, places, 3);
}

static void expect(unsigned i, enum fb_jvm_frame_kind kind, enum fb_jvm_tier tier, int bci,
                   struct fake_method *method)
{
    assert_true(i < code.word_count);
    assert_int_equal(fb_jvm_word_kind(words[i]), kind);
    assert_int_equal(fb_jvm_word_tier(words[i]), tier);
    assert_int_equal(fb_jvm_word_bci(words[i]), bci);
    assert_int_equal(fb_jvm_word_name(words[i]), fb_jvm_method_name(fake_address(method)));
}

static bool find(uint64_t pc, bool interrupted)
{
    return fb_jvm_code_find(pc, interrupted, words, ROOM, &code);
}

static void inlined_methods_come_innermost_first(int release)
{
    struct fake_blob b;

    begin(release);
    b = compiled(100);
    assert_true(find(b.code + 64, false));
    assert_int_equal(code.kind, FB_JVM_CODE_METHOD);
    assert_int_equal(code.frame_bytes, 48);
    assert_int_equal(code.word_count, 3);
    expect(0, FB_JVM_INLINED, FB_JVM_TIER_C2, 3, hash);
    expect(1, FB_JVM_INLINED, FB_JVM_TIER_C2, 300, put);
    expect(2, FB_JVM_COMPILED, FB_JVM_TIER_C2, 4464, run);
}

static void of_jdk_17(void **ctx)
{
    (void)ctx;
    inlined_methods_come_innermost_first(17);
}

static void of_jdk_25(void **ctx)
{
    (void)ctx;
    inlined_methods_come_innermost_first(25);
}

/* Of an instruction that is about to run the information behind it holds, of a return address its
 * own. */
static void an_interrupted_pc_has_the_next_description(void **ctx)
{
    struct fake_blob b;

    (void)ctx;
    begin(25);
    b = compiled(100);
    assert_true(find(b.code + 40, false));
    assert_int_equal(code.word_count, 1);
    assert_true(find(b.code + 40, true));
    assert_int_equal(code.word_count, 3);
    assert_true(find(b.code + 64, true));
    expect(0, FB_JVM_INLINED, FB_JVM_TIER_C2, FB_JVM_BCI_UNKNOWN, put);
    assert_true(find(b.code + 201, true)); /* behind the last: the method itself */
    expect(0, FB_JVM_COMPILED, FB_JVM_TIER_C2, FB_JVM_BCI_UNKNOWN, run);
}

static void tiers_are_those_of_the_compiler(void **ctx)
{
    const struct fake_place place = {40, 1, {{run, 7}}};

    (void)ctx;
    begin(17);
    for (int level = 1; level <= 4; level++) {
        struct fake_blob b = fake_nmethod_make(run, level, (uint32_t)level, 4, 8, &place, 1);

        assert_true(find(b.code + 40, false));
        expect(0, FB_JVM_COMPILED, (enum fb_jvm_tier)(level + 1), 7, run);
    }
}

static void other_blobs_are_stubs_by_name(void **ctx)
{
    struct fake_blob sized;
    struct fake_blob leaf;

    (void)ctx;
    begin(25);
    sized = fake_blob_make("C1 Runtime new_instance_blob", 10, 4);
    leaf = fake_blob_make("vtable chunks", 0, -1);
    assert_true(find(sized.code + 8, false));
    assert_int_equal(code.kind, FB_JVM_CODE_SIZED);
    assert_int_equal(code.frame_bytes, 80);
    assert_int_equal(fb_jvm_word_kind(words[0]), FB_JVM_STUB);
    assert_true(fake_is_plain(fb_jvm_word_name(words[0]), "C1 Runtime new_instance_blob"));
    assert_true(find(leaf.code + 8, true));
    assert_int_equal(code.kind, FB_JVM_CODE_LEAF);
}

/* Long blobs: the segment map goes back by steps of at most 254. */
static void any_pc_of_a_blob_leads_to_it(void **ctx)
{
    struct fake_blob b;

    (void)ctx;
    begin(17);
    fake_blob_make("first", 4, 0);
    b = compiled(3);
    for (uint64_t at = b.blob; at < b.code + FAKE_CODE; at += 61)
        assert_true(fb_jvm_blob_find(at) == b.blob);
    assert_true(fb_jvm_blob_find(fb_jvm.code_high - 8) == 0); /* free */
    assert_true(fb_jvm_blob_find(fb_jvm.code_low - 8) == 0);
    fake_high = b.blob; /* not committed so far */
    assert_true(fb_jvm_blob_find(b.code) == 0);
}

static void a_deoptimised_return_says_where_the_true_one_is(void **ctx)
{
    (void)ctx;
    for (int release = 17; release <= 25; release += 8) {
        struct fake_blob b;

        begin(release);
        b = compiled(5);
        assert_true(find(b.code + FAKE_CODE - 16, false));
        assert_int_equal(code.original_pc, 8);
        assert_int_equal(code.word_count, 0);
        assert_true(find(b.code + FAKE_CODE - 8, false)); /* of a method handle's call */
        assert_int_equal(code.original_pc, 8);
        assert_true(find(b.code + 64, false));
        assert_int_equal(code.original_pc, -1);
    }
}

/* --- the cache --------------------------------------------------------------- */

static void an_answer_is_kept_while_the_code_is_the_same(void **ctx)
{
    const uint32_t other_id = 101;
    struct fake_blob b;

    (void)ctx;
    begin(25);
    b = compiled(100);
    assert_true(find(b.code + 64, false));
    fake_put_32(b.blob, fb_jvm.layout.blob_frame_size, 8); /* which the cache does not look at */
    assert_true(find(b.code + 64, false));
    assert_int_equal(code.frame_bytes, 48);
    assert_int_equal(code.word_count, 3);
    fake_put_32(b.blob, fb_jvm.layout.nmethod_compile_id, other_id);
    assert_true(find(b.code + 64, false));
    assert_int_equal(code.frame_bytes, 64);
}

static void code_that_was_freed_is_not_found_in_the_cache(void **ctx)
{
    struct fake_blob b;

    (void)ctx;
    begin(25);
    b = compiled(100);
    assert_true(find(b.code + 64, false));
    *(uint8_t *)(uintptr_t)(b.blob - fb_jvm.block_header + 4) = 0;
    assert_false(find(b.code + 64, false));
}

/* --- what cannot be ----------------------------------------------------------- */

static void impossible_debug_information_is_the_method_alone(void **ctx)
{
    struct fake_blob b;

    (void)ctx;
    for (int what = 0; what < 3; what++) {
        begin(17);
        b = compiled(100);
        if (what == 0)
            fake_put_32(b.blob, fb_jvm.layout.nmethod_pcs_end_offset, 0);
        else if (what == 1)
            fake_put_64(b.blob, fb_jvm.layout.nmethod_scopes_begin, 8);
        else
            fake_put_32(b.blob, fb_jvm.layout.nmethod_pcs_end_offset, 0x7fffffff);
        assert_true(find(b.code + 64, false));
        assert_int_equal(code.word_count, 1);
        expect(0, FB_JVM_COMPILED, FB_JVM_TIER_C2, FB_JVM_BCI_UNKNOWN, run);
    }
}

/* Every byte of a compiled method's memory may be anything: there is an answer of bounded size, and
 * loads of what is not there are recovered. */
static void any_bytes_have_an_answer(void **ctx)
{
    uint32_t seed = 1;

    (void)ctx;
    for (int round = 0; round < 20000; round++) {
        struct fake_blob b;

        if (round % 500 == 0)
            begin(round % 1000 == 0 ? 17 : 25);
        fake_next = 0;
        b = compiled((uint32_t)round);
        for (int i = 0; i < 4; i++) {
            seed = seed * 1664525 + 1013904223;
            fake_cache[(b.blob - fb_jvm.code_low - 8 + (seed >> 8) % (FAKE_HEADER + 2200))] =
                (uint8_t)(seed >> 24);
        }
        words[ROOM - 1] = 1;
        if (fb_jvm_code_find(b.code + 64, (round & 1) != 0, words, ROOM - 1, &code))
            assert_true(code.word_count < ROOM);
        assert_true(words[ROOM - 1] == 1);
    }
    assert_true(atomic_load(&fb_guard_faults) > 0);
}

static void loads_that_fail_are_no_answer_or_less_of_one(void **ctx)
{
    static const uint32_t every[] = {1, 2, 3, 7, 10, 100, 1000};
    struct fake_blob b;

    (void)ctx;
    for (unsigned e = 0; e < sizeof every / sizeof every[0]; e++)
        for (int round = 0; round < 300; round++) {
            begin(round % 2 == 0 ? 17 : 25);
            b = compiled(7);
            atomic_store(&fb_guard_inject_every, every[e]);
            if (find(b.code + 64, false)) {
                assert_in_range(code.word_count, 1, 3);
                /* Methods that could be read have their own names. */
                for (unsigned i = 0; i < code.word_count; i++)
                    assert_in_range(fb_jvm_word_name(words[i]), 0, 16);
            }
            atomic_store(&fb_guard_inject_every, 0);
        }
}

static int group_set_up(void **ctx)
{
    (void)ctx;
    fb_real_find();
    fb_fault_start();
    if (!fb_fault_need())
        return -1;
    fb_real.sigaction(SIGSEGV, NULL, &fronts[0]);
    fb_real.sigaction(SIGBUS, NULL, &fronts[1]);
    run = fake_method_make("Main", "run", "()V");
    put = fake_method_make("java/util/HashMap", "put", "(I)V");
    hash = fake_method_make("java/util/HashMap", "hash", "()I");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_jdk_17),
        cmocka_unit_test(of_jdk_25),
        cmocka_unit_test(an_interrupted_pc_has_the_next_description),
        cmocka_unit_test(tiers_are_those_of_the_compiler),
        cmocka_unit_test(other_blobs_are_stubs_by_name),
        cmocka_unit_test(any_pc_of_a_blob_leads_to_it),
        cmocka_unit_test(a_deoptimised_return_says_where_the_true_one_is),
        cmocka_unit_test(an_answer_is_kept_while_the_code_is_the_same),
        cmocka_unit_test(code_that_was_freed_is_not_found_in_the_cache),
        cmocka_unit_test(impossible_debug_information_is_the_method_alone),
        cmocka_unit_test(any_bytes_have_an_answer),
        cmocka_unit_test(loads_that_fail_are_no_answer_or_less_of_one),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}

/* test_jvm_chunk.c - frames of a virtual thread in chunks of our own memory. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/fault.h"
#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/chunk.h"
#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/walker.h"
#include "sampler/real.h"
#include "sampler/signal/cpu.h"
#include "tests/unit/sampler/fake_code_cache.h"

enum {
    HEAP_WORDS = 256,
    CONTINUATION = 4, /* words of the heap */
    FIRST = 16,
    SECOND = 128,
    STACK = 6, /* words of a chunk in front of its frames */
    ROOM = 64,
    FRAME_WORDS = 6,
    STATE_AT = 0, /* in the thread */
    ANCHOR_AT = 8,
    STACK_WORDS = 128,
    TOP_FRAME = 10, /* words of the stack */
    ENTRY = 20,
    CALL_STUB_FP = 60,
    NATIVE_PC = 0x10007,
};

static struct sigaction fronts[2];
static uint64_t heap[HEAP_WORDS];
static uint64_t classes[3][4]; /* of chunks, of continuations, a subclass of the latter */
static uint64_t thread[4];
static uint64_t entry[4];
static uint64_t pcs[ROOM];
static unsigned depth;
static struct fb_jvm_view view;
static struct fb_jvm_chunks_form form;
static struct fake_method *outer, *inner, *interpreted;
static struct fake_blob outer_code, inner_code, interpreter, leaf, barrier;

static uint64_t at(unsigned i)
{
    return fake_address(&heap[i]);
}

static void reference_put(uint64_t address, uint64_t object)
{
    uint32_t packed = (uint32_t)((object - form.oop_base) >> form.oop_shift);

    if (form.narrow_oops)
        fake_put(address, object == 0 ? (const void *)&(uint32_t){0} : (const void *)&packed, 4);
    else
        fake_put(address, &object, 8);
}

static void class_put(unsigned object, unsigned which)
{
    uint64_t class = fake_address(classes[which]);
    uint32_t packed = (uint32_t)((class - form.class_base) >> form.class_shift);

    if (form.narrow_classes)
        fake_put(at(object) + form.class_at, &packed, 4);
    else
        fake_put(at(object) + form.class_at, &class, 8);
}

static void chunk_put(unsigned object, uint64_t parent, uint32_t size, uint32_t sp, uint32_t bottom)
{
    class_put(object, 0);
    reference_put(at(object) + form.parent_at, parent);
    fake_put(at(object) + form.size_at, &size, 4);
    fake_put(at(object) + form.sp_at, &sp, 4);
    fake_put(at(object) + form.bottom_at, &bottom, 4);
}

/* An interpreted frame with its fp at word `fp`; what is told in words is told so. */
static void interpreted_put(unsigned sp, unsigned fp, int caller_words, int locals)
{
    heap[sp - 2] = fp - (sp - 2);
    heap[fp + (unsigned)FB_JVM_INTERPRETER_METHOD] = fake_address(interpreted);
    heap[fp + (unsigned)FB_JVM_INTERPRETER_SENDER_SP] = (uint64_t)(int64_t)caller_words;
    heap[fp + (unsigned)FB_JVM_CPU_BCP] = fake_address(interpreted->constant->code) + 7;
    heap[fp + (unsigned)FB_JVM_CPU_BCP + 1] = (uint64_t)(int64_t)locals;
}

/* The first chunk: a compiled frame, an interpreted one, whose caller gave it three words, and a
 * compiled one at the chunk's end.  The second one: an interpreted frame. */
static void chunks_make(void)
{
    const unsigned base = FIRST + STACK;
    const unsigned frames = base + 20;

    chunk_put(FIRST, at(SECOND), 60, 20, form.has_arguments ? 5 : 55);
    heap[frames - 1] = inner_code.code + 64;
    heap[frames + FRAME_WORDS - 1] = interpreter.code + 512;
    interpreted_put(frames + FRAME_WORDS, frames + FRAME_WORDS + 14, 5, 4);
    heap[frames + FRAME_WORDS + 15] = outer_code.code + 80;
    heap[base + 55 - 1] = 1; /* of the next chunk: not looked at */
    chunk_put(SECOND, 0, 40, 8, form.has_arguments ? 2 : 38);
    heap[SECOND + STACK + 7] = interpreter.code + 512;
    interpreted_put(SECOND + STACK + 8, SECOND + STACK + 30, 9, 8);
}

static void begin(bool narrow, bool has_arguments)
{
    const struct fake_place at_inner[] = {{64, 1, {{inner, 4}}}};
    const struct fake_place at_outer[] = {{80, 2, {{inner, 9}, {outer, 2}}}};

    fake_cache_begin(25);
    outer_code = fake_nmethod_make(outer, 1, 1, 10, 12, at_outer, 1);
    inner_code = fake_nmethod_make(inner, 4, 2, FRAME_WORDS, 12, at_inner, 1);
    interpreter = fake_blob_make("Interpreter", 0, -1);
    leaf = fake_blob_make("StubRoutines (1)", 0, -1);
    fb_jvm.interpreter_low = interpreter.code;
    fb_jvm.interpreter_high = interpreter.code + FAKE_CODE;
    fb_jvm.layout.thread_state = STATE_AT;
    fb_jvm.layout.thread_anchor = ANCHOR_AT;
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
    memset(heap, 0, sizeof heap);
    memset(thread, 0, sizeof thread);
    memset(entry, 0, sizeof entry);
    classes[2][3] = fake_address(classes[1]);
    form = (struct fb_jvm_chunks_form){
        .chunk_class = fake_address(classes[0]),
        .continuation_class = fake_address(classes[1]),
        .oop_base = at(0),
        .class_base = fake_address(classes) - 64,
        .oop_shift = 3,
        .narrow_oops = narrow,
        .narrow_classes = narrow,
        .has_arguments = has_arguments,
        .class_at = 8,
        .super_at = 24,
        .tail_at = 16,
        .parent_at = 32,
        .size_at = 16,
        .sp_at = 20,
        .bottom_at = 24,
        .stack = STACK * 8,
    };
    fb_jvm_chunks_publish(&form);
    thread[0] = FB_JVM_THREAD_IN_JAVA;
    entry[2] = at(CONTINUATION);
    class_put(CONTINUATION, 2);
    reference_put(at(CONTINUATION) + form.tail_at, at(FIRST));
    chunks_make();
    view =
        (struct fb_jvm_view){.thread = fake_address(thread), .continuation = fake_address(entry)};
}

/* --- on a stack ------------------------------------------------------------------ */

static uint64_t stack[STACK_WORDS];
static uint64_t carrier_pc;
static struct fb_jvm_frame f;

static uint64_t word(unsigned i)
{
    return fake_address(&stack[i]);
}

/* A frame returns to the barrier; above it is the entry, which is a frame of the carrier, and the
 * call stub. */
static void begin_on_stack(void)
{
    begin(true, false);
    barrier = fake_blob_make("StubRoutines (continuationstubs)", 0, -1);
    fb_jvm.call_stub_return = leaf.code + 128;
    carrier_pc = inner_code.code + 64;
    fb_jvm.layout.continuation_return_at = fake_address(&carrier_pc);
    memset(stack, 0, sizeof stack);
    stack[TOP_FRAME + FRAME_WORDS - 1] = barrier.code + 8;
    stack[ENTRY + 1] = at(CONTINUATION);
    stack[ENTRY + FRAME_WORDS - 2] = word(CALL_STUB_FP);
    stack[ENTRY + FRAME_WORDS - 1] = fb_jvm.call_stub_return;
    stack[CALL_STUB_FP + 1] = NATIVE_PC;
    view.continuation = word(ENTRY);
    f = (struct fb_jvm_frame){.pc = inner_code.code + 64,
                              .sp = word(TOP_FRAME),
                              .low = word(0),
                              .top = word(STACK_WORDS)};
}

static enum fb_jvm_end walk(void)
{
    depth = 0;
    return fb_jvm_walk(&view, &f, pcs, &depth, ROOM);
}

static void expect_plain(unsigned i, enum fb_jvm_frame_kind kind, const char *name)
{
    assert_true(i < depth);
    assert_int_equal(fb_jvm_word_kind(pcs[i]), kind);
    assert_true(fake_is_plain(fb_jvm_word_name(pcs[i]), name));
}

static bool put(unsigned max)
{
    depth = 1;
    return fb_jvm_chunks_put(&view, pcs, &depth, max);
}

static void expect_frame(unsigned i, enum fb_jvm_frame_kind kind, int bci,
                         struct fake_method *method)
{
    assert_true(i < depth);
    assert_int_equal(fb_jvm_word_kind(pcs[i]), kind);
    assert_int_equal(fb_jvm_word_bci(pcs[i]), bci);
    assert_int_equal(fb_jvm_word_name(pcs[i]), fb_jvm_method_name(fake_address(method)));
}

static void expect_none(void)
{
    assert_false(put(ROOM));
    assert_int_equal(depth, 1);
}

static void frames_of_all_chunks_are_put(void **ctx)
{
    (void)ctx;
    for (unsigned round = 0; round < 4; round++) {
        begin((round & 1) != 0, (round & 2) != 0);
        assert_true(put(ROOM));
        assert_int_equal(depth, 6);
        expect_frame(1, FB_JVM_COMPILED, 4, inner);
        expect_frame(2, FB_JVM_INTERPRETED, 7, interpreted);
        expect_frame(3, FB_JVM_INLINED, 9, inner);
        expect_frame(4, FB_JVM_COMPILED, 2, outer);
        expect_frame(5, FB_JVM_INTERPRETED, 7, interpreted);
    }
}

static void a_chunk_without_frames_is_passed(void **ctx)
{
    (void)ctx;
    begin(true, false);
    chunk_put(FIRST, at(SECOND), 60, 55, 55);
    assert_true(put(ROOM));
    assert_int_equal(depth, 2);
    chunk_put(FIRST, 0, 60, 55, 55);
    expect_none();
}

static void there_may_be_no_more_room(void **ctx)
{
    (void)ctx;
    begin(true, false);
    for (unsigned max = 2; max < 6; max++) {
        assert_true(put(max));
        assert_int_equal(depth, max);
    }
}

static void a_thread_that_may_be_parking_is_left_alone(void **ctx)
{
    (void)ctx;
    begin(true, false);
    thread[1] = 4096; /* the anchor's sp */
    expect_none();
    thread[0] = FB_JVM_THREAD_IN_NATIVE;
    assert_true(put(ROOM));
    thread[0] = FB_JVM_THREAD_IN_NATIVE + 2;
    expect_none();
    begin(true, false);
    view.thread = 0;
    expect_none();
    begin(true, false);
    fb_jvm_chunks_publish(NULL);
    expect_none();
}

static void what_is_no_chunk_is_not_walked(void **ctx)
{
    (void)ctx;
    begin(true, false);
    class_put(CONTINUATION, 0);
    expect_none();
    begin(true, false);
    class_put(SECOND, 1);
    expect_none();
    begin(true, false);
    chunk_put(SECOND, at(SECOND), 40, 8, 38); /* its own parent */
    assert_true(put(ROOM));
    chunk_put(SECOND, at(SECOND), 40, 38, 38);
    expect_none();
    begin(true, false);
    chunk_put(FIRST, at(SECOND), 60, 61, 55);
    expect_none();
    begin(true, false);
    chunk_put(FIRST, at(SECOND), 60, 20, 61);
    expect_none();
}

static void frames_must_fill_their_chunk(void **ctx)
{
    const unsigned frames = FIRST + STACK + 20;

    (void)ctx;
    begin(true, false);
    chunk_put(FIRST, at(SECOND), 60, 20, 54);
    expect_none();
    chunk_put(FIRST, at(SECOND), 60, 20, 56);
    expect_none();
    begin(true, false);
    heap[frames - 1] = leaf.code + 8; /* no frame */
    expect_none();
    heap[frames - 1] = 4096;
    expect_none();
    begin(true, false);
    heap[frames + FRAME_WORDS - 2] = (uint64_t)-3; /* fp below */
    expect_none();
    heap[frames + FRAME_WORDS - 2] = UINT64_C(1) << 40;
    expect_none();
    begin(true, false);
    heap[frames + FRAME_WORDS + 13] = UINT64_MAX; /* the caller's frame below this one */
    expect_none();
}

static void a_walk_takes_the_frames_on_the_heap_in_the_place_of_the_barrier(void **ctx)
{
    (void)ctx;
    begin_on_stack();
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    assert_true(f.pc == NATIVE_PC);
    assert_int_equal(depth, 8);
    expect_frame(0, FB_JVM_COMPILED, 4, inner);
    expect_frame(1, FB_JVM_COMPILED, 4, inner);
    expect_frame(2, FB_JVM_INTERPRETED, 7, interpreted);
    expect_frame(3, FB_JVM_INLINED, 9, inner);
    expect_frame(4, FB_JVM_COMPILED, 2, outer);
    expect_frame(5, FB_JVM_INTERPRETED, 7, interpreted);
    expect_frame(6, FB_JVM_COMPILED, 4, inner); /* the carrier's */
    expect_plain(7, FB_JVM_STUB, "call_stub");
}

static void expect_mark_before_carrier(void)
{
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    assert_int_equal(depth, 5);
    expect_frame(0, FB_JVM_COMPILED, 4, inner);
    expect_plain(1, FB_JVM_STUB, "StubRoutines (continuationstubs)");
    expect_plain(2, FB_JVM_MARK, "[frames of the virtual thread on the heap]");
    expect_frame(3, FB_JVM_COMPILED, 4, inner);
}

static void a_walk_marks_frames_on_the_heap_that_it_cannot_take(void **ctx)
{
    static const uint8_t call[8] = {0xe8, 0xe8, 0xe8, 0xe8, 0xe8, 0xe8, 0xe8, 0xe8};
    static const uint8_t call_arm64[8] = {0, 0, 0, 0, 1, 0, 0, 0x94};

    (void)ctx;
    begin_on_stack();
    view.parks = true;
    expect_mark_before_carrier();
    begin_on_stack();
    stack[ENTRY + 1] = at(FIRST); /* no Continuation */
    expect_mark_before_carrier();
    begin_on_stack(); /* the thread is bringing frames back */
    fake_put(barrier.code, FB_CPU_RETURN_ON_STACK ? call : call_arm64, sizeof call);
    expect_mark_before_carrier();
    begin_on_stack(); /* a copy, which is walked later */
    f.shift = 8 * (uint64_t)(STACK_WORDS / 2);
    memcpy(stack + STACK_WORDS / 2, stack, sizeof stack / 2);
    stack[STACK_WORDS - 3] = NATIVE_PC;
    f.top = word(STACK_WORDS / 2);
    stack[STACK_WORDS / 2 + ENTRY + FRAME_WORDS - 2] = word(STACK_WORDS / 2 - 4);
    expect_mark_before_carrier();
}

/* Where the JVM does not say where entries are, the walk says what it misses, and goes on by the
 * frame's own link. */
static void a_walk_marks_frames_on_the_heap_without_their_entry(void **ctx)
{
    (void)ctx;
    for (int which = 0; which < 2; which++) {
        begin_on_stack();
        if (which == 0)
            view.continuation = 0;
        else
            fb_jvm.layout.continuation_return_at = 0;
        stack[TOP_FRAME + FRAME_WORDS - 2] = word(ENTRY);
        stack[ENTRY] = word(CALL_STUB_FP);
        stack[ENTRY + 1] = fb_jvm.call_stub_return;
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        assert_int_equal(depth, 4);
        expect_plain(1, FB_JVM_STUB, "StubRoutines (continuationstubs)");
        expect_plain(2, FB_JVM_MARK, "[frames of the virtual thread on the heap]");
        expect_plain(3, FB_JVM_STUB, "call_stub");
    }
}

static void the_barrier_says_where_entries_are(void **ctx)
{
    (void)ctx;
#if defined(__x86_64__)
    assert_int_equal(fb_jvm_cpu_barrier_entry(0x5000000538a78b49), 0x538);
    assert_int_equal(fb_jvm_cpu_barrier_entry(0x5000000538a78949), 0);
#else
    assert_int_equal(fb_jvm_cpu_barrier_entry(0x9100011ff942a388), 0x540);
    assert_int_equal(fb_jvm_cpu_barrier_entry(0x9100013ff942a388), 0);
    assert_int_equal(fb_jvm_cpu_barrier_entry(0x9100011ff942a3a8), 0);
#endif
    assert_int_equal(fb_jvm_cpu_barrier_entry(0), 0);
}

/* Any word may be anything: there are frames, or there are none. */
static void any_heap_ends(void **ctx)
{
    uint64_t state = 1;

    (void)ctx;
    for (int i = 0; i < 20000; i++) {
        begin((i & 1) != 0, (i & 2) != 0);
        for (int k = 0; k < 1 + i % 3; k++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            heap[(state >> 33) % HEAP_WORDS] = (state & 4096) != 0 ? state >> 40 & 63
                                               : state & 8192      ? at(FIRST)
                                                                   : state >> 9;
        }
        if (!put(ROOM))
            assert_int_equal(depth, 1);
        assert_in_range(depth, 1, ROOM);
    }
}

static void frames_are_none_where_a_load_fails(void **ctx)
{
    (void)ctx;
    for (int i = 0; i < 500; i++) {
        begin(true, false);
        atomic_store(&fb_guard_inject_every, 20);
        if (!put(ROOM))
            assert_int_equal(depth, 1);
        atomic_store(&fb_guard_inject_every, 0);
    }
    assert_true(atomic_load(&fb_guard_injected) > 0);
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
    outer = fake_method_make("Main", "outer", "()V");
    inner = fake_method_make("Main", "inner", "()V");
    interpreted = fake_method_make("Main", "interpreted", "()V");
    interpreted->constant->code_size = 40;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_all_chunks_are_put),
        cmocka_unit_test(a_chunk_without_frames_is_passed),
        cmocka_unit_test(there_may_be_no_more_room),
        cmocka_unit_test(a_thread_that_may_be_parking_is_left_alone),
        cmocka_unit_test(what_is_no_chunk_is_not_walked),
        cmocka_unit_test(frames_must_fill_their_chunk),
        cmocka_unit_test(a_walk_takes_the_frames_on_the_heap_in_the_place_of_the_barrier),
        cmocka_unit_test(a_walk_marks_frames_on_the_heap_that_it_cannot_take),
        cmocka_unit_test(a_walk_marks_frames_on_the_heap_without_their_entry),
        cmocka_unit_test(the_barrier_says_where_entries_are),
        cmocka_unit_test(any_heap_ends),
        cmocka_unit_test(frames_are_none_where_a_load_fails),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}

/* test_jvm_walker.c - frames of the JVM on a stack of our own memory, left one after the other. */
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
#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/memo.h"
#include "sampler/jvm/signal/walker.h"
#include "sampler/real.h"
#include "tests/unit/sampler/fake_code_cache.h"

enum { STACK_WORDS = 512, ROOM = 64, FRAME_WORDS = 6, NATIVE_PC = 0x10007 };

static struct sigaction fronts[2];
static uint64_t stack[STACK_WORDS];
static uint64_t pcs[ROOM];
static unsigned depth;
static struct fb_jvm_frame f;
static struct fb_jvm_view view;
static mcontext_t regs;

static struct fake_method *outer, *inner, *interpreted;
static struct fake_blob outer_code, inner_code, interpreter, call_stub, barrier;

/* --- the machine ---------------------------------------------------------------- */

#if defined(__x86_64__)
static const uint8_t call_bytes[] = {0xe8, 1, 2, 3, 4};
static const bool return_on_stack = true;

static void registers_set(uint64_t pc, uint64_t sp, uint64_t fp)
{
    regs.gregs[REG_RIP] = (greg_t)pc;
    regs.gregs[REG_RSP] = (greg_t)sp;
    regs.gregs[REG_RBP] = (greg_t)fp;
}
#else
static const uint8_t call_bytes[] = {1, 0, 0, 0x94};
static const bool return_on_stack = false;

static void registers_set(uint64_t pc, uint64_t sp, uint64_t fp)
{
    regs.pc = pc;
    regs.sp = sp;
    regs.regs[29] = fp;
}
#endif

static uint64_t word(unsigned i)
{
    return fake_address(&stack[i]);
}

/* A return address in the blob, behind a call. */
static uint64_t returns_to(const struct fake_blob *b, uint32_t offset)
{
    fake_put(b->code + offset - sizeof call_bytes, call_bytes, sizeof call_bytes);
    return b->code + offset;
}

static void begin(int release)
{
    const struct fake_place at_inner[] = {{64, 1, {{inner, 4}}}};
    const struct fake_place at_outer[] = {{80, 2, {{inner, 9}, {outer, 2}}}};

    fake_cache_begin(release);
    outer_code = fake_nmethod_make(outer, 1, 1, FRAME_WORDS, 12, at_outer, 1);
    inner_code = fake_nmethod_make(inner, 4, 2, FRAME_WORDS, 12, at_inner, 1);
    interpreter = fake_blob_make("Interpreter", 0, -1);
    call_stub = fake_blob_make("StubRoutines (1)", 0, -1);
    barrier = fake_blob_make("StubRoutines (continuationstubs)", 0, -1);
    fb_jvm.interpreter_low = interpreter.code;
    fb_jvm.interpreter_high = interpreter.code + FAKE_CODE;
    fb_jvm.entries_low = interpreter.code;
    fb_jvm.entries_high = interpreter.code + 256;
    fb_jvm.call_stub_return = returns_to(&call_stub, 128);
    memset(stack, 0, sizeof stack);
    memset(&view, 0, sizeof view);
    memset(&regs, 0, sizeof regs);
    fb_real.sigaction(SIGSEGV, &fronts[0], NULL);
    fb_real.sigaction(SIGBUS, &fronts[1], NULL);
    f = (struct fb_jvm_frame){.low = word(0), .top = word(STACK_WORDS)};
}

static void at(uint64_t pc, unsigned sp, uint64_t fp, bool interrupted)
{
    f.pc = pc;
    f.sp = word(sp);
    f.fp = fp;
    f.fp_known = true;
    f.regs = NULL;
    if (!interrupted)
        return;
    registers_set(pc, f.sp, fp);
    f.regs = &regs;
}

static enum fb_jvm_end walk(void)
{
    depth = 0;
    return fb_jvm_walk(&view, &f, pcs, &depth, ROOM);
}

static void expect_frame(unsigned i, enum fb_jvm_frame_kind kind, int bci,
                         struct fake_method *method)
{
    assert_true(i < depth);
    assert_int_equal(fb_jvm_word_kind(pcs[i]), kind);
    assert_int_equal(fb_jvm_word_bci(pcs[i]), bci);
    assert_int_equal(fb_jvm_word_name(pcs[i]), fb_jvm_method_name(fake_address(method)));
}

static void expect_plain(unsigned i, enum fb_jvm_frame_kind kind, const char *name)
{
    assert_true(i < depth);
    assert_int_equal(fb_jvm_word_kind(pcs[i]), kind);
    assert_true(fake_is_plain(fb_jvm_word_name(pcs[i]), name));
}

/* What the tests below start from, from word `at` on: {caller's fp, return address} of the frame
 * below, whose caller is outer's compiled frame; that is called by the call stub, and it by native
 * code. */
static uint64_t call_stub_fp;

static void outer_frame_put(unsigned i)
{
    unsigned end = i + FRAME_WORDS;

    stack[end - 1] = fb_jvm.call_stub_return;
    stack[end - 2] = word(end + 20);
    call_stub_fp = word(end + 20);
    stack[end + 14] = word(end + 40); /* the wrapper */
    stack[end + 20] = 0x77;
    stack[end + 21] = NATIVE_PC;
}

static void expect_outer_and_native(unsigned i)
{
    expect_frame(i, FB_JVM_INLINED, 9, inner);
    expect_frame(i + 1, FB_JVM_COMPILED, 2, outer);
    expect_plain(i + 2, FB_JVM_STUB, "call_stub");
    assert_int_equal(depth, i + 3);
    assert_true(f.pc == NATIVE_PC);
    assert_true(f.sp == call_stub_fp + 16);
    assert_true(f.fp == 0x77 && f.fp_known);
}

/* --- frames that stand ---------------------------------------------------------- */

static void compiled_frames_are_left_by_their_size(void **ctx)
{
    (void)ctx;
    for (int release = 17; release <= 25; release += 8) {
        begin(release);
        stack[10 + FRAME_WORDS - 1] = returns_to(&outer_code, 80);
        outer_frame_put(10 + FRAME_WORDS);
        at(inner_code.code + 64, 10, 1, false);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_frame(0, FB_JVM_COMPILED, 4, inner);
        expect_outer_and_native(1);
    }
}

/* An interpreted frame at fp = word i, whose caller is at word `sender`. */
static void interpreted_frame_put(unsigned i, unsigned sender, uint64_t fp, uint64_t pc, int bci)
{
    interpreted->constant->code_size = 40;
    stack[i] = fp;
    stack[i + 1] = pc;
    stack[(int)i + FB_JVM_INTERPRETER_SENDER_SP] = word(sender);
    stack[(int)i + FB_JVM_INTERPRETER_METHOD] = fake_address(interpreted);
    stack[(int)i + FB_JVM_CPU_BCP] = fake_address(interpreted->constant->code) + (uint64_t)bci;
}

static void interpreted_frames_are_left_by_fp(void **ctx)
{
    (void)ctx;
    begin(17);
    interpreted_frame_put(30, 36, 5, returns_to(&outer_code, 80), 17);
    outer_frame_put(36);
    at(interpreter.code + 400, 10, word(30), false);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_frame(0, FB_JVM_INTERPRETED, 17, interpreted);
    expect_outer_and_native(1);
}

/* As of a class that was unloaded before a copy of the stack is walked. */
static void an_interpreted_frame_whose_method_is_gone_is_left(void **ctx)
{
    const uint64_t gone[] = {0, 0x1238, UINT64_MAX, 0x7000000000000000};

    (void)ctx;
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        begin(25);
        interpreted_frame_put(30, 36, word(58), returns_to(&outer_code, 80), 17);
        stack[30 + FB_JVM_INTERPRETER_METHOD] = gone[i];
        outer_frame_put(36);
        at(interpreter.code + 400, 10, word(30), false);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        assert_true(pcs[0] == interpreter.code + 400);
        expect_outer_and_native(1);
        /* If it does not return to Java, or does not stand, it is none. */
        stack[31] = outer_code.code + 97;
        at(interpreter.code + 400, 10, word(30), false);
        assert_int_equal(walk(), FB_JVM_END_LOST);
        stack[31] = returns_to(&outer_code, 80);
        at(interpreter.code + 400, 10, word(30), true);
        assert_int_equal(walk(), FB_JVM_END_LOST);
    }
}

/* Memory of methods is used again when classes were unloaded, and at no other time. */
static void a_name_is_kept_until_classes_are_unloaded(void **ctx)
{
    static _Alignas(64) uint8_t slots[FB_JVM_MEMO_BYTES];
    struct fake_symbol *was = interpreted->constant->pool->slots[3];
    uint32_t first = 0;

    (void)ctx;
    memset(slots, 0, sizeof slots);
    for (uint64_t unloads = 5; unloads <= 7; unloads++) {
        if (unloads == 5)
            begin(17);
        fb_jvm.memo = slots;
        view.unloads = unloads < 7 ? 5 : 6;
        interpreted_frame_put(30, 36, 5, returns_to(&outer_code, 80), 17);
        outer_frame_put(36);
        at(interpreter.code + 400, 10, word(30), false);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        if (unloads == 5)
            first = fb_jvm_word_name(pcs[0]);
        assert_true((fb_jvm_word_name(pcs[0]) == first) == (unloads < 7));
        interpreted->constant->pool->slots[3] = inner->constant->pool->slots[3];
    }
    interpreted->constant->pool->slots[3] = was;
}

static void the_call_stub_says_where_java_was_left_before(void **ctx)
{
    (void)ctx;
    begin(25);
    outer_frame_put(10);
    stack[10 + FRAME_WORDS + 44] = word(200); /* the wrapper's anchor */
    stack[10 + FRAME_WORDS + 45] = inner_code.code + 64;
    stack[10 + FRAME_WORDS + 46] = word(300);
    at(returns_to(&outer_code, 80), 10, 1, false);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_outer_and_native(0);
    assert_true(view.anchor_sp == word(200));
    assert_true(fb_jvm_anchor_take(&view, &f, pcs, &depth, ROOM));
    expect_plain(depth - 1, FB_JVM_MARK, "[native frames are missing]");
    assert_true(f.pc == inner_code.code + 64 && f.sp == word(200) && f.fp == word(300));
    assert_false(fb_jvm_anchor_take(&view, &f, pcs, &depth, ROOM)); /* once */
}

static void an_anchor_below_or_off_the_stack_is_none(void **ctx)
{
    const uint64_t bad[] = {0, word(5), word(STACK_WORDS), word(STACK_WORDS) + 800, word(50) + 4};

    (void)ctx;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin(17);
        at(NATIVE_PC, 10, 1, false);
        view.anchor_sp = bad[i];
        view.anchor_pc = inner_code.code + 64;
        assert_false(fb_jvm_anchor_take(&view, &f, pcs, &depth, ROOM));
    }
}

static void a_deoptimised_frame_keeps_its_pc(void **ctx)
{
    (void)ctx;
    begin(17);
    outer_frame_put(10);
    stack[11] = outer_code.code + 80; /* original_pc_offset is 8 */
    at(outer_code.code + FAKE_CODE - 16, 10, 1, false);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_outer_and_native(0);
}

/* Its frame is being replaced: what it was, and who called it. */
static void a_frame_that_is_taken_apart_is_known_from_the_jvm(void **ctx)
{
    struct fake_blob blob;

    (void)ctx;
    begin(25);
    blob = fake_blob_make("DeoptimizationBlob", 20, 0);
    outer_frame_put(60);
    view.taken_pc = inner_code.code + 64;
    view.caller_sp = word(60);
    view.caller_pc = outer_code.code + 80;
    view.caller_fp = 1;
    at(blob.code + 90, 10, 1, true);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_plain(0, FB_JVM_STUB, "DeoptimizationBlob");
    expect_frame(1, FB_JVM_COMPILED, 4, inner);
    expect_outer_and_native(2);
}

static void frames_on_the_heap_are_passed_over(void **ctx)
{
    uint64_t carrier;

    (void)ctx;
    begin(25);
    carrier = outer_code.code + 80;
    fb_jvm.layout.continuation_return_at = fake_address(&carrier);
    outer_frame_put(60);
    view.continuation = word(60);
    stack[10 + FRAME_WORDS - 1] = barrier.code;
    at(inner_code.code + 64, 10, 1, false);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_frame(0, FB_JVM_COMPILED, 4, inner);
    expect_plain(1, FB_JVM_STUB, "StubRoutines (continuationstubs)");
    expect_plain(2, FB_JVM_MARK, "[frames of the virtual thread on the heap]");
    expect_outer_and_native(3);
}

/* --- frames that are interrupted ----------------------------------------------------- */

/* A stub without a frame of known size has its return address at sp, below fp, or somewhere. */
static void stubs_are_left_where_a_return_address_is(void **ctx)
{
    struct fake_blob leaf;

    (void)ctx;
    begin(17);
    leaf = fake_blob_make("StubRoutines (2)", 0, -1);
    outer_frame_put(60);
    if (return_on_stack) {
        stack[59] = returns_to(&outer_code, 80);
        at(leaf.code + 200, 59, 1, true);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_plain(0, FB_JVM_STUB, "StubRoutines (2)");
        expect_outer_and_native(1);
        at(leaf.code + 200, 50, 1, true); /* pushed more */
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_outer_and_native(1);
    }
    stack[58] = 1;
    stack[59] = returns_to(&outer_code, 80);
    at(leaf.code + 200, 40, word(58), true);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_outer_and_native(1);
}

static void what_leads_nowhere_is_lost(void **ctx)
{
    (void)ctx;
    begin(25);
    at(inner_code.code + 64, 10, 1, false); /* its caller is at 0 */
    assert_int_equal(walk(), FB_JVM_END_LOST);
    expect_frame(0, FB_JVM_COMPILED, 4, inner);
    at(interpreter.code + 400, 10, 24, false);
    assert_int_equal(walk(), FB_JVM_END_LOST);
    assert_int_equal(depth, 1);
    assert_true(pcs[0] == interpreter.code + 400);
    at(inner_code.code + 64, 10, 1, false);
    f.sp = f.top;
    assert_int_equal(walk(), FB_JVM_END_LOST);
}

static void more_frames_than_room_end_the_walk(void **ctx)
{
    (void)ctx;
    begin(25);
    for (unsigned i = 0; i + FRAME_WORDS < STACK_WORDS; i += FRAME_WORDS)
        stack[i + FRAME_WORDS - 1] = inner_code.code + 64;
    at(inner_code.code + 64, 0, 1, false);
    assert_int_equal(walk(), FB_JVM_END_DEPTH);
    assert_int_equal(depth, ROOM);
}

/* Kept: the words are elsewhere than their addresses. */
static void a_copy_of_the_stack_is_walked_the_same(void **ctx)
{
    static uint64_t copy[STACK_WORDS];

    (void)ctx;
    begin(17);
    outer_frame_put(10);
    memcpy(copy, stack, sizeof copy);
    memset(stack, 0xee, sizeof stack);
    at(returns_to(&outer_code, 80), 10, 1, false);
    f.shift = fake_address(copy) - word(0);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_outer_and_native(0);
}

#if defined(__x86_64__)
/* Each instruction of a prologue, interrupted. */
static void prologues_are_followed_by_instruction(void **ctx)
{
    static const uint8_t prologue[] = {
        0x89, 0x84, 0x24, 0,    0xc0, 0xfe, 0xff,    /* mov [rsp - n], eax */
        0x55,                                        /* push rbp           */
        0x48, 0x83, 0xec, 0x20,                      /* sub rsp, 32        */
        0x41, 0x81, 0x7f, 0x20, 1,    0,    0,    0, /* cmp [r15 + 32], 1  */
    };
    static const struct {
        unsigned pc;
        unsigned sp; /* words below the return address */
    } steps[] = {{0, 0}, {7, 0}, {8, 1}, {12, 5}};

    (void)ctx;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct fake_blob b;

        begin(25);
        b = fake_nmethod_make(inner, 4, 9, FRAME_WORDS, 20, NULL, 0);
        fake_put(b.code, prologue, sizeof prologue);
        stack[59] = returns_to(&outer_code, 80);
        stack[58] = 1;
        outer_frame_put(60);
        at(b.code + steps[i].pc, 59 - steps[i].sp, 1, true);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_frame(0, FB_JVM_COMPILED, FB_JVM_BCI_UNKNOWN, inner);
        expect_outer_and_native(1);
    }
}

static void epilogues_are_followed_by_instruction(void **ctx)
{
    static const uint8_t epilogue[] = {
        0x48, 0x83, 0xc4, 0x20,             /* add rsp, 32     */
        0x5d,                               /* pop rbp         */
        0x49, 0x3b, 0xa7, 0x50, 4, 0, 0,    /* cmp rsp, [r15]  */
        0x0f, 0x87, 1,    2,    3, 4, 0xc3, /* ja; ret         */
    };
    static const struct {
        unsigned pc;
        unsigned sp;
    } steps[] = {{0, 5}, {4, 1}, {5, 0}, {12, 0}, {18, 0}};

    (void)ctx;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        begin(17);
        fake_put(inner_code.code + 200, epilogue, sizeof epilogue);
        stack[59] = returns_to(&outer_code, 80);
        stack[58] = 1;
        /* What is there when the frame is taken for whole: not the caller. */
        stack[59 - steps[i].sp + FRAME_WORDS - 1] = i > 0 ? returns_to(&inner_code, 64) : stack[59];
        outer_frame_put(60);
        at(inner_code.code + 200 + steps[i].pc, 59 - steps[i].sp, 1, true);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_outer_and_native(1);
    }
}

/* C1: push; push; call; pop; pop. */
static void arguments_on_top_of_a_frame_are_counted(void **ctx)
{
    static const uint8_t calls[] = {0x57, 0x53, 0xe8, 1, 2, 3, 4, 0x5f, 0x5b};
    static const struct {
        unsigned pc;
        unsigned pushed;
        bool interrupted;
    } steps[] = {{0, 0, true},  {1, 1, true}, {2, 2, true},
                 {7, 2, false}, {7, 2, true}, {8, 1, true}};

    (void)ctx;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        begin(25);
        fake_put(inner_code.code + 100, calls, sizeof calls);
        stack[59] = returns_to(&outer_code, 80);
        outer_frame_put(60);
        at(inner_code.code + 100 + steps[i].pc, 60 - FRAME_WORDS - steps[i].pushed, 1,
           steps[i].interrupted);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_outer_and_native(1);
    }
}

/* Where a method begins its frame is not there: it is in a register, its caller's address at sp or
 * in another. */
static void entries_of_the_interpreter_are_the_method_that_begins(void **ctx)
{
    (void)ctx;
    for (int taken = 0; taken <= 1; taken++) {
        begin(17);
        outer_frame_put(60);
        regs.gregs[REG_RBX] = (greg_t)fake_address(interpreted);
        regs.gregs[REG_R13] = (greg_t)word(60);
        regs.gregs[REG_RAX] = (greg_t)(taken ? returns_to(&outer_code, 80) : 7);
        stack[59] = taken ? 0 : returns_to(&outer_code, 80);
        at(interpreter.code + 60, 59, 1, true);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_frame(0, FB_JVM_INTERPRETED, 0, interpreted);
        expect_outer_and_native(1);
    }
}

static void the_interpreter_has_its_bytecode_in_a_register(void **ctx)
{
    (void)ctx;
    begin(17);
    interpreted_frame_put(30, 36, 5, returns_to(&outer_code, 80), 17);
    outer_frame_put(36);
    regs.gregs[REG_R13] = (greg_t)fake_address(interpreted->constant->code) + 21;
    at(interpreter.code + 400, 10, word(30), true);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_frame(0, FB_JVM_INTERPRETED, 21, interpreted);
    expect_outer_and_native(1);
}
#endif

#if defined(__aarch64__)
static void words_put(uint64_t to, const uint32_t *code, size_t count)
{
    fake_put(to, code, 4 * count);
}

/* Short frames: sub sp; stp.  Long ones: stp with pre-index; sub sp. */
static void prologues_are_followed_by_instruction(void **ctx)
{
    static const uint32_t shorter[] = {0xd503201f, 0xd100c3ff, 0xa9027bfd, 0xf9400388};
    static const uint32_t longer[] = {0xd503201f, 0xa9bf7bfd, 0xd10083ff, 0xf9400388};
    static const struct {
        const uint32_t *code;
        unsigned step;
        unsigned sp; /* words below the caller's */
        bool saved;
    } steps[] = {{shorter, 0, 0, false}, {shorter, 1, 0, false}, {shorter, 2, 6, false},
                 {shorter, 3, 6, true},  {longer, 1, 0, false},  {longer, 2, 2, true},
                 {longer, 3, 6, true}};

    (void)ctx;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct fake_blob b;

        begin(25);
        b = fake_nmethod_make(inner, 4, 9, FRAME_WORDS, 16, NULL, 0);
        words_put(b.code, steps[i].code, 4);
        regs.regs[30] = returns_to(&outer_code, 80);
        stack[59] = steps[i].saved ? regs.regs[30] : 0;
        stack[58] = 1;
        if (steps[i].saved)
            regs.regs[30] = 0;
        outer_frame_put(60);
        at(b.code + 4 * steps[i].step, 60 - steps[i].sp, 1, true);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_outer_and_native(1);
    }
}

static void epilogues_are_followed_by_instruction(void **ctx)
{
    static const uint32_t epilogue[] = {0xa9427bfd, 0x9100c3ff, 0xf9402788,
                                        0xeb2863ff, 0x54000068, 0xd65f03c0};
    static const unsigned sp[] = {6, 6, 0, 0, 0, 0};

    (void)ctx;
    for (unsigned i = 0; i < 6; i++) {
        begin(17);
        words_put(inner_code.code + 200, epilogue, 6);
        regs.regs[30] = i == 0 ? 0 : returns_to(&outer_code, 80);
        stack[59] = i == 0 ? returns_to(&outer_code, 80) : 0;
        outer_frame_put(60);
        at(inner_code.code + 200 + 4 * i, 60 - sp[i], 1, true);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_outer_and_native(1);
    }
}

/* C1: stp with pre-index; bl; ldp with post-index. */
static void arguments_on_top_of_a_frame_are_counted(void **ctx)
{
    static const uint32_t calls[] = {0xa9bf07e0, 0x94000001, 0xa8c107e0};
    static const unsigned pushed[] = {0, 2, 2};

    (void)ctx;
    for (unsigned i = 0; i < 3; i++) {
        begin(25);
        words_put(inner_code.code + 100, calls, 3);
        stack[59] = returns_to(&outer_code, 80);
        outer_frame_put(60);
        at(inner_code.code + 100 + 4 * i, 60 - FRAME_WORDS - pushed[i], 1, i < 2);
        assert_int_equal(walk(), FB_JVM_END_NATIVE);
        expect_outer_and_native(1);
    }
}

static void entries_of_the_interpreter_are_the_method_that_begins(void **ctx)
{
    (void)ctx;
    begin(17);
    outer_frame_put(60);
    regs.regs[12] = fake_address(interpreted);
    regs.regs[19] = word(60);
    regs.regs[30] = returns_to(&outer_code, 80);
    at(interpreter.code + 60, 58, 1, true);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_frame(0, FB_JVM_INTERPRETED, 0, interpreted);
    expect_outer_and_native(1);
}

static void the_interpreter_has_its_bytecode_in_a_register(void **ctx)
{
    (void)ctx;
    begin(17);
    interpreted_frame_put(30, 36, 5, returns_to(&outer_code, 80), 17);
    outer_frame_put(36);
    regs.regs[22] = fake_address(interpreted->constant->code) + 21;
    at(interpreter.code + 400, 10, word(30), true);
    assert_int_equal(walk(), FB_JVM_END_NATIVE);
    expect_frame(0, FB_JVM_INTERPRETED, 21, interpreted);
    expect_outer_and_native(1);
}
#endif

/* --- anything ---------------------------------------------------------------------- */

static uint32_t seed = 1;

static uint32_t random_number(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* Stacks of words that are good in some place: none leads out of bounds. */
static void any_stack_ends(void **ctx)
{
    (void)ctx;
    begin(25);
    for (int round = 0; round < 20000; round++) {
        const uint64_t words[] = {0,
                                  1,
                                  word(random_number() % STACK_WORDS),
                                  word(random_number() % STACK_WORDS),
                                  returns_to(&outer_code, 80),
                                  returns_to(&inner_code, 64),
                                  fb_jvm.call_stub_return,
                                  interpreter.code + random_number() % 600,
                                  barrier.code,
                                  fake_address(interpreted),
                                  UINT64_MAX,
                                  fake_address(interpreted->constant->code) + 3};
        unsigned count = sizeof words / sizeof words[0];

        for (unsigned i = 0; i < STACK_WORDS; i++)
            stack[i] = words[random_number() % count];
        memset(&regs, (int)random_number(), sizeof regs);
        view = (struct fb_jvm_view){.continuation = words[random_number() % count],
                                    .anchor_sp = words[random_number() % count],
                                    .caller_sp = round % 5 == 0 ? words[2] : 0,
                                    .caller_pc = words[4]};
        at(words[4 + random_number() % 5], random_number() % STACK_WORDS,
           words[random_number() % count], random_number() % 2 == 0);
        walk();
        assert_true(depth <= ROOM);
        assert_true(f.sp >= word(0) && f.sp <= word(STACK_WORDS) + 64);
    }
}

static void a_walk_with_failing_loads_ends_sooner(void **ctx)
{
    static const uint32_t every[] = {1, 3, 10, 100, 1000};

    (void)ctx;
    for (unsigned e = 0; e < sizeof every / sizeof every[0]; e++)
        for (int round = 0; round < 500; round++) {
            begin(round % 2 == 0 ? 17 : 25);
            stack[10 + FRAME_WORDS - 1] = returns_to(&outer_code, 80);
            outer_frame_put(10 + FRAME_WORDS);
            at(inner_code.code + 64, 10, 1, false);
            atomic_store(&fb_guard_inject_every, every[e]);
            walk();
            atomic_store(&fb_guard_inject_every, 0);
            assert_in_range(depth, 1, 5);
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
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_frames_are_left_by_their_size),
        cmocka_unit_test(interpreted_frames_are_left_by_fp),
        cmocka_unit_test(an_interpreted_frame_whose_method_is_gone_is_left),
        cmocka_unit_test(a_name_is_kept_until_classes_are_unloaded),
        cmocka_unit_test(the_call_stub_says_where_java_was_left_before),
        cmocka_unit_test(an_anchor_below_or_off_the_stack_is_none),
        cmocka_unit_test(a_deoptimised_frame_keeps_its_pc),
        cmocka_unit_test(a_frame_that_is_taken_apart_is_known_from_the_jvm),
        cmocka_unit_test(frames_on_the_heap_are_passed_over),
        cmocka_unit_test(stubs_are_left_where_a_return_address_is),
        cmocka_unit_test(what_leads_nowhere_is_lost),
        cmocka_unit_test(more_frames_than_room_end_the_walk),
        cmocka_unit_test(a_copy_of_the_stack_is_walked_the_same),
        cmocka_unit_test(prologues_are_followed_by_instruction),
        cmocka_unit_test(epilogues_are_followed_by_instruction),
        cmocka_unit_test(arguments_on_top_of_a_frame_are_counted),
        cmocka_unit_test(entries_of_the_interpreter_are_the_method_that_begins),
        cmocka_unit_test(the_interpreter_has_its_bytecode_in_a_register),
        cmocka_unit_test(any_stack_ends),
        cmocka_unit_test(a_walk_with_failing_loads_ends_sooner),
    };

    return cmocka_run_group_tests(tests, group_set_up, NULL);
}

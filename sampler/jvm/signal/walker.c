/* walker.c - leaves one frame of the JVM after the other.  See walker.h. */
#include "sampler/jvm/signal/walker.h"

#include <stddef.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/chunk.h"
#include "sampler/jvm/signal/code.h"
#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/memo.h"
#include "sampler/jvm/signal/names.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/signal/cpu.h"

#include "sampler/signal/sigsafe.h"

enum {
    STEPS_MAX = 2048,
    STUB_FRAME_MAX = 4096,   /* bytes between sp and fp of a stub */
    STUB_SEARCH = 40,        /* words in which a stub's return address is looked for */
    EXTENSION_MAX = 1 << 20, /* bytes by which adapters move sp */
};

/* A caller to be checked. */
struct caller {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    bool fp_known;
};

/* --- the stack ------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
__attribute__((noinline, no_sanitize("address", "thread")))
#else
__attribute__((always_inline)) inline
#endif
static uint64_t
word_at(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* A word of the stack at or above the frame. */
static bool load(const struct fb_jvm_frame *f, uint64_t address, uint64_t *ret_word)
{
    if (address < f->sp || address < f->low || address >= f->top || f->top - address < 8 ||
        (address & 7) != 0)
        return false;
    *ret_word = word_at(address + f->shift);
    return true;
}

static uint64_t words_from(uint64_t base, int words)
{
    return base + (uint64_t)(int64_t)(8 * words);
}

static void put(uint64_t *pcs, unsigned *depth, unsigned max, uint64_t word)
{
    if (*depth < max)
        pcs[(*depth)++] = word;
}

static void put_plain(uint64_t *pcs, unsigned *depth, unsigned max, enum fb_jvm_frame_kind kind,
                      const char *text)
{
    put(pcs, depth, max,
        fb_jvm_word(kind, FB_JVM_TIER_UNKNOWN, FB_JVM_BCI_UNKNOWN, fb_jvm_memo_plain(text)));
}

/* --- is it a return address? ----------------------------------------------------- */

static bool follows_call(uint64_t pc)
{
    uint64_t code;

    return fb_jvm_read_64(pc - 8, &code) && fb_cpu_is_call(code);
}

/* In the JVM's code: behind a call, or where the interpreter has itself returned to. */
static bool is_java_return(uint64_t pc)
{
    uint64_t blob;

    if (pc == fb_jvm.call_stub_return || fb_jvm_interprets(pc))
        return true;
    if (!fb_jvm_covers(pc))
        return false;
    blob = fb_jvm_blob_find(pc);
    return blob != 0 && (follows_call(pc) || fb_jvm_blob_is_barrier(blob));
}

static bool is_native_return(const struct fb_jvm_frame *f, uint64_t pc)
{
    return !fb_jvm_covers(pc) && f->map != NULL && fb_code_map_find(f->map, pc - 1) != NULL &&
           follows_call(pc);
}

static bool is_return(const struct fb_jvm_frame *f, uint64_t pc)
{
    return is_java_return(pc) || is_native_return(f, pc);
}

/* f becomes its caller, if that lies above. */
static bool leave_to(struct fb_jvm_frame *f, const struct caller *c)
{
    bool leaf = f->regs != NULL && !FB_CPU_RETURN_ON_STACK;

    if (c->sp < f->sp || (c->sp == f->sp && !leaf) || c->sp > f->top || (c->sp & 7) != 0 ||
        c->pc < 4096)
        return false;
    f->pc = c->pc;
    f->sp = c->sp;
    f->fp = c->fp;
    f->fp_known = c->fp_known;
    f->regs = NULL;
    return true;
}

/* --- frames of known form -------------------------------------------------------- */

static bool caller_by_state(const struct fb_jvm_frame *f, enum fb_jvm_cpu_state state,
                            uint64_t frame_bytes, struct caller *ret)
{
    uint64_t end = f->sp + frame_bytes;

    *ret = (struct caller){.sp = end, .fp = f->fp, .fp_known = f->fp_known};
    switch (state) {
    case FB_JVM_FRAME_NONE:
        ret->sp = f->sp + 8 * FB_CPU_RETURN_ON_STACK;
        if (FB_CPU_RETURN_ON_STACK) {
            if (!load(f, f->sp, &ret->pc))
                return false;
        } else {
            ret->pc = f->regs != NULL ? fb_cpu_return_register(f->regs) : 0;
        }
        break;
    case FB_JVM_FRAME_PUSHED:
        end = f->sp + 16;
        ret->sp = end;
        /* fall through */
    case FB_JVM_FRAME_SIZED:
        if (end - f->sp < 16 || !load(f, end - 8, &ret->pc) || !load(f, end - 16, &ret->fp))
            return false;
        ret->fp_known = true;
        break;
    case FB_JVM_FRAME_SUNK:
        ret->pc = f->regs != NULL ? fb_cpu_return_register(f->regs) : 0;
        break;
    case FB_JVM_FRAME_NOT_FP:
        if (frame_bytes < 8 || !load(f, end - 8, &ret->pc))
            return false;
        break;
    }
    ret->pc = fb_cpu_return_address(ret->pc);
    return true;
}

/* At a poll or a fault there was no call: the caller is known by being compiled. */
static bool leave_poll(struct fb_jvm_frame *f, uint64_t frame_bytes)
{
    struct caller c;

    return frame_bytes > 0 && caller_by_state(f, FB_JVM_FRAME_SIZED, frame_bytes, &c) &&
           fb_jvm_covers(c.pc) && fb_jvm_blob_is_nmethod(fb_jvm_blob_find(c.pc)) && leave_to(f, &c);
}

static bool leave_by_state(struct fb_jvm_frame *f, enum fb_jvm_cpu_state state,
                           uint64_t frame_bytes)
{
    struct caller c;

    return caller_by_state(f, state, frame_bytes, &c) && is_return(f, c.pc) && leave_to(f, &c);
}

/* The barrier at a method's entry has a word between (x86: -1, or where to go on). */
static bool leave_by_fp(struct fb_jvm_frame *f)
{
    struct caller c = {.sp = f->fp + 16, .fp_known = true};

    if (!f->fp_known || f->fp < f->sp || !load(f, f->fp, &c.fp) || !load(f, f->fp + 8, &c.pc))
        return false;
    if (c.pc == UINT64_MAX && FB_CPU_RETURN_ON_STACK && load(f, f->fp + 16, &c.pc))
        c.sp += 8;
    c.pc = fb_cpu_return_address(c.pc);
    return is_return(f, c.pc) && leave_to(f, &c);
}

/* Compiled code that was interrupted: as its instructions say, and if that leads nowhere, however
 * it can be. */
static bool leave_interrupted(struct fb_jvm_frame *f, const struct fb_jvm_code *code)
{
    uint64_t bytes = (uint64_t)(uint32_t)code->frame_bytes;
    enum fb_jvm_cpu_state state = FB_JVM_FRAME_SIZED;
    uint64_t begin;
    uint64_t entry;
    int32_t complete;

    if (fb_jvm_blob_code(code->blob, &begin, &complete) && complete >= 0 &&
        fb_jvm_nmethod_entry(code->blob, &entry))
        state = fb_jvm_cpu_frame(entry, f->pc >= begin + (uint32_t)complete, f->pc);
    return leave_by_state(f, state, bytes) || leave_by_state(f, FB_JVM_FRAME_SIZED, bytes) ||
           leave_by_state(f, FB_JVM_FRAME_NONE, bytes) ||
           leave_by_state(f, FB_JVM_FRAME_PUSHED, bytes);
}

/* Most frames of all: one that called, whose sp is aligned and on the stack (fb_jvm_walk() looks),
 * and whose size is of whole words. */
static bool leave_compiled(struct fb_jvm_frame *f, const struct fb_jvm_code *code)
{
    uint64_t bytes = (uint64_t)(uint32_t)code->frame_bytes;
    uint64_t end = f->sp + bytes;
    uint64_t pc;

    if (f->regs != NULL)
        return leave_interrupted(f, code);
    if (bytes < 16 || bytes > f->top - f->sp)
        return false;
    pc = fb_cpu_return_address(word_at(end - 8 + f->shift));
    if (!fb_jvm_covers(pc))
        return false;
    f->pc = pc;
    f->sp = end;
    f->fp = word_at(end - 16 + f->shift);
    f->fp_known = true;
    return true;
}

/* The call stub, into the native code that called Java.  The wrapper that it was given knows where
 * the thread had left Java before. */
static bool leave_call_stub(struct fb_jvm_view *view, struct fb_jvm_frame *f)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    struct caller c = {.sp = f->fp + 16, .fp_known = true};
    int at = l->entry_frame_wrapper != FB_JVM_ABSENT ? l->entry_frame_wrapper : FB_JVM_CPU_WRAPPER;
    uint64_t wrapper;
    uint64_t anchor;

    if (!f->fp_known || f->fp < f->sp || !load(f, f->fp, &c.fp) || !load(f, f->fp + 8, &c.pc))
        return false;
    view->anchor_sp = 0;
    if (load(f, words_from(f->fp, at), &wrapper)) {
        anchor = wrapper + (uint32_t)l->call_wrapper_anchor;
        if (!load(f, anchor + (uint32_t)l->anchor_pc, &view->anchor_pc) ||
            !load(f, anchor + (uint32_t)l->anchor_fp, &view->anchor_fp) ||
            !load(f, anchor + (uint32_t)l->anchor_sp, &view->anchor_sp))
            view->anchor_sp = 0;
    }
    c.pc = fb_cpu_return_address(c.pc);
    return !fb_jvm_covers(c.pc) && leave_to(f, &c);
}

/* --- the interpreter ------------------------------------------------------------- */

static void put_interpreted(const struct fb_jvm_view *view, uint64_t *pcs, unsigned *depth,
                            unsigned max, const struct fb_jvm_memo_facts *method, int32_t bci)
{
    put(pcs, depth, max,
        fb_jvm_word(FB_JVM_INTERPRETED, FB_JVM_TIER_INTERPRETER, bci,
                    fb_jvm_memo_name(method, view->unloads)));
}

/* The class may have been unloaded since: a copy of a stack is walked when the thread has gone on.
 * The frame has no name then, and is left all the same if it looks like one in all else. */
static bool leave_without_method(struct fb_jvm_frame *f, uint64_t *pcs, unsigned *depth,
                                 unsigned max)
{
    struct caller c = {.fp_known = true};
    uint64_t here = f->pc;

    if (!load(f, words_from(f->fp, FB_JVM_INTERPRETER_SENDER_SP), &c.sp) ||
        !load(f, f->fp, &c.fp) || !load(f, f->fp + 8, &c.pc))
        return false;
    if (c.sp < f->fp + 16)
        c.sp = f->fp + 16;
    c.pc = fb_cpu_return_address(c.pc);
    if (c.fp <= f->fp || c.fp >= f->top || !is_java_return(c.pc) || !leave_to(f, &c))
        return false;
    put(pcs, depth, max, here);
    return true;
}

static uint64_t frame_word(const struct fb_jvm_frame *f, int words)
{
    return word_at(words_from(f->fp, words) + f->shift);
}

/* A frame that stands: method and pointer to the bytecode are below fp.  The places of its words
 * are looked at together, since the walk has looked at sp. */
static bool leave_interpreted(const struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                              unsigned *depth, unsigned max)
{
    struct caller c = {.fp_known = true};
    int32_t bci = FB_JVM_BCI_UNKNOWN;
    struct fb_jvm_memo_facts facts;

    if (!f->fp_known || f->fp < f->sp || f->fp >= f->top || (f->fp & 7) != 0 ||
        words_from(f->fp, FB_JVM_INTERPRETER_METHOD) < f->sp)
        return false;
    if (!fb_jvm_memo_read(frame_word(f, FB_JVM_INTERPRETER_METHOD), &facts))
        return f->regs == NULL && leave_without_method(f, pcs, depth, max);
    if (f->regs != NULL)
        bci = fb_jvm_memo_bci(&facts, fb_jvm_cpu_bytecode(f->regs));
    if (bci == FB_JVM_BCI_UNKNOWN && words_from(f->fp, FB_JVM_CPU_BCP) >= f->sp)
        bci = fb_jvm_memo_bci(&facts, frame_word(f, FB_JVM_CPU_BCP));
    put_interpreted(view, pcs, depth, max, &facts, bci);
    if (f->top - f->fp < 16)
        return false;
    c.sp = frame_word(f, FB_JVM_INTERPRETER_SENDER_SP);
    c.fp = frame_word(f, 0);
    c.pc = frame_word(f, 1);
    /* arm64: the caller, if it is interpreted, had taken room that this frame was built in. */
    if (c.sp < f->fp + 16)
        c.sp = f->fp + 16;
    c.pc = fb_cpu_return_address(c.pc);
    return fb_jvm_covers(c.pc) && leave_to(f, &c);
}

/* Does the frame of this method stand already? */
static bool is_built(const struct fb_jvm_frame *f, uint64_t method)
{
    uint64_t there;
    uint64_t size = f->fp - f->sp;

    return f->fp_known && f->fp > f->sp && size >= FB_JVM_CPU_FIXED * 8 &&
           size <= (FB_JVM_CPU_FIXED + FB_JVM_CPU_BUILDING) * 8 &&
           load(f, words_from(f->fp, FB_JVM_INTERPRETER_METHOD), &there) && there == method;
}

/* What was on the stack before adapters moved sp, if the register that says so does. */
static uint64_t sender_sp(const struct fb_jvm_frame *f, uint64_t otherwise)
{
    uint64_t sender = f->regs != NULL ? fb_jvm_cpu_sender_sp(f->regs) : 0;

    return sender >= otherwise && sender <= f->top && sender - f->sp < EXTENSION_MAX &&
                   (sender & 7) == 0
               ? sender
               : otherwise;
}

/* Where the return address was taken off the stack for a while, or never was on it: entries of the
 * interpreter, adapters, linkers of method handles. */
static bool leave_by_register(struct fb_jvm_frame *f)
{
    struct caller c = {.sp = sender_sp(f, f->sp + 8 * FB_CPU_RETURN_ON_STACK),
                       .fp = f->fp,
                       .fp_known = f->fp_known};

    if (f->regs == NULL)
        return false;
    c.pc = fb_cpu_return_address(fb_jvm_cpu_hot_return(f->regs));
    return is_java_return(c.pc) && leave_to(f, &c);
}

/* Where methods begin the frame is about to be built, or there is none (intrinsics). */
static bool leave_entry(const struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                        unsigned *depth, unsigned max)
{
    struct fb_jvm_memo_facts facts;
    uint64_t method = fb_jvm_cpu_method(f->regs);
    struct caller c;

    if (!fb_jvm_memo_read(method, &facts) || is_built(f, method))
        return false;
    put_interpreted(view, pcs, depth, max, &facts, 0);
    if (f->fp_known && f->fp >= f->sp && f->fp - f->sp < FB_JVM_CPU_FIXED * 8 && leave_by_fp(f))
        return true;
    if (caller_by_state(f, FB_JVM_FRAME_NONE, 0, &c) && is_java_return(c.pc)) {
        c.sp = sender_sp(f, c.sp);
        return leave_to(f, &c);
    }
    return leave_by_state(f, FB_JVM_FRAME_PUSHED, 0) || leave_by_register(f);
}

/* --- stubs ----------------------------------------------------------------------- */

/* The nearest word that is a return address. */
static bool leave_by_search(struct fb_jvm_frame *f)
{
    struct caller c = {.fp = f->fp, .fp_known = f->fp_known};

    for (unsigned i = 0; i < STUB_SEARCH; i++) {
        uint64_t at = f->sp + 8 * (uint64_t)i;

        if (!load(f, at, &c.pc))
            return false;
        c.pc = fb_cpu_return_address(c.pc);
        if (fb_jvm_covers(c.pc) && is_java_return(c.pc)) {
            c.sp = at + 8;
            return leave_to(f, &c);
        }
    }
    return false;
}

static bool leave_stub(struct fb_jvm_frame *f, const struct fb_jvm_code *code)
{
    uint64_t bytes = (uint64_t)(uint32_t)code->frame_bytes;
    bool fp_is_own = f->fp_known && f->fp >= f->sp && f->fp - f->sp < STUB_FRAME_MAX;
    uint64_t at_sp;

    if (f->regs == NULL)
        return leave_by_state(f, FB_JVM_FRAME_SIZED, bytes) || leave_poll(f, bytes) ||
               (fp_is_own && leave_by_fp(f)) || leave_by_search(f);
    if (bytes > 0 && leave_by_state(f, FB_JVM_FRAME_SIZED, bytes))
        return true;
    /* On CPUs with a link register a frame that stands still has it: fp goes first. */
    if (!FB_CPU_RETURN_ON_STACK && fp_is_own && leave_by_fp(f))
        return true;
    if (leave_by_state(f, FB_JVM_FRAME_NONE, bytes))
        return true;
    if (load(f, f->sp, &at_sp) && at_sp == f->fp && leave_by_state(f, FB_JVM_FRAME_PUSHED, bytes))
        return true;
    return (fp_is_own && leave_by_fp(f)) || leave_by_register(f) || leave_poll(f, bytes) ||
           leave_by_search(f);
}

/* On to the carrier's frames, at the continuation's entry, which may begin where the last frame of
 * the virtual thread ends.  what: is missing in between, or NULL. */
static bool leave_continuation(struct fb_jvm_view *view, struct fb_jvm_frame *f, const char *what,
                               uint64_t *pcs, unsigned *depth, unsigned max)
{
    uint64_t entry = view->continuation;
    uint64_t pc;

    view->continuation = 0;
    if (entry < f->sp || entry >= f->top || (entry & 7) != 0 ||
        !fb_jvm_read_64(fb_jvm.layout.continuation_return_at, &pc) || !fb_jvm_covers(pc))
        return false;
    if (what != NULL)
        put_plain(pcs, depth, max, FB_JVM_MARK, what);
    *f = (struct fb_jvm_frame){
        .pc = pc, .sp = entry, .low = f->low, .top = f->top, .shift = f->shift, .map = f->map};
    return true;
}

static const char frames_on_heap[] = "[frames of the virtual thread on the heap]";

/* At the barrier: frames on the heap are the next ones, if a frame returns to it that is not being
 * brought there or back (then its return address follows a call), and this is no copy of a stack,
 * which is walked when the thread has gone on.  The barrier itself is then none of the frames. */
static bool leave_barrier(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                          unsigned *depth, unsigned max)
{
    unsigned before = *depth - 1;
    uint64_t own = pcs[before];

    if (f->regs == NULL && f->shift == 0 && !view->parks && !follows_call(f->pc) &&
        view->continuation >= f->sp && view->continuation < f->top &&
        fb_jvm_chunks_put(view, pcs, &before, max)) {
        unsigned after = before;

        if (leave_continuation(view, f, NULL, pcs, &after, max)) {
            *depth = before;
            return true;
        }
    }
    pcs[*depth - 1] = own;
    return leave_continuation(view, f, frames_on_heap, pcs, depth, max);
}

/* The entry is not to be had: the walk goes on as from any stub, but for what it says. */
static bool leave_unknown_barrier(struct fb_jvm_frame *f, const struct fb_jvm_code *code,
                                  uint64_t *pcs, unsigned *depth, unsigned max)
{
    if (f->regs == NULL && !follows_call(f->pc))
        put_plain(pcs, depth, max, FB_JVM_MARK, frames_on_heap);
    return leave_stub(f, code);
}

/* --- one frame, and all ---------------------------------------------------------- */

/* A frame that is being taken apart: where it was, and its caller. */
static bool leave_taken(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                        unsigned *depth, unsigned max)
{
    struct caller c = {view->caller_pc, view->caller_sp, view->caller_fp, true};
    struct fb_jvm_code code;

    view->caller_sp = 0;
    if (fb_jvm_code_find(view->taken_pc, false, pcs + *depth, max - *depth, &code) &&
        code.kind <= FB_JVM_CODE_WRAPPER)
        *depth += code.word_count;
    return fb_jvm_covers(c.pc) && leave_to(f, &c);
}

static bool leave_code(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                       unsigned *depth, unsigned max)
{
    struct fb_jvm_code code;
    uint64_t true_pc;

    if (!fb_jvm_code_find(f->pc, f->regs != NULL, pcs + *depth, max - *depth, &code))
        return false;
    if (code.original_pc >= 0) {
        if (!load(f, f->sp + (uint32_t)code.original_pc, &true_pc) ||
            fb_jvm_blob_find(true_pc) != code.blob ||
            !fb_jvm_code_find(true_pc, false, pcs + *depth, max - *depth, &code))
            return false;
    }
    *depth += code.word_count;
    switch ((enum fb_jvm_code_kind)code.kind) {
    case FB_JVM_CODE_WRAPPER:
        view->parks |= f->regs != NULL;
        return leave_compiled(f, &code);
    case FB_JVM_CODE_METHOD:
        return leave_compiled(f, &code);
    case FB_JVM_CODE_BARRIER:
        return leave_barrier(view, f, pcs, depth, max) ||
               leave_unknown_barrier(f, &code, pcs, depth, max);
    case FB_JVM_CODE_SIZED:
    case FB_JVM_CODE_LEAF:
        break;
    }
    if (view->caller_sp > f->sp && view->caller_sp <= f->top)
        return leave_taken(view, f, pcs, depth, max);
    return leave_stub(f, &code);
}

static bool leave(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs, unsigned *depth,
                  unsigned max)
{
    if (f->pc == fb_jvm.call_stub_return && f->regs == NULL) {
        put_plain(pcs, depth, max, FB_JVM_STUB, "call_stub");
        return leave_call_stub(view, f);
    }
    if (!fb_jvm_interprets(f->pc))
        return leave_code(view, f, pcs, depth, max);
    if (view->caller_sp > f->sp && view->caller_sp <= f->top)
        return leave_taken(view, f, pcs, depth, max);
    if (f->regs != NULL && f->pc >= fb_jvm.entries_low && f->pc < fb_jvm.entries_high) {
        unsigned before = *depth;

        if (leave_entry(view, f, pcs, depth, max))
            return true;
        *depth = before;
    }
    return leave_interpreted(view, f, pcs, depth, max);
}

enum fb_jvm_end fb_jvm_walk(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                            unsigned *depth, unsigned max)
{
    if (!f->fp_known && view->anchor_sp != 0 && view->anchor_sp == f->sp && view->anchor_fp != 0) {
        f->fp = view->anchor_fp;
        f->fp_known = true;
    }
    for (unsigned i = 0; i < STEPS_MAX; i++) {
        unsigned before = *depth;

        if (!fb_jvm_covers(f->pc))
            return FB_JVM_END_NATIVE;
        if (*depth >= max)
            return FB_JVM_END_DEPTH;
        if (f->sp >= f->low && f->sp < f->top && (f->sp & 7) == 0 &&
            leave(view, f, pcs, depth, max))
            continue;
        if (*depth == before)
            put(pcs, depth, max, f->pc);
        if (!leave_continuation(view, f, "[frames of the virtual thread are missing]", pcs, depth,
                                max))
            return FB_JVM_END_LOST;
    }
    return FB_JVM_END_LOST;
}

bool fb_jvm_anchor_take(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                        unsigned *depth, unsigned max)
{
    struct caller c = {view->anchor_pc, view->anchor_sp, view->anchor_fp, view->anchor_fp != 0};

    view->anchor_sp = 0;
    if (c.sp <= f->sp || c.sp <= f->low || c.sp >= f->top || (c.sp & 7) != 0)
        return false;
    if (c.pc == 0)
        c.pc = word_at(c.sp - 8 + f->shift);
    if (!fb_jvm_covers(c.pc) || !leave_to(f, &c))
        return false;
    put_plain(pcs, depth, max, FB_JVM_MARK, "[native frames are missing]");
    return true;
}

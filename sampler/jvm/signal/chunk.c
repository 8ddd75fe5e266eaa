/* chunk.c - see chunk.h. */
#include "sampler/jvm/signal/chunk.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/code.h"
#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/signal/memo.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/signal/cpu.h"

#include "sampler/signal/sigsafe.h"

enum {
    CHUNKS_MAX = 1024,
    WORDS_MAX = 1 << 24, /* of a chunk */
    LINK = 2,            /* words that a frame's callee keeps below it: caller's fp, pc */
};

static _Atomic(const struct fb_jvm_chunks_form *) current_form;

void fb_jvm_chunks_publish(const struct fb_jvm_chunks_form *form)
{
    atomic_store_explicit(&current_form, form, memory_order_release);
}

/* --- objects --------------------------------------------------------------------- */

/* false: it cannot be read; 0 is a reference to nothing. */
static bool reference_at(const struct fb_jvm_chunks_form *form, uint64_t at, uint64_t *ret_object)
{
    uint32_t packed;

    if (!form->narrow_oops)
        return fb_jvm_read_64(at, ret_object) && (*ret_object & 7) == 0;
    if (!fb_jvm_read_32(at, &packed))
        return false;
    *ret_object = packed == 0 ? 0 : form->oop_base + ((uint64_t)packed << form->oop_shift);
    return true;
}

static bool class_of(const struct fb_jvm_chunks_form *form, uint64_t object, uint64_t *ret_class)
{
    uint32_t packed;

    if (!fb_jvm_is_pointer(object))
        return false;
    if (!form->narrow_classes)
        return fb_jvm_read_64(object + form->class_at, ret_class);
    if (!fb_jvm_read_32(object + form->class_at, &packed))
        return false;
    *ret_class = form->class_base + ((uint64_t)packed << form->class_shift);
    return true;
}

/* The JVM's virtual threads have a subclass of their own. */
static bool is_continuation(const struct fb_jvm_chunks_form *form, uint64_t object)
{
    uint64_t class;

    return class_of(form, object, &class) &&
           (class == form->continuation_class ||
            (fb_jvm_is_pointer(class) && fb_jvm_read_64(class + form->super_at, &class) &&
             class == form->continuation_class));
}

/* Where in its entry the Continuation is. */
static bool continuation_find(const struct fb_jvm_chunks_form *form, uint64_t entry,
                              uint64_t *ret_at, uint64_t *ret_object)
{
    for (unsigned i = 0; i < FB_JVM_ENTRY_WORDS; i++) {
        *ret_at = entry + 8 * (uint64_t)i;
        if (!fb_jvm_read_64(*ret_at, ret_object))
            return false;
        if (is_continuation(form, *ret_object))
            return true;
    }
    return false;
}

/* A chunk's frames, in addresses. */
struct chunk {
    uint64_t low;
    uint64_t sp;
    uint64_t end;
};

static bool chunk_read(const struct fb_jvm_chunks_form *form, uint64_t object, struct chunk *ret)
{
    uint64_t class;
    uint32_t size;
    uint32_t sp;
    uint32_t bottom;

    if (!class_of(form, object, &class) || class != form->chunk_class ||
        !fb_jvm_read_32(object + form->size_at, &size) ||
        !fb_jvm_read_32(object + form->sp_at, &sp) ||
        !fb_jvm_read_32(object + form->bottom_at, &bottom) || size > WORDS_MAX || sp > size ||
        bottom > size)
        return false;
    ret->low = object + form->stack;
    ret->sp = ret->low + 8 * (uint64_t)sp;
    ret->end = ret->low + 8 * (uint64_t)(form->has_arguments ? size - bottom : bottom);
    return true;
}

/* --- frames ---------------------------------------------------------------------- */

struct frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t unextended; /* sp, before what it called moved it */
};

struct out {
    uint64_t unloads;
    uint64_t *pcs;
    unsigned depth;
    unsigned max;
};

static uint64_t words_from(uint64_t base, int words)
{
    return base + (uint64_t)(int64_t)(8 * words);
}

static bool in_chunk(const struct chunk *c, uint64_t at)
{
    return at >= c->low && at < c->end && (at & 7) == 0;
}

/* base + a number of words that is told at base + 8 * place. */
static bool relative(const struct chunk *c, uint64_t base, int place, uint64_t *ret)
{
    uint64_t at = words_from(base, place);
    uint64_t words;

    if (!in_chunk(c, at) || !fb_jvm_read_64(at, &words) || (int64_t)words > WORDS_MAX ||
        (int64_t)words < -WORDS_MAX)
        return false;
    *ret = base + 8 * words;
    return true;
}

static bool leave_interpreted(const struct chunk *c, struct frame *f, struct out *out)
{
    struct fb_jvm_memo_facts facts;
    uint64_t link = f->sp - 8 * LINK;
    uint64_t fp;
    uint64_t locals;
    uint64_t method;
    uint64_t bytecode;

    if (!relative(c, link, 0, &fp) || fp < f->sp || !in_chunk(c, fp) ||
        !in_chunk(c, words_from(fp, FB_JVM_CPU_BCP)) ||
        !fb_jvm_read_64(words_from(fp, FB_JVM_INTERPRETER_METHOD), &method) ||
        !fb_jvm_memo_read(method, &facts) ||
        !fb_jvm_read_64(words_from(fp, FB_JVM_CPU_BCP), &bytecode) ||
        !relative(c, fp, FB_JVM_CPU_BCP + 1, &locals))
        return false;
    out->pcs[out->depth++] =
        fb_jvm_word(FB_JVM_INTERPRETED, FB_JVM_TIER_INTERPRETER, fb_jvm_memo_bci(&facts, bytecode),
                    fb_jvm_memo_name(&facts, out->unloads));
    if (locals + 8 >= c->end) {
        f->sp = c->end;
        return locals < c->end + 8 * UINT64_C(65536);
    }
    if (!relative(c, fp, FB_JVM_INTERPRETER_SENDER_SP, &f->unextended))
        return false;
    f->sp = fp + 8 * LINK;
    return true;
}

static bool leave_compiled(const struct chunk *c, struct frame *f, struct out *out)
{
    struct fb_jvm_code code;
    uint64_t true_pc;

    if (!fb_jvm_code_find(f->pc, false, out->pcs + out->depth, out->max - out->depth, &code))
        return false;
    if (code.original_pc >= 0) {
        uint64_t at = f->unextended + (uint32_t)code.original_pc;

        if (!in_chunk(c, at) || !fb_jvm_read_64(at, &true_pc) ||
            fb_jvm_blob_find(true_pc) != code.blob ||
            !fb_jvm_code_find(true_pc, false, out->pcs + out->depth, out->max - out->depth, &code))
            return false;
    }
    if (code.kind > FB_JVM_CODE_SIZED || code.frame_bytes < 8 * LINK)
        return false;
    out->depth += code.word_count;
    f->sp = f->unextended + (uint32_t)code.frame_bytes;
    f->unextended = f->sp;
    return true;
}

/* True too where there was no room for more. */
static bool frames_put(const struct chunk *c, struct out *out)
{
    struct frame f = {.sp = c->sp, .unextended = c->sp};

    while (out->depth < out->max) {
        uint64_t before = f.sp;

        if (!in_chunk(c, f.sp - 8 * LINK) || !fb_jvm_read_64(f.sp - 8, &f.pc))
            return false;
        f.pc = fb_cpu_return_address(f.pc);
        if (!(fb_jvm_interprets(f.pc) ? leave_interpreted(c, &f, out) : leave_compiled(c, &f, out)))
            return false;
        if (f.sp == c->end)
            return true;
        if (f.sp <= before || f.sp > c->end - 8 * LINK || f.unextended < f.sp ||
            f.unextended > c->end)
            return false;
    }
    return true;
}

/* --- the thread ------------------------------------------------------------------ */

/* Chunks are written by the thread itself alone, in the JVM or where it has left Java with its
 * anchor set and is said to be in it (it parks). */
static bool may_look(const struct fb_jvm_view *view)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t anchor_sp;
    uint32_t state;

    if (!fb_jvm_field_32(view->thread, l->thread_state, &state) ||
        !fb_jvm_field_64(view->thread + (uint32_t)l->thread_anchor, l->anchor_sp, &anchor_sp))
        return false;
    return state == FB_JVM_THREAD_IN_NATIVE || (state == FB_JVM_THREAD_IN_JAVA && anchor_sp == 0);
}

static bool chunks_put(const struct fb_jvm_chunks_form *form, uint64_t tail, struct chunk *first,
                       struct out *out)
{
    uint64_t object = tail;
    unsigned before = out->depth;

    for (unsigned i = 0; object != 0 && out->depth < out->max; i++) {
        struct chunk c;

        if (i == CHUNKS_MAX || !chunk_read(form, object, &c))
            return false;
        if (object == tail)
            *first = c;
        if (c.sp < c.end && !frames_put(&c, out))
            return false;
        if (!reference_at(form, object + form->parent_at, &object))
            return false;
    }
    return out->depth > before;
}

bool fb_jvm_chunks_put(const struct fb_jvm_view *view, uint64_t *pcs, unsigned *depth, unsigned max)
{
    const struct fb_jvm_chunks_form *form =
        atomic_load_explicit(&current_form, memory_order_acquire);
    struct out out = {view->unloads, pcs, *depth, max};
    uint64_t continuation_at;
    struct chunk first = {0};
    struct chunk again;
    uint64_t continuation;
    uint64_t tail;
    uint64_t now;

    if (form == NULL || view->thread == 0 || !may_look(view) ||
        !continuation_find(form, view->continuation, &continuation_at, &continuation) ||
        !reference_at(form, continuation + form->tail_at, &tail) || tail == 0 ||
        !chunks_put(form, tail, &first, &out))
        return false;
    if (!fb_jvm_read_64(continuation_at, &now) || now != continuation ||
        !reference_at(form, continuation + form->tail_at, &now) || now != tail ||
        !chunk_read(form, tail, &again) || again.sp != first.sp || again.end != first.end)
        return false;
    *depth = out.depth;
    return true;
}

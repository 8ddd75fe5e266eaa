/* walk.c - frame after frame: find the rule of a pc, apply it, check the result. */
#include "sampler/signal/walk.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/signal/vm.h"
#include "sampler/jvm/signal/walker.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/cpu.h"
#include "sampler/signal/guard.h"

#include "sampler/signal/sigsafe.h"

enum {
    PC_MIN = 4096,            /* nothing is mapped in the first page           */
    PROVEN_GRAIN = 4096,      /* no page is smaller                            */
    SIGNAL_FRAME_MAX = 65536, /* from the ucontext to the interrupted sp      */
    FOREIGN_MAX = 8 << 20,    /* of a stack of unknown size, as threads have   */
    SWITCH_FRAME = 128,       /* what code that changes stacks keeps on the old one */
    FOREIGN_STEP = 256 << 10, /* of one frame on it                            */
};

/* One frame.  `regs` is set while the frame is one that was interrupted: only
 * there are all registers known, and pc is an instruction and not the one
 * behind a call. */
struct frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    bool fp_known;
    bool base_known;
    uint64_t base; /* the base register (rule.h) */
    bool guarded;  /* `proven` was so a moment ago: read with care */
    const mcontext_t *regs;
    struct fb_walk_range proven;
    uint64_t shift; /* from an address of the stack to where its word is: 0, or to the kept copy */
    const ucontext_t *foreign; /* range 3 may grow: the context of this signal, else NULL */
};

struct walk {
    const struct fb_code_map *map;
    const struct fb_code_module *module; /* of the last lookup that missed the cache */
    struct fb_walk_cache *cache;
    struct fb_walk_range own;
    struct fb_walk_range alternate;
    bool one_page;        /* range 3 of walk.h */
    const ucontext_t *uc; /* of this signal; NULL: a walk that was kept */
    bool java_asked;
    bool java_usable; /* if asked */
    struct fb_jvm_view java;
};

/* What is kept of a walk: these words, the registers if the frame was interrupted, the stack. */
enum kept_word {
    KEPT_SP,
    KEPT_FP,
    KEPT_BASE,
    KEPT_LOW,
    KEPT_FLAGS,
    KEPT_JAVA,
    KEPT_HEAD = KEPT_JAVA + (sizeof(struct fb_jvm_view) + 7) / 8
};

enum kept_flag {
    KEPT_FP_KNOWN = 1,
    KEPT_INTERRUPTED = 2,
    KEPT_ONE_PAGE = 4,
    KEPT_BASE_KNOWN = 16,
    KEPT_WHOLE = 8, /* the copy goes as far as the stack was proven */
    KEPT_JAVA_USABLE = 32,
};

enum {
    KEPT_REGS = (FB_CPU_REGISTER_BYTES + 7) / 8,
    KEPT_STACK_MIN = 8, /* words of stack that are worth it */
};

static const struct fb_rule rule_pending = {.cfa = FB_CFA_PENDING};

/* A word of proven memory.  Not instrumented: to a sanitizer the stack is full of holes. */
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

static inline bool in_range(const struct fb_walk_range *range, uint64_t address)
{
    return address >= range->low && address < range->top;
}

/* From now on all loads of this walk are guarded, if they can be. */
static bool guard_take(struct frame *f)
{
    if (f->foreign == NULL)
        return false;
    if (!f->guarded && !fb_guard_usable(f->foreign))
        f->foreign = NULL;
    else
        f->guarded = true;
    return f->guarded;
}

/* A foreign stack is asked for page by page, where the guard makes that safe; a page that vanishes
 * in between is a load that fails. */
__attribute__((noinline)) static bool reach_more(struct frame *f, uint64_t end)
{
    if (end - f->sp > FOREIGN_STEP || end - f->proven.low > FOREIGN_MAX || !guard_take(f))
        return false;
    for (; f->proven.top < end; f->proven.top += PROVEN_GRAIN)
        if (!fb_guard_page(f->proven.top)) {
            f->foreign = NULL;
            return false;
        }
    return true;
}

/* Is everything below end proven? */
static inline bool reach(struct frame *f, uint64_t end)
{
    return end <= f->proven.top || reach_more(f, end);
}

/* The word at an address that is not below the range, nor at the end of all addresses. */
static inline bool word_take(struct frame *f, uint64_t address, uint64_t *ret_word)
{
    if (!reach(f, address + 8))
        return false;
    if (f->guarded)
        return fb_guard_word(address, ret_word);
    *ret_word = word_at(address + f->shift);
    return true;
}

static inline bool load(struct frame *f, uint64_t address, uint64_t *ret_word)
{
    uint64_t low = f->regs != NULL ? f->sp - FB_CPU_RED_ZONE : f->sp;

    return address >= low && address >= f->proven.low && address <= UINT64_MAX - 8 &&
           (address & 7) == 0 && word_take(f, address, ret_word);
}

static bool plausible_pc(uint64_t pc)
{
    return pc >= PC_MIN && pc < FB_CPU_PC_MAX;
}

/* --- the rule of a frame ------------------------------------------------- */

static const struct fb_rule *rule_search(struct walk *w, uint64_t pc)
{
    if (w->module == NULL || pc < w->module->start || pc >= w->module->end)
        w->module = fb_code_map_find(w->map, pc);
    if (w->module != NULL)
        return fb_code_module_rule(w->module, pc);
    fb_code_map_unknown_say();
    return w->map->count == 0 ? &rule_pending : NULL;
}

/* What is not known yet is not worth a slot. */
__attribute__((noinline)) static const struct fb_rule *rule_search_for(struct walk *w, uint64_t pc,
                                                                       unsigned slot)
{
    const struct fb_rule *rule = rule_search(w, pc);

    if (rule == NULL || rule->cfa != FB_CFA_PENDING) {
        w->cache->slots[slot ^ 1] = w->cache->slots[slot];
        w->cache->slots[slot].rule = rule;
        w->cache->slots[slot].pc = pc;
    }
    return rule;
}

/* NULL: pc is in no module; FB_CFA_NONE: in one, but without a usable row; FB_CFA_PENDING: not
 * known yet. */
static inline const struct fb_rule *rule_find(struct walk *w, uint64_t pc)
{
    unsigned slot = (unsigned)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 57);

    _Static_assert(FB_WALK_CACHE_SLOTS == 1 << (64 - 57), "slot is the top 7 bits");
    if (w->cache->slots[slot].pc == pc)
        return w->cache->slots[slot].rule;
    /* The one before it: of some ten pcs two often share a slot, in every stack of a thread. */
    if (w->cache->slots[slot ^ 1].pc == pc)
        return w->cache->slots[slot ^ 1].rule;
    return rule_search_for(w, pc, slot);
}

static void cache_check(struct fb_walk_cache *cache, uint64_t generation)
{
    if (cache->generation == generation)
        return;
    for (unsigned i = 0; i < FB_WALK_CACHE_SLOTS; i++)
        cache->slots[i].pc = 0; /* never a pc that is looked up */
    cache->generation = generation;
}

/* --- leaving a frame ----------------------------------------------------- */

static bool stop_with(enum fb_walk_stop *ret_stop, enum fb_walk_stop why)
{
    *ret_stop = why;
    return false;
}

/* Makes f its caller.  pc 0 marks the outermost frame of hand-written entry code. */
static bool frame_return(struct frame *f, uint64_t pc, uint64_t cfa, uint64_t fp,
                         enum fb_walk_stop *ret_stop)
{
    pc = fb_cpu_return_address(pc);
    if (pc == 0)
        return stop_with(ret_stop, FB_WALK_ROOT);
    if (!plausible_pc(pc))
        return stop_with(ret_stop, FB_WALK_BAD_PC);
    f->pc = pc;
    f->sp = cfa;
    f->fp = fp;
    f->regs = NULL;
    return true;
}

static void frame_interrupted(struct frame *f, const mcontext_t *regs)
{
    f->pc = fb_cpu_pc(regs);
    f->sp = fb_cpu_sp(regs);
    f->fp = fb_cpu_fp(regs);
    f->fp_known = true;
    f->base_known = fb_cpu_register(regs, FB_CPU_BASE_REGISTER, &f->base);
    f->regs = regs;
}

static void range_choose(const struct walk *w, struct frame *f)
{
    f->guarded = false;
    f->foreign = NULL;
    if (in_range(&w->own, f->sp))
        f->proven = w->own;
    else if (in_range(&w->alternate, f->sp))
        f->proven = w->alternate;
    else
        f->proven = (struct fb_walk_range){0, 0};
}

/* Is all of [address, address + size) proven, at or above sp? */
static bool is_proven(const struct frame *f, uint64_t address, uint64_t size)
{
    return address >= f->sp && address >= f->proven.low && address < f->proven.top &&
           f->proven.top - address >= size;
}

/* Over a signal trampoline: what was interrupted is in the ucontext that the kernel pushed. */
static bool leave_by_signal(const struct walk *w, struct frame *f, enum fb_walk_stop *ret_stop)
{
    uint64_t at = fb_cpu_signal_context(f->sp);
    const ucontext_t *uc = (const ucontext_t *)(uintptr_t)(at + f->shift);

    if (f->guarded || !is_proven(f, at, FB_CPU_SIGNAL_CONTEXT_SIZE) ||
        (at & (FB_CPU_SIGNAL_ALIGN - 1)) != 0)
        return stop_with(ret_stop, FB_WALK_BAD_LOAD);
    if (!plausible_pc(fb_cpu_pc(&uc->uc_mcontext)))
        return stop_with(ret_stop, FB_WALK_BAD_PC);
    frame_interrupted(f, &uc->uc_mcontext);
    range_choose(w, f);
    return true;
}

static bool cfa_find(struct frame *f, const struct fb_rule *rule, uint64_t *ret_cfa,
                     enum fb_walk_stop *ret_stop)
{
    uint64_t off = (uint64_t)(int64_t)rule->cfa_off;
    uint64_t base;

    if (rule->cfa == FB_CFA_FP || rule->cfa == FB_CFA_DEREF_FP) {
        if (!f->fp_known)
            return stop_with(ret_stop, FB_WALK_LOST_REG);
        base = f->fp;
    } else if (rule->cfa == FB_CFA_REG && rule->reg == FB_CPU_BASE_REGISTER && f->base_known) {
        base = f->base;
    } else if (rule->cfa == FB_CFA_REG) {
        if (f->regs == NULL || !fb_cpu_register(f->regs, rule->reg, &base))
            return stop_with(ret_stop, FB_WALK_LOST_REG);
    } else {
        base = f->sp;
    }
    if (rule->cfa == FB_CFA_PLT)
        off = (f->pc & 15) >= rule->reg ? 16 : 8;
    *ret_cfa = base + off;
    if (rule->cfa == FB_CFA_DEREF_SP || rule->cfa == FB_CFA_DEREF_FP) {
        if (!load(f, base + off, ret_cfa))
            return stop_with(ret_stop, FB_WALK_BAD_LOAD);
        *ret_cfa += (uint64_t)(int64_t)rule->deref_add;
    }
    return true;
}

/* Code that went to another stack by hand says by its rule where it came from: the thread's own. */
static void came_from_own(const struct walk *w, struct frame *f, uint64_t cfa)
{
    if (!w->one_page || in_range(&w->own, f->sp) || !in_range(&w->own, cfa))
        return;
    f->proven = w->own;
    f->foreign = NULL;
    f->guarded = false;
    f->sp = cfa - w->own.low > SWITCH_FRAME ? cfa - SWITCH_FRAME : w->own.low;
}

static bool leave_by_rule(const struct walk *w, struct frame *f, const struct fb_rule *rule,
                          enum fb_walk_stop *ret_stop)
{
    uint64_t cfa;
    uint64_t pc;
    uint64_t fp = f->fp;

    if (!cfa_find(f, rule, &cfa, ret_stop))
        return false;
    came_from_own(w, f, cfa);
    /* A leaf that pushed nothing (a link register CPU) has its caller's sp. */
    if (cfa < f->sp || (cfa == f->sp && f->regs == NULL) || (cfa & 7) != 0 || !reach(f, cfa))
        return stop_with(ret_stop, FB_WALK_BAD_CFA);
    if (rule->ra == FB_RA_LR) {
        if (f->regs == NULL)
            return stop_with(ret_stop, FB_WALK_LOST_REG);
        pc = fb_cpu_return_register(f->regs);
    } else if (!load(f, cfa + (uint64_t)(int64_t)rule->ra_off, &pc)) {
        return stop_with(ret_stop, FB_WALK_BAD_LOAD);
    }
    if (rule->fp == FB_FP_AT_CFA || rule->fp == FB_FP_AT_FP) {
        uint64_t base = rule->fp == FB_FP_AT_CFA ? cfa : f->fp;

        f->fp_known = load(f, base + (uint64_t)(int64_t)rule->fp_off, &fp);
    } else if (rule->fp == FB_FP_UNKNOWN) {
        f->fp_known = false;
    }
    if (rule->base_off != FB_BASE_SAME)
        f->base_known = rule->base_off != FB_BASE_UNKNOWN &&
                        load(f, cfa + (uint64_t)(int64_t)rule->base_off, &f->base);
    return frame_return(f, pc, cfa, fp, ret_stop);
}

/* Code of a module without a row, interrupted: a PLT entry or hand-written leaf code whose
 * return address is where a call has left it, if that is known code. */
static bool leave_bare_leaf(struct walk *w, struct frame *f, enum fb_walk_stop *ret_stop)
{
    uint64_t pc = fb_cpu_return_register(f->regs);
    const struct fb_rule *rule;

    if (FB_CPU_RETURN_ON_STACK && !load(f, f->sp, &pc))
        return false;
    pc = fb_cpu_return_address(pc);
    if (!plausible_pc(pc))
        return false;
    rule = rule_find(w, pc - 1);
    if (rule != NULL && rule->cfa == FB_CFA_PENDING)
        return stop_with(ret_stop, FB_WALK_NO_TABLE);
    if (rule == NULL || rule->cfa == FB_CFA_NONE)
        return false;
    return frame_return(f, pc, f->sp + 8 * FB_CPU_RETURN_ON_STACK, f->fp, ret_stop);
}

/* Code without a table (JIT code) or without a row: {caller's fp, return address} at fp. */
static bool leave_by_frame_pointer(struct frame *f, enum fb_walk_stop *ret_stop)
{
    uint64_t fp;
    uint64_t pc;

    if (!f->fp_known || f->fp < f->sp || !load(f, f->fp, &fp) || !load(f, f->fp + 8, &pc))
        return stop_with(ret_stop, FB_WALK_NO_RULE);
    f->base_known = false;
    return frame_return(f, pc, f->fp + 16, fp, ret_stop);
}

/* Is f a signal trampoline in code that we know nothing of, as under qemu-user?  Then its frame has
 * the interrupted fp and return register twice: in the ucontext, and where fp points. */
static bool is_trampoline(struct frame *f)
{
    uint64_t at = fb_cpu_signal_context(f->sp);
    const ucontext_t *uc = (const ucontext_t *)(uintptr_t)(at + f->shift);
    uint64_t fp;
    uint64_t pc;

    return FB_CPU_SIGNAL_RECORD && !f->guarded && f->regs == NULL && f->fp_known &&
           is_proven(f, at, FB_CPU_SIGNAL_CONTEXT_SIZE) && (at & (FB_CPU_SIGNAL_ALIGN - 1)) == 0 &&
           f->fp > at && load(f, f->fp, &fp) && load(f, f->fp + 8, &pc) &&
           fp == fb_cpu_fp(&uc->uc_mcontext) && pc == fb_cpu_return_register(&uc->uc_mcontext);
}

/* No call is before this return address: makecontext() and its like put it at the root of a stack,
 * and what is beyond is data. */
static bool is_root_by_hand(struct frame *f)
{
    uint64_t code;

    return f->regs == NULL && guard_take(f) && fb_guard_word(f->pc - 8, &code) &&
           !fb_cpu_is_call(code);
}

/* Is something of this frame on a stack that may be read, or is its rule one that leads to it? */
static bool is_on_stack(const struct walk *w, struct frame *f, const struct fb_rule *rule)
{
    if (in_range(&f->proven, f->sp) || (f->foreign != NULL && reach(f, f->sp + 8)))
        return true;
    return w->one_page && rule != NULL && rule->cfa == FB_CFA_FP && f->fp_known &&
           in_range(&w->own, f->fp);
}

static bool frame_leave(struct walk *w, struct frame *f, enum fb_walk_stop *ret_stop)
{
    const struct fb_rule *rule = rule_find(w, f->regs != NULL ? f->pc : f->pc - 1);

    if (rule != NULL && rule->cfa == FB_CFA_END)
        return stop_with(ret_stop, FB_WALK_ROOT);
    if (rule != NULL && rule->cfa == FB_CFA_PENDING)
        return stop_with(ret_stop, FB_WALK_NO_TABLE);
    if (w->one_page && (rule == NULL || rule->cfa != FB_CFA_SIGNAL) && is_root_by_hand(f))
        return stop_with(ret_stop, FB_WALK_ROOT);
    if (!is_on_stack(w, f, rule))
        return stop_with(ret_stop, FB_WALK_OFF_STACK);
    if (rule == NULL && !is_trampoline(f))
        return leave_by_frame_pointer(f, ret_stop);
    if (rule == NULL || rule->cfa == FB_CFA_SIGNAL)
        return leave_by_signal(w, f, ret_stop);
    if (rule->cfa != FB_CFA_NONE)
        return leave_by_rule(w, f, rule, ret_stop);
    if (f->regs != NULL) {
        if (leave_bare_leaf(w, f, ret_stop))
            return true;
        if (*ret_stop == FB_WALK_NO_TABLE)
            return false;
    }
    return leave_by_frame_pointer(f, ret_stop);
}

/* Range 3 of walk.h: the page of sp, if this signal's frame is right below it. */
static void range_prove_page(struct walk *w, const ucontext_t *uc, struct frame *f)
{
    uint64_t at = (uint64_t)(uintptr_t)uc;

    if (f->proven.top == 0 && at < f->sp && f->sp - at < SIGNAL_FRAME_MAX) {
        w->one_page = true;
        f->foreign = fb_guard_stands() ? uc : NULL;
        f->proven.low = (uintptr_t)(f->sp - FB_CPU_RED_ZONE);
        f->proven.top = (uintptr_t)((f->sp + PROVEN_GRAIN - 1) & ~(uint64_t)(PROVEN_GRAIN - 1));
    }
}

/* --- frames of a JVM ----------------------------------------------------- */

/* Whether the JVM may be read in this walk; once it may, what it says of the thread is known. */
static bool java_ask(struct walk *w, const struct frame *f)
{
    uint64_t pc;

    if (w->java_asked || w->uc == NULL || !fb_jvm_active())
        return w->java_usable;
    pc = fb_cpu_pc(&w->uc->uc_mcontext);
    w->java_asked = true;
    w->java_usable = fb_guard_usable(w->uc);
    if (w->java_usable)
        fb_jvm_view_take(&w->java, &w->cache->java,
                         fb_jvm_covers(pc) ? fb_jvm_cpu_thread(&w->uc->uc_mcontext) : 0, f->sp);
    return w->java_usable;
}

static bool is_java(struct walk *w, const struct frame *f)
{
    return fb_jvm_covers(f->pc) && !f->guarded && java_ask(w, f);
}

static struct fb_jvm_frame java_frame(const struct walk *w, const struct frame *f)
{
    return (struct fb_jvm_frame){.pc = f->pc,
                                 .sp = f->sp,
                                 .fp = f->fp,
                                 .fp_known = f->fp_known,
                                 .regs = f->regs,
                                 .low = f->proven.low,
                                 .top = f->proven.top,
                                 .shift = f->shift,
                                 .map = w->map};
}

static void java_left(struct frame *f, const struct fb_jvm_frame *java)
{
    f->pc = java->pc;
    f->sp = java->sp;
    f->fp = java->fp;
    f->fp_known = java->fp_known;
    f->base_known = false;
    f->regs = NULL;
}

/* Where native code could not be unwound, or Java: on from where the thread left Java before. */
static bool java_again(struct walk *w, struct frame *f, uint64_t *pcs, unsigned *depth,
                       unsigned max, enum fb_walk_stop stop)
{
    struct fb_jvm_frame java = java_frame(w, f);

    if (stop == FB_WALK_ROOT || stop == FB_WALK_NO_TABLE || stop == FB_WALK_DEPTH ||
        !fb_jvm_active() || f->guarded || !java_ask(w, f) ||
        !fb_jvm_anchor_take(&w->java, &java, pcs, depth, max))
        return false;
    java_left(f, &java);
    return true;
}

/* From f on, whose pc is pcs[*depth - 1] and which is Java's, up to a native frame. */
static bool java_leave(struct walk *w, struct frame *f, uint64_t *pcs, unsigned *depth,
                       unsigned max, enum fb_walk_stop *ret_stop)
{
    struct fb_jvm_frame java = java_frame(w, f);
    enum fb_jvm_end end;

    (*depth)--;
    end = fb_jvm_walk(&w->java, &java, pcs, depth, max);
    java_left(f, &java);
    if (end == FB_JVM_END_LOST)
        return stop_with(ret_stop, FB_WALK_JAVA);
    return end == FB_JVM_END_NATIVE || stop_with(ret_stop, FB_WALK_DEPTH);
}

/* From f outwards, behind the depth frames that are there; returns the new depth. */
static unsigned walk_on(struct walk *w, struct frame *f, uint64_t *pcs, unsigned depth,
                        unsigned max, enum fb_walk_stop *ret_stop)
{
    *ret_stop = FB_WALK_DEPTH;
    for (;;) {
        bool left = is_java(w, f) ? java_leave(w, f, pcs, &depth, max, ret_stop)
                                  : frame_leave(w, f, ret_stop);

        if (!left && !java_again(w, f, pcs, &depth, max, *ret_stop))
            break;
        *ret_stop = FB_WALK_DEPTH;
        if (depth >= max)
            break;
        pcs[depth++] = f->pc;
    }
    if (w->one_page && (*ret_stop == FB_WALK_BAD_CFA || *ret_stop == FB_WALK_BAD_LOAD))
        *ret_stop = FB_WALK_OFF_STACK;
    return depth;
}

/* --- what is kept, and going on from it ----------------------------------- */

_Static_assert(sizeof(struct frame) <= sizeof((struct fb_walk_rest *)NULL)->frame, "it fits");

unsigned fb_walk_keep(const struct fb_walk_rest *rest, uint64_t *words, unsigned room)
{
    unsigned n = KEPT_HEAD;
    struct frame f;
    uint64_t at;

    memcpy(&f, rest->frame, sizeof f);
    if (room < KEPT_HEAD + KEPT_REGS + KEPT_STACK_MIN || !in_range(&f.proven, f.sp))
        return 0;
    at = f.sp - (f.regs != NULL ? FB_CPU_RED_ZONE : 0);
    at = ((at > f.proven.low ? at : f.proven.low) + 7) & ~UINT64_C(7);
    words[KEPT_SP] = f.sp;
    words[KEPT_FP] = f.fp;
    words[KEPT_BASE] = f.base;
    words[KEPT_LOW] = at;
    words[KEPT_FLAGS] = (f.fp_known ? KEPT_FP_KNOWN : 0u) | (f.base_known ? KEPT_BASE_KNOWN : 0u) |
                        (rest->one_page ? KEPT_ONE_PAGE : 0u) |
                        (rest->java_usable ? KEPT_JAVA_USABLE : 0u);
    memcpy(words + KEPT_JAVA, &rest->java, sizeof rest->java);
    if (f.regs != NULL) {
        words[KEPT_FLAGS] |= KEPT_INTERRUPTED;
        words[KEPT_HEAD + KEPT_REGS - 1] = 0;
        memcpy(words + KEPT_HEAD, f.regs, FB_CPU_REGISTER_BYTES);
        n += KEPT_REGS;
    }
    for (; n < room && word_take(&f, at, &words[n]); at += 8)
        n++;
    if (at + 8 > f.proven.top)
        words[KEPT_FLAGS] |= KEPT_WHOLE;
    return n;
}

unsigned fb_walk_resume(const uint64_t *words, unsigned kept, struct fb_walk_cache *cache,
                        uint64_t *pcs, unsigned depth, unsigned max, enum fb_walk_stop *ret_stop)
{
    struct walk w = {.map = fb_code_map_enter(), .cache = cache};
    struct frame f = {
        .pc = pcs[depth - 1], .sp = words[KEPT_SP], .fp = words[KEPT_FP], .base = words[KEPT_BASE]};
    uint64_t flags = words[KEPT_FLAGS];
    unsigned stack = KEPT_HEAD;

    cache_check(cache, w.map->generation);
    f.fp_known = (flags & KEPT_FP_KNOWN) != 0;
    f.base_known = (flags & KEPT_BASE_KNOWN) != 0;
    if (flags & KEPT_INTERRUPTED) {
        f.regs = (const mcontext_t *)(const void *)(words + KEPT_HEAD);
        stack += KEPT_REGS;
    }
    w.one_page = (flags & KEPT_ONE_PAGE) != 0;
    w.java_usable = (flags & KEPT_JAVA_USABLE) != 0 && fb_jvm_thread_open;
    memcpy(&w.java, words + KEPT_JAVA, sizeof w.java);
    w.own.low = (uintptr_t)words[KEPT_LOW];
    w.own.top = w.own.low + 8 * (uintptr_t)(kept - stack);
    f.proven = w.own;
    f.shift = (uint64_t)(uintptr_t)(words + stack) - words[KEPT_LOW];
    depth = walk_on(&w, &f, pcs, depth, max, ret_stop);
    fb_code_map_leave();
    if (!(flags & KEPT_WHOLE) && (*ret_stop == FB_WALK_BAD_CFA || *ret_stop == FB_WALK_BAD_LOAD ||
                                  *ret_stop == FB_WALK_OFF_STACK || *ret_stop == FB_WALK_NO_RULE))
        *ret_stop = FB_WALK_NO_TABLE;
    return depth;
}

unsigned fb_walk_stack_rest(const ucontext_t *uc, const struct fb_walk_range *stack,
                            struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                            enum fb_walk_stop *ret_stop, struct fb_walk_rest *ret_rest)
{
    struct walk w = {.map = fb_code_map_enter(), .cache = cache, .own = *stack, .uc = uc};
    struct frame f = {.shift = 0};
    unsigned depth = 0;

    if ((uc->uc_stack.ss_flags & SS_DISABLE) == 0) {
        w.alternate.low = (uintptr_t)uc->uc_stack.ss_sp;
        w.alternate.top = w.alternate.low + uc->uc_stack.ss_size;
    }
    cache_check(cache, w.map->generation);
    frame_interrupted(&f, &uc->uc_mcontext);
    range_choose(&w, &f);
    range_prove_page(&w, uc, &f);
    *ret_stop = FB_WALK_DEPTH;
    if (max > 0) {
        ret_pcs[depth++] = f.pc;
        depth = walk_on(&w, &f, ret_pcs, depth, max, ret_stop);
    }
    if (*ret_stop == FB_WALK_NO_TABLE)
        java_ask(&w, &f);
    fb_code_map_leave();
    if (*ret_stop == FB_WALK_NO_TABLE) {
        memcpy(ret_rest->frame, &f, sizeof f);
        ret_rest->java = w.java;
        ret_rest->java_usable = w.java_usable;
        ret_rest->one_page = w.one_page;
    }
    return depth;
}

unsigned fb_walk_stack(const ucontext_t *uc, const struct fb_walk_range *stack,
                       struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                       enum fb_walk_stop *ret_stop)
{
    struct fb_walk_rest rest;

    return fb_walk_stack_rest(uc, stack, cache, ret_pcs, max, ret_stop, &rest);
}

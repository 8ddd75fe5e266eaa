/* walk.c - frame after frame: find the rule of a pc, apply it, check the result. */
#include "sampler/signal/walk.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "sampler/signal/code_map.h"
#include "sampler/signal/cpu.h"

#include "sampler/signal/sigsafe.h"

enum {
    PC_MIN = 4096,           /* nothing is mapped in the first page           */
    PROVEN_GRAIN = 4096,     /* no page is smaller                            */
    SIGNAL_FRAME_MAX = 65536 /* from the ucontext to the interrupted sp      */
};

/* One frame.  `regs` is set while the frame is one that was interrupted: only
 * there are all registers known, and pc is an instruction and not the one
 * behind a call. */
struct frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    bool fp_known;
    const mcontext_t *regs;
    struct fb_walk_range proven;
};

struct walk {
    const struct fb_code_map *map;
    const struct fb_code_module *module; /* of the last lookup that missed the cache */
    struct fb_walk_cache *cache;
    struct fb_walk_range own;
    struct fb_walk_range alternate;
    bool one_page; /* range 3 of walk.h */
};

static const struct fb_rule no_rule = {.cfa = FB_CFA_NONE};

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

static bool load(const struct frame *f, uint64_t address, uint64_t *ret_word)
{
    uint64_t low = f->regs != NULL ? f->sp - FB_CPU_RED_ZONE : f->sp;

    if (address < low || address < f->proven.low || address >= f->proven.top ||
        f->proven.top - address < 8 || (address & 7) != 0)
        return false;
    *ret_word = word_at(address);
    return true;
}

static bool plausible_pc(uint64_t pc)
{
    return pc >= PC_MIN && pc < FB_CPU_PC_MAX;
}

/* --- the rule of a frame ------------------------------------------------- */

static const struct fb_rule *rule_search(struct walk *w, uint64_t pc)
{
    const struct fb_rule *rule;

    if (w->module == NULL || pc < w->module->start || pc >= w->module->end)
        w->module = fb_code_map_find(w->map, pc);
    if (w->module == NULL)
        return NULL;
    rule = fb_rows_find(&w->module->rows, (uint32_t)(pc - w->module->start));
    return rule != NULL ? rule : &no_rule;
}

/* NULL: pc is in no module; FB_CFA_NONE: in one, but without a usable row. */
static const struct fb_rule *rule_find(struct walk *w, uint64_t pc)
{
    unsigned slot = (unsigned)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 57);

    _Static_assert(FB_WALK_CACHE_SLOTS == 1 << (64 - 57), "slot is the top 7 bits");
    if (w->cache->slots[slot].pc != pc) {
        w->cache->slots[slot].rule = rule_search(w, pc);
        w->cache->slots[slot].pc = pc;
    }
    return w->cache->slots[slot].rule;
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
    f->regs = regs;
}

static void range_choose(const struct walk *w, struct frame *f)
{
    if (in_range(&w->own, f->sp))
        f->proven = w->own;
    else if (in_range(&w->alternate, f->sp))
        f->proven = w->alternate;
    else
        f->proven = (struct fb_walk_range){0, 0};
}

/* Over a signal trampoline: what was interrupted is in the ucontext that the kernel pushed. */
static bool leave_by_signal(const struct walk *w, struct frame *f, enum fb_walk_stop *ret_stop)
{
    uint64_t at = fb_cpu_signal_context(f->sp);
    const ucontext_t *uc = (const ucontext_t *)(uintptr_t)at;

    if (at < f->sp || at >= f->proven.top ||
        f->proven.top - at < (uint64_t)FB_CPU_SIGNAL_CONTEXT_SIZE ||
        (at & (_Alignof(ucontext_t) - 1)) != 0)
        return stop_with(ret_stop, FB_WALK_BAD_LOAD);
    if (!plausible_pc(fb_cpu_pc(&uc->uc_mcontext)))
        return stop_with(ret_stop, FB_WALK_BAD_PC);
    frame_interrupted(f, &uc->uc_mcontext);
    range_choose(w, f);
    return true;
}

static bool cfa_find(const struct frame *f, const struct fb_rule *rule, uint64_t *ret_cfa,
                     enum fb_walk_stop *ret_stop)
{
    uint64_t off = (uint64_t)(int64_t)rule->cfa_off;
    uint64_t base;

    if (rule->cfa == FB_CFA_FP || rule->cfa == FB_CFA_DEREF_FP) {
        if (!f->fp_known)
            return stop_with(ret_stop, FB_WALK_LOST_REG);
        base = f->fp;
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

static bool leave_by_rule(struct frame *f, const struct fb_rule *rule, enum fb_walk_stop *ret_stop)
{
    uint64_t cfa;
    uint64_t pc;
    uint64_t fp = f->fp;

    if (!cfa_find(f, rule, &cfa, ret_stop))
        return false;
    /* A leaf that pushed nothing (a link register CPU) has its caller's sp. */
    if (cfa < f->sp || (cfa == f->sp && f->regs == NULL) || cfa > f->proven.top || (cfa & 7) != 0)
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
    return frame_return(f, pc, f->fp + 16, fp, ret_stop);
}

static bool frame_leave(struct walk *w, struct frame *f, enum fb_walk_stop *ret_stop)
{
    const struct fb_rule *rule = rule_find(w, f->regs != NULL ? f->pc : f->pc - 1);

    if (rule != NULL && rule->cfa == FB_CFA_END)
        return stop_with(ret_stop, FB_WALK_ROOT);
    if (!in_range(&f->proven, f->sp))
        return stop_with(ret_stop, FB_WALK_OFF_STACK);
    if (rule == NULL)
        return leave_by_frame_pointer(f, ret_stop);
    if (rule->cfa == FB_CFA_SIGNAL)
        return leave_by_signal(w, f, ret_stop);
    if (rule->cfa != FB_CFA_NONE)
        return leave_by_rule(f, rule, ret_stop);
    if (f->regs != NULL && leave_bare_leaf(w, f, ret_stop))
        return true;
    return leave_by_frame_pointer(f, ret_stop);
}

/* Range 3 of walk.h: the page of sp, if this signal's frame is right below it. */
static void range_prove_page(struct walk *w, const ucontext_t *uc, struct frame *f)
{
    uint64_t at = (uint64_t)(uintptr_t)uc;

    if (f->proven.top == 0 && at < f->sp && f->sp - at < SIGNAL_FRAME_MAX) {
        w->one_page = true;
        f->proven.low = (uintptr_t)(f->sp - FB_CPU_RED_ZONE);
        f->proven.top = (uintptr_t)((f->sp + PROVEN_GRAIN - 1) & ~(uint64_t)(PROVEN_GRAIN - 1));
    }
}

unsigned fb_walk_stack(const ucontext_t *uc, const struct fb_walk_range *stack,
                       struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                       enum fb_walk_stop *ret_stop)
{
    struct walk w = {.map = fb_code_map_enter(), .cache = cache, .own = *stack};
    struct frame f;
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
    while (depth < max) {
        ret_pcs[depth++] = f.pc;
        if (!frame_leave(&w, &f, ret_stop))
            break;
    }
    fb_code_map_leave();
    if (w.one_page && (*ret_stop == FB_WALK_BAD_CFA || *ret_stop == FB_WALK_BAD_LOAD))
        *ret_stop = FB_WALK_OFF_STACK;
    return depth;
}

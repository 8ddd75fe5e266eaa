/* walk.h - the call stack at an interrupted instruction.
 *
 * Context: signal.  No allocation, no locks, no calls outside this folder; the
 * only memory read is the code map's tables and *proven* stack.
 *
 *     struct fb_walk_range stack = {low, top};      once, at thread start
 *     struct fb_walk_cache cache = {0};             one per thread, in its state
 *     depth = fb_walk_stack(uc, &stack, &cache, pcs, max, &stop);
 *
 * pcs[0] is the interrupted pc, then return addresses outwards, each as it was
 * found (NOT minus 1; pcs behind a signal frame are interrupted pcs as well).
 * The signal trampoline itself is a frame.  depth >= 1 if max >= 1; the walk
 * ends with FB_WALK_ROOT at the outermost frame, and for any other reason the
 * frames given are good and the outer ones are missing.
 *
 * What is read.  Loads stay in [sp, top) of one of three proven ranges; an
 * interrupted frame may also use the red zone of its CPU below sp (128 bytes on
 * x86_64), as far as the range goes down:
 *   1. the thread's own stack, if sp is in [low, top) as the caller gave it;
 *   2. else the alternate signal stack that the kernel wrote into uc, if sp is
 *      on it; behind a signal frame the walk goes on in range 1 if the
 *      interrupted sp is there;
 *   3. else (coroutines, split stacks) the page of sp - 128: the kernel has just
 *      written this very signal frame below it on the same stack, so that page
 *      is mapped.  Frames beyond it are not proven: FB_WALK_OFF_STACK.  With the
 *      guard up (guard.h) the range grows page by page, each asked for and then
 *      read by guarded loads, until the root or a page that is not there.  It
 *      cannot grow without: that a page was mapped a moment ago, or is in a list
 *      of mappings that somebody made, is no proof that it is when it is read.
 * With {0, 0} as the own stack every walk is of kind 2 or 3.
 *
 * Code whose rows are not made yet (sampler/signal/code_map.h) ends the walk with
 * FB_WALK_NO_TABLE.  Then registers and a copy of the stack can be kept.  When
 * the helper has had the rows made, it goes on from there, as often as it takes:
 *
 *     depth = fb_walk_stack_rest(uc, &stack, &cache, pcs, max, &stop, &rest);
 *     kept = fb_walk_keep(&rest, words, room);              in the same signal
 *     depth = fb_walk_resume(words, kept, &own_cache, pcs, depth, max, &stop);
 *
 * Frames of a JVM (sampler/jvm/signal/walker.h) come between those of native code, as words that
 * are no addresses (sampler/jvm/signal/frame_word.h).  Where native code that Java called cannot be
 * unwound, the walk goes on where the thread left Java, behind a mark.  A walk that is kept takes
 * with it what the JVM said of the thread; it goes on over Java where the thread that resumes it is
 * open to faults (fb_jvm_thread_open).
 *
 * How.  Each pc is looked up (minus 1 where it is a return address) in the
 * cache, then in the code map; code without rows is left by its frame pointer.
 * The CFA must grow from frame to frame.  Cost: O(depth); some 10 ns a frame
 * from the cache and 20 ns from a table (bench/bench_unwind.c). */
#ifndef FB_SAMPLER_SIGNAL_WALK_H
#define FB_SAMPLER_SIGNAL_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sampler/jvm/signal/thread.h"
#include "sampler/signal/rule.h"

enum { FB_WALK_CACHE_SLOTS = 128 };

/* Why a walk ended.  Append, never renumber. */
enum fb_walk_stop {
    FB_WALK_ROOT = 0,      /* complete                                               */
    FB_WALK_DEPTH = 1,     /* max frames; there are more                             */
    FB_WALK_NO_RULE = 2,   /* no usable row and no usable frame pointer              */
    FB_WALK_BAD_CFA = 3,   /* the caller's sp would not be above this one            */
    FB_WALK_BAD_LOAD = 4,  /* a rule asked for memory outside the proven range       */
    FB_WALK_BAD_PC = 5,    /* the return address cannot be one                       */
    FB_WALK_OFF_STACK = 6, /* on no known stack, and past what is proven (range 3)   */
    FB_WALK_LOST_REG = 7,  /* a rule needs a register that is only known innermost   */
    FB_WALK_NO_TABLE = 8,  /* no rows for this code yet, and no stack kept to go on  */
    FB_WALK_JAVA = 9,      /* a frame of the JVM whose caller was not found          */
    FB_WALK_STOP_COUNT
};

struct fb_walk_range {
    uintptr_t low; /* [low, top) */
    uintptr_t top;
};

/* pc -> rule, direct-mapped; 2 KiB.  All zero at first, but for java.tid.  It forgets everything
 * when the code map's generation changes, so its pointers are never stale. */
struct fb_walk_cache {
    struct fb_jvm_seat java; /* without a tid there are no JavaThreads */
    uint64_t generation;
    struct {
        uint64_t pc;
        const struct fb_rule *rule;
    } slots[FB_WALK_CACHE_SLOTS];
};

/* Fills ret_pcs[0 .. depth) and returns depth; *ret_stop says why it ended. */
unsigned fb_walk_stack(const ucontext_t *uc, const struct fb_walk_range *stack,
                       struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                       enum fb_walk_stop *ret_stop);

/* Where a walk stopped with FB_WALK_NO_TABLE; good until the signal's handler returns. */
struct fb_walk_rest {
    uint64_t frame[12]; /* walk.c's own */
    struct fb_jvm_view java;
    bool java_usable;
    bool one_page;
};

/* The same as fb_walk_stack(), and *ret_rest, if *ret_stop is FB_WALK_NO_TABLE. */
unsigned fb_walk_stack_rest(const ucontext_t *uc, const struct fb_walk_range *stack,
                            struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                            enum fb_walk_stop *ret_stop, struct fb_walk_rest *ret_rest);

/* Copies what fb_walk_resume() needs; returns the words used of `room`, 0 if that is too few. */
unsigned fb_walk_keep(const struct fb_walk_rest *rest, uint64_t *words, unsigned room);

/* Goes on behind pcs[depth - 1], in any thread; `words` stay as they are.  With FB_WALK_NO_TABLE
 * again there is more to be made, or the walk came to the end of what was kept. */
unsigned fb_walk_resume(const uint64_t *words, unsigned kept, struct fb_walk_cache *cache,
                        uint64_t *pcs, unsigned depth, unsigned max, enum fb_walk_stop *ret_stop);

#endif

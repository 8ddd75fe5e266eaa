/* walker.h - the JVM's part of a stack: from a pc in the code cache to the native code below it.
 *
 * Context: signal.  sampler/signal/walk.c calls it when a frame's pc is in the code cache:
 *
 *     struct fb_jvm_view view = {0};                       once a walk
 *     fb_jvm_view_take(&view, seat, regs, sp);             in the signal: what may change later
 *     end = fb_jvm_walk(&view, &frame, pcs, &depth, max);  pcs[depth++] ... are frame words
 *     if (end == FB_JVM_END_NATIVE) ...                    frame is native code's, not yet in pcs
 *     if (fb_jvm_anchor_take(&view, &frame, pcs, &depth, max)) ...    where native code cannot be
 *                                                          unwound: frame is Java's again
 *
 * How the frames are left (JDK 11 to 25):
 *   compiled      by the nmethod's frame size; interrupted in its prologue or epilogue as the
 *                 instructions say (cpu.h)
 *   interpreted   by fp
 *   stubs         by their size, or, without one, where a return address is found that follows a
 *                 call: at sp, below fp, in a register
 *   call stub     by fp, into the native code that called Java
 *   continuation  a virtual thread's frames that are on the heap are read there (chunk.h) or passed
 *                 over, and a mark says so; then come the carrier's
 *   deoptimised   the true pc is in the frame; while it is taken apart, from what HotSpot keeps
 *
 * What is found is checked: a caller's pc must be code, above the frame, on the stack.  Where it is
 * not, the walk ends as FB_JVM_END_LOST. */
#ifndef FB_SAMPLER_JVM_SIGNAL_WALKER_H
#define FB_SAMPLER_JVM_SIGNAL_WALKER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sampler/jvm/signal/thread.h"
#include "sampler/signal/code_map.h"

enum fb_jvm_end {
    FB_JVM_END_NATIVE,
    FB_JVM_END_DEPTH, /* there was no room for more frames */
    FB_JVM_END_LOST,
};

/* Words of the stack are in [low, top), or, kept, at shift from there. */
struct fb_jvm_frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    bool fp_known;
    const mcontext_t *regs; /* if it was interrupted */
    uint64_t low;
    uint64_t top;
    uint64_t shift;
    const struct fb_code_map *map; /* of native code */
};

enum fb_jvm_end fb_jvm_walk(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                            unsigned *depth, unsigned max);

/* Makes f the innermost Java frame of the thread, or of the next part of Java behind a call stub,
 * if that is above f; a mark stands for the native frames that are missed. */
bool fb_jvm_anchor_take(struct fb_jvm_view *view, struct fb_jvm_frame *f, uint64_t *pcs,
                        unsigned *depth, unsigned max);

#endif

/* cpu_aarch64.h - see cpu.h.  JDK 11 to 25. */
#ifndef FB_SAMPLER_JVM_SIGNAL_CPU_AARCH64_H
#define FB_SAMPLER_JVM_SIGNAL_CPU_AARCH64_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sampler/jvm/signal/vm.h"

#define FB_JVM_CPU_BCP      (-9)
#define FB_JVM_CPU_WRAPPER  (-8)
#define FB_JVM_CPU_FIXED    10
#define FB_JVM_CPU_BUILDING 65536 /* sp is below all that the method may push */

static inline uint64_t fb_jvm_cpu_thread(const mcontext_t *regs)
{
    return regs->regs[28];
}

static inline uint64_t fb_jvm_cpu_bytecode(const mcontext_t *regs)
{
    return regs->regs[22];
}

static inline uint64_t fb_jvm_cpu_method(const mcontext_t *regs)
{
    return regs->regs[12];
}

/* x19 in newer JDKs, x13 in older ones: the one that may be a stack pointer is. */
static inline uint64_t fb_jvm_cpu_sender_sp(const mcontext_t *regs)
{
    uint64_t sender = regs->regs[19];

    return sender >= regs->sp && sender - regs->sp < (1 << 20) && (sender & 7) == 0
               ? sender
               : regs->regs[13];
}

static inline uint64_t fb_jvm_cpu_hot_return(const mcontext_t *regs)
{
    return regs->regs[30];
}

/* ldr xN, [x28, #n]; mov sp, xN */
static inline int32_t fb_jvm_cpu_barrier_entry(uint64_t code)
{
    uint32_t load = (uint32_t)code;
    uint32_t move = (uint32_t)(code >> 32);

    return (load & 0xffc003e0) == 0xf9400380 && move == (0x9100001f | (load & 31) << 5)
               ? (int32_t)(load >> 10 & 0xfff) * 8
               : 0;
}

enum { FB_JVM_CPU_PROLOGUE_MAX = 16 }; /* instructions */

static inline bool fb_jvm_cpu_sinks(uint32_t code) /* sub sp, sp, #n; sub sp, sp, xN */
{
    return (code & 0xff8003ff) == 0xd10003ff || (code & 0xffe0ffff) == 0xcb2063ff;
}

static inline bool fb_jvm_cpu_rises(uint32_t code) /* add sp, sp, #n; add sp, sp, xN */
{
    return (code & 0xff8003ff) == 0x910003ff || (code & 0xffe0ffff) == 0x8b2063ff;
}

/* Short frames: sub sp; stp x29, x30, [sp, #n].  Long ones: stp x29, x30, [sp, #-16]!; sub sp. */
static inline enum fb_jvm_cpu_state fb_jvm_cpu_prologue_at(uint64_t entry, uint64_t pc)
{
    enum fb_jvm_cpu_state state = FB_JVM_FRAME_NONE;
    uint32_t code;

    for (unsigned i = 0; i < FB_JVM_CPU_PROLOGUE_MAX && entry + 4 * (uint64_t)i < pc; i++) {
        if (!fb_jvm_read_32(entry + 4 * (uint64_t)i, &code))
            break;
        if (fb_jvm_cpu_sinks(code))
            state = state == FB_JVM_FRAME_PUSHED ? FB_JVM_FRAME_SIZED : FB_JVM_FRAME_SUNK;
        else if ((code & 0xffc07fff) == 0xa9007bfd) /* stp x29, x30, [sp, #n] */
            state = FB_JVM_FRAME_SIZED;
        else if ((code & 0xffc07fff) == 0xa9807bfd) /* stp x29, x30, [sp, #n]! */
            state = FB_JVM_FRAME_PUSHED;
    }
    return state;
}

/* ldp x29, x30, [sp, #n]; add sp, or add sp; ldp x29, x30, [sp], #16; then the poll: ldr x8, [x28];
 * cmp sp, x8; b.hi; ret. */
static inline enum fb_jvm_cpu_state fb_jvm_cpu_epilogue_at(uint64_t pc)
{
    uint32_t code;
    uint32_t before;
    uint32_t behind;
    bool restored;

    if (!fb_jvm_read_32(pc, &code) || !fb_jvm_read_32(pc - 4, &before) ||
        !fb_jvm_read_32(pc + 4, &behind))
        return FB_JVM_FRAME_SIZED;
    if ((code & 0xffc07fff) == 0xa8c07bfd) /* ldp x29, x30, [sp], #n */
        return FB_JVM_FRAME_PUSHED;
    restored = (before & 0xffc07fff) == 0xa9407bfd; /* ldp x29, x30, [sp, #n] */
    if (restored && fb_jvm_cpu_rises(code))
        return FB_JVM_FRAME_SUNK;
    if (code == 0xd65f03c0 || code == 0xd50323bf || code == 0xd50323ff) /* ret; autiasp, autibsp */
        return FB_JVM_FRAME_NONE;
    if ((code & 0xffe0ffff) == 0xeb2063ff ||                           /* cmp sp, xN */
        ((code & 0xff00001f) == 0x54000008 && behind == 0xd65f03c0) || /* b.hi, before ret */
        ((code & 0xffc003e0) == 0xf9400380 && /* ldr xN, [x28, #n], behind the frame's end */
         (fb_jvm_cpu_rises(before) || (before & 0xffc07fff) == 0xa8c07bfd)))
        return FB_JVM_FRAME_NONE;
    /* the stub that b.hi leads to: adr x8; str x8, [x28, #n]; b */
    if (((code & 0x9f00001f) == 0x10000008 && (behind & 0xffc003ff) == 0xf9000388) ||
        (code & 0xffc003ff) == 0xf9000388)
        return FB_JVM_FRAME_NONE;
    return FB_JVM_FRAME_SIZED;
}

/* stp xA, xB, [sp, #-16]!; bl; ldp xA, xB, [sp], #16. */
static inline uint32_t fb_jvm_cpu_pushed(uint64_t pc)
{
    uint32_t code;

    if (!fb_jvm_read_32(pc, &code))
        return 0;
    if ((code & 0xfc000000) == 0x94000000 && !fb_jvm_read_32(pc + 4, &code))
        return 0;
    return (code & 0xffff83e0) == 0xa8c103e0 && (code & 0x7c1f) != 0x781d ? 16 : 0;
}

static inline enum fb_jvm_cpu_state fb_jvm_cpu_frame(uint64_t entry, bool complete, uint64_t pc)
{
    return complete ? fb_jvm_cpu_epilogue_at(pc) : fb_jvm_cpu_prologue_at(entry, pc);
}

#endif

/* cpu_x86_64.h - see cpu.h.  JDK 11 to 25. */
#ifndef FB_SAMPLER_JVM_SIGNAL_CPU_X86_64_H
#define FB_SAMPLER_JVM_SIGNAL_CPU_X86_64_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sampler/jvm/signal/vm.h"

#define FB_JVM_CPU_BCP      (-8)
#define FB_JVM_CPU_WRAPPER  (-6)
#define FB_JVM_CPU_FIXED    9
#define FB_JVM_CPU_BUILDING 4

static inline uint64_t fb_jvm_cpu_thread(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_R15];
}

static inline uint64_t fb_jvm_cpu_bytecode(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_R13];
}

static inline uint64_t fb_jvm_cpu_method(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_RBX];
}

static inline uint64_t fb_jvm_cpu_sender_sp(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_R13];
}

/* Entries of the interpreter and adapters take it off the stack for a while. */
static inline uint64_t fb_jvm_cpu_hot_return(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_RAX];
}

/* mov rsp, [r15 + n] */
static inline int32_t fb_jvm_cpu_barrier_entry(uint64_t code)
{
    return (code & 0xffffff) == 0xa78b49 ? (int32_t)(uint32_t)(code >> 24) : 0;
}

enum {
    FB_JVM_CPU_PROLOGUE_MAX = 12, /* instructions */
};

struct fb_jvm_cpu_prologue {
    bool pushed; /* push rbp             */
    bool sunk;   /* sub rsp, n           */
    bool saved;  /* mov [rsp + n], rbp   */
};

/* The length of the instruction in `code` if it is one that prologues are made of, else 0. */
static inline unsigned fb_jvm_cpu_prologue_step(uint64_t code, struct fb_jvm_cpu_prologue *p)
{
    uint32_t low = (uint32_t)code;

    if ((low & 0xff) == 0x55) { /* push rbp */
        p->pushed = true;
        return 1;
    }
    if ((low & 0xffffff) == 0xec8b48 || (low & 0xffffff) == 0xe58948) /* mov rbp, rsp */
        return 3;
    if ((low & 0xffffff) == 0xec8348 || (low & 0xffffff) == 0xec8148) { /* sub rsp, n */
        p->sunk = true;
        return (low & 0xff00) == 0x8300 ? 4 : 7;
    }
    if ((low & 0xffffff) == 0x248489) /* mov [rsp - n], eax: asks for room on the stack */
        return 7;
    if (low == 0x246c8948 || low == 0x24ac8948) { /* mov [rsp + n], rbp */
        p->saved = true;
        return low == 0x246c8948 ? 5 : 8;
    }
    if ((low & 0xff) == 0x90) /* nops, which may be patched */
        return 1;
    if ((low & 0xffff) == 0x9066)
        return 2;
    if ((low & 0xffffff) == 0x001f0f)
        return 3;
    if ((low & 0xffffff) == 0x401f0f)
        return 4;
    if ((low & 0xffffff) == 0x441f0f)
        return 5;
    if (low == 0x441f0f66)
        return 6;
    if ((low & 0xffffff) == 0x801f0f)
        return 7;
    if ((low & 0xffffff) == 0x841f0f)
        return 8;
    return 0;
}

/* Before the frame stands.  What a prologue is not made of (a barrier of the collector) comes when
 * it is built. */
static inline enum fb_jvm_cpu_state fb_jvm_cpu_prologue_at(uint64_t entry, uint64_t pc)
{
    struct fb_jvm_cpu_prologue p = {.pushed = false};
    uint64_t at = entry;
    uint64_t code;

    for (unsigned i = 0; i < FB_JVM_CPU_PROLOGUE_MAX && at < pc; i++) {
        unsigned length = fb_jvm_read_64(at, &code) ? fb_jvm_cpu_prologue_step(code, &p) : 0;

        if (length == 0)
            break;
        at += length;
    }
    if (p.sunk)
        return p.pushed || p.saved ? FB_JVM_FRAME_SIZED : FB_JVM_FRAME_NOT_FP;
    return p.pushed ? FB_JVM_FRAME_PUSHED : FB_JVM_FRAME_NONE;
}

/* Where a frame is taken down: add rsp; pop rbp; poll; ret.  The poll compares rsp and jumps. */
static inline enum fb_jvm_cpu_state fb_jvm_cpu_epilogue_at(uint64_t pc)
{
    uint64_t code;
    uint64_t before;
    bool poll;

    if (!fb_jvm_read_64(pc, &code) || !fb_jvm_read_64(pc - 8, &before))
        return FB_JVM_FRAME_SIZED;
    /* pop rbp, behind add rsp, n */
    if ((code & 0xff) == 0x5d &&
        ((before >> 32 & 0xffffff) == 0xc48348 || (before >> 8 & 0xffffff) == 0xc48148))
        return FB_JVM_FRAME_PUSHED;
    if ((code & 0xff) == 0xc3 || (code & 0xff) == 0xc2) /* ret */
        return FB_JVM_FRAME_NONE;
    /* behind both: whatever comes */
    if (before >> 56 == 0x5d &&
        ((before >> 24 & 0xffffff) == 0xc48348 || (before & 0xffffff) == 0xc48148))
        return FB_JVM_FRAME_NONE;
    /* cmp rsp, [r15 + n]; ja; the stub that it leads to: lea r10; mov [r15 + n], r10; jmp */
    poll = (code & 0xffffff) == 0xa73b49 || (code & 0xffffff) == 0x673b49;
    poll = poll || ((code & 0xffff) == 0x870f && (code >> 48 & 0xff) == 0xc3);
    poll = poll || ((code & 0xffffff) == 0x158d4c && (code >> 56 & 0xff) == 0x4d);
    poll = poll || (code & 0xffffff) == 0x97894d;
    return poll ? FB_JVM_FRAME_NONE : FB_JVM_FRAME_SIZED;
}

/* push; push; call; pop; pop: what is taken off from here on more than is put on. */
static inline uint32_t fb_jvm_cpu_pushed(uint64_t pc)
{
    uint64_t words[2];
    uint8_t *code = (uint8_t *)words;
    int32_t bytes = 0;
    unsigned at = 0;

    if (!fb_jvm_read_64(pc, &words[0]) || !fb_jvm_read_64(pc + 8, &words[1]))
        return 0;
    for (; (code[at] & 0xf8) == 0x50 && at < 2; at++)
        bytes -= 8;
    if (code[at] == 0xe8)
        at += 5;
    else if (at > 0)
        return 0;
    for (; (code[at] & 0xf8) == 0x58 && code[at] != 0x5d && at < 9; at++)
        bytes += 8;
    return bytes > 0 ? (uint32_t)bytes : 0;
}

static inline enum fb_jvm_cpu_state fb_jvm_cpu_frame(uint64_t entry, bool complete, uint64_t pc)
{
    return complete ? fb_jvm_cpu_epilogue_at(pc) : fb_jvm_cpu_prologue_at(entry, pc);
}

#endif

/* cpu_x86_64.h - see cpu.h. */
#ifndef FB_SAMPLER_SIGNAL_CPU_X86_64_H
#define FB_SAMPLER_SIGNAL_CPU_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define FB_CPU_RED_ZONE        128u
#define FB_CPU_BASE_REGISTER   3 /* rbx */
#define FB_CPU_PC_MAX          (UINT64_C(1) << 56)
#define FB_CPU_RETURN_ON_STACK 1
#define FB_CPU_SIGNAL_RECORD   0

enum {
    FB_CPU_SIGNAL_CONTEXT_SIZE = offsetof(ucontext_t, uc_mcontext) + sizeof(gregset_t),
    FB_CPU_SIGNAL_ALIGN = 8,
    FB_CPU_REGISTER_BYTES = sizeof(gregset_t),
};

static inline uint64_t fb_cpu_pc(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_RIP];
}

static inline void fb_cpu_pc_set(mcontext_t *regs, uint64_t pc)
{
    regs->gregs[REG_RIP] = (greg_t)pc;
}

static inline uint64_t fb_cpu_sp(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_RSP];
}

static inline uint64_t fb_cpu_fp(const mcontext_t *regs)
{
    return (uint64_t)regs->gregs[REG_RBP];
}

static inline long fb_cpu_call_result(const mcontext_t *regs)
{
    return (long)regs->gregs[REG_RAX];
}

static inline uint64_t fb_cpu_return_register(const mcontext_t *regs)
{
    (void)regs;
    return 0;
}

static inline bool fb_cpu_register(const mcontext_t *regs, unsigned dwarf, uint64_t *ret_value)
{
    static const uint8_t greg[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};

    if (dwarf >= sizeof greg)
        return false;
    *ret_value = (uint64_t)regs->gregs[greg[dwarf]];
    return true;
}

/* e8 and four bytes, or ff /2 with an operand of up to five. */
static inline bool fb_cpu_is_call(uint64_t code)
{
    bool is = (code >> 24 & 0xff) == 0xe8;

    for (unsigned n = 2; n <= 7; n++)
        is = is || (code >> (64 - 8 * n) & 0x38ff) == 0x10ff;
    return is;
}

static inline long fb_cpu_system_call(long number, long a, const void *b, void *c, long d)
{
    register long fourth __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint64_t fb_cpu_return_address(uint64_t address)
{
    return address;
}

static inline uint64_t fb_cpu_signal_context(uint64_t sp)
{
    return sp;
}

#endif

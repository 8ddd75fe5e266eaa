/* cpu_aarch64.h - see cpu.h. */
#ifndef FB_SAMPLER_SIGNAL_CPU_AARCH64_H
#define FB_SAMPLER_SIGNAL_CPU_AARCH64_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define FB_CPU_RED_ZONE        0u
#define FB_CPU_BASE_REGISTER   255 /* none is needed */
#define FB_CPU_PC_MAX          (UINT64_C(1) << 52)
#define FB_CPU_RETURN_ON_STACK 0
#define FB_CPU_SIGNAL_RECORD   1

enum {
    FB_CPU_SIGNAL_CONTEXT_SIZE = offsetof(ucontext_t, uc_mcontext.__reserved),
    FB_CPU_SIGNAL_ALIGN = 16,
    FB_CPU_REGISTER_BYTES = offsetof(mcontext_t, __reserved),
};

static inline uint64_t fb_cpu_pc(const mcontext_t *regs)
{
    return regs->pc;
}

static inline void fb_cpu_pc_set(mcontext_t *regs, uint64_t pc)
{
    regs->pc = pc;
}

static inline uint64_t fb_cpu_sp(const mcontext_t *regs)
{
    return regs->sp;
}

static inline uint64_t fb_cpu_fp(const mcontext_t *regs)
{
    return regs->regs[29];
}

static inline long fb_cpu_call_result(const mcontext_t *regs)
{
    return (long)regs->regs[0];
}

static inline uint64_t fb_cpu_return_register(const mcontext_t *regs)
{
    return regs->regs[30];
}

static inline bool fb_cpu_register(const mcontext_t *regs, unsigned dwarf, uint64_t *ret_value)
{
    if (dwarf > 30)
        return false;
    *ret_value = regs->regs[dwarf];
    return true;
}

/* bl, blr, and blr with authentication. */
static inline bool fb_cpu_is_call(uint64_t code)
{
    uint32_t last = (uint32_t)(code >> 32);

    return (last & 0xfc000000u) == 0x94000000u || (last & 0xfffffc1fu) == 0xd63f0000u ||
           (last & 0xfefff800u) == 0xd63f0800u;
}

static inline long fb_cpu_system_call(long number, long a, const void *b, void *c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register const void *x1 __asm__("x1") = b;
    register void *x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

/* xpaclri strips the authentication code from x30; where the CPU has none it is a no-op. */
static inline uint64_t fb_cpu_return_address(uint64_t address)
{
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint #7" : "+r"(x30));
    return x30;
}

/* The kernel's frame is siginfo, then ucontext. */
static inline uint64_t fb_cpu_signal_context(uint64_t sp)
{
    return sp + sizeof(siginfo_t);
}

#endif

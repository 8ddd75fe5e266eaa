/* guard.c - one load whose address is known, and what is known about the thread around it. */
#include "sampler/signal/guard.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "sampler/signal/cpu.h"

#include "sampler/signal/sigsafe.h"

enum {
    NO_SUCH_HOW = 99,       /* of sigprocmask() */
    KERNEL_SET_BYTES = 8,   /* its sigset_t */
    ALTERNATE_ROOM = 16384, /* our frames and one more of the kernel's, with the widest registers */
    MEMORY_ERROR_ADVICE = 5, /* BUS_MCEERR_AO: not about the interrupted instruction */
};

_Atomic uint64_t fb_guard_faults;

static _Atomic bool guard_stands;
static _Atomic bool guard_alternate;

/* In assembly because addresses in it have a meaning: the load at _at may fault, and then the
 * thread goes on at _failed. */
#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN unsigned fb_guard_load(uint64_t address, uint64_t *ret_word);
extern HIDDEN const char fb_guard_load_at[];
extern HIDDEN const char fb_guard_load_failed[];

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".type fb_guard_load, @function\n"
        "fb_guard_load:\n"
        ".cfi_startproc\n"
        "    xorl %eax, %eax\n"
        "fb_guard_load_at:\n"
        "    movq (%rdi), %rdx\n"
        "    movq %rdx, (%rsi)\n"
        "    incl %eax\n"
        "fb_guard_load_failed:\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size fb_guard_load, . - fb_guard_load\n"
        ".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
        ".type fb_guard_load, %function\n"
        "fb_guard_load:\n"
        ".cfi_startproc\n"
        "    mov x2, x0\n"
        "    mov w0, #0\n"
        "fb_guard_load_at:\n"
        "    ldr x3, [x2]\n"
        "    str x3, [x1]\n"
        "    mov w0, #1\n"
        "fb_guard_load_failed:\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size fb_guard_load, . - fb_guard_load\n"
        ".popsection\n");
#endif

#if defined(FB_GUARD_INJECT)
_Atomic uint32_t fb_guard_inject_every;
_Atomic uint64_t fb_guard_injected;

static uint64_t inject(uint64_t address)
{
    static _Atomic uint32_t loads;
    uint32_t every = atomic_load(&fb_guard_inject_every);

    if (every == 0 || atomic_fetch_add(&loads, 1) % every != 0)
        return address;
    atomic_fetch_add(&fb_guard_injected, 1);
    return 8;
}
#else
static inline uint64_t inject(uint64_t address)
{
    return address;
}
#endif

bool fb_guard_word(uint64_t address, uint64_t *ret_word)
{
    return fb_guard_load(inject(address), ret_word) != 0;
}

/* The kernel copies the set before it looks at what to do with it; without one (0) it does not. */
bool fb_guard_page(uint64_t address)
{
    const void *set = (const void *)(uintptr_t)((address | 8) & ~UINT64_C(7));

    return fb_cpu_system_call(SYS_rt_sigprocmask, NO_SUCH_HOW, set, NULL, KERNEL_SET_BYTES) !=
           -EFAULT;
}

static bool blocked(uint64_t mask)
{
    return (mask & (UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1))) != 0;
}

static bool stack_allows(const ucontext_t *uc)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = (uintptr_t)uc->uc_stack.ss_sp;

    if ((uc->uc_stack.ss_flags & SS_DISABLE) != 0 || uc->uc_stack.ss_size == 0)
        return true;
    if (here >= low && here - low < uc->uc_stack.ss_size)
        return here - low >= ALTERNATE_ROOM;
    return !atomic_load_explicit(&guard_alternate, memory_order_relaxed);
}

bool fb_guard_usable(const ucontext_t *uc)
{
    uint64_t mask = 0;

    if (!fb_guard_stands() || !stack_allows(uc))
        return false;
    return fb_cpu_system_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, KERNEL_SET_BYTES) == 0 &&
           !blocked(mask);
}

bool fb_guard_recover(const siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    if (fb_cpu_pc(&uc->uc_mcontext) != (uint64_t)(uintptr_t)fb_guard_load_at || info->si_code <= 0)
        return false;
    if (info->si_signo == SIGBUS && info->si_code == MEMORY_ERROR_ADVICE)
        return false;
    fb_cpu_pc_set(&uc->uc_mcontext, (uint64_t)(uintptr_t)fb_guard_load_failed);
    atomic_fetch_add_explicit(&fb_guard_faults, 1, memory_order_relaxed);
    return true;
}

void fb_guard_set(bool stands)
{
    atomic_store_explicit(&guard_stands, stands, memory_order_release);
}

bool fb_guard_stands(void)
{
    return atomic_load_explicit(&guard_stands, memory_order_acquire);
}

void fb_guard_alternate_set(bool on_alternate)
{
    atomic_store_explicit(&guard_alternate, on_alternate, memory_order_relaxed);
}

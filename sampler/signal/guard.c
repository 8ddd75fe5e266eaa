/* guard.c - loads whose addresses are known, and what is known about the thread around them. */
#include "sampler/signal/guard.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
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

/* Of the section of the sites, which the linker makes. */
extern const struct fb_guard_site __start_fb_guard_sites[]
    __attribute__((weak, visibility("hidden")));
extern const struct fb_guard_site __stop_fb_guard_sites[]
    __attribute__((weak, visibility("hidden")));

#if defined(FB_GUARD_INJECT)
_Atomic uint32_t fb_guard_inject_every;
_Atomic uint64_t fb_guard_injected;

uint64_t fb_guard_inject(uint64_t address)
{
    static _Atomic uint32_t loads;
    uint32_t every = atomic_load(&fb_guard_inject_every);

    if (every == 0 || atomic_fetch_add(&loads, 1) % every != 0)
        return address;
    atomic_fetch_add(&fb_guard_injected, 1);
    return 8;
}
#endif

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
    if (fb_cpu_call_result(&uc->uc_mcontext) != -EINTR) {
        memcpy(&mask, &uc->uc_sigmask, KERNEL_SET_BYTES);
        return !blocked(mask);
    }
    return fb_cpu_system_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, KERNEL_SET_BYTES) == 0 &&
           !blocked(mask);
}

/* Where to go on behind the load at pc, 0: it is none of ours. */
static uint64_t failed_of(uint64_t pc)
{
    for (const struct fb_guard_site *s = __start_fb_guard_sites; s < __stop_fb_guard_sites; s++)
        if ((uint64_t)(uintptr_t)&s->at + (uint64_t)s->at == pc)
            return (uint64_t)(uintptr_t)&s->failed + (uint64_t)s->failed;
    return 0;
}

bool fb_guard_recover(const siginfo_t *info, void *context)
{
    ucontext_t *uc = context;

    uint64_t failed = info->si_code > 0 ? failed_of(fb_cpu_pc(&uc->uc_mcontext)) : 0;

    if (failed == 0)
        return false;
    if (info->si_signo == SIGBUS && info->si_code == MEMORY_ERROR_ADVICE)
        return false;
    fb_cpu_pc_set(&uc->uc_mcontext, failed);
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

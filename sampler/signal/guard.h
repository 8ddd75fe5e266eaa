/* guard.h - reads of memory that may not be there.
 *
 * Context: signal, but for the last three functions.
 *
 *     if (fb_guard_usable(uc))                    once a walk: of this thread, at this moment
 *         if (fb_guard_word(address, &word)) ...  false: nothing readable is there
 *
 * The word is loaded by an instruction that is in a list of such, as the linker has collected it
 * (a section, as the kernel's table of exceptions is).  When it faults, the front of SIGSEGV and
 * SIGBUS (sampler/fault.h) asks fb_guard_recover(), which finds the instruction in the list and
 * moves the thread behind it.  No state is kept, so nothing is to be undone, and the load is
 * inline: some walks do hundreds.
 *
 * A fault kills the process where its signal is blocked, so the guard is not used there: not on a
 * thread that blocks SIGSEGV or SIGBUS (the mask in uc says so, but inside sigsuspend() and its
 * like another one is in force: where uc is that of a call that was interrupted the kernel is
 * asked), not where the kernel would put the fault's frame on an alternate stack that may be in use
 * (a host handler that has left it by swapcontext()), and not on an alternate stack with little
 * room.
 *
 * fb_guard_page() says beforehand, by a system call that copies and changes nothing, whether a page
 * can be read: with it a fault needs a page that vanishes in between.  That matters on stacks of
 * unknown size, where one more signal frame may not fit. */
#ifndef FB_SAMPLER_SIGNAL_GUARD_H
#define FB_SAMPLER_SIGNAL_GUARD_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Loads that faulted and were recovered, since start. */
extern _Atomic uint64_t fb_guard_faults;

/* The guard stands in this process and may be used under the signal whose context is uc. */
bool fb_guard_usable(const ucontext_t *uc);

#if defined(FB_GUARD_INJECT)
/* Tests only: each such load reads an unmapped address instead; 0: none. */
extern _Atomic uint32_t fb_guard_inject_every;
extern _Atomic uint64_t fb_guard_injected;
uint64_t fb_guard_inject(uint64_t address);
#else
static inline uint64_t fb_guard_inject(uint64_t address)
{
    return address;
}
#endif

/* Where a load may fault, and where the thread goes on then: relative to the members themselves. */
struct fb_guard_site {
    int64_t at;
    int64_t failed;
};

#define FB_GUARD_SITE                                                                              \
    ".pushsection fb_guard_sites, \"a\"\n"                                                         \
    ".balign 8\n"                                                                                  \
    ".quad 1b - .\n"                                                                               \
    ".quad 2b - .\n"                                                                               \
    ".popsection\n"

/* The word at address (of any value and alignment), set if it is there.  The guard must be usable.
 */
static inline bool fb_guard_word(uint64_t address, uint64_t *ret_word)
{
    uint64_t word;
    unsigned loaded;

#if defined(__x86_64__)
    __asm__ volatile __inline__("    xorl %1, %1\n"
                                "1:  movq (%2), %0\n"
                                "    incl %1\n"
                                "2:\n" FB_GUARD_SITE
                                : "=&r"(word), "=&r"(loaded)
                                : "r"(fb_guard_inject(address))
                                : "memory", "cc");
#elif defined(__aarch64__)
    __asm__ volatile __inline__("    mov %w1, #0\n"
                                "1:  ldr %0, [%2]\n"
                                "    mov %w1, #1\n"
                                "2:\n" FB_GUARD_SITE
                                : "=&r"(word), "=&r"(loaded)
                                : "r"(fb_guard_inject(address))
                                : "memory");
#endif
    if (loaded == 0)
        return false;
    *ret_word = word;
    return true;
}

/* Whether the page of address can be read at this moment. */
bool fb_guard_page(uint64_t address);

/* The fault of a guarded load: the context goes on behind it.  False: somebody else's. */
bool fb_guard_recover(const siginfo_t *info, void *context);

/* Whether the fronts of both signals stand. */
void fb_guard_set(bool stands);
bool fb_guard_stands(void);

/* Whether the kernel puts a frame of one of them on an alternate stack. */
void fb_guard_alternate_set(bool on_alternate);

#endif

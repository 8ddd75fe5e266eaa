/* guard.h - reads of memory that may not be there.
 *
 * Context: signal, but for the last three functions.
 *
 *     if (fb_guard_usable(uc))                    once a walk: of this thread, at this moment
 *         if (fb_guard_word(address, &word)) ...  false: nothing readable is there
 *
 * The word is loaded by one known instruction.  When it faults, the front of SIGSEGV and SIGBUS
 * (sampler/fault.h) asks fb_guard_recover(), which knows the instruction by its address and moves
 * the thread behind it.  No state is kept, so nothing is to be undone.
 *
 * A fault kills the process where its signal is blocked, so the guard is not used there: not on a
 * thread that blocks SIGSEGV or SIGBUS (asked of the kernel, because the mask in uc is not the one
 * in force inside sigsuspend() and its like), not where the kernel would put the fault's frame on
 * an alternate stack that may be in use (a host handler that has left it by swapcontext()), and not
 * on an alternate stack with little room.
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

/* The word at address (of any value and alignment).  The guard must be usable. */
bool fb_guard_word(uint64_t address, uint64_t *ret_word);

/* Whether the page of address can be read at this moment. */
bool fb_guard_page(uint64_t address);

/* The fault of a guarded load: the context goes on behind it.  False: somebody else's. */
bool fb_guard_recover(const siginfo_t *info, void *context);

/* Whether the fronts of both signals stand. */
void fb_guard_set(bool stands);
bool fb_guard_stands(void);

/* Whether the kernel puts a frame of one of them on an alternate stack. */
void fb_guard_alternate_set(bool on_alternate);

#if defined(FB_GUARD_INJECT)
/* Tests only: each such load reads an unmapped address instead; 0: none. */
extern _Atomic uint32_t fb_guard_inject_every;
extern _Atomic uint64_t fb_guard_injected;
#endif

#endif

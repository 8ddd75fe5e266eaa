/* fault.h - our front of SIGSEGV and SIGBUS, behind which guarded loads (signal/guard.h) may fault.
 *
 *     fb_fault_start();         once a process
 *     fb_fault_need();          normal context, any thread: from now on the front stands
 *     fb_fault_watch();         the helper, when modules came: they may have brought handlers
 *
 * It stands only where it is needed: with a JVM in the process (whose structures are read without a
 * proof that they are mapped), or with FLAMEBANK_GUARD=1.  Everything that is no fault of a guarded
 * load is the host's, exactly as without us:
 *
 *   - The kernel has our function with the host's own flags and mask, and our function ends by
 *     jumping to the host's, on the same stack, with the arguments and the return address that the
 *     kernel gave.  So masks, SA_NODEFER, SA_ONSTACK, SA_RESTART, siglongjmp() and a changed
 * context need nothing of us.  Ours are SA_SIGINFO, and SA_RESETHAND, which is done by hand.
 *   - SIG_DFL: the instruction faults once more with the signal blocked, which the kernel answers
 *     with the default action: the core shows the true pc and address.  A signal that somebody sent
 *     is sent again with the same siginfo after the default was restored.
 *   - SIG_IGN: a fault ends the process as it would without us; a signal that somebody sent is
 *     dropped.  Programs that follow by exec ignore it too.
 *   - sigaction() and signal() with its variants report what the host has set; flags and mask are
 *     read from the kernel, so what other calls of the C library changed is told as well.
 *
 * A change is made under a lock with all signals blocked: the helper may put the front up while the
 * host installs a handler.  A vfork's child changes its own action only.
 *
 * A host that sets an action by a raw system call is not seen.  Runtimes of languages do that when
 * their library was loaded: fb_fault_watch() finds it then, and the guard is not used any more.  It
 * is not asked every second, because the system call is one that strict filters kill for. */
#ifndef FB_SAMPLER_FAULT_H
#define FB_SAMPLER_FAULT_H

#include <signal.h>
#include <stdbool.h>

typedef int (*fb_fault_set_fn)(int signo, const struct sigaction *action, struct sigaction *old);

/* SIGSEGV or SIGBUS. */
bool fb_fault_covers(int signo);

/* Puts the front up, once.  False: the kernel refused; the guard is not used then. */
bool fb_fault_need(void);

/* False, once: the front was there and is gone. */
bool fb_fault_watch(void);

/* sigaction() of the host for a covered signal; `set` is who changes the kernel's action. */
int fb_fault_action(int signo, const struct sigaction *action, struct sigaction *old,
                    fb_fault_set_fn set);

/* Around exec. */
void fb_fault_exec(void);
void fb_fault_exec_failed(void);

/* In the process that is sampled, and in the child of its fork: before all others. */
void fb_fault_start(void);

#endif

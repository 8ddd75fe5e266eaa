/* entry.h - who owns SIGPROF: our handler in front, the host's behind it.
 *
 * The kernel's action for SIGPROF is ours from start to end: at its default the
 * signal kills, so a host that resets all signals, or another profiler, must
 * not take it away while timers run.  sigaction() and signal() are therefore
 * interposed for SIGPROF: the host's action is kept here, reported back to it,
 * and called for every SIGPROF that is not from our clock.  Its SIG_DFL kills
 * as it would without us, but for what may be a late tick of our own
 * ITIMER_PROF.  A vfork's child changes its own action, not what is kept here;
 * its SIG_IGN is what exec'd programs inherit.
 *
 * A host handler that runs on an alternate stack gets SIGPROF into its mask
 * (and not into what it is told): alternate stacks may be too small for one
 * more signal frame, and the kernel kills the process that overflows one.  The
 * ticks come, with their weight, when the handler returns.
 *
 * With the clock itimer the host may want ITIMER_PROF for itself: it gets it, the
 * ticks are the host's for as long as its timer is set, and ours is set again
 * when the host stops it.
 *
 * A host that sets the action by a raw system call is not seen. */
#ifndef FB_SAMPLER_ENTRY_H
#define FB_SAMPLER_ENTRY_H

#include <signal.h>
#include <stdbool.h>

#include "sampler/config.h"

/* Takes the signal over.  False: the kernel refused. */
bool fb_entry_install(enum fb_clock clock);

/* A tick of our clock, waiting or taken, in a process where the signal is ours. */
bool fb_entry_is_tick(const siginfo_t *info);

/* What the host does with this signal goes through here: SIGPROF, and those of sampler/fault.h. */
bool fb_entry_covers(int signo);

/* signal() for a covered signal, with the flags and mask of the variant that was called. */
sighandler_t fb_entry_signal(int signo, sighandler_t handler, int flags, bool masks_itself);

/* Around exec: a covered signal that is ignored is ignored by the next program too. */
void fb_entry_exec(void);
void fb_entry_exec_failed(void);

#endif

/* preload.h - the life of the sampler in a process: start, fork, exec, end.
 *
 * Decisions that a user meets:
 *   fork   is followed: the child gets timers, a helper thread and a bank of its own (its pid, its
 *          writer id, the run's id).  SIGPROF is blocked around fork(), so that a large fork is not
 *          started over by ticks; they come, with their weight, afterwards.
 *   exec   is followed because LD_PRELOAD and FLAMEBANK_RUN are inherited; without "exec" in
 *          FLAMEBANK_FOLLOW our name is taken out of LD_PRELOAD.  What was sampled is written
 *          before (at most 200 ms), and ITIMER_PROF is stopped, which would kill the new program.
 *   vfork, posix_spawn, clone and _Fork(): the child shares our memory or has no timers; every hook
 *          looks at the process id first and does nothing there.
 *   filter a system call filter is read before it is installed: what it refuses us ends before
 *          (new threads, followed forks, or all sampling, said once on stderr).
 *   end    exit, _exit, quick_exit and the end of the last thread write what is there and END, at
 * most 200 ms; a signal's death loses what came since the last second. secure mode, a second copy
 * of the library, FLAMEBANK_OFF=1: nothing is done at all. */
#ifndef FB_SAMPLER_PRELOAD_H
#define FB_SAMPLER_PRELOAD_H

#include <stdbool.h>

/* The sampler runs in this very process (not in a vfork's or clone's child). */
bool fb_preload_active(void);

/* This process is the one that the constructor, or the fork hook, ran in. */
bool fb_preload_own_process(void);

/* Writes what is there; the process ends after it. */
void fb_preload_end(void);

/* In a copy of the process that was made past the fork hooks: it is not sampled. */
void fb_preload_forget(void);

/* A system call filter is about to be installed, for this thread or for all; refused: bits of
 * filter.h.  What it would kill stops; the helper only writes from now on. */
void fb_preload_filter(unsigned refused, bool all_threads);

/* Around exec: fb_preload_exec_failed() when it returns. */
void fb_preload_exec(void);
void fb_preload_exec_failed(void);

/* Around a change of the process's rights, roots or namespaces: the bank is made while it may be,
 * and our thread is not there during the call (helper.h).  begin's answer goes to end, which keeps
 * errno and returns result. */
bool fb_preload_rights_begin(void);
int fb_preload_rights_end(bool paused, int result);

#endif

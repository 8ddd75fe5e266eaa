/* clock.h - the clocks that tick, one row of a table each: what makes a thread take samples.
 *
 * Context: normal; the calls are plain system calls, without the C library's
 * bookkeeping, so that the helper thread may make them for other threads.
 *
 *     fb_clock_init(config, fb_helper_wake);
 *     fb_clock_process_start();            a clock of the whole process starts
 *     fb_clock_thread_arm(t);              the thread's own part of the clock
 *     fb_clock_thread_disarm(t);
 *     fb_clock_process_stop();             before exec; _start again if exec failed
 *     next_ns = fb_clock_helper_turn(quiet);    the helper, when it was woken and at next_ns
 *
 * The first tick of a thread (or of the process, where the clock is the
 * process's) is uniform in (0, interval], so that short threads are sampled in
 * proportion.  What a clock takes from the host's limits is in its own file,
 * clock_NAME.c; a thread that gets no clock is counted (FB_LOSS_NO_TIMER).
 *
 * The helper thread alone pauses the clock and changes its rate.  A weight is
 * always a number of ticks of the bank's interval_ns: at a rate that is k times
 * lower each tick weighs k.  A change costs each thread at most one tick of the
 * slower rate in its account. */
#ifndef FB_SAMPLER_CLOCK_H
#define FB_SAMPLER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/config.h"
#include "sampler/signal/task.h"

/* Once, in the constructor; wake makes the helper take its turn soon (NULL: there is none).  What
 * is not to be had is replaced by `cpu`, and said in one line by the run's first process. */
void fb_clock_init(const struct fb_config *config, void (*wake)(void));

/* What init came to. */
struct fb_clock_facts {
    enum fb_clock got;
    const char *why;    /* why it is not the one that was asked for; NULL if it is */
    bool kernel_seen;   /* the clock ticks in the kernel, too */
    const char *kernel; /* "yes", or why there are no frames of the kernel; NULL: no such clock */
};

const struct fb_clock_facts *fb_clock_facts(void);

/* Threads that took their samples from the clock `cpu` because the one of the process was not to be
 * had for them. */
uint32_t fb_clock_fallbacks(void);

/* The name of a clock, as it is asked for and banked. */
const char *fb_clock_name(enum fb_clock clock);

/* False: there is no clock of that name. */
bool fb_clock_find(const char *name, enum fb_clock *ret_clock);

/* False: no timer, counted as a loss.  t->tid and t->state are set; any thread may call it. */
bool fb_clock_thread_arm(struct fb_task *t);
void fb_clock_thread_disarm(struct fb_task *t);

/* Ticks of the thread's clock that were due by t->cpu_ns, its CPU time, and did not come: the
 * kernel looks at a CPU timer on its own tick only, so a thread that ends loses the last ones. */
uint32_t fb_clock_thread_missed(const struct fb_task *t);

/* The clock is silent while a thread is in the kernel, for however long that is: what is missed at
 * an end was spent there. */
bool fb_clock_misses_the_kernel(void);

void fb_clock_process_start(void);
void fb_clock_process_stop(void);

/* In the child of a fork, before its threads are armed: nothing of the parent's clock is left but a
 * pause and a rate. */
void fb_clock_fork_child(void);

/* The helper: does what the clock leaves to it and returns when it wants to do so again
 * (UINT64_MAX: when woken).  quiet: only what has no new kind of system call. */
uint64_t fb_clock_helper_turn(bool quiet);

/* The next turn will make system calls that a filter of the host's may not know. */
bool fb_clock_helper_wants(void);

/* The helper: no ticks until resume.  What was spent meanwhile is in no account of ticks. */
void fb_clock_pause(void);
void fb_clock_resume(void);
bool fb_clock_is_paused(void);

enum { FB_CLOCK_SCALE_MAX = 1000 };

/* The helper: a tick every interval_ns from now on, rounded to a whole multiple (at least 1) of
 * the interval that was asked for. */
void fb_clock_rate_set(uint64_t interval_ns);
uint64_t fb_clock_interval(void); /* as set now */

/* Once a second: how many of the user's queued signals are in use, of how many. */
void fb_clock_pending_set(uint64_t used, uint64_t limit);

/* CPU time of a thread of this process; false if it is gone. */
bool fb_clock_thread_cpu(int32_t tid, uint64_t *ret_ns);

uint64_t fb_clock_now(void); /* CLOCK_MONOTONIC, ns */

#endif

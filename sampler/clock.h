/* clock.h - the clocks that tick: one POSIX timer per thread, or the classic ITIMER_PROF.
 *
 * Context: normal; the calls are plain system calls, without the C library's
 * bookkeeping, so that the helper thread may make them for other threads.
 *
 *     fb_clock_init(config);
 *     fb_clock_process_start();            ITIMER_PROF, if that is the clock
 *     fb_clock_thread_arm(t);              the thread's own timer, if that is the clock
 *
 * A thread's timer counts that thread's CPU time and signals that thread alone;
 * its first expiry is uniform in (0, interval], so that short threads are
 * sampled in proportion.  Timers take from RLIMIT_SIGPENDING, which is the
 * user's whole allowance of queued signals: a quarter of it stays free for the
 * host, and a thread that gets no timer is counted (FB_LOSS_NO_TIMER).
 *
 * POSIX timers are gone after fork and exec by themselves.  ITIMER_PROF
 * survives exec and would kill the new program: stop it before. */
#ifndef FB_SAMPLER_CLOCK_H
#define FB_SAMPLER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/config.h"
#include "sampler/signal/task.h"

void fb_clock_init(const struct fb_config *config);

/* False: no timer, counted as a loss.  t->tid and t->state are set; any thread may call it. */
bool fb_clock_thread_arm(struct fb_task *t);
void fb_clock_thread_disarm(struct fb_task *t);

/* Ticks of the thread's timer that were due by t->cpu_ns, its CPU time, and did not come: the
 * kernel looks at the timer on its own tick only, so a thread that ends loses the last ones. */
uint32_t fb_clock_thread_missed(const struct fb_task *t);

void fb_clock_process_start(void);
void fb_clock_process_stop(void);

/* Once a second: how many of the user's queued signals are in use, of how many. */
void fb_clock_pending_set(uint64_t used, uint64_t limit);

/* CPU time of a thread of this process; false if it is gone. */
bool fb_clock_thread_cpu(int32_t tid, uint64_t *ret_ns);

uint64_t fb_clock_now(void); /* CLOCK_MONOTONIC, ns */

#endif

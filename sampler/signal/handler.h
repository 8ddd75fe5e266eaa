/* handler.h - what one tick of a clock does: walk the stack, leave a record.
 *
 * Context: signal.  sampler/entry.c installs the signal's action, calls the
 * function of the clock in use, and passes on to the host what is not ours.
 *
 *     fb_handler_init(threads, FB_THREAD_SLOTS);     normal context, once
 *     if (!fb_handle_cpu(info, context)) ...         the signal is somebody else's
 *
 * errno is kept.  Cost, measured by each run and summed per thread: two
 * clock_gettime() and one walk; by the monotonic clock, so that a run that was
 * itself kept from running counts as half a millisecond.  Nothing here blocks, allocates or locks;
 * what cannot be kept is counted by cause, in ticks. */
#ifndef FB_SAMPLER_SIGNAL_HANDLER_H
#define FB_SAMPLER_SIGNAL_HANDLER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/raw_format.h"
#include "sampler/signal/task.h"

/* Ticks (or threads, see raw_format.h) that are no whole sample, since start. */
extern _Atomic uint64_t fb_handler_losses[FB_LOSS_CAUSE_COUNT];

/* What arrived, since start, so that nothing is lost without a name:
 *     SIGNALS = the threads' handler_count + FOREIGN + STRAYS
 *     ticks in the bank and ticks lost = the threads' weight
 *                                      = handler_count + the threads' overrun + KEPT
 * (the last for clocks and rates with one tick an expiry).  tests/e2e/sampler/torture.sh holds
 * banks to it. */
enum fb_handler_count {
    FB_COUNT_SIGNALS, /* every SIGPROF, before anything is decided                 */
    FB_COUNT_FOREIGN, /* passed on to the host                                     */
    FB_COUNT_STRAYS,  /* ours, but of no thread that is sampled: FB_LOSS_UNKNOWN_THREAD */
    FB_COUNT_KEPT,    /* ticks that no signal brought: due at the end of a thread or process */
    FB_COUNT_COUNT
};

extern _Atomic uint64_t fb_handler_counts[FB_COUNT_COUNT];

/* Some tick came since start: there may be something to write. */
extern _Atomic bool fb_handler_ticked;

/* Ticks of weight that one expiry of the clock stands for; 1 unless the rate was lowered. */
extern _Atomic uint32_t fb_handler_scale;

/* A system call filter may kill for gettid(): a thread that only that would tell is unknown. */
extern _Atomic bool fb_handler_filtered;

/* The state of the calling thread, for the process-wide clock. */
extern _Thread_local struct fb_task *fb_task_self __attribute__((tls_model("initial-exec")));

void fb_handler_init(struct fb_task *threads, uint32_t count);

/* In the child of a fork: all counts and losses start anew. */
void fb_handler_fork_child(void);

void fb_handler_count(enum fb_handler_count what, uint64_t n);

/* Threads' own timers: ours if the signal carries a timer's value that points at a slot. */
bool fb_handle_cpu(const siginfo_t *info, void *context);

/* It is from the timer of one of the threads. */
bool fb_handler_knows(const siginfo_t *info);

/* The calling thread ends with ticks that are due: a record without a stack keeps their weight. The
 * signal is blocked. */
void fb_handler_thread_end(struct fb_task *t, uint32_t weight);

/* The threads' own perf events: ours if it is from one, or from a timer of one of the threads.  A
 * tick weighs the CPU time since the last one, of which it keeps the remainder. */
bool fb_handle_perf(const siginfo_t *info, void *context);

/* Before the first of them: one tick of weight in nanoseconds, the bytes of a page, and whether the
 * kernel's part of the stacks is in the rings.  Without it the event is silent while the thread is
 * in the kernel, and what is missing there becomes a record without a stack. */
void fb_handler_perf_init(uint64_t interval_ns, uint32_t page, bool kernel);

/* It is from the perf event of one of the threads. */
bool fb_handler_knows_event(const siginfo_t *info);

/* The helper's own signals, for the clock wall: its si_code, which the kernel does not use, with
 * the slot as value. */
enum { FB_HANDLER_CALL = -100, FB_HANDLER_TURNS = 8 };

bool fb_handle_wall(const siginfo_t *info, void *context);

bool fb_handler_knows_call(const siginfo_t *info);

/* ITIMER_PROF: ours if the kernel sent it without a timer.  tid is the caller's. */
bool fb_handle_itimer(const siginfo_t *info, void *context);

#endif

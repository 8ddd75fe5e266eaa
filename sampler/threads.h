/* threads.h - the registry of sampled threads: who enters, who leaves, who was there before.
 *
 *     t = fb_thread_claim(attr's stack size);     the creator, before pthread_create()
 *     fb_thread_enter(t);                         the new thread, first thing
 *     fb_thread_leave(t);                         the same, last thing: returns, exits or is
 * cancelled fb_thread_release(t);                       the creator, where creation failed
 *
 * Slots are states of struct fb_task (signal/task.h).  A slot that is
 * EXITED is freed by the helper thread once its samples are written; a thread that
 * had none frees it itself.  Threads
 * that the wrapper did not see (older than us, or from a raw clone) are adopted
 * by the helper: their timer is made for them, and their end is noticed at the
 * next look.  With no slot left a thread runs unsampled (FB_LOSS_NO_TIMER). */
#ifndef FB_SAMPLER_THREADS_H
#define FB_SAMPLER_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/signal/task.h"

/* False: no memory.  Once a process. */
bool fb_threads_init(void);

/* A system call filter is about to come.  From now on no thread enters, and those that leave make
 * no calls for their timers, or (entirely) none at all.  Waits for those that are under way, a
 * second at most. */
void fb_threads_close(bool entirely);

/* No more ticks, in any thread, for good. */
void fb_threads_disarm(void);

/* Slot i < FB_THREAD_SLOTS; slots from fb_threads_end() on were never used. */
struct fb_task *fb_threads_slot(uint32_t i);
uint32_t fb_threads_end(void);

/* An id of the bank that no thread has. */
uint32_t fb_threads_id_take(void);

struct fb_task *fb_thread_claim(size_t stack_bytes);
void fb_thread_release(struct fb_task *t);
void fb_thread_enter(struct fb_task *t);
void fb_thread_leave(struct fb_task *t);

/* The main thread, in the constructor.  t was claimed before the helper started, which ends when no
 * claimed thread is left; NULL: there was no slot. */
void fb_thread_enter_main(struct fb_task *t);

/* CPU time of threads that left without a tick; their slots were free at once. */
uint64_t fb_threads_silent_cpu(void);

/* Threads that were claimed and did not leave.  0: only the helper is left of the wrapped ones. */
uint32_t fb_threads_live(void);

/* The helper: adopts threads of /proc/self/task that nobody entered.  helper_tid is left out. */
void fb_threads_adopt(int32_t helper_tid);

/* The helper: how many adopted threads are not buried. */
uint32_t fb_threads_adopted(void);

/* The helper: marks a thread that is gone without having left as EXITED.  Only for one that cannot
 * leave by itself meanwhile: an adopted one, or the main thread when it is a zombie. */
void fb_thread_bury(struct fb_task *t);

/* In the child of a fork: only the calling thread is left; t is its slot or NULL. */
void fb_threads_fork_child(struct fb_task *t);

#endif

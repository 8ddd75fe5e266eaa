/* clock_row.h - what a clock is: the functions of its row, and what all clocks share.
 *
 * A clock is a file clock_NAME.c with one row, a line of the table in clock.c, a
 * line of enum fb_clock, and its function in signal/handler.c, which entry.c
 * chooses by a switch: the handler calls nothing through pointers.
 *
 * thread_tune starts, stops or retimes what thread_arm made, according to
 * fb_clock_shared; it is called by the thread itself or by the helper, never by
 * both at once. */
#ifndef FB_SAMPLER_CLOCK_ROW_H
#define FB_SAMPLER_CLOCK_ROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/clock.h"
#include "sampler/signal/task.h"

struct fb_clock_row {
    const char *name; /* as asked for and as banked */
    const char *what; /* one line for people        */
    bool (*thread_arm)(struct fb_task *t);
    void (*thread_tune)(struct fb_task *t);
    void (*thread_disarm)(struct fb_task *t);
    void (*process_tune)(void); /* for a clock of the whole process */

    /* NULL where there is nothing to find out.  False: not to be had, facts->why says it. */
    bool (*probe)(struct fb_clock_facts *facts);
    void (*fork_child)(void);
    uint64_t (*helper_turn)(bool quiet);
    bool weighs_cpu; /* a tick weighs the CPU time since the last one, at any rate */
};

extern const struct fb_clock_row fb_clock_cpu;
extern const struct fb_clock_row fb_clock_itimer;
extern const struct fb_clock_row fb_clock_perf;
extern const struct fb_clock_row fb_clock_wall;

struct fb_clock_shared {
    uint64_t interval_ns;    /* as asked for: one tick of weight              */
    _Atomic uint32_t scale;  /* ticks of weight that one expiry stands for    */
    _Atomic bool paused;     /* by fb_clock_pause()                           */
    _Atomic bool process_on; /* between fb_clock_process_start() and _stop()  */
    _Atomic uint32_t wanted; /* threads that wait for the helper's next turn  */
    _Atomic uint32_t fallbacks;
};

extern struct fb_clock_shared fb_clock_shared;

/* The kernel's encoding of "scheduler time of thread tid", as pthread_getcpuclockid() makes it. */
static inline int32_t fb_clock_id(int32_t tid)
{
    return (int32_t)(~(uint32_t)tid << 3 | 6u);
}

/* Nanoseconds between two expiries now. */
uint64_t fb_clock_period(void);

/* Uniform in (0, limit_ns], other for each thread and each call. */
uint64_t fb_clock_random(const struct fb_task *t, uint64_t limit_ns);

/* The account of due ticks starts anew: the next is due first_ns of CPU time from now on. */
void fb_clock_due_from_now(struct fb_task *t, uint64_t first_ns);

/* Asks the helper for a turn. */
void fb_clock_wake(void);

/* A POSIX timer on the thread's CPU time, which is not started yet.  False: counted by the caller.
 */
bool fb_clock_timer_make(struct fb_task *t);
void fb_clock_timer_set(const struct fb_task *t, uint64_t first_ns, uint64_t period_ns);
void fb_clock_timer_delete(struct fb_task *t);

/* One of the timers that the user may have: false if only the host's share is left.  Give back what
 * was taken. */
bool fb_clock_timer_take(void);
void fb_clock_timer_give(void);

#endif

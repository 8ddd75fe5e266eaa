/* task.h - the state of one sampled thread, as its signal handler sees it.
 *
 * Context: signal.  The handler reaches it through sigev_value of the thread's
 * own timer (or, for the process-wide clock, through one initial-exec variable),
 * never through an allocating TLS access.
 *
 * Who writes what: the handler writes segment, cache and the handler_ sums of its
 * own thread; the thread itself (or the helper thread, for threads that existed
 * before the sampler) writes the rest before it sets state to LIVE; the writer
 * thread only reads, and takes the segment by an atomic exchange.
 *
 * Memory order.  What a thread's creator, the thread or the helper writes into its slot is released
 * by the store of the next state and acquired by whoever looks at the state; handler and thread are
 * one thread.  The words of a segment go with it: released by the store (or the compare-and-swap of
 * the pool) that gives it away, acquired by the exchange that takes it.  The sums are read by the
 * helper as they are, each by itself.  tests/unit/sampler/order.c runs it on CPUs that reorder.
 *
 * A slot is FREE -> CLAIMED (by the creator) -> LIVE -> EXITED (by the thread, after
 * which no signal of its timer runs) -> FREE (by the writer, once it is drained), or
 * LIVE -> FREE at once, where no tick came. */
#ifndef FB_SAMPLER_SIGNAL_TASK_H
#define FB_SAMPLER_SIGNAL_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/signal/pool.h"
#include "sampler/signal/walk.h"

enum {
    FB_THREAD_SLOTS = 8192,
    FB_THREAD_NAME = 16, /* TASK_COMM_LEN, with its NUL */
};

enum fb_thread_state {
    FB_THREAD_FREE = 0,
    FB_THREAD_CLAIMED,
    FB_THREAD_LIVE,
    FB_THREAD_EXITED,
};

struct fb_task {
    _Atomic uint32_t state; /* enum fb_thread_state                                */
    uint32_t id;            /* of the bank: never reused, from 1                   */
    int32_t tid;
    int32_t timer;                /* kernel timer id, -1 if none                     */
    _Atomic uint64_t event;       /* clock_perf.c: the state of its perf event, with id       */
    _Atomic(void *) ring;         /* of the event; taken by an atomic exchange while it is read */
    struct fb_walk_range stack;   /* {0, 0} if not known yet                         */
    _Atomic uintptr_t stack_hint; /* an sp seen while stack was unknown            */
    _Atomic(struct fb_segment *) segment;
    _Atomic uint64_t handler_ns; /* time spent in the handler, and its runs        */
    _Atomic uint64_t handler_count;
    _Atomic uint64_t weight;  /* ticks received, kept or lost                      */
    _Atomic uint64_t kept;    /* helper: ticks that were due at an end and did not come */
    _Atomic uint64_t overrun; /* the part of weight beyond one tick per signal     */

    /* The clock wall: the helper writes them before it sends a signal; owed also at other times. */
    _Atomic uint32_t owed;        /* ticks that the next signal stands for              */
    _Atomic uint32_t taken;       /* handler: signals that it has taken                 */
    _Atomic uint8_t parked_found; /* handler: parked_site, if it made a record there    */
    uint8_t parked_site;
    uint64_t parked_sp; /* where the thread waited then, 0: it did not        */
    uint64_t parked_pc;
    uint64_t sent_ns;

    uint64_t first_tick_ns;  /* the thread's CPU time at the first tick that is due */
    uint64_t due_before;     /* ticks of weight and kept that are of no concern then */
    bool on_timer;           /* a CPU timer does what the process's clock does elsewhere */
    bool running;            /* its clock runs, from first_tick_ns on               */
    _Atomic bool tuning;     /* somebody is at it (clock.c)                          */
    _Atomic uint32_t tuned;  /* the version of the clock's settings that it goes by  */
    uint64_t cpu_ns;         /* the thread's CPU time when last read               */
    uint64_t checked_cpu_ns; /* helper: both when it last looked for silence       */
    uint64_t checked_count;
    bool adopted;              /* not seen by the wrapper: its end is noticed by looking        */
    bool blocked;              /* helper: found to block the signal                             */
    bool drained;              /* helper: was EXITED before the segments were taken             */
    int64_t named_ns;          /* helper: when the name was last read, 0 = never            */
    char name[FB_THREAD_NAME]; /* helper: the kernel's, as last banked        */
    uint32_t name_hash;        /* helper: of the name that was banked for it  */
    uint32_t virtual_id;       /* helper: of the bank, for the virtual threads that it carries; 0 */
    uint32_t virtual_hash;     /* helper: name_hash when that one was named   */
    char exit_name[FB_THREAD_NAME]; /* by the thread itself, before EXITED         */

    void *(*start)(void *); /* what pthread_create() was asked to run              */
    void *start_arg;
    size_t stack_bytes; /* the size that its stack was created with                */

    struct fb_walk_cache cache;
};

/* The helper may find a thread's stack while the thread's handler looks: low is there before top
 * is, and as long as top is 0 nothing is in the range.  (Two plain words may be seen in any order
 * on a CPU with weak memory order, and {0, top} would be all memory below it.) */
static inline struct fb_walk_range fb_task_stack(const struct fb_task *t)
{
    struct fb_walk_range stack;

    stack.top = __atomic_load_n(&t->stack.top, __ATOMIC_ACQUIRE);
    stack.low = __atomic_load_n(&t->stack.low, __ATOMIC_RELAXED);
    return stack;
}

static inline void fb_task_stack_set(struct fb_task *t, uintptr_t low, uintptr_t top)
{
    __atomic_store_n(&t->stack.low, low, __ATOMIC_RELAXED);
    __atomic_store_n(&t->stack.top, top, __ATOMIC_RELEASE);
}

#endif

/* handler.c - the record of one tick.  See handler.h. */
#include "sampler/signal/handler.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sampler/jvm/signal/vm.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/cpu.h"
#include "sampler/signal/keep.h"
#include "sampler/signal/ring.h"

#include "sampler/signal/sigsafe.h"

/* Left free below us: our frames and a margin; on a thread's own stack also its guard and what its
 * C library keeps there, by which its low end is known too low. */
enum { ALTERNATE_ROOM = 6144, OWN_ROOM = ALTERNATE_ROOM + 8192 };

enum {
    KERNEL_DEPTH_MAX = 127, /* what the kernel gives, too */
    LATE_NS = 1000000,      /* a thread that has a CPU takes a signal sooner */
    RECORDS_A_SIGNAL = 4,   /* of one long system call; the last one has the weight of the rest */
};

_Atomic uint64_t fb_handler_losses[FB_LOSS_CAUSE_COUNT];
_Atomic uint64_t fb_handler_counts[FB_COUNT_COUNT];
_Atomic bool fb_handler_ticked;
_Atomic bool fb_handler_filtered;
_Atomic uint32_t fb_handler_scale = 1;
_Thread_local struct fb_task *fb_task_self __attribute__((tls_model("initial-exec")));

static struct fb_task *slots;
static uint32_t slot_count;
static uint64_t perf_interval_ns;
static uint32_t perf_page;
static bool perf_kernel;

void fb_handler_init(struct fb_task *threads, uint32_t count)
{
    slots = threads;
    slot_count = count;
}

void fb_handler_fork_child(void)
{
    for (unsigned i = 0; i < FB_LOSS_CAUSE_COUNT; i++)
        atomic_store(&fb_handler_losses[i], 0);
    for (unsigned i = 0; i < FB_COUNT_COUNT; i++)
        atomic_store(&fb_handler_counts[i], 0);
    atomic_store(&fb_handler_ticked, false);
}

void fb_handler_count(enum fb_handler_count what, uint64_t n)
{
    atomic_fetch_add_explicit(&fb_handler_counts[what], n, memory_order_relaxed);
}

static void lose(enum fb_loss_cause cause, uint64_t ticks)
{
    atomic_fetch_add_explicit(&fb_handler_losses[cause], ticks, memory_order_relaxed);
}

/* A signal of ours that found no thread to be of. */
static void stray(uint64_t ticks)
{
    fb_handler_count(FB_COUNT_STRAYS, 1);
    lose(FB_LOSS_UNKNOWN_THREAD, ticks);
}

/* errno is written only where a call failed: a raw clone() may share it with its maker, and what it
 * was a moment ago must not come back there. */
static uint64_t now_ns(void)
{
    int saved = errno;
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) {
        errno = saved;
        return 0;
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The sums have one writer, this thread: no atomic read-modify-write is needed. */
static void sum(_Atomic uint64_t *to, uint64_t add)
{
    uint64_t old = atomic_load_explicit(to, memory_order_relaxed);

    atomic_store_explicit(to, old + add, memory_order_relaxed);
}

/* A run that took longer was kept from running (a quota, a busy machine): that is no cost of ours.
 */
enum { RUN_NS_MAX = 500000 };

static uint64_t at_most(uint64_t ns, uint64_t most)
{
    return ns < most ? ns : most;
}

static uintptr_t stack_pointer(const ucontext_t *uc)
{
#if defined(__x86_64__)
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)uc->uc_mcontext.sp;
#else
#error "flamebank samples x86_64 and aarch64"
#endif
}

/* Is there too little room left under us, on the thread's stack or an alternate one? */
static bool stack_is_small(const struct fb_task *t, const ucontext_t *uc)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = (uintptr_t)uc->uc_stack.ss_sp;
    struct fb_walk_range stack = fb_task_stack(t);

    if (here >= stack.low && here < stack.top)
        return here - stack.low < OWN_ROOM + (fb_jvm_active() ? fb_jvm.guard_bytes : 0);
    if ((uc->uc_stack.ss_flags & SS_DISABLE) || here < low || here - low >= uc->uc_stack.ss_size)
        return false;
    return here - low < ALTERNATE_ROOM;
}

/* The segment with room for one more record, now owned by this handler. */
static struct fb_segment *segment_take(struct fb_task *t)
{
    struct fb_segment *segment = atomic_exchange(&t->segment, NULL);

    if (segment != NULL && sizeof segment->data - segment->used >= FB_RECORD_MAX)
        return segment;
    if (segment != NULL)
        fb_pool_push_full(segment);
    return fb_pool_take();
}

/* The head of a record without a stack at the end of the segment; it is not counted as used yet. */
static struct fb_record *record_begin(const struct fb_task *t, struct fb_segment *segment,
                                      uint32_t weight, uint64_t time_ns, uint8_t state)
{
    struct fb_record *r = (struct fb_record *)(void *)(segment->data + segment->used);

    r->time_ns = time_ns;
    r->thread_id = t->id;
    r->weight = weight;
    r->depth = 0;
    r->stop = FB_WALK_ROOT;
    r->state = state;
    r->slot = (uint16_t)(t - slots);
    r->keep = 0;
    return r;
}

/* Behind the `inside` addresses of the kernel that are there. */
static void record_walk(struct fb_task *t, const ucontext_t *uc, unsigned inside,
                        struct fb_record *r)
{
    enum fb_walk_stop stop = FB_WALK_ROOT;
    struct fb_walk_range stack = fb_task_stack(t);
    struct fb_walk_rest rest;

    t->cache.java.tid = t->tid;
    r->depth = (uint16_t)(inside + fb_walk_stack_rest(uc, &stack, &t->cache, r->pcs + inside,
                                                      FB_SAMPLE_DEPTH_MAX - inside, &stop, &rest));
    r->stop = (uint8_t)stop;
    r->keep = stop == FB_WALK_NO_TABLE ? fb_keep_rest(&rest) : 0;
    if (r->keep != 0)
        return; /* sampler/unfinished.c says how it ended */
    if (stop == FB_WALK_DEPTH)
        lose(FB_LOSS_TRUNCATED, r->weight);
    else if (stop != FB_WALK_ROOT)
        lose(FB_LOSS_PARTIAL, r->weight);
}

/* kernel: where the next record of the event's ring is, or NULL.  False: the weight is lost. */
static bool record(struct fb_task *t, const ucontext_t *uc, uint32_t weight, uint64_t start_ns,
                   uint8_t state, struct fb_ring_cursor *kernel)
{
    struct fb_segment *segment;
    struct fb_record *r;
    unsigned inside = 0;

    if (stack_is_small(t, uc)) {
        lose(FB_LOSS_SMALL_STACK, weight);
        return false;
    }
    if (fb_task_stack(t).top == 0)
        atomic_store_explicit(&t->stack_hint, stack_pointer(uc), memory_order_relaxed);
    segment = segment_take(t);
    if (segment == NULL) {
        lose(FB_LOSS_NO_SEGMENT, weight);
        return false;
    }
    r = record_begin(t, segment, weight, start_ns, state);
    if (kernel != NULL)
        inside = fb_ring_next(kernel, r->pcs, KERNEL_DEPTH_MAX);
    record_walk(t, uc, inside, r);
    segment->used += (uint32_t)fb_record_size(r);
    atomic_store_explicit(&t->segment, segment, memory_order_release);
    return true;
}

static void tick(struct fb_task *t, const void *context, uint32_t expiries)
{
    uint32_t scale = atomic_load_explicit(&fb_handler_scale, memory_order_relaxed);
    uint32_t weight = expiries * scale;
    uint64_t start_ns = now_ns();

    if (atomic_load_explicit(&t->state, memory_order_acquire) != FB_THREAD_LIVE) {
        stray(weight);
        return;
    }
    atomic_store_explicit(&fb_handler_ticked, true, memory_order_relaxed);
    sum(&t->weight, weight);
    sum(&t->overrun, weight - scale);
    record(t, context, weight, start_ns, FB_RECORD_RUNNING, NULL);
    sum(&t->handler_ns, at_most(now_ns() - start_ns, RUN_NS_MAX));
    sum(&t->handler_count, 1);
    fb_code_map_ring();
}

/* A record that has a weight and no stack. */
static void record_without(struct fb_task *t, uint32_t weight, enum fb_record_state state)
{
    struct fb_segment *segment;

    if (weight == 0)
        return;
    segment = segment_take(t);
    if (segment == NULL) {
        lose(FB_LOSS_NO_SEGMENT, weight);
        return;
    }
    record_begin(t, segment, weight, now_ns(), state);
    segment->used += (uint32_t)sizeof(struct fb_record);
    atomic_store_explicit(&t->segment, segment, memory_order_release);
}

void fb_handler_thread_end(struct fb_task *t, uint32_t weight)
{
    if (weight == 0)
        return;
    atomic_store_explicit(&fb_handler_ticked, true, memory_order_relaxed);
    sum(&t->weight, weight);
    fb_handler_count(FB_COUNT_KEPT, weight);
    record_without(t, weight, FB_RECORD_THREAD_END);
}

bool fb_handler_knows(const siginfo_t *info)
{
    uintptr_t offset = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)slots;

    return info->si_code == SI_TIMER && offset % sizeof *slots == 0 &&
           offset / sizeof *slots < slot_count;
}

bool fb_handle_cpu(const siginfo_t *info, void *context)
{
    uintptr_t offset = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)slots;

    if (!fb_handler_knows(info))
        return false;
    tick(&slots[offset / sizeof *slots], context,
         1u + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0u));
    return true;
}

/* A raw clone() may share our variable with its maker: then the stack is another, or the thread id.
 */
static bool thread_is_ours(const struct fb_task *t, const ucontext_t *uc)
{
    uintptr_t sp = stack_pointer(uc);
    struct fb_walk_range stack = fb_task_stack(t);
    int saved = errno;
    long tid;

    if (sp >= stack.low && sp < stack.top)
        return true;
    if (atomic_load_explicit(&fb_handler_filtered, memory_order_relaxed))
        return false;
    tid = syscall(SYS_gettid);
    if (tid < 0)
        errno = saved;
    return t->tid == (int32_t)tid;
}

bool fb_handle_itimer(const siginfo_t *info, void *context)
{
    struct fb_task *t = fb_task_self;

    if (info->si_code != SI_KERNEL)
        return false;
    if (t == NULL || !thread_is_ours(t, context))
        stray(1);
    else
        tick(t, context, 1);
    return true;
}

void fb_handler_perf_init(uint64_t interval_ns, uint32_t page, bool kernel)
{
    perf_interval_ns = interval_ns;
    perf_page = page;
    perf_kernel = kernel;
}

/* Without memory, or with RLIMIT_SIGPENDING used up, the kernel sends a signal without its facts,
 * as if nobody had sent it. */
static bool is_bare(const siginfo_t *info)
{
    return info->si_code == SI_USER && info->si_pid == 0 && info->si_uid == 0;
}

bool fb_handler_knows_event(const siginfo_t *info)
{
    return info->si_code == POLL_IN || is_bare(info);
}

/* Whole ticks of the thread's CPU time that no record has yet. */
static uint32_t ticks_due(const struct fb_task *t)
{
    uint64_t received = atomic_load_explicit(&t->weight, memory_order_relaxed) +
                        atomic_load_explicit(&t->kept, memory_order_relaxed) - t->due_before;
    int saved = errno;
    struct timespec now;
    uint64_t cpu_ns;
    uint64_t due;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        errno = saved;
        return 0;
    }
    cpu_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (cpu_ns < t->first_tick_ns)
        return 0;
    due = 1 + (cpu_ns - t->first_tick_ns) / perf_interval_ns;
    if (due <= received)
        return 0;
    return due - received < UINT32_MAX ? (uint32_t)(due - received) : UINT32_MAX;
}

/* One record for each tick that the ring knows, with the stack that they have in common: a system
 * call that lasted for several ticks has one signal, at its end. */
static void records_from_ring(struct fb_task *t, const ucontext_t *uc, uint32_t weight,
                              uint64_t start_ns)
{
    void *ring = atomic_exchange(&t->ring, NULL);
    struct fb_ring_cursor at;
    unsigned count;
    uint32_t keep = weight < RECORDS_A_SIGNAL ? weight : RECORDS_A_SIGNAL;

    if (ring == NULL || !perf_kernel) {
        record(t, uc, weight, start_ns, FB_RECORD_RUNNING, NULL);
    } else {
        count = fb_ring_begin(ring, perf_page, &at);
        for (; count > keep; count--)
            fb_ring_skip(&at);
        for (; count > 1; count--, weight--)
            record(t, uc, 1, start_ns, FB_RECORD_RUNNING, &at);
        record(t, uc, weight, start_ns, FB_RECORD_RUNNING, &at);
        fb_ring_end(&at);
    }
    if (ring != NULL)
        atomic_store(&t->ring, ring);
}

static void perf_tick(struct fb_task *t, const void *context)
{
    uint32_t scale = atomic_load_explicit(&fb_handler_scale, memory_order_relaxed);
    uint64_t start_ns = now_ns();
    uint32_t weight;
    uint32_t outside;

    if (atomic_load_explicit(&t->state, memory_order_acquire) != FB_THREAD_LIVE) {
        stray(1);
        return;
    }
    weight = ticks_due(t);
    outside = perf_kernel || weight < scale ? weight : scale;
    atomic_store_explicit(&fb_handler_ticked, true, memory_order_relaxed);
    sum(&t->weight, weight);
    sum(&t->overrun, outside > scale ? outside - scale : 0);
    if (outside > 0) /* an expiry may come before a whole tick is due */
        records_from_ring(t, context, outside, start_ns);
    record_without(t, weight - outside, FB_RECORD_KERNEL);
    sum(&t->handler_ns, at_most(now_ns() - start_ns, RUN_NS_MAX));
    sum(&t->handler_count, 1);
    fb_code_map_ring();
}

bool fb_handle_perf(const siginfo_t *info, void *context)
{
    uintptr_t offset = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)slots;
    struct fb_task *t = fb_task_self;

    if (fb_handler_knows(info))
        perf_tick(&slots[offset / sizeof *slots], context);
    else if (!fb_handler_knows_event(info))
        return false;
    else if (t != NULL && thread_is_ours(t, context))
        perf_tick(t, context);
    else
        stray(1);
    return true;
}

bool fb_handler_knows_call(const siginfo_t *info)
{
    uintptr_t offset = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)slots;

    return is_bare(info) || (info->si_code == FB_HANDLER_CALL && offset % sizeof *slots == 0 &&
                             offset / sizeof *slots < slot_count);
}

/* Where the kernel said that it waits: behind the instruction of the call, or, if the call is to be
 * restarted, at it. */
static bool is_where_it_was(const struct fb_task *t, const ucontext_t *uc)
{
#if defined(__x86_64__)
    const uint64_t instruction = 2;
#else
    const uint64_t instruction = 4;
#endif
    uint64_t pc = fb_cpu_pc(&uc->uc_mcontext);

    return t->parked_sp != 0 && stack_pointer(uc) == t->parked_sp &&
           (pc == t->parked_pc || pc + instruction == t->parked_pc);
}

static void wall_tick(struct fb_task *t, const ucontext_t *uc)
{
    uint64_t start_ns = now_ns();
    uint32_t weight = atomic_exchange(&t->owed, 0);
    uint8_t state = FB_RECORD_RUNNING;

    if (is_where_it_was(t, uc))
        state = (uint8_t)(FB_RECORD_PARKED | t->parked_site << FB_RECORD_STATE_BITS);
    else if (start_ns - t->sent_ns > LATE_NS)
        state = FB_RECORD_RUNNABLE;
    atomic_store_explicit(&fb_handler_ticked, true, memory_order_relaxed);
    sum(&t->weight, weight);
    if (weight > 0 && record(t, uc, weight, start_ns, state, NULL) && state > FB_RECORD_RUNNABLE)
        atomic_store(&t->parked_found, t->parked_site);
    sum(&t->handler_ns, at_most(now_ns() - start_ns, RUN_NS_MAX));
    sum(&t->handler_count, 1);
    atomic_fetch_add(&t->taken, 1);
    fb_code_map_ring();
}

bool fb_handle_wall(const siginfo_t *info, void *context)
{
    uintptr_t offset = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)slots;
    struct fb_task *t = fb_task_self;

    if (!fb_handler_knows_call(info))
        return false;
    if (!is_bare(info))
        t = &slots[offset / sizeof *slots];
    if (t != NULL && atomic_load_explicit(&t->state, memory_order_acquire) == FB_THREAD_LIVE &&
        thread_is_ours(t, context))
        wall_tick(t, context);
    else
        stray(1);
    return true;
}

/* clock_perf.c - the clock `perf`: an event on the CPU time of each thread, with a timer off the
 * kernel's tick, and the kernel's part of the stacks where we may see it.
 *
 * The event's signal goes to its own thread; its handler finds the kernel's
 * addresses in the event's ring and walks the rest.  The weight of a tick is the
 * thread's CPU time since the last one, so the sum is CPU time whatever the
 * event swallows.
 *
 * No descriptor of an event is ever in the host's table: the helper, whose table
 * is its own, opens it, maps its ring and closes it again; the mapping keeps the
 * event.  A host that closes all its descriptors, or has none left, does not
 * meet it.  Fork does not inherit the mapping, exec drops it.  A ring is 8 KiB of
 * locked memory (4 without the kernel's part), which the kernel counts against
 * perf_event_mlock_kb per user and then RLIMIT_MEMLOCK: a thread that gets none
 * runs on a CPU timer, as in clock_cpu.c, and so does one that nobody saw begin.
 *
 * Until the helper comes to it, and so that the first tick is uniform in the
 * interval, each thread begins with one expiry of a CPU timer. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/clock_row.h"
#include "sampler/memory.h"
#include "sampler/say.h"
#include "sampler/signal/handler.h"
#include "sampler/text.h"
#include "sampler/threads.h"

/* Of t->event, beside the thread's id: a slot may be somebody else's when the helper is done. */
enum event_state {
    EVENT_NONE = 0,
    EVENT_WANTED = 1,
    EVENT_MAKING = 2,
    EVENT_ON = 3,
    EVENT_BITS = 2
};

enum { RELEASE_TRIES = 1000 };

static uint32_t page_bytes;
static bool kernel_seen;

static uint64_t event_word(const struct fb_task *t, enum event_state state)
{
    return (uint64_t)t->id << EVENT_BITS | (uint64_t)state;
}

static size_t ring_bytes(void)
{
    return kernel_seen ? 2 * (size_t)page_bytes : page_bytes;
}

static int event_open(int32_t tid, bool kernel, uint64_t period_ns)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = period_ns,
        .sample_type = kernel ? PERF_SAMPLE_CALLCHAIN : PERF_SAMPLE_IP,
        .disabled = 1,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
        .exclude_callchain_user = kernel,
    };

    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool event_signals(int fd, int32_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};

    return fcntl(fd, F_SETSIG, SIGPROF) == 0 && fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
           fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

static void ring_release(void *ring)
{
    if (ring == NULL)
        return;
    fb_memory_forget(ring, ring_bytes());
    munmap(ring, ring_bytes());
}

/* The event of thread tid, silent, and its ring; -1 with errno. */
static int event_make(int32_t tid, void **ret_ring)
{
    int fd = event_open(tid, kernel_seen, fb_clock_period());
    void *ring;
    int saved;

    if (fd < 0)
        return -1;
    ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (ring != MAP_FAILED && event_signals(fd, tid)) {
        fb_memory_note(ring, ring_bytes());
        *ret_ring = ring;
        return fd;
    }
    saved = errno;
    if (ring != MAP_FAILED)
        munmap(ring, ring_bytes());
    close(fd);
    errno = saved;
    return -1;
}

/* A filter of system calls may kill for this one, and cannot be asked: somebody else tries. */
static bool filter_lets_pass(void)
{
    char text[4096];
    uint64_t mode = 0;
    int status = 1;
    pid_t child;

    if (fb_file_read("/proc/self/status", text, sizeof text) < 0 ||
        !fb_text_field(text, "Seccomp", &mode) || mode == 0)
        return true;
    child = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0) {
        syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
        syscall(SYS_exit_group, 0);
    }
    while (child > 0 && waitpid(child, &status, __WALL) < 0 && errno == EINTR)
        ;
    return status == 0;
}

/* kptr_restrict hides addresses from who may not see them. */
static bool kernel_names_hidden(void)
{
    char line[17];
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, 16);

    if (fd >= 0)
        close(fd);
    return n < 16 || memcmp(line, "0000000000000000", 16) == 0;
}

static bool probe(struct fb_clock_facts *facts)
{
    void *ring;
    int fd;

    page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    kernel_seen = true;
    facts->why = "a filter of system calls kills for it";
    if (!filter_lets_pass())
        return false;
    facts->kernel = kernel_names_hidden() ? "their names are hidden: kernel.kptr_restrict" : "yes";
    fd = event_make((int32_t)syscall(SYS_gettid), &ring);
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        kernel_seen = false;
        facts->kernel = "not permitted: kernel.perf_event_paranoid";
        fd = event_make((int32_t)syscall(SYS_gettid), &ring);
    }
    facts->why = fd < 0 ? fb_say_reason(errno) : NULL;
    if (fd < 0)
        return false;
    ring_release(ring);
    close(fd);
    facts->kernel_seen = kernel_seen;
    fb_handler_perf_init(fb_clock_shared.interval_ns, page_bytes, kernel_seen);
    return true;
}

static void event_want(struct fb_task *t)
{
    atomic_store(&t->event, event_word(t, EVENT_WANTED));
    atomic_fetch_add(&fb_clock_shared.wanted, 1);
    fb_clock_wake();
}

/* Any thread.  Where the handler is reading it, the ring is out for some microseconds. */
static void event_stop(struct fb_task *t)
{
    uint64_t state = atomic_exchange(&t->event, event_word(t, EVENT_NONE)) & 3;
    void *ring = NULL;

    if (state == EVENT_WANTED)
        atomic_fetch_sub(&fb_clock_shared.wanted, 1);
    if (state != EVENT_ON)
        return;
    for (int i = 0; i < RELEASE_TRIES && ring == NULL; i++) {
        ring = atomic_exchange(&t->ring, NULL);
        if (ring == NULL)
            sched_yield();
    }
    ring_release(ring);
}

static bool arm(struct fb_task *t)
{
    atomic_store(&t->event, event_word(t, EVENT_NONE));
    atomic_store(&t->ring, NULL);
    t->on_timer = t->adopted;
    if (t->adopted)
        atomic_fetch_add(&fb_clock_shared.fallbacks, 1);
    /* Without one a thread only begins later. */
    return fb_clock_timer_make(t) || !t->adopted;
}

static void tune(struct fb_task *t)
{
    bool on = !atomic_load(&fb_clock_shared.paused);
    uint64_t period_ns = fb_clock_period();
    uint64_t first_ns;

    event_stop(t);
    if (!on) {
        t->running = false;
        fb_clock_timer_set(t, 0, 0);
        return;
    }
    if (!t->running || t->on_timer) {
        first_ns = fb_clock_random(t, period_ns);
        if (!t->running)
            fb_clock_due_from_now(t, first_ns);
        fb_clock_timer_set(t, first_ns, t->on_timer ? period_ns : 0);
    }
    t->running = true;
    if (!t->on_timer)
        event_want(t);
}

static void disarm(struct fb_task *t)
{
    event_stop(t);
    fb_clock_timer_delete(t);
}

/* The thread that called exec, or would have. */
static void process_tune(void)
{
    struct fb_task *t = fb_task_self;

    if (t == NULL || !t->running || t->on_timer || atomic_load(&fb_clock_shared.paused))
        return;
    if (!atomic_load(&fb_clock_shared.process_on))
        event_stop(t);
    else if ((atomic_load(&t->event) & 3) == EVENT_NONE)
        event_want(t);
}

static void fork_child(void)
{
    uint32_t end = fb_threads_end();

    for (uint32_t i = 0; i < end; i++) {
        atomic_store(&fb_threads_slot(i)->ring, NULL);
        atomic_store(&fb_threads_slot(i)->event, 0);
    }
}

/* No event for this thread: a CPU timer, for good. */
static void fall_back(struct fb_task *t)
{
    uint64_t period_ns = fb_clock_period();

    if (t->timer < 0) {
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_NO_TIMER], 1);
        return;
    }
    atomic_fetch_add(&fb_clock_shared.fallbacks, 1);
    t->on_timer = true;
    fb_clock_timer_set(t, fb_clock_random(t, period_ns), period_ns);
}

static void event_start(struct fb_task *t)
{
    uint64_t wanted = event_word(t, EVENT_WANTED);
    uint64_t making = event_word(t, EVENT_MAKING);
    void *ring;
    int fd;

    if (!atomic_compare_exchange_strong(&t->event, &wanted, making))
        return;
    atomic_fetch_sub(&fb_clock_shared.wanted, 1);
    fd = event_make(t->tid, &ring);
    if (fd < 0) {
        if (errno != ESRCH &&
            atomic_compare_exchange_strong(&t->event, &making, event_word(t, EVENT_NONE)))
            fall_back(t);
        return;
    }
    if (atomic_compare_exchange_strong(&t->event, &making, making | EVENT_ON)) {
        atomic_store(&t->ring, ring);
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    } else {
        ring_release(ring); /* it has left meanwhile */
    }
    close(fd);
}

static uint64_t helper_turn(bool quiet)
{
    uint32_t end = fb_threads_end();

    if (atomic_load(&fb_clock_shared.wanted) == 0)
        return UINT64_MAX;
    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot(i);

        if ((atomic_load(&t->event) & 3) != EVENT_WANTED)
            continue;
        if (!quiet) {
            event_start(t);
        } else if (atomic_exchange(&t->event, 0) != 0) {
            atomic_fetch_sub(&fb_clock_shared.wanted, 1);
            atomic_fetch_add(&fb_handler_losses[FB_LOSS_NO_TIMER], 1);
        }
    }
    return UINT64_MAX;
}

const struct fb_clock_row fb_clock_perf = {
    .name = "perf",
    .what = "an event per thread, off the kernel's tick, with the kernel's frames where permitted",
    .thread_arm = arm,
    .thread_tune = tune,
    .thread_disarm = disarm,
    .process_tune = process_tune,
    .probe = probe,
    .fork_child = fork_child,
    .helper_turn = helper_turn,
    .weighs_cpu = true,
};

/* clock.c - see clock.h. */
#include "sampler/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sampler/real.h"
#include "sampler/signal/handler.h"

/* The kernel's struct sigevent: C libraries disagree on the name of the thread id. */
struct kernel_sigevent {
    void *value;
    int32_t signo;
    int32_t notify;
    int32_t tid;
    int32_t pad[11];
};

_Static_assert(sizeof(struct kernel_sigevent) == 64, "as <asm-generic/siginfo.h>");

enum { NOTIFY_THREAD_ID = 4 };

static enum fb_clock clock_kind;
static uint64_t interval_ns;
static _Atomic int64_t timers_left = INT64_MAX / 2; /* before a quarter only is free */

void fb_clock_init(const struct fb_config *config)
{
    clock_kind = config->clock;
    interval_ns = config->interval_ns;
}

uint64_t fb_clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel's encoding of "scheduler time of thread tid", as pthread_getcpuclockid() makes it. */
static clockid_t thread_clock(int32_t tid)
{
    return (clockid_t)(~(uint32_t)tid << 3 | 6u);
}

bool fb_clock_thread_cpu(int32_t tid, uint64_t *ret_ns)
{
    struct timespec t;

    if (clock_gettime(thread_clock(tid), &t) != 0)
        return false;
    *ret_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return true;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* Uniform in (0, interval]: splitmix64 of what differs between threads and starts. */
static uint64_t first_expiry(const struct fb_task *t)
{
    uint64_t x = fb_clock_now() ^ (uint64_t)t->tid << 40 ^ (uint64_t)t->id << 20;

    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return 1 + (x ^ x >> 31) % interval_ns;
}

bool fb_clock_thread_arm(struct fb_task *t)
{
    struct kernel_sigevent event = {.value = t, .signo = SIGPROF, .notify = NOTIFY_THREAD_ID};
    uint64_t first_ns = first_expiry(t);
    struct itimerspec when = {timespec_of(interval_ns), timespec_of(first_ns)};
    int timer = -1;

    t->timer = -1;
    if (clock_kind != FB_CLOCK_CPU)
        return true;
    event.tid = t->tid;
    if (atomic_fetch_sub(&timers_left, 1) <= 0 ||
        syscall(SYS_timer_create, thread_clock(t->tid), &event, &timer) != 0) {
        atomic_fetch_add(&timers_left, 1);
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_NO_TIMER], 1);
        return false;
    }
    if (!fb_clock_thread_cpu(t->tid, &t->first_tick_ns))
        t->first_tick_ns = 0;
    t->first_tick_ns += first_ns;
    t->timer = timer;
    syscall(SYS_timer_settime, timer, 0, &when, NULL);
    return true;
}

uint32_t fb_clock_thread_missed(const struct fb_task *t)
{
    uint64_t received = atomic_load(&t->weight) + atomic_load(&t->kept);
    uint64_t due;

    if (t->timer < 0 || t->cpu_ns < t->first_tick_ns)
        return 0;
    due = 1 + (t->cpu_ns - t->first_tick_ns) / interval_ns;
    if (due <= received)
        return 0;
    return due - received < UINT32_MAX ? (uint32_t)(due - received) : UINT32_MAX;
}

void fb_clock_thread_disarm(struct fb_task *t)
{
    if (t->timer < 0)
        return;
    syscall(SYS_timer_delete, t->timer);
    t->timer = -1;
    atomic_fetch_add(&timers_left, 1);
}

static void itimer_set(uint64_t ns)
{
    struct timeval tv = {.tv_sec = (time_t)(ns / 1000000000u),
                         .tv_usec = (suseconds_t)(ns % 1000000000u / 1000u)};
    struct itimerval when = {tv, tv};

    if (clock_kind == FB_CLOCK_ITIMER)
        fb_real.setitimer(ITIMER_PROF, &when, NULL);
}

void fb_clock_process_start(void)
{
    itimer_set(interval_ns);
}

void fb_clock_process_stop(void)
{
    itimer_set(0);
}

void fb_clock_pending_set(uint64_t used, uint64_t limit)
{
    uint64_t allowed = limit - limit / 4;

    if (limit > INT64_MAX || used > INT64_MAX)
        return;
    atomic_store(&timers_left, (int64_t)allowed - (int64_t)used);
}

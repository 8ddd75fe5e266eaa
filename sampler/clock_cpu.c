/* clock_cpu.c - the clock `cpu`: a POSIX timer on the CPU clock of each thread.
 *
 * The timer signals its own thread alone, and si_overrun says how many expiries
 * one signal stands for, so the count is CPU time whatever the rate.  The kernel
 * looks at the timer on its own tick: what is locked to the tick is misread.
 *
 * Timers take from RLIMIT_SIGPENDING, which is the user's whole allowance of
 * queued signals: a quarter of it stays free for the host.  They are gone after
 * fork and exec by themselves. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock_row.h"

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

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool fb_clock_timer_make(struct fb_task *t)
{
    struct kernel_sigevent event = {
        .value = t, .signo = SIGPROF, .notify = NOTIFY_THREAD_ID, .tid = t->tid};
    int timer = -1;

    if (!fb_clock_timer_take())
        return false;
    if (syscall(SYS_timer_create, fb_clock_id(t->tid), &event, &timer) != 0) {
        fb_clock_timer_give();
        return false;
    }
    t->timer = timer;
    return true;
}

void fb_clock_timer_set(const struct fb_task *t, uint64_t first_ns, uint64_t period_ns)
{
    struct itimerspec when = {timespec_of(period_ns), timespec_of(first_ns)};

    if (t->timer >= 0)
        syscall(SYS_timer_settime, t->timer, 0, &when, NULL);
}

/* A timer that runs keeps what it has counted: only the length of the period changes. */
static uint64_t first_expiry(const struct fb_task *t, uint64_t period_ns)
{
    struct itimerspec now;
    uint64_t left_ns;
    uint64_t old_ns;

    if (!t->running || syscall(SYS_timer_gettime, t->timer, &now) != 0)
        return fb_clock_random(t, period_ns);
    left_ns = ns_of(now.it_value);
    old_ns = ns_of(now.it_interval);
    if (period_ns >= old_ns)
        return left_ns + period_ns - old_ns;
    return left_ns > old_ns - period_ns ? left_ns - (old_ns - period_ns) : 1;
}

static void tune(struct fb_task *t)
{
    uint64_t period_ns = fb_clock_period();
    bool on = !atomic_load(&fb_clock_shared.paused);
    uint64_t first_ns = on ? first_expiry(t, period_ns) : 0;

    t->running = on;
    if (on)
        fb_clock_due_from_now(t, first_ns);
    fb_clock_timer_set(t, first_ns, on ? period_ns : 0);
}

void fb_clock_timer_delete(struct fb_task *t)
{
    if (t->timer < 0)
        return;
    syscall(SYS_timer_delete, t->timer);
    t->timer = -1;
    fb_clock_timer_give();
}

const struct fb_clock_row fb_clock_cpu = {
    .name = "cpu",
    .what = "a timer on the CPU time of each thread",
    .thread_arm = fb_clock_timer_make,
    .thread_tune = tune,
    .thread_disarm = fb_clock_timer_delete,
};

/* clock_itimer.c - the clock `itimer`: the classic ITIMER_PROF of the whole process.
 *
 * Its count is no CPU time: one signal at a time is pending for all threads, and
 * lost expiries are not told.  It is kept because older campaigns were measured
 * with it, and labelled.
 *
 * The timer survives exec and would kill the new program: it is stopped before. */
#include <stddef.h>
#include <sys/time.h>

#include "sampler/clock_row.h"
#include "sampler/real.h"

static struct timeval timeval_of(uint64_t ns)
{
    return (struct timeval){.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_usec = (suseconds_t)(ns % 1000000000u / 1000u)};
}

static void tune(void)
{
    bool on = atomic_load(&fb_clock_shared.process_on) && !atomic_load(&fb_clock_shared.paused);
    uint64_t period_ns = on ? fb_clock_period() : 0;
    const struct fb_task nobody = {.tid = 0};
    struct itimerval when = {timeval_of(period_ns), {0, 0}};

    if (on)
        when.it_value = timeval_of(999 + fb_clock_random(&nobody, period_ns));
    fb_real.setitimer(ITIMER_PROF, &when, NULL);
}

const struct fb_clock_row fb_clock_itimer = {
    .name = "itimer",
    .what = "the classic ITIMER_PROF of the process, whose count is no CPU time",
    .process_tune = tune,
};

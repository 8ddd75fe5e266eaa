/* scan_guard.c - see scan_guard.h. */
#include "sampler/scan_guard.h"

#include <stdatomic.h>
#include <time.h>

#include "sampler/modules.h"

enum {
    PAUSE_NS = 200000,
    PAUSES_MAX = 500, /* 100 ms */
};

/* The guard between scans and forks.  Each side says first that it comes and then looks for the
 * other; the scan steps back, so that a fork waits for one critical section at most. */
static _Atomic bool scanner_inside;
static _Atomic unsigned forkers;
static _Thread_local __attribute__((tls_model("initial-exec"))) bool fork_holds;

static void sleep_a_little(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};

    nanosleep(&pause, NULL);
}

/* False if threads of the host forked all the time: the scan is for later. */
bool fb_scan_guard_enter(void)
{
    for (unsigned i = 0; i < PAUSES_MAX; i++) {
        atomic_store(&scanner_inside, true);
        if (atomic_load(&forkers) == 0)
            return true;
        atomic_store(&scanner_inside, false);
        sleep_a_little();
    }
    return false;
}

void fb_scan_guard_leave(void)
{
    atomic_store(&scanner_inside, false);
}

/* Once forkers is not 0, a scan that is seen outside stays there: it only looks in. */
void fb_modules_fork_prepare(void)
{
    atomic_fetch_add(&forkers, 1);
    fork_holds = !atomic_load(&scanner_inside);
    for (unsigned i = 0; i < PAUSES_MAX && !fork_holds; i++) {
        sleep_a_little();
        fork_holds = !atomic_load(&scanner_inside);
    }
    if (!fork_holds)
        atomic_fetch_sub(&forkers, 1);
}

void fb_modules_fork_parent(void)
{
    if (fork_holds)
        atomic_fetch_sub(&forkers, 1);
}

bool fb_scan_guard_child(void)
{
    atomic_store(&forkers, 0);
    atomic_store(&scanner_inside, false);
    return fork_holds;
}

/* walk.c - our walk against backtrace(), for a machine that is only emulated.
 *
 * Run by tests/arm64/test.sh.  Samples come from raise() in stacks.c's hard
 * places and from a CPU timer; signal frames are crossed through a trampoline of
 * our own, because the emulator's is in no module. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sampler/modules.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"
#include "tests/unit/sampler/stacks.h"

enum { DEPTH_MAX = 256 };

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;
static unsigned samples;
static unsigned agreed;
static unsigned gave_up; /* backtrace() in PLT entries, which have no call frame information */
static unsigned crossed;

/* What arm64 has in its vDSO, with the call frame information that it once had. */
__asm__(
    ".text\n.globl own_trampoline\n.cfi_startproc\n.cfi_signal_frame\n.cfi_def_cfa sp, 0\n\tnop\n"
    "own_trampoline:\n\tmov x8, #139\n\tsvc #0\n.cfi_endproc\n");
void own_trampoline(void);

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[DEPTH_MAX];
    static void *theirs[DEPTH_MAX];
    enum fb_walk_stop stop;
    unsigned n = fb_walk_stack(context, &own_stack, &cache, ours, DEPTH_MAX, &stop);
    unsigned m = (unsigned)backtrace(theirs, DEPTH_MAX);
    unsigned at = 0;
    bool same;

    (void)sig;
    (void)info;
    while (at < m && (uint64_t)(uintptr_t)theirs[at] != ours[0])
        at++;
    same = stop == FB_WALK_ROOT && m - at == n;
    for (unsigned i = 0; same && i < n; i++)
        same = (uint64_t)(uintptr_t)theirs[at + i] == ours[i];
    samples++;
    agreed += same;
    if (!same && stop == FB_WALK_ROOT && m - at == 1) {
        gave_up++;
    } else if (!same) {
        printf("ours %u (stop %d), backtrace %u:", n, (int)stop, m - at);
        for (unsigned i = 0; i < n || at + i < m; i++)
            printf(" [%lx %lx]", i < n ? ours[i] : 0,
                   at + i < m ? (uint64_t)(uintptr_t)theirs[at + i] : 0);
        printf("\n");
    }
}

static void tick(void)
{
    raise(SIGPROF);
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    (void)event;
}

static uint64_t outer_pcs[DEPTH_MAX];
static unsigned outer_count;

static void on_inner(int sig, siginfo_t *info, void *context)
{
    uint64_t pcs[DEPTH_MAX];
    enum fb_walk_stop stop;
    unsigned n = fb_walk_stack(context, &own_stack, &cache, pcs, DEPTH_MAX, &stop);

    (void)sig;
    (void)info;
    if (stop == FB_WALK_ROOT && n > outer_count &&
        memcmp(pcs + n - outer_count, outer_pcs, outer_count * sizeof pcs[0]) == 0)
        crossed++;
    else
        printf("inner walk: %u frames, stop %d, outer %u\n", n, (int)stop, outer_count);
}

static void on_outer(int sig, siginfo_t *info, void *context)
{
    enum fb_walk_stop stop;

    (void)sig;
    (void)info;
    outer_count = fb_walk_stack(context, &own_stack, &cache, outer_pcs, DEPTH_MAX, &stop);
    raise(SIGUSR2);
}

/* The kernel's own struct, so that the trampoline is ours. */
static int raw_sigaction(int sig, void (*handler)(int, siginfo_t *, void *))
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {handler, SA_SIGINFO | 0x04000000 /* SA_RESTORER */, own_trampoline, 0};

    return (int)syscall(SYS_rt_sigaction, sig, &action, NULL, 8);
}

static void burn(double cpu_seconds)
{
    struct itimerval timer = {{0, 2000}, {0, 2000}};
    struct itimerval off = {{0, 0}, {0, 0}};
    clock_t end = clock() + (clock_t)(cpu_seconds * CLOCKS_PER_SEC);

    setitimer(ITIMER_PROF, &timer, NULL);
    while (clock() < end) {
        stacks_library();
        stacks_recurse(20, (stacks_leaf)(uintptr_t)getppid);
    }
    setitimer(ITIMER_PROF, &off, NULL);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    if (!fb_modules_scan(on_event, NULL))
        return 2;
    all_tables_make();
    sigaction(SIGPROF, &action, NULL);
    stacks_recurse(37, tick);
    stacks_callback(tick);
    burn(2);
    raw_sigaction(SIGUSR1, on_outer);
    raw_sigaction(SIGUSR2, on_inner);
    raise(SIGUSR1);
    printf("aarch64: %u samples, %u the same as backtrace(), which gave up in %u; %u of 1 signal "
           "frames crossed\n",
           samples, agreed, gave_up, crossed);
    return samples > 20 && agreed + gave_up == samples && gave_up * 10 < samples && crossed == 1
               ? 0
               : 1;
}

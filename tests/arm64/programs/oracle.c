/* oracle.c - preloaded into a program: our walk and libunwind's, at the same instruction.
 *
 *     ORACLE_OUT=FILE LD_PRELOAD=oracle.so PROGRAM...       ORACLE_SHOW=1: every difference, on
 * stderr
 *
 * The clock is CLOCK_MONOTONIC, which is not bound to the kernel's tick, started again 1 ms after
 * each sample: an emulated libunwind may take longer than that.  The main thread alone is sampled,
 * and a thread of ours keeps the tables up to date.  At exit one line goes to FILE: samples same
 * longer shorter differ pending crashed same: equal to the last pc.  longer, shorter: ours goes on
 * where libunwind ends, or ends where it goes on.  pending: the table was not there yet.  crashed:
 * libunwind read memory that is not there; it is jumped out of, and asked no more by this process
 * (its locks may be held), so that this is 0 or 1.  samples counts what was compared, which is the
 * sum of the first four behind it. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "sampler/modules.h"
#include "sampler/signal/walk.h"
#include "tests/oracle_walk.h"
#include "tests/unit/sampler/all_tables.h"

enum { DEPTH_MAX = 400, PAUSE_NS = 1000000, WARM_UP_NS = 100000000 };

static pid_t sampled_tid;
static timer_t timer;
static struct fb_walk_range main_stack;
static struct fb_walk_cache cache;
static struct {
    unsigned samples, same, longer, shorter, differ, pending, crashed;
} count;
static bool show;
static char out_path[4096]; /* kept: programs clear their environment */
static sigjmp_buf behind_crash;
static volatile sig_atomic_t in_oracle;

static void print_difference(const uint64_t *ours, unsigned n, const uint64_t *theirs, unsigned m,
                             unsigned same, enum fb_walk_stop stop)
{
    struct fb_module_ref ref;

    dprintf(2, "oracle: ours %u (stop %d), libunwind %u, same %u:", n, (int)stop, m, same);
    for (unsigned i = same > 2 ? same - 2 : 0; i < same + 2; i++) {
        uint64_t pc = i < n ? ours[i] : i < m ? theirs[i] : 0;
        bool known = fb_modules_find(pc, INT64_MAX, &ref);

        dprintf(2, " [%lx %lx: module %u + %lx]", i < n ? ours[i] : 0, i < m ? theirs[i] : 0,
                known ? ref.id : 0, known ? pc - ref.bias : 0);
    }
    dprintf(2, "\n");
}

static void compare(const uint64_t *ours, unsigned n, const uint64_t *theirs, unsigned m,
                    enum fb_walk_stop stop)
{
    unsigned same = 0;

    while (same < n && same < m && ours[same] == theirs[same])
        same++;
    count.samples++;
    if (same == n && same == m)
        count.same++;
    else if (same == m)
        count.longer++;
    else if (same == n)
        count.shorter++;
    else
        count.differ++;
    if (show && (same < n || same < m))
        print_difference(ours, n, theirs, m, same, stop);
}

static void tick_in(long ns)
{
    struct itimerspec once = {{0, 0}, {0, ns}};

    timer_settime(timer, 0, &once, NULL);
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[DEPTH_MAX];
    static uint64_t theirs[DEPTH_MAX];
    volatile unsigned n;
    enum fb_walk_stop stop;
    unsigned m;

    (void)sig;
    (void)info;
    if (gettid() != sampled_tid || count.crashed > 0)
        return;
    n = fb_walk_stack(context, &main_stack, &cache, ours, DEPTH_MAX, &stop);
    in_oracle = 1;
    if (sigsetjmp(behind_crash, 0) == 0) {
        m = oracle_walk(context, theirs, DEPTH_MAX);
        in_oracle = 0;
        if (stop == FB_WALK_NO_TABLE)
            count.pending++;
        else
            compare(ours, n, theirs, m, stop);
    } else {
        count.crashed++;
        if (show)
            print_difference(ours, n, theirs, 0, n, stop);
    }
    in_oracle = 0;
    tick_in(PAUSE_NS);
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    if (in_oracle)
        siglongjmp(behind_crash, 1);
    signal(sig, SIG_DFL);
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    if (show && event->loaded)
        dprintf(2, "oracle: module %u %s\n", event->id, event->path);
}

static void *keep_scanning(void *arg)
{
    struct timespec pause = {.tv_nsec = 5000000};

    for (;;) {
        if (fb_modules_changed())
            fb_modules_scan(on_event, NULL);
        fb_modules_tables_make();
        nanosleep(&pause, NULL);
    }
    return arg;
}

static void main_stack_find(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    main_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction tick = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    pthread_t thread;
    sigset_t all;
    sigset_t old;

    show = getenv("ORACLE_SHOW") != NULL;
    if (getenv("ORACLE_OUT") == NULL)
        return;
    snprintf(out_path, sizeof out_path, "%s", getenv("ORACLE_OUT"));
    sampled_tid = gettid();
    main_stack_find();
    fb_modules_scan(on_event, NULL);
    all_tables_make();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, NULL, keep_scanning, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGPROF, &tick, NULL);
    sigaction(SIGSEGV, &crash, NULL);
    sigaction(SIGBUS, &crash, NULL);
    event._sigev_un._tid = sampled_tid;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        tick_in(WARM_UP_NS);
}

__attribute__((destructor)) static void end(void)
{
    FILE *out = out_path[0] != 0 ? fopen(out_path, "w") : NULL;

    if (sampled_tid != 0)
        tick_in(0);
    signal(SIGPROF, SIG_IGN);
    if (out == NULL)
        return;
    fprintf(out, "%u %u %u %u %u %u %u\n", count.samples, count.same, count.longer, count.shorter,
            count.differ, count.pending, count.crashed);
    fclose(out);
}

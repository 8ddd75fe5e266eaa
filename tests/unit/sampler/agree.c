/* agree.c - preloaded into a program: compares our walk with libunwind's in each SIGPROF.
 *
 * A thread of its own keeps the tables up to date, as the sampler's helper does.
 * At exit the counts go to the file that AGREE_OUT names, as one line:
 *     samples same oracle_short ours_short differ root
 * same: equal to the last pc.  oracle_short, ours_short: one is a proper prefix of
 * the other.  root: walks of ours that reached the outermost frame. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "sampler/modules.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"

enum { DEPTH_MAX = 512 };

static pid_t sampled_tid;
static timer_t timer; /* a POSIX timer, which ends at execve() */
static struct fb_walk_range main_stack;
static struct fb_walk_cache cache;
static struct {
    unsigned samples;
    unsigned same;
    unsigned oracle_short;
    unsigned ours_short;
    unsigned differ;
    unsigned root;
} count;
static const char *show;
static char out_path[4096]; /* kept: programs clear their environment */

static unsigned oracle(ucontext_t *uc, uint64_t *pcs)
{
    unw_cursor_t cursor;
    unw_word_t pc;
    unsigned n = 0;

    if (unw_init_local2(&cursor, uc, UNW_INIT_SIGNAL_FRAME) != 0)
        return 0;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
            break;
        pcs[n++] = pc;
    } while (n < DEPTH_MAX && unw_step(&cursor) > 0);
    return n;
}

static void print_difference(const uint64_t *ours, unsigned n, const uint64_t *theirs, unsigned m,
                             unsigned same, enum fb_walk_stop stop)
{
    struct fb_module_ref ref;

    dprintf(2, "agree: ours %u (stop %d), libunwind %u, same %u:", n, (int)stop, m, same);
    for (unsigned i = same > 2 ? same - 2 : 0; i < same + 2; i++) {
        uint64_t pc = i < n ? ours[i] : i < m ? theirs[i] : 0;
        bool known = fb_modules_find(pc, INT64_MAX, &ref);

        dprintf(2, " [%lx %lx: module %u + %lx]", i < n ? ours[i] : 0, i < m ? theirs[i] : 0,
                known ? ref.id : 0, known ? pc - ref.bias : 0);
    }
    dprintf(2, "\n");
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[DEPTH_MAX];
    static uint64_t theirs[DEPTH_MAX];
    enum fb_walk_stop stop;
    unsigned n;
    unsigned m;
    unsigned same = 0;

    (void)sig;
    (void)info;
    if (gettid() != sampled_tid)
        return;
    n = fb_walk_stack(context, &main_stack, &cache, ours, DEPTH_MAX, &stop);
    m = oracle(context, theirs);
    while (same < n && same < m && ours[same] == theirs[same])
        same++;
    count.samples++;
    count.root += stop == FB_WALK_ROOT;
    if (same == n && same == m)
        count.same++;
    else if (same == m)
        count.oracle_short++;
    else if (same == n)
        count.ours_short++;
    else
        count.differ++;
    if (show != NULL && (same < n || same < m))
        print_difference(ours, n, theirs, m, same, stop);
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    if (show != NULL && event->loaded)
        dprintf(2, "agree: module %u %s\n", event->id, event->path);
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

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerspec period = {{0, 1000000}, {0, 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    sigset_t old;
    void *low;
    size_t size;

    show = getenv("AGREE_SHOW");
    if (getenv("AGREE_OUT") == NULL)
        return;
    snprintf(out_path, sizeof out_path, "%s", getenv("AGREE_OUT"));
    sampled_tid = gettid();
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    main_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    fb_modules_scan(on_event, NULL);
    all_tables_make();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, NULL, keep_scanning, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGPROF, &action, NULL);
    event._sigev_un._tid = sampled_tid;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
        timer_settime(timer, 0, &period, NULL);
}

__attribute__((destructor)) static void end(void)
{
    struct itimerspec off = {{0, 0}, {0, 0}};
    FILE *out = out_path[0] != 0 ? fopen(out_path, "w") : NULL;

    if (sampled_tid != 0)
        timer_settime(timer, 0, &off, NULL);
    signal(SIGPROF, SIG_IGN);
    if (out == NULL)
        return;
    fprintf(out, "%u %u %u %u %u %u\n", count.samples, count.same, count.oracle_short,
            count.ours_short, count.differ, count.root);
    fclose(out);
}

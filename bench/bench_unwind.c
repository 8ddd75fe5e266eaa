/* bench_unwind.c - what one sample costs: our walk, frame pointers and backtrace(), in one run.
 *
 * A thread sends itself SIGPROF below 10, 50 and 200 different functions and its
 * CPU time is divided by the number of signals.  "delivered" includes the
 * signal (send, frame, return), which the empty handler shows alone; "walk" is
 * without it.  "no cache" clears the thread's pc cache before each walk: every
 * frame is looked up in the tables.  Medians of rounds that take the methods in
 * turn. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench/unwind_chain.h"
#include "sampler/modules.h"
#include "sampler/signal/cpu.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"

enum { SIGNALS = 1000, ROUNDS = 21, FRAMES_MAX = 512, METHODS = 5 };
enum { EVICT_BYTES = 64 << 20, COLD_ROUNDS = 21 };

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;
static unsigned last_depth;
static volatile uint64_t outermost;

static void on_empty(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
}

static void on_walk(int sig, siginfo_t *info, void *context)
{
    static uint64_t pcs[FRAMES_MAX];
    enum fb_walk_stop stop;

    (void)sig;
    (void)info;
    last_depth = fb_walk_stack(context, &own_stack, &cache, pcs, FRAMES_MAX, &stop);
    if (stop != FB_WALK_ROOT)
        abort();
}

static void on_walk_uncached(int sig, siginfo_t *info, void *context)
{
    cache.generation = 0;
    on_walk(sig, info, context);
}

static void on_frame_pointers(int sig, siginfo_t *info, void *context)
{
    static uint64_t pcs[FRAMES_MAX];
    const ucontext_t *uc = context;
    uint64_t sp = fb_cpu_sp(&uc->uc_mcontext);
    uint64_t fp = fb_cpu_fp(&uc->uc_mcontext);
    unsigned n = 0;

    (void)sig;
    (void)info;
    pcs[n++] = fb_cpu_pc(&uc->uc_mcontext);
    while (n < FRAMES_MAX && fp >= sp && fp < own_stack.top - 16 && fp % 8 == 0) {
        const uint64_t *frame = (const uint64_t *)(uintptr_t)fp;

        pcs[n++] = frame[1];
        sp = fp + 16;
        fp = frame[0];
    }
    outermost = pcs[n - 1];
    last_depth = n;
}

static void on_backtrace(int sig, siginfo_t *info, void *context)
{
    static void *pcs[FRAMES_MAX];

    (void)sig;
    (void)info;
    (void)context;
    last_depth = (unsigned)backtrace(pcs, FRAMES_MAX);
}

static const struct method {
    const char *name;
    void (*handler)(int, siginfo_t *, void *);
    void (*chain)(unsigned, void (*)(void *), void *);
} methods[METHODS] = {
    {"empty handler", on_empty, chain_without_frame_pointers},
    {"our walk", on_walk, chain_without_frame_pointers},
    {"our walk, no cache", on_walk_uncached, chain_without_frame_pointers},
    {"frame pointers", on_frame_pointers, chain_with_frame_pointers},
    {"backtrace()", on_backtrace, chain_without_frame_pointers},
};

static double cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Sends the signals from where it was called; *ctx is the CPU time of each. */
static void send_signals(void *ctx)
{
    double *ret_ns = ctx;
    long pid = getpid();
    long tid = syscall(SYS_gettid);
    double start = cpu_ns();

    for (int i = 0; i < SIGNALS; i++)
        syscall(SYS_tgkill, pid, tid, SIGPROF);
    *ret_ns = (cpu_ns() - start) / SIGNALS;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median CPU ns of a signal for each method at a depth; ret_depth: frames that were found. */
static void measure(unsigned depth, double ret_ns[METHODS], unsigned ret_depth[METHODS])
{
    static double samples[METHODS][ROUNDS];

    for (int round = -1; round < ROUNDS; round++) /* round -1 warms up */
        for (int m = 0; m < METHODS; m++) {
            struct sigaction action = {.sa_sigaction = methods[m].handler,
                                       .sa_flags = SA_SIGINFO | SA_RESTART};
            double ns = 0;

            sigaction(SIGPROF, &action, NULL);
            last_depth = 0;
            methods[m].chain(depth, send_signals, &ns);
            ret_depth[m] = last_depth;
            if (round >= 0)
                samples[m][round] = ns;
        }
    for (int m = 0; m < METHODS; m++) {
        qsort(samples[m], ROUNDS, sizeof samples[m][0], compare);
        ret_ns[m] = samples[m][ROUNDS / 2];
    }
}

/* The walk alone, from tables and a stack that are in no cache of the CPU: it times itself. */
static double cold_ns;

static void on_walk_cold(int sig, siginfo_t *info, void *context)
{
    struct timespec start;
    struct timespec end;

    cache.generation = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    on_walk(sig, info, context);
    clock_gettime(CLOCK_MONOTONIC, &end);
    cold_ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
}

static void send_cold(void *ctx)
{
    static volatile char evict[EVICT_BYTES];
    double *samples = ctx;

    for (int i = 0; i < COLD_ROUNDS; i++) {
        for (size_t k = 0; k < sizeof evict; k += 64)
            evict[k]++;
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGPROF);
        samples[i] = cold_ns;
    }
}

static void print_cold(unsigned depth)
{
    struct sigaction action = {.sa_sigaction = on_walk_cold, .sa_flags = SA_SIGINFO | SA_RESTART};
    static double samples[COLD_ROUNDS];
    double median;

    sigaction(SIGPROF, &action, NULL);
    chain_without_frame_pointers(depth, send_cold, samples);
    qsort(samples, COLD_ROUNDS, sizeof samples[0], compare);
    median = samples[COLD_ROUNDS / 2];
    printf("%-20s %6u %7u %13s %8.2f %9.1f  target: at most 400 ns a frame: %s\n",
           "cold CPU caches", depth, last_depth, "", median / 1e3, median / last_depth,
           median / last_depth <= 400 ? "met" : "MISSED");
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    (void)event;
}

static void stack_find(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
}

int main(void)
{
    static const unsigned depths[] = {10, 50, 200};
    struct fb_modules_stats stats;

    stack_find();
    if (!fb_modules_scan(on_event, NULL))
        return 1;
    all_tables_make();
    fb_modules_stats_get(&stats);
    printf("tables: %u modules, %.0f KiB, built in %.1f ms of CPU\n", stats.live,
           (double)stats.table_bytes / 1024, (double)stats.build_ns / 1e6);
    printf("%-20s %6s %7s %13s %8s %9s\n", "method", "depth", "frames", "delivered us", "walk us",
           "ns/frame");
    for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++) {
        double ns[METHODS];
        unsigned frames[METHODS];

        measure(depths[d], ns, frames);
        for (int m = 0; m < METHODS; m++)
            printf("%-20s %6u %7u %13.2f %8.2f %9.1f\n", methods[m].name, depths[d], frames[m],
                   ns[m] / 1e3, (ns[m] - ns[0]) / 1e3,
                   frames[m] > 0 ? (ns[m] - ns[0]) / frames[m] : 0.0);
        if (depths[d] == 50)
            printf("target at depth 50: at most 6 us delivered: %s; 1.7 x the empty handler: %.2f, "
                   "%s; no slower than backtrace(): %s\n",
                   ns[1] <= 6000 ? "met" : "MISSED", ns[1] / ns[0],
                   ns[1] <= 1.7 * ns[0] ? "met" : "MISSED", ns[1] <= ns[4] ? "met" : "MISSED");
        print_cold(depths[d]);
    }
    return 0;
}

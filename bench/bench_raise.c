/* bench_raise.c - what a tick costs the thread that it interrupts, under whichever profiler is
 * preloaded.
 *
 *     bench_raise DEPTH COUNT [empty]
 *
 * Below DEPTH different functions, built without frame pointers, the main thread
 * sends itself COUNT times the signal that the kernel sends for ITIMER_PROF
 * (si_code SI_KERNEL, which a process may set for itself only), and prints the CPU
 * nanoseconds of one: sending, delivery, the profiler's whole handler, return.
 * So every profiler that uses that clock is measured by the same stick, with no
 * tick of its own in the way.  All is done twice and the second time is measured: memory that is
 * touched for the first time (of some 10 us a page on a virtual machine), unwind tables and what a
 * profiler's own thread does about them are of the first.  "empty": the program's own handler,
 * which does nothing, is the floor. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/unwind_chain.h"

static unsigned signals;

static void on_empty(int signo)
{
    (void)signo;
}

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void signals_send(unsigned count)
{
    siginfo_t info;
    long pid = getpid();
    long tid = syscall(SYS_gettid);

    memset(&info, 0, sizeof info);
    info.si_signo = SIGPROF;
    info.si_code = SI_KERNEL;
    for (unsigned i = 0; i < count; i++)
        if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGPROF, &info) != 0)
            exit(3);
}

static void measure(void *ctx)
{
    const struct timespec a_second_and_more = {1, 300000000};
    double *ret_ns = ctx;
    double start;

    signals_send(signals);
    nanosleep(&a_second_and_more, NULL);
    start = cpu_ns();
    signals_send(signals);
    *ret_ns = (cpu_ns() - start) / signals;
}

int main(int argc, char **argv)
{
    long depth = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    double ns = 0;

    if (depth < 1 || depth > CHAIN_MAX || count < 1 || count > 1000000) {
        fprintf(stderr, "usage: bench_raise DEPTH(1-%d) COUNT [empty]\n", CHAIN_MAX);
        return 2;
    }
    signals = (unsigned)count;
    if (argc > 3)
        signal(SIGPROF, on_empty);
    chain_without_frame_pointers((unsigned)depth, measure, &ns);
    printf("%.0f\n", ns);
    return 0;
}

/* bench_counters.c - what a second of the sampler's own thread costs in a program that only waits.
 *
 * The program runs itself as the host, with 1 thread and with 2,000 threads and 4,096 connections,
 * each for 14 s; the first 3 s (start, names of new threads) are left out, and the host is killed,
 * so that no end is in it.  CPU time of the sampler's thread, as its counters say it.
 *
 *     bench_counters                          both
 *     bench_counters host THREADS PAIRS       the host: waits for ever */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/profile.h"

enum { SECONDS = 14, LEFT_OUT = 3, STACK_BYTES = 64 << 10 };

static const char bank_path[] = "/tmp/fb-bench-counters.fbank";

static void *park(void *unused)
{
    (void)unused;
    for (;;)
        (void)pause();
    return NULL;
}

static int host(int threads, int pairs)
{
    const struct rlimit many = {20000, 20000};
    pthread_attr_t attr;

    (void)setrlimit(RLIMIT_NOFILE, &many);
    for (int i = 0; i < pairs; i++) {
        int both[2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0)
            return 1;
    }
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (int i = 1; i < threads; i++) {
        pthread_t thread;

        if (pthread_create(&thread, &attr, park, NULL) != 0)
            return 1;
    }
    (void)park(NULL);
    return 0;
}

static void run_host(const char *threads, const char *pairs)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)setenv("LD_PRELOAD", FB_PRELOAD, 1);
        (void)setenv("FLAMEBANK_OUT", bank_path, 1);
        (void)execl("/proc/self/exe", "bench_counters", "host", threads, pairs, (char *)NULL);
        _exit(1);
    }
    (void)sleep(SECONDS);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static int measure(const char *threads, const char *pairs)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;
    const struct fb_counter *c;
    size_t first = 0, last;
    double ms, bytes = 0;

    (void)unlink(bank_path);
    run_host(threads, pairs);
    if (fb_bank_read(bank_path, &p, &damage, &err) != FB_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    last = p->counters.rows - 1;
    while (first < last &&
           p->counters.time_ns[first] < p->counters.time_ns[0] + LEFT_OUT * INT64_C(1000000000))
        first++;
    c = fb_profile_counter_find(p, "sampler.writer_ns");
    if (!c || first >= last)
        return 1;
    ms = (double)(c->values[last] - c->values[first]) / 1e6 / (double)(last - first);
    (void)fb_profile_counter_delta(p, "sampler.bytes", p->counters.time_ns[first],
                                   p->counters.time_ns[last], &bytes);
    (void)printf("%5s threads, %5d connections     %.3f ms of CPU and %.0f bytes a second\n",
                 threads, 2 * atoi(pairs), ms, bytes / (double)(last - first));
    fb_profile_free(p);
    (void)unlink(bank_path);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "host") == 0)
        return host(atoi(argv[2]), atoi(argv[3]));
    return measure("1", "0") || measure("2000", "2048");
}

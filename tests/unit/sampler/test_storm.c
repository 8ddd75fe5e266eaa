/* test_storm.c - signals at a high rate against threads in the loader, malloc and fork.
 *
 * A scanner publishes and retires all the time, four kinds of threads are hit by
 * SIGPROF wherever they are; a deadlock is turned into a failure by alarm(). */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/modules.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/walk.h"

enum { WORKERS = 5, ROUNDS = 4000, DEPTH_MAX = 128, WATCHDOG_S = 100 };

#define PLUGIN FB_BUILD "/tests/sampler_plugin.so"

struct worker {
    pthread_t thread;
    _Atomic pid_t tid;
    struct fb_walk_range stack;
    struct fb_walk_cache cache;
    uint64_t pcs[DEPTH_MAX];
    _Atomic unsigned turns;
    unsigned walks;
    unsigned whole;
};

static struct worker workers[WORKERS];
static _Atomic bool over;
static _Atomic unsigned events;

static void on_tick(int sig, siginfo_t *info, void *context)
{
    struct worker *w = info->si_value.sival_ptr;
    enum fb_walk_stop stop;

    (void)sig;
    if (info->si_code != SI_QUEUE)
        return;
    fb_walk_stack(context, &w->stack, &w->cache, w->pcs, DEPTH_MAX, &stop);
    w->walks++;
    w->whole += stop == FB_WALK_ROOT;
}

static void use_plugin(void)
{
    void *handle = dlopen(PLUGIN, RTLD_NOW);

    if (handle != NULL)
        dlclose(handle);
}

static int count_one(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    *(unsigned *)ctx += info->dlpi_phnum;
    return 0;
}

static void use_list(void)
{
    unsigned n = 0;

    dl_iterate_phdr(count_one, &n);
}

static void use_heap(void)
{
    void *blocks[50];

    for (int i = 0; i < 50; i++)
        blocks[i] = malloc((size_t)i * 37 + 1);
    for (int i = 0; i < 50; i++)
        free(blocks[i]);
}

static void use_fork(void)
{
    pid_t pid;

    fb_modules_fork_prepare();
    pid = fork();
    if (pid == 0) {
        fb_modules_fork_child();
        _exit(0);
    }
    fb_modules_fork_parent();
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

static void *work(void *arg)
{
    static void (*const kinds[WORKERS])(void) = {use_plugin, use_plugin, use_list, use_heap,
                                                 use_fork};
    struct worker *w = arg;
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    w->stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    atomic_store(&w->tid, (pid_t)syscall(SYS_gettid));
    while (!atomic_load(&over)) {
        kinds[w - workers]();
        atomic_fetch_add(&w->turns, 1);
    }
    return NULL;
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    (void)event;
    atomic_fetch_add(&events, 1);
}

static void *scan(void *arg)
{
    struct timespec pause = {.tv_nsec = 300000};

    while (!atomic_load(&over)) {
        fb_modules_scan(on_event, NULL);
        fb_modules_tables_make();
        nanosleep(&pause, NULL);
    }
    return arg;
}

static void signal_send(struct worker *w)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_value.sival_ptr = w;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), atomic_load(&w->tid), SIGPROF, &info);
}

static void threads_in_the_loader_malloc_and_fork_survive_signals_and_scans(void **ctx)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct fb_modules_stats stats;
    struct timespec pause = {.tv_nsec = 100000};
    pthread_t scanner;
    sigset_t profiling;

    (void)ctx;
    alarm(WATCHDOG_S);
    sigaction(SIGPROF, &action, NULL);
    assert_true(fb_modules_scan(on_event, NULL));
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        while (atomic_load(&workers[i].tid) == 0)
            nanosleep(&pause, NULL);
    }
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, NULL);
    assert_int_equal(pthread_create(&scanner, NULL, scan, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORKERS; i++)
            signal_send(&workers[i]);
        nanosleep(&pause, NULL);
    }
    atomic_store(&over, true);
    pthread_join(scanner, NULL);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        print_message("worker %d: %u turns, %u walks, %u whole\n", i, workers[i].turns,
                      workers[i].walks, workers[i].whole);
        assert_true(workers[i].turns > 0);
        assert_true(workers[i].walks > ROUNDS / 20);
    }
#if !defined(__SANITIZE_THREAD__) /* which hands out contexts that are over */
    assert_true(workers[3].whole * 100 >= workers[3].walks * 90); /* malloc: all code is known */
#endif
    assert_true(atomic_load(&events) > 10);
    for (int i = 0; i < 4; i++)
        fb_modules_scan(on_event, NULL);
    fb_modules_stats_get(&stats);
    assert_int_equal(stats.retired, 0);
    alarm(0);
}

#if defined(__SANITIZE_THREAD__)
/* The loader's own locks are not seen from outside. */
const char *__tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:ld-linux-x86-64.so.2\n";
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_in_the_loader_malloc_and_fork_survive_signals_and_scans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

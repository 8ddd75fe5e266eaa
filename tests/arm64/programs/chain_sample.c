/* chain_sample.c - see chain_sample.h. */
#include "chain_sample.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sampler/modules.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"

enum { PAUSE_NS = 700000 };

static struct chain_sample samples[CHAIN_SAMPLES_MAX];
static _Atomic unsigned taken;
static _Thread_local struct fb_walk_range own_stack __attribute__((tls_model("initial-exec")));
static _Thread_local struct fb_walk_cache cache __attribute__((tls_model("initial-exec")));
static _Thread_local timer_t timer;

/* One tick after another: a slow machine would else do nothing but ticks. */
static void tick_in(long ns)
{
    struct itimerspec once = {{0, 0}, {0, ns}};

    timer_settime(timer, 0, &once, NULL);
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    unsigned at = atomic_fetch_add(&taken, 1);
    enum fb_walk_stop stop;

    (void)sig;
    (void)info;
    if (at >= CHAIN_SAMPLES_MAX)
        return;
    samples[at].depth =
        fb_walk_stack(context, &own_stack, &cache, samples[at].pcs, CHAIN_DEPTH_MAX, &stop);
    samples[at].stop = stop;
    tick_in(PAUSE_NS);
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    (void)event;
}

bool chain_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};

    _Static_assert((int)FB_WALK_ROOT == (int)CHAIN_ROOT, "as walk.h has it");
    if (!fb_modules_scan(on_event, NULL))
        return false;
    all_tables_make();
    return sigaction(SIGPROF, &action, NULL) == 0;
}

void chain_thread_begin(void)
{
    struct sigevent event;
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        tick_in(PAUSE_NS);
}

void chain_thread_end(void)
{
    sigset_t profiling;

    timer_delete(timer);
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, NULL);
}

const struct chain_sample *chain_samples(unsigned *ret_count)
{
    unsigned count = atomic_load(&taken);

    *ret_count = count < CHAIN_SAMPLES_MAX ? count : CHAIN_SAMPLES_MAX;
    return samples;
}

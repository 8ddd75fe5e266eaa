/* preload.c - see preload.h. */
#include "sampler/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/config.h"
#include "sampler/counters.h"
#include "sampler/entry.h"
#include "sampler/export.h"
#include "sampler/fault.h"
#include "sampler/filter.h"
#include "sampler/helper.h"
#include "sampler/manifest.h"
#include "sampler/memory.h"
#include "sampler/modules.h"
#include "sampler/real.h"
#include "sampler/room.h"
#include "sampler/say.h"
#include "sampler/signal/handler.h"
#include "sampler/signal/keep.h"
#include "sampler/text.h"
#include "sampler/threads.h"

enum {
    END_WAIT_MS = 200,
    OTHER_BYTES = 12 << 20, /* the writer's, tables, our stack */
    RIGHTS_WAIT_MS =
        1000, /* once or twice in a daemon's life; a bank in the wrong folder is for ever */
    STOP_WAIT_MS = 5000, /* a filter would kill the process for what our thread does */
};

/* A second copy of the library finds the first one's under this name. */
FB_EXPORT const int flamebank_preload = 1;

/* Our own, whatever the name above finds. */
extern const int own_copy __attribute__((alias("flamebank_preload"), visibility("hidden")));

static struct fb_config config;
static struct fb_manifest manifest;
static void *pool_memory;
static void *keep_memory;
static _Atomic pid_t own_pid;
static _Atomic bool active;
static _Atomic bool alone; /* a filter refuses what a new helper thread would do */

/* Of the thread that forks: what fork_prepare() did. */
static _Thread_local sigset_t mask_before_fork __attribute__((tls_model("initial-exec")));
static _Thread_local bool forking __attribute__((tls_model("initial-exec")));

bool fb_preload_own_process(void)
{
    return getpid() == atomic_load(&own_pid);
}

bool fb_preload_active(void)
{
    return atomic_load(&active) && fb_preload_own_process();
}

/* A process without a tick and without a bank has nothing to write, and does not wait: a script's
 * thousand short children must not pay for each other's ends. */
static bool something_to_write(void)
{
    return atomic_load(&fb_handler_ticked) || fb_helper_has_bank();
}

/* The signal is blocked here meanwhile: a tick between the last samples and the last counters would
 * be in one of the two only. */
static void last_flush_ask(enum fb_flush why)
{
    sigset_t profiling;
    sigset_t before;

    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, &before);
    fb_helper_ask(why, END_WAIT_MS);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fb_preload_end(void)
{
    if (!fb_preload_active())
        return;
    if (config.root || something_to_write())
        last_flush_ask(FB_FLUSH_EXIT);
}

/* Ends everything; what was sampled is written first. */
static void stop(const char *why)
{
    const struct timespec handlers_end = {0, 2000000};

    if (!atomic_exchange(&active, false))
        return;
    fb_threads_close(true);
    fb_clock_process_stop();
    fb_threads_disarm();
    nanosleep(&handlers_end, NULL);
    fb_helper_stop(STOP_WAIT_MS);
    fb_say_line(why);
}

void fb_preload_filter(unsigned refused, bool all_threads)
{
    if (!fb_preload_active())
        return;
    if ((refused & FB_FILTER_TICKS) || (all_threads && (refused & FB_FILTER_HELPER))) {
        stop("the program installs a system call filter that refuses what sampling needs; it ends "
             "here");
        return;
    }
    if (refused & FB_FILTER_THREADS) {
        atomic_store(&fb_handler_filtered, true);
        fb_threads_close(false);
    }
    if (refused & FB_FILTER_PROCESSES)
        atomic_store(&alone, true);
    if (all_threads || refused != 0)
        fb_helper_quiet(RIGHTS_WAIT_MS);
}

void fb_preload_forget(void)
{
    atomic_store(&active, false);
}

/* A last tick of ITIMER_PROF that waits because every thread blocks the signal is there after exec
 * too, and kills a program that lets it in. */
static void waiting_tick_drop(void)
{
    const struct timespec at_once = {0, 0};
    sigset_t profiling;
    sigset_t waiting;
    siginfo_t info;

    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    if (config.clock != FB_CLOCK_ITIMER || fb_real.sigpending(&waiting) != 0 ||
        sigismember(&waiting, SIGPROF) != 1)
        return;
    if (fb_real.sigtimedwait(&profiling, &info, &at_once) == SIGPROF && !fb_entry_is_tick(&info))
        kill(getpid(), SIGPROF); /* the host's own, back again */
}

void fb_preload_exec(void)
{
    fb_entry_exec();
    if (!fb_preload_active())
        return;
    fb_clock_process_stop();
    waiting_tick_drop();
    if (something_to_write())
        last_flush_ask(FB_FLUSH_EXEC);
}

void fb_preload_exec_failed(void)
{
    int saved = errno;

    fb_entry_exec_failed();
    if (!fb_preload_active())
        return;
    fb_helper_resume();
    fb_clock_process_start();
    errno = saved;
}

bool fb_preload_rights_begin(void)
{
    fb_real_find();
    return fb_preload_active() && !atomic_load(&alone) && fb_helper_pause(RIGHTS_WAIT_MS);
}

int fb_preload_rights_end(bool paused, int result)
{
    int saved = errno;

    if (paused)
        fb_helper_unpause();
    errno = saved;
    return result;
}

static void profiling_block(sigset_t *ret_before)
{
    sigset_t profiling;

    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, ret_before);
}

static void fork_prepare(void)
{
    if (!fb_preload_active())
        return;
    forking = true;
    profiling_block(&mask_before_fork);
    fb_modules_fork_prepare();
}

static void fork_parent(void)
{
    if (!forking)
        return;
    forking = false;
    fb_modules_fork_parent();
    pthread_sigmask(SIG_SETMASK, &mask_before_fork, NULL);
}

static void child_start(void)
{
    uint64_t parent = fb_helper_writer_id();

    fb_modules_fork_child();
    if (!config.follow_fork || atomic_load(&alone)) {
        atomic_store(&active, false);
        return;
    }
    fb_handler_fork_child();
    fb_pool_init(pool_memory);
    fb_keep_init(keep_memory);
    fb_manifest_start(&manifest);
    manifest.parent_writer = parent;
    config.root = false;
    fb_threads_fork_child(fb_task_self);
    if (!fb_helper_start(&config, &manifest, config.run_id)) {
        atomic_store(&active, false);
        if (fb_task_self != NULL)
            fb_clock_thread_disarm(fb_task_self);
        return;
    }
    fb_clock_process_start();
}

static void fork_child(void)
{
    if (!forking)
        return;
    forking = false;
    atomic_store(&own_pid, getpid());
    fb_fault_start();
    child_start();
    pthread_sigmask(SIG_SETMASK, &mask_before_fork, NULL);
}

/* The run's id goes to the programs that follow, with the process that the run began with. */
static void run_export(void)
{
    char text[64];
    struct fb_text t = {.data = text, .cap = sizeof text};

    while (config.run_id == 0)
        if (getrandom(&config.run_id, sizeof config.run_id, GRND_NONBLOCK) < 0)
            config.run_id = fb_clock_now() ^ (uint64_t)getpid() << 40;
    if (config.root_pid == 0 && config.root)
        config.root_pid = getpid();
    fb_text_hex(&t, config.run_id, 16);
    if (config.root_pid != 0) {
        fb_text_str(&t, ".");
        fb_text_dec(&t, (uint64_t)config.root_pid);
    }
    setenv("FLAMEBANK_RUN", text, 1);
}

/* Takes our own entry out of LD_PRELOAD, so that programs that follow run without us. */
static void preload_forget(void)
{
    const char *list = getenv("LD_PRELOAD");
    char rest[4096];
    struct fb_text t = {.data = rest, .cap = sizeof rest};

    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, " :");
        const char *base = memrchr(list, '/', n);

        base = base != NULL ? base + 1 : list;
        if (n > 0 && strncmp(base, "libflamebank.so", 15) != 0) {
            if (t.len > 0)
                fb_text_str(&t, ":");
            fb_text_add(&t, list, n);
        }
        list += n + strspn(list + n, " :");
    }
    if (t.cut)
        return;
    if (t.len > 0)
        setenv("LD_PRELOAD", rest, 1);
    else
        unsetenv("LD_PRELOAD");
}

static bool memory_take(void)
{
    if (!fb_room_for(FB_POOL_BYTES + FB_KEEP_BYTES + FB_THREAD_SLOTS * sizeof(struct fb_task) +
                     OTHER_BYTES))
        return false;
    pool_memory = fb_memory_map(FB_POOL_BYTES);
    keep_memory = fb_memory_map(FB_KEEP_BYTES);
    if (pool_memory == NULL || keep_memory == NULL || !fb_threads_init()) {
        fb_memory_unmap(pool_memory, FB_POOL_BYTES);
        fb_memory_unmap(keep_memory, FB_KEEP_BYTES);
        return false;
    }
    fb_pool_init(pool_memory);
    fb_keep_init(keep_memory);
    return true;
}

static void start(void)
{
    struct fb_task *self;

    if (!memory_take()) {
        fb_say_plain("no room for samples (see ulimit -v and -d); the program runs unprofiled");
        return;
    }
    if (!config.follow_exec)
        preload_forget();
    run_export();
    fb_clock_init(&config, fb_helper_wake);
    fb_manifest_start(&manifest);
    fb_manifest_copy_environment(&manifest);
    if (!fb_entry_install(fb_clock_facts()->got)) {
        fb_say_plain("SIGPROF cannot be handled; the program runs unprofiled");
        return;
    }
    atomic_store(&own_pid, getpid());
    if (config.guard && !fb_fault_need())
        fb_say_plain("SIGSEGV cannot be handled; stacks of coroutines stay short");
    self = fb_thread_claim(0); /* the helper may run long before we go on */
    if (!fb_helper_start(&config, &manifest, config.run_id)) {
        if (self != NULL)
            fb_thread_release(self);
        fb_say_plain("no thread for the writer; the program runs unprofiled");
        return;
    }
    atomic_store(&active, true);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
    at_quick_exit(fb_preload_end);
    fb_thread_enter_main(self);
    fb_clock_process_start();
}

static uint64_t thread_cpu(void)
{
    struct timespec t = {0, 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((constructor)) static void preload_start(void)
{
    uint64_t begin_ns;
    char message[256];
    const int *first;

    fb_real_find();
    if (getauxval(AT_SECURE) != 0)
        return;
    first = dlsym(RTLD_DEFAULT, "flamebank_preload");
    if (first != NULL && first != &own_copy)
        return;
    fb_say_init();
    if (!fb_config_read(&config, getenv, message, sizeof message - 40)) {
        memcpy(message + strlen(message), "; the program runs unprofiled", 30);
        fb_say_plain(message);
        return;
    }
    if (config.off)
        return; /* with no system call of ours: a filter may be what it is off for */
    begin_ns = thread_cpu();
    start();
    fb_counters_start_took(thread_cpu() - begin_ns);
}

__attribute__((destructor)) static void preload_end(void)
{
    fb_preload_end();
}

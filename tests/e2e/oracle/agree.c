/* agree.c - preloaded into a program: compares our walk with libunwind's, tick by tick.
 *
 * Each thread has a timer on its CPU clock.  The handler walks as the sampler
 * does, keeps what waits for rows, and lets libunwind walk the same context; a
 * thread of its own finishes and compares, as the sampler's helper would.  At
 * the end of each process one line is added to the file that AGREE_OUT names:
 *     name samples same unknown resolver stopped cut differ
 *  same       equal to the last pc
 *  unknown    equal up to the first frame in code of no module, or without call
 *             frame information (hand-written assembly), where both guess
 *  resolver   ours stops where a rule wants a register that only the innermost
 *             frame has: the resolver of lazy binding
 *  stopped    libunwind stops earlier, ours reaches the root
 *  cut        the same, but ours waited for rows and more stack than is kept
 *             (FB_KEEP_WORDS) was between two frames: not a matter of rules
 *  differ     the rest
 * Each but the first two is described on stderr, a few times.
 *
 * libunwind takes a lock, and the loader's in it: one thread at a time is in it,
 * and one that finds another there gives its tick up. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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
#include "sampler/signal/code_map.h"
#include "sampler/signal/keep.h"
#include "sampler/signal/walk.h"
#include "tests/oracle_walk.h"

enum { DEPTH_MAX = 512, SLOTS = 32, ROUNDS_MAX = 512, SHOWN_MAX = 12 };

enum verdict { SAME, UNKNOWN, RESOLVER, STOPPED, CUT, DIFFER, VERDICTS };

struct slot {
    _Atomic int state; /* 0 free, 1 being filled, 2 filled */
    uint64_t ours[DEPTH_MAX];
    uint64_t theirs[DEPTH_MAX];
    uint64_t words[FB_KEEP_WORDS];
    unsigned n;
    unsigned m;
    unsigned kept;
    enum fb_walk_stop stop;
};

struct start {
    void *(*routine)(void *);
    void *arg;
};

static struct slot slots[SLOTS];
static _Atomic bool oracle_busy;
static _Atomic bool over;
static unsigned counts[VERDICTS];
static unsigned shown;
static int out_fd = -1;
static long period_ns = 1000000;
static pthread_t scanner;
static char name[64]; /* as it is at the start: servers change it */

static _Thread_local __attribute__((tls_model("initial-exec"))) struct fb_walk_range own_stack;
static _Thread_local __attribute__((tls_model("initial-exec"))) struct fb_walk_cache *own_cache;
static _Thread_local __attribute__((tls_model("initial-exec"))) timer_t own_timer;

static struct slot *slot_take(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = 0;

        if (atomic_compare_exchange_strong(&slots[i].state, &expected, 1))
            return &slots[i];
    }
    return NULL;
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    struct fb_walk_rest rest;
    struct slot *s;
    int saved = errno;

    (void)sig;
    (void)info;
    if (own_cache == NULL || atomic_load(&over) || atomic_exchange(&oracle_busy, true))
        return;
    s = slot_take();
    if (s != NULL) {
        s->kept = 0;
        s->n =
            fb_walk_stack_rest(context, &own_stack, own_cache, s->ours, DEPTH_MAX, &s->stop, &rest);
        if (s->stop == FB_WALK_NO_TABLE)
            s->kept = fb_walk_keep(&rest, s->words, FB_KEEP_WORDS);
        s->m = oracle_walk(context, s->theirs, DEPTH_MAX);
        atomic_store(&s->state, 2);
    }
    atomic_store(&oracle_busy, false);
    errno = saved;
}

/* --- comparing ------------------------------------------------------------- */

static void finish(struct slot *s)
{
    static struct fb_walk_cache cache;
    unsigned from = s->n;

    for (int i = 0; s->kept > 0 && i < ROUNDS_MAX; i++) {
        fb_modules_tables_make();
        s->n = fb_walk_resume(s->words, s->kept, &cache, s->ours, from, DEPTH_MAX, &s->stop);
        if (s->stop != FB_WALK_NO_TABLE || !fb_modules_tables_make())
            break;
    }
}

/* Is there a rule for it? */
static bool is_known(uint64_t pc)
{
    const struct fb_code_module *module = fb_code_map_find(fb_code_map_enter(), pc);
    bool known = module != NULL && fb_code_module_rule(module, pc)->cfa != FB_CFA_NONE;

    fb_code_map_leave();
    return known;
}

static enum verdict judge(const struct slot *s, unsigned same)
{
    if (same == s->n && same == s->m)
        return SAME;
    for (unsigned i = 0; i < same; i++)
        if (!is_known(s->ours[i] - (i > 0)))
            return UNKNOWN;
    if (same == s->n && s->stop == FB_WALK_LOST_REG)
        return RESOLVER;
    if (same == s->n && s->stop == FB_WALK_NO_TABLE && s->kept == FB_KEEP_WORDS)
        return CUT;
    return same == s->m && s->stop == FB_WALK_ROOT ? STOPPED : DIFFER;
}

static void describe(const struct slot *s, unsigned same, enum verdict verdict)
{
    static const char *const names[] = {"same", "unknown", "resolver", "stopped", "cut", "differ"};
    struct fb_module_ref ref;

    if (shown++ >= SHOWN_MAX)
        return;
    dprintf(2, "oracle: %s: ours %u (stop %d), libunwind %u, same %u:", names[verdict], s->n,
            (int)s->stop, s->m, same);
    for (unsigned i = same > 2 ? same - 2 : 0; i < same + 2; i++) {
        uint64_t ours = i < s->n ? s->ours[i] : 0;
        uint64_t theirs = i < s->m ? s->theirs[i] : 0;
        uint64_t pc = ours != 0 ? ours : theirs;
        bool known = fb_modules_find(pc, INT64_MAX, &ref);

        dprintf(2, " [%lx %lx: module %u + %lx]", ours, theirs, known ? ref.id : 0,
                known ? pc - ref.bias : 0);
    }
    dprintf(2, "\n");
}

static void slots_compare(void)
{
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &slots[i];
        unsigned same = 0;
        enum verdict verdict;

        if (atomic_load(&s->state) != 2)
            continue;
        finish(s);
        while (same < s->n && same < s->m && s->ours[same] == s->theirs[same])
            same++;
        verdict = judge(s, same);
        counts[verdict]++;
        if (verdict > UNKNOWN)
            describe(s, same, verdict);
        atomic_store(&s->state, 0);
    }
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    if (getenv("AGREE_SHOW") != NULL && event->loaded)
        dprintf(2, "oracle: module %u %s\n", event->id, event->path);
}

static void *keep_comparing(void *arg)
{
    struct timespec pause = {.tv_nsec = 4000000};

    while (!atomic_load(&over)) {
        if (fb_modules_changed())
            fb_modules_scan(on_event, NULL);
        fb_modules_tables_make();
        slots_compare();
        nanosleep(&pause, NULL);
    }
    return arg;
}

/* --- threads and processes ------------------------------------------------- */

static void thread_begin(void)
{
    struct itimerspec period = {{0, period_ns}, {0, period_ns}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    own_cache = calloc(1, sizeof *own_cache); /* for good: a late tick may come */
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &own_timer) == 0)
        timer_settime(own_timer, 0, &period, NULL);
}

static void *thread_main(void *arg)
{
    struct start start = *(struct start *)arg;
    sigset_t profiling;
    void *result;

    free(arg);
    thread_begin();
    result = start.routine(start.arg);
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, NULL);
    timer_delete(own_timer);
    return result;
}

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static create_fn real_create(void)
{
    union {
        void *object;
        create_fn function;
    } symbol = {.object = dlsym(RTLD_NEXT, "pthread_create")};

    return symbol.function;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *ret_thread,
                                                          const pthread_attr_t *attr,
                                                          void *(*routine)(void *), void *arg)
{
    struct start *start = malloc(sizeof *start);

    if (out_fd < 0 || start == NULL)
        return real_create()(ret_thread, attr, routine, arg);
    *start = (struct start){routine, arg};
    return real_create()(ret_thread, attr, thread_main, start);
}

static void scanner_start(void)
{
    sigset_t all;
    sigset_t old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    real_create()(&scanner, NULL, keep_comparing, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void fork_child(void)
{
    fb_modules_fork_child();
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < SLOTS; i++)
        atomic_store(&slots[i].state, 0);
    atomic_store(&oracle_busy, false);
    scanner_start();
    thread_begin();
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    const char *path = getenv("AGREE_OUT");

    if (path == NULL)
        return;
    out_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (out_fd < 0)
        return;
    snprintf(name, sizeof name, "%s", program_invocation_short_name);
    out_fd = fcntl(out_fd, F_DUPFD_CLOEXEC, 900); /* programs close what they know */
    sigaction(SIGPROF, &action, NULL);
    pthread_atfork(fb_modules_fork_prepare, fb_modules_fork_parent, fork_child);
    scanner_start();
    thread_begin();
}

__attribute__((destructor)) static void end(void)
{
    struct itimerspec off = {{0, 0}, {0, 0}};
    char line[256];
    unsigned samples = 0;

    if (out_fd < 0)
        return;
    timer_settime(own_timer, 0, &off, NULL);
    signal(SIGPROF, SIG_IGN);
    atomic_store(&over, true);
    pthread_join(scanner, NULL);
    slots_compare();
    for (int i = 0; i < VERDICTS; i++)
        samples += counts[i];
    snprintf(line, sizeof line, "%s %u %u %u %u %u %u %u\n", name, samples, counts[SAME],
             counts[UNKNOWN], counts[RESOLVER], counts[STOPPED], counts[CUT], counts[DIFFER]);
    if (samples > 0 && write(out_fd, line, strlen(line)) < 0)
        return;
}

/* threads.c - see threads.h. */
#include "sampler/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/memory.h"
#include "sampler/signal/handler.h"
#include "sampler/text.h"

enum {
    STRANGERS_MAX = 256, /* threads that wait for adoption */
    STACK_ABOVE_MAX = 64 << 20,
    CLOSE_LOOKS = 10000,
};

static struct fb_task *slots;
static _Atomic uint32_t slots_end;
static _Atomic uint32_t next_id = 1;
static _Atomic uint32_t live;
static _Atomic uint32_t under_way; /* threads between claim and the end of enter, or in leave */
static _Atomic uint32_t closed;    /* enum closed */

enum closed { OPEN, CLOSED_TO_TIMERS, CLOSED_ENTIRELY };
static _Atomic uint64_t silent_cpu_ns; /* of threads that left without a tick */

/* Threads that the last look saw and nobody entered: adopted if the next one sees them again, so
 * that one that is on its way in or out is left alone. */
static int32_t strangers[STRANGERS_MAX];
static uint32_t stranger_count;
static bool looked;
static uint32_t adopted_count;

void fb_threads_close(bool entirely)
{
    const struct timespec little = {0, 100000};

    atomic_store(&closed, entirely ? CLOSED_ENTIRELY : CLOSED_TO_TIMERS);
    for (int i = 0; i < CLOSE_LOOKS && atomic_load(&under_way) > 0; i++)
        nanosleep(&little, NULL);
}

void fb_threads_disarm(void)
{
    uint32_t end = fb_threads_end();

    for (uint32_t i = 0; i < end; i++)
        if (atomic_load(&slots[i].state) == FB_THREAD_LIVE)
            fb_clock_thread_disarm(&slots[i]);
}

bool fb_threads_init(void)
{
    slots = fb_memory_map(sizeof *slots * FB_THREAD_SLOTS);
    if (slots == NULL)
        return false;
    fb_handler_init(slots, FB_THREAD_SLOTS);
    return true;
}

struct fb_task *fb_threads_slot(uint32_t i)
{
    return &slots[i];
}

uint32_t fb_threads_end(void)
{
    return atomic_load(&slots_end);
}

uint64_t fb_threads_silent_cpu(void)
{
    return atomic_load(&silent_cpu_ns);
}

uint32_t fb_threads_live(void)
{
    return atomic_load(&live);
}

uint32_t fb_threads_id_take(void)
{
    return atomic_fetch_add(&next_id, 1);
}

static void slot_prepare(struct fb_task *t, size_t stack_bytes)
{
    t->id = fb_threads_id_take();
    t->tid = 0;
    t->timer = -1;
    t->running = false;
    atomic_store(&t->tuning, false);
    t->stack = (struct fb_walk_range){0, 0};
    atomic_store(&t->stack_hint, 0);
    atomic_store(&t->segment, NULL);
    atomic_store(&t->handler_ns, 0);
    atomic_store(&t->handler_count, 0);
    atomic_store(&t->weight, 0);
    atomic_store(&t->overrun, 0);
    atomic_store(&t->kept, 0);
    t->adopted = false;
    t->blocked = false;
    t->drained = false;
    t->cpu_ns = 0;
    t->checked_cpu_ns = 0;
    t->checked_count = 0;
    t->named_ns = 0;
    t->virtual_id = 0;
    t->name[0] = '\0';
    t->exit_name[0] = '\0';
    t->stack_bytes = stack_bytes;
}

struct fb_task *fb_thread_claim(size_t stack_bytes)
{
    atomic_fetch_add(&under_way, 1);
    for (uint32_t i = 0; i < FB_THREAD_SLOTS && atomic_load(&closed) == OPEN; i++) {
        uint32_t expected = FB_THREAD_FREE;
        uint32_t end = atomic_load(&slots_end);

        if (atomic_load_explicit(&slots[i].state, memory_order_relaxed) != FB_THREAD_FREE ||
            !atomic_compare_exchange_strong(&slots[i].state, &expected, FB_THREAD_CLAIMED))
            continue;
        while (end <= i && !atomic_compare_exchange_weak(&slots_end, &end, i + 1))
            ;
        slot_prepare(&slots[i], stack_bytes);
        atomic_fetch_add(&live, 1);
        return &slots[i];
    }
    atomic_fetch_sub(&under_way, 1);
    atomic_fetch_add(&fb_handler_losses[FB_LOSS_NO_TIMER], 1);
    return NULL;
}

void fb_thread_release(struct fb_task *t)
{
    atomic_store(&t->state, FB_THREAD_FREE);
    atomic_fetch_sub(&live, 1);
    atomic_fetch_sub(&under_way, 1);
}

/* The stack of the calling thread.  glibc puts the thread's descriptor at the end of its stack,
 * whoever made the stack; asking pthread_getattr_np() instead would call malloc in every new
 * thread. */
static struct fb_walk_range stack_of_self(const struct fb_task *t)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t top = here + 256;
#ifdef __GLIBC__
    uintptr_t descriptor = (uintptr_t)pthread_self();

    if (descriptor > here && descriptor - here < STACK_ABOVE_MAX)
        top = descriptor;
#endif
    if (t->stack_bytes == 0 || t->stack_bytes > top)
        return (struct fb_walk_range){0, 0}; /* the helper will look for it */
    return (struct fb_walk_range){top - t->stack_bytes, top};
}

void fb_thread_enter(struct fb_task *t)
{
    t->tid = (int32_t)syscall(SYS_gettid);
    if (t->stack.top == 0)
        t->stack = stack_of_self(t);
    fb_task_self = t;
    atomic_store_explicit(&t->state, FB_THREAD_LIVE, memory_order_release);
    fb_clock_thread_arm(t);
    atomic_fetch_sub(&under_way, 1);
}

static void segment_hand_over(struct fb_task *t)
{
    struct fb_segment *segment = atomic_exchange(&t->segment, NULL);

    if (segment != NULL)
        fb_pool_push_full(segment);
}

/* Blocks the signal, stops the timer, and keeps the ticks that it did not bring any more. */
static void last_ticks_keep(struct fb_task *t, sigset_t *ret_before)
{
    struct timespec cpu;
    sigset_t profiling;

    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, ret_before);
    if (atomic_load(&closed) != OPEN)
        return; /* the kernel's timer of a thread that is gone does not fire */
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0)
        t->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    /* Not where the host blocked the signal: that is a loss of its own. */
    if (sigismember(ret_before, SIGPROF) == 0)
        fb_handler_thread_end(t, fb_clock_thread_missed(t));
    fb_clock_thread_disarm(t);
}

static void leave(struct fb_task *t)
{
    sigset_t before;

    /* For good: what runs after us in this thread is its teardown. */
    last_ticks_keep(t, &before);
    fb_task_self = NULL;
    if (atomic_load(&t->handler_count) > 0 || atomic_load(&t->weight) > 0) {
        if (atomic_load(&closed) == OPEN)
            prctl(PR_GET_NAME, t->exit_name);
        segment_hand_over(t);
        atomic_store_explicit(&t->state, FB_THREAD_EXITED, memory_order_release);
    } else {
        /* Nothing of it will be written: thousands of short threads need one slot. */
        atomic_fetch_add(&silent_cpu_ns, t->cpu_ns);
        atomic_store_explicit(&t->state, FB_THREAD_FREE, memory_order_release);
    }
    atomic_fetch_sub(&live, 1);
}

void fb_thread_leave(struct fb_task *t)
{
    atomic_fetch_add(&under_way, 1);
    if (atomic_load(&closed) != CLOSED_ENTIRELY)
        leave(t);
    atomic_fetch_sub(&under_way, 1);
}

/* The initial stack ends behind the strings of argv, the environment and, last, the program's name.
 */
static struct fb_walk_range stack_of_main(void)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t end = name != NULL ? (uintptr_t)name + strlen(name) + 1 : 0;
    uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ);
    struct rlimit limit;
    uintptr_t size = (uintptr_t)64 << 20;

    if (end <= here || page == 0)
        return (struct fb_walk_range){0, 0};
    end = (end + page - 1) / page * page;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        size = (uintptr_t)limit.rlim_cur;
    return (struct fb_walk_range){size < end ? end - size : 0, end};
}

void fb_thread_enter_main(struct fb_task *t)
{
    if (t == NULL)
        return;
    /* A constructor may run in a thread that dlopen()ed us; then the guess would be wrong. */
    if (syscall(SYS_gettid) == getpid())
        t->stack = stack_of_main();
    fb_thread_enter(t);
}

/* 1 known, 0 not known, -1 somebody is between claim and enter: nothing can be said. */
static int slot_known(int32_t tid)
{
    uint32_t end = fb_threads_end();

    for (uint32_t i = 0; i < end; i++) {
        uint32_t state = atomic_load_explicit(&slots[i].state, memory_order_acquire);

        if (state == FB_THREAD_CLAIMED)
            return -1;
        if (state != FB_THREAD_FREE && slots[i].tid == tid)
            return 1;
    }
    return 0;
}

static void adopt(int32_t tid)
{
    struct fb_task *t = fb_thread_claim(0);

    if (t == NULL)
        return;
    t->tid = tid;
    t->adopted = true;
    atomic_fetch_sub(&live, 1);
    adopted_count++;
    atomic_store_explicit(&t->state, FB_THREAD_LIVE, memory_order_release);
    fb_clock_thread_arm(t);
    atomic_fetch_sub(&under_way, 1);
}

/* Calls nothing that allocates, as opendir() would.  False: cannot be read. */
static bool tasks_read(bool (*each)(int32_t tid, void *ctx), void *ctx)
{
    _Alignas(8) char buffer[4096];
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;
    bool go_on = true;

    if (fd < 0)
        return false;
    while (go_on && (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n && go_on;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buffer + at);
            const char *after;
            uint64_t tid = fb_text_number(entry->d_name, &after);

            if (after != entry->d_name && *after == '\0')
                go_on = each((int32_t)tid, ctx);
            at += entry->d_reclen;
        }
    close(fd);
    return true;
}

struct look {
    int32_t helper_tid;
    int32_t found[STRANGERS_MAX];
    uint32_t count;
    bool uncertain;
};

static bool look_at(int32_t tid, void *ctx)
{
    struct look *look = ctx;
    /* The main thread entered in the constructor; when it has left, it stays listed as a zombie. */
    int known = tid == look->helper_tid || tid == getpid() ? 1 : slot_known(tid);

    if (known < 0) {
        look->uncertain = true;
        return false;
    }
    if (known == 0 && look->count < STRANGERS_MAX)
        look->found[look->count++] = tid;
    return true;
}

void fb_threads_adopt(int32_t helper_tid)
{
    struct look look = {.helper_tid = helper_tid};
    struct stat st;

    /* The folder's links are 2 + the number of threads. */
    if (stat("/proc/self/task", &st) == 0 && st.st_nlink == fb_threads_live() + adopted_count + 3u)
        return;
    if (!tasks_read(look_at, &look) || look.uncertain)
        return;
    for (uint32_t i = 0; i < look.count; i++)
        for (uint32_t k = 0; !looked || k < stranger_count; k++)
            if (!looked || strangers[k] == look.found[i]) {
                adopt(look.found[i]);
                break;
            }
    looked = true;
    memcpy(strangers, look.found, sizeof strangers);
    stranger_count = look.count;
}

void fb_thread_bury(struct fb_task *t)
{
    fb_clock_thread_disarm(t);
    segment_hand_over(t);
    if (t->adopted)
        adopted_count--;
    else
        atomic_fetch_sub(&live, 1);
    atomic_store_explicit(&t->state, FB_THREAD_EXITED, memory_order_release);
}

uint32_t fb_threads_adopted(void)
{
    return adopted_count;
}

void fb_threads_fork_child(struct fb_task *t)
{
    uint32_t end = fb_threads_end();

    fb_clock_fork_child();
    for (uint32_t i = 0; i < end; i++) {
        /* What they hold is the parent's: it writes it. */
        atomic_store(&slots[i].segment, NULL);
        slots[i].drained = false;
        if (&slots[i] != t)
            atomic_store(&slots[i].state, FB_THREAD_FREE);
    }
    stranger_count = 0;
    adopted_count = 0;
    looked = true;
    atomic_store(&live, 0);
    atomic_store(&silent_cpu_ns, 0);
    if (t != NULL)
        atomic_store(&live, 1);
    else
        t = fb_thread_claim(0);
    if (t == NULL)
        return;
    atomic_store(&t->weight, 0);
    atomic_store(&t->overrun, 0);
    atomic_store(&t->kept, 0);
    atomic_store(&t->handler_ns, 0);
    atomic_store(&t->handler_count, 0);
    t->named_ns = 0;
    t->virtual_id = 0;
    t->adopted = false;
    t->blocked = false;
    t->checked_cpu_ns = 0;
    t->checked_count = 0;
    t->timer = -1;
    atomic_store(&under_way, 1);
    fb_thread_enter(t);
}

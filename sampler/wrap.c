/* wrap.c - the C library's functions that must not pass without us: threads and ends.
 *
 * Each does what the real one does, and is transparent in a process that is not
 * ours (a vfork's child shares our memory).  dlopen and dlclose are never
 * wrapped: their meaning depends on the caller's address. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <threads.h>
#include <unistd.h>

#include "sampler/export.h"
#include "sampler/helper.h"
#include "sampler/preload.h"
#include "sampler/real.h"
#include "sampler/signal/handler.h"
#include "sampler/threads.h"

FB_EXPORT void _Exit(int status);

/* Not where sampling ended before the thread, nor in a copy of the process that is not followed:
 * the number of its timer may be the host's there. */
static void thread_end(void *ctx)
{
    if (!fb_preload_active())
        return;
    fb_thread_leave(ctx);
    if (fb_threads_live() == 0)
        fb_helper_wake();
}

/* Code of ours below the host's thread function; the writer leaves its frame out of stacks. */
#define FB_TRAMPOLINE __attribute__((section("fb_trampoline"), noinline))

/* The cleanup handler runs on return, pthread_exit() and cancellation alike, before the destructors
 * of thread-local data. */
FB_TRAMPOLINE static void *thread_main(void *ctx)
{
    struct fb_task *t = ctx;
    void *result;

    fb_thread_enter(t);
    pthread_cleanup_push(thread_end, t);
    result = t->start(t->start_arg);
    pthread_cleanup_pop(1);
    return result;
}

static size_t stack_size(const pthread_attr_t *attr)
{
    static _Atomic size_t usual;
    pthread_attr_t fresh;
    size_t size = 0;

    if (attr != NULL)
        return pthread_attr_getstacksize(attr, &size) == 0 ? size : 0;
    size = usual;
    if (size == 0 && pthread_attr_init(&fresh) == 0) {
        pthread_attr_getstacksize(&fresh, &size);
        pthread_attr_destroy(&fresh);
        usual = size;
    }
    return size;
}

FB_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg)
{
    struct fb_task *t;
    int r;

    fb_real_find();
    t = fb_preload_active() ? fb_thread_claim(stack_size(attr)) : NULL;
    if (t == NULL)
        return fb_real.pthread_create(thread, attr, start, arg);
    t->start = start;
    t->start_arg = arg;
    r = fb_real.pthread_create(thread, attr, thread_main, t);
    if (r != 0)
        fb_thread_release(t);
    return r;
}

/* The same for C11's threads, whose creation goes past pthread_create(). */
static int thrd_main(void *ctx)
{
    struct fb_task *t = ctx;
    int result;

    fb_thread_enter(t);
    pthread_cleanup_push(thread_end, t);
    result = ((thrd_start_t)(void (*)(void))t->start)(t->start_arg);
    pthread_cleanup_pop(1);
    return result;
}

FB_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
    struct fb_task *t;
    int r;

    fb_real_find();
    t = fb_preload_active() ? fb_thread_claim(stack_size(NULL)) : NULL;
    if (t == NULL)
        return fb_real.thrd_create(thread, start, arg);
    t->start = (void *(*)(void *))(void (*)(void))start;
    t->start_arg = arg;
    r = fb_real.thrd_create(thread, thrd_main, t);
    if (r != thrd_success)
        fb_thread_release(t);
    return r;
}

FB_EXPORT void pthread_exit(void *result)
{
    struct fb_task *t = fb_task_self;

    fb_real_find();
    /* The main thread has no trampoline; the process may go on without it. */
    if (t != NULL && fb_preload_active() && syscall(SYS_gettid) == getpid())
        thread_end(t);
    fb_real.pthread_exit(result);
    __builtin_unreachable();
}

FB_EXPORT void _exit(int status)
{
    fb_real_find();
    fb_preload_end();
    fb_real.exit_now(status);
    __builtin_unreachable();
}

FB_EXPORT void _Exit(int status)
{
    _exit(status);
}

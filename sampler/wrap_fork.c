/* wrap_fork.c - the C library's ways to copy a process that run no fork hooks: clone(), _Fork().
 *
 * vfork() and posix_spawn() need nothing: they copy no memory, and their child ends or execs. */
#include "sampler/wrap_fork.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "sampler/export.h"
#include "sampler/preload.h"
#include "sampler/real.h"

/* Declared since glibc 2.34 only. */
FB_EXPORT pid_t _Fork(void);

void fb_fork_begin(struct fb_fork *ret_fork)
{
    sigset_t profiling;

    fb_real_find();
    ret_fork->ours = fb_preload_active();
    if (!ret_fork->ours)
        return;
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, &ret_fork->before);
}

void fb_fork_end(const struct fb_fork *fork, long pid)
{
    int saved = errno;

    if (!fork->ours)
        return;
    if (pid == 0)
        fb_preload_forget();
    pthread_sigmask(SIG_SETMASK, &fork->before, NULL);
    errno = saved;
}

FB_EXPORT pid_t _Fork(void)
{
    struct fb_fork state;
    pid_t pid;

    fb_fork_begin(&state);
    pid = fb_real.fork_alone();
    fb_fork_end(&state, pid);
    return pid;
}

struct copied {
    struct fb_fork fork;
    int (*run)(void *);
    void *arg;
};

/* The maker's stack is copied with the rest of its memory: ctx is there in the child too. */
static int copied_main(void *ctx)
{
    struct copied *c = ctx;

    fb_fork_end(&c->fork, 0);
    return c->run(c->arg);
}

/* A child that shares our memory (a thread, a vfork) is handed on as it is. */
FB_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
    struct copied c = {.run = run, .arg = arg};
    void *more[3];
    va_list list;
    int pid;

    va_start(list, arg);
    for (int i = 0; i < 3; i++)
        more[i] = va_arg(list, void *);
    va_end(list);
    fb_real_find();
    if (flags & CLONE_VM)
        return fb_real.clone(run, stack, flags, arg, more[0], more[1], more[2]);
    fb_fork_begin(&c.fork);
    pid = fb_real.clone(copied_main, stack, flags, &c, more[0], more[1], more[2]);
    fb_fork_end(&c.fork, pid);
    return pid;
}

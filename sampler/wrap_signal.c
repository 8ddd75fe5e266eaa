/* wrap_signal.c - the other ways to meet our signals: waiting for them, and signal()'s variants.
 *
 * A host that blocks all signals and waits for them must not be handed our ticks: they are
 * discarded, as a thread that blocks the signal loses them anyway. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <time.h>

#include "sampler/clock.h"
#include "sampler/entry.h"
#include "sampler/export.h"
#include "sampler/preload.h"
#include "sampler/real.h"

/* Declared for some feature sets only. */
FB_EXPORT sighandler_t __sysv_signal(int signo, sighandler_t handler);
FB_EXPORT sighandler_t sysv_signal(int signo, sighandler_t handler);
FB_EXPORT sighandler_t bsd_signal(int signo, sighandler_t handler);
FB_EXPORT sighandler_t ssignal(int signo, sighandler_t handler);
FB_EXPORT sighandler_t sigset(int signo, sighandler_t handler);
FB_EXPORT int sigignore(int signo);

static bool may_meet_ticks(const sigset_t *set)
{
    fb_real_find();
    return set != NULL && fb_preload_active() && sigismember(set, SIGPROF) == 1;
}

static uint64_t nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* timeout: valid, or NULL for ever. */
static int wait_without_ticks(const sigset_t *set, siginfo_t *ret_info,
                              const struct timespec *timeout)
{
    uint64_t end = timeout != NULL ? fb_clock_now() + nanoseconds(timeout) : 0;
    struct timespec left = {0, 0};
    siginfo_t info;
    int r;

    if (timeout != NULL)
        left = *timeout;
    while ((r = fb_real.sigtimedwait(set, &info, timeout != NULL ? &left : NULL)) == SIGPROF &&
           fb_entry_is_tick(&info)) {
        uint64_t now = fb_clock_now();
        uint64_t ns = now < end ? end - now : 0;

        left = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    }
    if (r > 0 && ret_info != NULL)
        *ret_info = info;
    return r;
}

FB_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    if (!may_meet_ticks(set))
        return fb_real.sigtimedwait(set, info, timeout);
    return wait_without_ticks(set, info, timeout);
}

FB_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

FB_EXPORT int sigwait(const sigset_t *set, int *ret_signo)
{
    int saved = errno;
    int r;

    while ((r = sigtimedwait(set, NULL, NULL)) < 0 && errno == EINTR)
        ;
    if (r < 0)
        r = errno;
    else {
        *ret_signo = r;
        r = 0;
    }
    errno = saved;
    return r;
}

FB_EXPORT int sigpending(sigset_t *set)
{
    int r;

    fb_real_find();
    r = fb_real.sigpending(set);
    if (r == 0 && may_meet_ticks(set))
        sigdelset(set, SIGPROF);
    return r;
}

FB_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t without;

    if (!may_meet_ticks(set))
        return fb_real.signalfd(fd, set, flags);
    without = *set;
    sigdelset(&without, SIGPROF);
    return fb_real.signalfd(fd, &without, flags);
}

FB_EXPORT sighandler_t __sysv_signal(int signo, sighandler_t handler)
{
    fb_real_find();
    if (!fb_entry_covers(signo))
        return fb_real.sysv_signal(signo, handler);
    return fb_entry_signal(signo, handler, (int)SA_RESETHAND | SA_NODEFER, false);
}

FB_EXPORT sighandler_t sysv_signal(int signo, sighandler_t handler)
{
    return __sysv_signal(signo, handler);
}

FB_EXPORT sighandler_t bsd_signal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

FB_EXPORT sighandler_t ssignal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

FB_EXPORT sighandler_t sigset(int signo, sighandler_t handler)
{
    struct sigaction now;
    sigset_t only;
    sigset_t before;
    sighandler_t old;

    fb_real_find();
    if (!fb_entry_covers(signo))
        return fb_real.sigset(signo, handler);
    if (handler == SIG_HOLD)
        old = sigaction(signo, NULL, &now) == 0 ? now.sa_handler : SIG_ERR;
    else
        old = fb_entry_signal(signo, handler, 0, false);
    if (old == SIG_ERR)
        return old;
    sigemptyset(&only);
    sigaddset(&only, signo);
    pthread_sigmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &only, &before);
    return sigismember(&before, signo) == 1 ? SIG_HOLD : old;
}

FB_EXPORT int sigignore(int signo)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    return sigaction(signo, &action, NULL);
}

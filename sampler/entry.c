/* entry.c - see entry.h. */
#include "sampler/entry.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/export.h"
#include "sampler/fault.h"
#include "sampler/preload.h"
#include "sampler/real.h"
#include "sampler/signal/handler.h"

/* The first parameter of setitimer(): int by POSIX. */
#ifdef __GLIBC__
typedef __itimer_which_t itimer_which;
#else
typedef int itimer_which;
#endif

enum { KERNEL_SET_BYTES = 8 }; /* its sigset_t */

static enum fb_clock clock_kind;
static _Atomic bool installed;
static _Atomic bool host_has_itimer; /* ITIMER_PROF is the host's */

/* What the C library adds to the flags that the kernel gets, and tells. */
static int library_flags;

/* The host's action for SIGPROF.  Written under a sequence count by the interposed sigaction(), of
 * which two at once are the host's race already; read by the handler, which takes what is whole. */
static struct sigaction host_action;
static _Atomic uint32_t host_version; /* odd while it is written */

/* Signals whose handler asked for SIGPROF in its mask itself: bit signo. */
static _Atomic uint64_t masked_by_host;

/* Signals for which siginterrupt() was asked to interrupt calls. */
static _Atomic uint64_t interrupting;

static uint64_t bit_of(int signo)
{
    return signo > 0 && signo < 64 ? UINT64_C(1) << signo : 0;
}

static bool host_read(struct sigaction *ret_action)
{
    for (int i = 0; i < 1000; i++) {
        uint32_t before = atomic_load_explicit(&host_version, memory_order_acquire);

        *ret_action = host_action;
        atomic_thread_fence(memory_order_acquire);
        if ((before & 1) == 0 && atomic_load(&host_version) == before)
            return true;
    }
    return false;
}

static void host_write(const struct sigaction *action, int more_flags)
{
    atomic_fetch_add(&host_version, 1);
    host_action = *action;
    host_action.sa_flags |= more_flags;
    atomic_fetch_add(&host_version, 1);
}

/* As the signal's default: the process ends by it. */
static void die(int signo)
{
    struct sigaction none = {.sa_handler = SIG_DFL};
    sigset_t only;

    sigemptyset(&only);
    sigaddset(&only, signo);
    fb_real.sigaction(signo, &none, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

/* With the mask that the kernel would have given it: ours is wider. */
static void call_host(const struct sigaction *host, int signo, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    sigset_t interrupted;
    sigset_t mask;
    sigset_t before;

    sigemptyset(&interrupted);
    memcpy(&interrupted, &uc->uc_sigmask, KERNEL_SET_BYTES); /* the rest is not there */
    sigorset(&mask, &interrupted, &host->sa_mask);
    sigaddset(&mask, SIGPROF);
    pthread_sigmask(SIG_SETMASK, &mask, &before);
    if (host->sa_flags & SA_SIGINFO)
        host->sa_sigaction(signo, info, context);
    else
        host->sa_handler(signo);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void pass_on(int signo, siginfo_t *info, void *context)
{
    const struct sigaction once = {.sa_handler = SIG_DFL};
    struct sigaction host;

    fb_handler_count(FB_COUNT_FOREIGN, 1);
    if (!host_read(&host) || host.sa_handler == SIG_IGN)
        return;
    if (host.sa_handler == SIG_DFL) {
        if (clock_kind != FB_CLOCK_ITIMER || info->si_code != SI_KERNEL ||
            atomic_load(&host_has_itimer))
            die(signo);
        return;
    }
    if ((host.sa_flags & (int)SA_RESETHAND) != 0 && fb_preload_own_process())
        host_write(&once, library_flags);
    call_host(&host, signo, info, context);
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
    bool ours = false;

    fb_handler_count(FB_COUNT_SIGNALS, 1);
    switch (clock_kind) {
    case FB_CLOCK_CPU:
        ours = fb_handle_cpu(info, context);
        break;
    case FB_CLOCK_ITIMER:
        ours = !atomic_load(&host_has_itimer) && fb_handle_itimer(info, context);
        break;
    case FB_CLOCK_PERF:
        ours = fb_handle_perf(info, context);
        break;
    case FB_CLOCK_WALL:
        ours = fb_handle_wall(info, context);
        break;
    case FB_CLOCK_COUNT:
        break;
    }
    if (!ours)
        pass_on(signo, info, context);
}

/* All that may come at any time, the C library's own for cancelling included: a host's handler that
 * jumps, or a cancelled thread, would leave ours in its middle with a segment in its hands.  Not
 * what the handler's own instructions raise. */
static void mask_of_handler(sigset_t *ret_mask)
{
    static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

    memset(ret_mask, 0xff, sizeof *ret_mask);
    for (size_t i = 0; i < sizeof raised / sizeof raised[0]; i++)
        sigdelset(ret_mask, raised[i]);
}

static bool kernel_take(struct sigaction *ret_before)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_RESTART};

    mask_of_handler(&ours.sa_mask);
    ours.sa_sigaction = on_signal;
    return fb_real.sigaction(SIGPROF, &ours, ret_before) == 0;
}

bool fb_entry_install(enum fb_clock clock)
{
    struct sigaction before;
    struct sigaction now;

    clock_kind = clock;
    if (!kernel_take(&before) || fb_real.sigaction(SIGPROF, NULL, &now) != 0)
        return false;
    library_flags = now.sa_flags & ~(SA_SIGINFO | SA_RESTART);
    host_write(&before, 0);
    fb_fault_start();
    atomic_store(&installed, true);
    return true;
}

bool fb_entry_is_tick(const siginfo_t *info)
{
    if (info->si_signo != SIGPROF || !fb_preload_own_process())
        return false;
    if (clock_kind == FB_CLOCK_ITIMER)
        return info->si_code == SI_KERNEL && !atomic_load(&host_has_itimer);
    return fb_handler_knows(info) ||
           (clock_kind == FB_CLOCK_PERF && fb_handler_knows_event(info)) ||
           (clock_kind == FB_CLOCK_WALL && fb_handler_knows_call(info));
}

/* In a child that may share our memory: the kernel's action is its own, what is kept here is not.
 * Our handler at its place is what the child inherited: to be told as the host's. */
static int borrowed_action(const struct sigaction *action, struct sigaction host,
                           struct sigaction *ret_old)
{
    struct sigaction kernel;

    if (fb_real.sigaction(SIGPROF, action, &kernel) != 0)
        return -1;
    if (ret_old != NULL)
        *ret_old = kernel.sa_sigaction == on_signal ? host : kernel;
    return 0;
}

static int profiling_action(const struct sigaction *action, struct sigaction *ret_old)
{
    struct sigaction old;

    if (!host_read(&old)) {
        errno = EINVAL;
        return -1;
    }
    if (!fb_preload_own_process())
        return borrowed_action(action, old, ret_old);
    if (action != NULL)
        host_write(action, library_flags);
    if (ret_old != NULL)
        *ret_old = old;
    return 0;
}

static int other_action(int signo, const struct sigaction *action, struct sigaction *ret_old)
{
    uint64_t bit = bit_of(signo);
    uint64_t masked = atomic_load(&masked_by_host);
    struct sigaction changed;
    bool asked = action != NULL && sigismember(&action->sa_mask, SIGPROF) == 1;
    int r;

    if (action != NULL && (action->sa_flags & SA_ONSTACK) && !asked) {
        changed = *action;
        sigaddset(&changed.sa_mask, SIGPROF);
        action = &changed;
    }
    r = fb_real.sigaction(signo, action, ret_old);
    if (r != 0)
        return r;
    if (ret_old != NULL && (ret_old->sa_flags & SA_ONSTACK) && !(masked & bit))
        sigdelset(&ret_old->sa_mask, SIGPROF);
    if (action == NULL || asked == ((masked & bit) != 0) || !fb_preload_own_process())
        return 0;
    if (asked)
        atomic_fetch_or(&masked_by_host, bit);
    else
        atomic_fetch_and(&masked_by_host, ~bit);
    return 0;
}

FB_EXPORT int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    fb_real_find();
    if (!atomic_load(&installed))
        return fb_real.sigaction(signo, action, old);
    if (signo == SIGPROF)
        return profiling_action(action, old);
    if (fb_fault_covers(signo))
        return fb_fault_action(signo, action, old, other_action);
    return other_action(signo, action, old);
}

bool fb_entry_covers(int signo)
{
    return atomic_load(&installed) && (signo == SIGPROF || fb_fault_covers(signo));
}

sighandler_t fb_entry_signal(int signo, sighandler_t handler, int flags, bool masks_itself)
{
    struct sigaction action = {.sa_flags = flags};
    struct sigaction old;

    sigemptyset(&action.sa_mask);
    if (masks_itself)
        sigaddset(&action.sa_mask, signo);
    action.sa_handler = handler;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (sigaction(signo, &action, &old) != 0)
        return SIG_ERR;
    return old.sa_handler;
}

FB_EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
    fb_real_find();
    if (!fb_entry_covers(signo))
        return fb_real.signal(signo, handler);
    return fb_entry_signal(signo, handler,
                           atomic_load(&interrupting) & bit_of(signo) ? 0 : SA_RESTART, true);
}

/* The C library's own changes the kernel's action, and remembers the choice for its signal(). */
FB_EXPORT int siginterrupt(int signo, int interrupts)
{
    struct sigaction action;

    fb_real_find();
    if (interrupts)
        atomic_fetch_or(&interrupting, bit_of(signo));
    else
        atomic_fetch_and(&interrupting, ~bit_of(signo));
    if (!fb_entry_covers(signo))
        return fb_real.siginterrupt(signo, interrupts);
    if (sigaction(signo, NULL, &action) != 0)
        return -1;
    action.sa_flags = (action.sa_flags & ~SA_RESTART) | (interrupts ? 0 : SA_RESTART);
    return sigaction(signo, &action, NULL);
}

void fb_entry_exec(void)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction host;

    if (!atomic_load(&installed))
        return;
    if (host_read(&host) && host.sa_handler == SIG_IGN)
        fb_real.sigaction(SIGPROF, &ignored, NULL);
    fb_fault_exec();
}

void fb_entry_exec_failed(void)
{
    struct sigaction kernel;

    fb_fault_exec_failed();
    if (atomic_load(&installed) && fb_preload_own_process() &&
        fb_real.sigaction(SIGPROF, NULL, &kernel) == 0 && kernel.sa_sigaction != on_signal)
        kernel_take(NULL);
}

FB_EXPORT int setitimer(itimer_which which, const struct itimerval *value, struct itimerval *old)
{
    bool wants = value != NULL && (value->it_value.tv_sec != 0 || value->it_value.tv_usec != 0);
    bool had;
    int r;

    fb_real_find();
    if ((int)which != ITIMER_PROF || clock_kind != FB_CLOCK_ITIMER || !fb_preload_active())
        return fb_real.setitimer((int)which, value, old);
    had = atomic_exchange(&host_has_itimer, wants);
    r = fb_real.setitimer((int)which, value, old);
    if (r == 0 && old != NULL && !had)
        memset(old, 0, sizeof *old); /* it was ours */
    if (r != 0)
        atomic_store(&host_has_itimer, had);
    else if (!wants)
        fb_clock_process_start();
    return r;
}

FB_EXPORT int getitimer(itimer_which which, struct itimerval *value)
{
    int r;

    fb_real_find();
    r = fb_real.getitimer((int)which, value);
    if (r == 0 && (int)which == ITIMER_PROF && clock_kind == FB_CLOCK_ITIMER &&
        fb_preload_active() && !atomic_load(&host_has_itimer))
        memset(value, 0, sizeof *value); /* it is ours */
    return r;
}

/* fault.c - see fault.h. */
#include "sampler/fault.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sampler/real.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/guard.h"

enum {
    FRONTS = 2,
    LOCK_TRIES = 20000, /* of 50 us: a second */
    QUIET_TRIES = 2000,
    MEMORY_ERROR_ADVICE = 5, /* BUS_MCEERR_AO */
    LIBRARY = 0x04000000,    /* SA_RESTORER, which the C library sets by itself on some CPUs */
    /* What the kernel's flags do not say about the host's. */
    OURS = SA_SIGINFO | (int)SA_RESETHAND,
};

typedef void (*action_fn)(int signo, siginfo_t *info, void *context);

/* The host's action, as far as the kernel does not have it.  Two words: a fault that meets a change
 * of the action sees the old or the new function, and its flags matter to SA_RESETHAND alone. */
struct front {
    _Atomic uintptr_t handler;
    _Atomic int flags; /* OURS, and SA_RESTART where the host's handler is SIG_IGN */
};

static struct front fronts[FRONTS];
static const int signals[FRONTS] = {SIGSEGV, SIGBUS};
static _Atomic bool stands;
static _Atomic bool lifted; /* for an exec */
static _Atomic bool on_alternate[FRONTS];
static _Atomic pid_t owner; /* whose memory this is: not a vfork's child */
static _Atomic bool locked;
static _Atomic int library_flags; /* LIBRARY, if it does */

bool fb_fault_covers(int signo)
{
    return signo == SIGSEGV || signo == SIGBUS;
}

static struct front *front_of(int signo)
{
    return &fronts[signo == SIGBUS];
}

/* --- a fault, or a signal that says so ------------------------------------------------------- */

/* The signal again, with the default action: from where it was interrupted. */
static void die_after_return(int signo, siginfo_t *info)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    int saved = errno;

    fb_guard_set(false);
    fb_real.sigaction(signo, &none, NULL);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signo, info);
    errno = saved;
}

static void default_action(int signo, siginfo_t *info, void *context, bool ignored)
{
    ucontext_t *uc = context;
    bool by_instruction = info->si_code > 0 && info->si_code != SI_KERNEL &&
                          !(signo == SIGBUS && info->si_code == MEMORY_ERROR_ADVICE);

    if (by_instruction)
        sigaddset(&uc->uc_sigmask, signo);
    else if (info->si_code > 0 || !ignored)
        die_after_return(signo, info);
}

/* SA_RESETHAND: of two faults at once one gets the handler. */
static uintptr_t take_once(struct front *f, int signo, uintptr_t handler)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    int saved = errno;

    if (getpid() != atomic_load(&owner))
        fb_real.sigaction(signo, &none, NULL);
    else if (!atomic_compare_exchange_strong(&f->handler, &handler, (uintptr_t)SIG_DFL))
        handler = (uintptr_t)SIG_DFL;
    errno = saved;
    return handler;
}

/* The host's function, or NULL where there is none and its absence was seen to. */
__attribute__((noinline)) static action_fn host_function(int signo, siginfo_t *info, void *context)
{
    struct front *f = front_of(signo);
    uintptr_t handler = atomic_load(&f->handler);

    if (handler != (uintptr_t)SIG_DFL && handler != (uintptr_t)SIG_IGN &&
        (atomic_load(&f->flags) & (int)SA_RESETHAND) != 0)
        handler = take_once(f, signo, handler);
    if (handler != (uintptr_t)SIG_DFL && handler != (uintptr_t)SIG_IGN)
        return (action_fn)handler;
    default_action(signo, info, context, handler == (uintptr_t)SIG_IGN);
    return NULL;
}

/* Small on purpose: it may run on the last bytes of a stack, and its end is a jump. */
static void on_fault(int signo, siginfo_t *info, void *context)
{
    action_fn host;

    if (fb_guard_recover(info, context))
        return;
    host = host_function(signo, info, context);
    if (host != NULL)
        host(signo, info, context);
}

/* --- changing the action --------------------------------------------------------------------- */

/* All signals are blocked meanwhile, so the holder goes on; who sleeps lets it, whatever their
 * priorities.  After a second it is the lock that is wrong (a fork past our hooks). */
static void change_begin(sigset_t *ret_before)
{
    const struct timespec little = {0, 50000};
    bool expected = false;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, ret_before);
    for (int i = 0; i < LOCK_TRIES && !atomic_compare_exchange_weak(&locked, &expected, true);
         i++) {
        expected = false;
        nanosleep(&little, NULL);
    }
}

static void change_end(const sigset_t *before)
{
    atomic_store(&locked, false);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static bool is_ours(const struct sigaction *kernel)
{
    return (kernel->sa_flags & SA_SIGINFO) != 0 && kernel->sa_sigaction == on_fault;
}

static int ours_of(const struct sigaction *host)
{
    return OURS | atomic_load(&library_flags) | (host->sa_handler == SIG_IGN ? SA_RESTART : 0);
}

/* What the kernel gets for the host's action.  Ignored signals interrupt no call that can be
 * restarted. */
static struct sigaction inward(const struct sigaction *host)
{
    struct sigaction kernel = *host;

    kernel.sa_flags = (host->sa_flags & ~OURS) | SA_SIGINFO;
    if (host->sa_handler == SIG_IGN)
        kernel.sa_flags |= SA_RESTART;
    kernel.sa_sigaction = on_fault;
    return kernel;
}

static void front_store(int signo, const struct sigaction *host, int more_flags)
{
    struct front *f = front_of(signo);

    atomic_store(&f->flags, (host->sa_flags & ours_of(host)) | more_flags);
    atomic_store(&f->handler, (uintptr_t)host->sa_handler);
    atomic_store(&on_alternate[f - fronts], (host->sa_flags & SA_ONSTACK) != 0);
    fb_guard_alternate_set(atomic_load(&on_alternate[0]) || atomic_load(&on_alternate[1]));
}

static void front_load(int signo, struct sigaction *kernel)
{
    const struct front *f = front_of(signo);
    int ours;

    kernel->sa_handler = (sighandler_t)atomic_load(&f->handler); /* shares its place */
    ours = ours_of(kernel);
    kernel->sa_flags = (kernel->sa_flags & ~ours) | (atomic_load(&f->flags) & ours);
}

static int own_change(int signo, const struct sigaction *action, struct sigaction *ret_old,
                      fb_fault_set_fn set)
{
    struct sigaction kernel = action != NULL ? inward(action) : (struct sigaction){0};
    sigset_t before;
    int r;

    change_begin(&before);
    if (!atomic_load(&stands)) {
        r = set(signo, action, ret_old);
    } else {
        r = set(signo, action != NULL ? &kernel : NULL, ret_old);
        if (r == 0 && is_ours(ret_old))
            front_load(signo, ret_old);
        if (r == 0 && action != NULL)
            front_store(signo, action, atomic_load(&library_flags));
    }
    change_end(&before);
    return r;
}

int fb_fault_action(int signo, const struct sigaction *action, struct sigaction *old,
                    fb_fault_set_fn set)
{
    /* Copied where the host's own pointers may fault as they would without us. */
    const struct sigaction wanted = action != NULL ? *action : (struct sigaction){0};
    struct sigaction was;
    int r;

    if (getpid() != atomic_load(&owner)) {
        r = set(signo, action != NULL ? &wanted : NULL, &was);
        if (r == 0 && is_ours(&was))
            front_load(signo, &was);
    } else {
        r = own_change(signo, action != NULL ? &wanted : NULL, &was, set);
    }
    if (r == 0 && old != NULL)
        *old = was;
    return r;
}

/* --- the front as a whole -------------------------------------------------------------------- */

static bool put_up(int signo)
{
    struct sigaction host;
    struct sigaction kernel;

    if (fb_real.sigaction(signo, NULL, &host) != 0)
        return false;
    if (is_ours(&host))
        return true;
    front_store(signo, &host, host.sa_flags & LIBRARY);
    kernel = inward(&host);
    if (fb_real.sigaction(signo, &kernel, NULL) != 0 ||
        fb_real.sigaction(signo, NULL, &kernel) != 0)
        return false;
    atomic_store(&library_flags, kernel.sa_flags & LIBRARY);
    return true;
}

bool fb_fault_need(void)
{
    sigset_t before;
    bool ok = true;

    if (atomic_load(&stands))
        return true;
    change_begin(&before);
    for (int i = 0; i < FRONTS; i++)
        ok = put_up(signals[i]) && ok;
    atomic_store(&stands,
                 true); /* even if one is missing: the other one must be told as the host's */
    fb_guard_set(ok);
    change_end(&before);
    return ok;
}

bool fb_fault_watch(void)
{
    struct sigaction kernel;

    if (!atomic_load(&stands) || !fb_guard_stands())
        return true;
    for (int i = 0; i < FRONTS; i++)
        if (fb_real.sigaction(signals[i], NULL, &kernel) != 0 || !is_ours(&kernel)) {
            fb_guard_set(false);
            return false;
        }
    return true;
}

/* No walk may be left that trusts the front. */
static void lift(void)
{
    const struct timespec little = {0, 50000};

    atomic_store(&lifted, fb_guard_stands());
    fb_guard_set(false);
    for (int i = 0; i < QUIET_TRIES && !fb_code_map_quiet(); i++)
        nanosleep(&little, NULL);
}

void fb_fault_exec(void)
{
    struct sigaction kernel;

    if (!atomic_load(&stands))
        return;
    for (int i = 0; i < FRONTS; i++) {
        if (atomic_load(&fronts[i].handler) != (uintptr_t)SIG_IGN ||
            fb_real.sigaction(signals[i], NULL, &kernel) != 0 || !is_ours(&kernel))
            continue;
        if (getpid() == atomic_load(&owner))
            lift();
        front_load(signals[i], &kernel);
        fb_real.sigaction(signals[i], &kernel, NULL);
    }
}

void fb_fault_exec_failed(void)
{
    sigset_t before;
    bool ok = true;

    if (getpid() != atomic_load(&owner) || !atomic_exchange(&lifted, false))
        return;
    change_begin(&before);
    for (int i = 0; i < FRONTS; i++)
        ok = put_up(signals[i]) && ok;
    fb_guard_set(ok);
    change_end(&before);
}

void fb_fault_start(void)
{
    atomic_store(&locked, false);
    atomic_store(&owner, getpid());
}

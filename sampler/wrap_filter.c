/* wrap_filter.c - prctl(), one of the two doors to system call filters; see wrap_filter.h.  The
 * other is syscall().
 *
 * A filter of the strict kind kills for what the handler does, so the thread that asks for one
 * takes no more ticks. */
#include "sampler/wrap_filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "sampler/export.h"
#include "sampler/filter.h"
#include "sampler/preload.h"
#include "sampler/real.h"

static _Atomic bool start_forbidden;

bool fb_filter_forbids_start(void)
{
    return atomic_load(&start_forbidden);
}

void fb_filter_comes(const struct sock_fprog *program, bool all_threads)
{
    int saved = errno;
    unsigned refused;

    if (program == NULL || program->filter == NULL)
        return;
    refused = fb_filter_refuses(program);
    if (refused & (FB_FILTER_TICKS | FB_FILTER_THREADS | FB_FILTER_PROCESSES))
        atomic_store(&start_forbidden, true);
    fb_preload_filter(refused, all_threads);
    errno = saved;
}

static int strictly(void)
{
    sigset_t profiling;
    sigset_t before;
    bool ours = fb_preload_active();
    int r;

    if (ours) {
        sigemptyset(&profiling);
        sigaddset(&profiling, SIGPROF);
        pthread_sigmask(SIG_BLOCK, &profiling, &before);
    }
    r = fb_real.prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    if (ours && r != 0)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

FB_EXPORT int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    fb_real_find();
    if (option == PR_SET_SECCOMP && argument[0] == SECCOMP_MODE_STRICT)
        return strictly();
    if (option == PR_SET_SECCOMP && argument[0] == SECCOMP_MODE_FILTER)
        fb_filter_comes((const struct sock_fprog *)argument[1], false);
    return fb_real.prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

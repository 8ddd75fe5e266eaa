/* real.c - see real.h. */
#include "sampler/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct fb_real fb_real;
long (*fb_syscall_real)(long number, ...);

struct row {
    size_t offset;
    const char *name;
};

#define ROW(field, symbol)                                                                         \
    {                                                                                              \
        offsetof(struct fb_real, field), symbol                                                    \
    }

static const struct row rows[] = {
    ROW(pthread_create, "pthread_create"),
    ROW(pthread_exit, "pthread_exit"),
    ROW(sigaction, "sigaction"),
    ROW(signal, "signal"),
    ROW(execve, "execve"),
    ROW(execvpe, "execvpe"),
    ROW(fexecve, "fexecve"),
    ROW(execveat, "execveat"),
    ROW(clone, "clone"),
    ROW(fork_alone, "_Fork"),
    ROW(exit_now, "_exit"),
    ROW(setitimer, "setitimer"),
    ROW(getitimer, "getitimer"),
    ROW(sigtimedwait, "sigtimedwait"),
    ROW(sigpending, "sigpending"),
    ROW(signalfd, "signalfd"),
    ROW(sigset, "sigset"),
    ROW(sysv_signal, "__sysv_signal"),
    ROW(siginterrupt, "siginterrupt"),
    ROW(prctl, "prctl"),
    ROW(thrd_create, "thrd_create"),
    ROW(setuid, "setuid"),
    ROW(seteuid, "seteuid"),
    ROW(setreuid, "setreuid"),
    ROW(setresuid, "setresuid"),
    ROW(setgid, "setgid"),
    ROW(setegid, "setegid"),
    ROW(setregid, "setregid"),
    ROW(setresgid, "setresgid"),
    ROW(setgroups, "setgroups"),
    ROW(initgroups, "initgroups"),
    ROW(unshare, "unshare"),
    ROW(setns, "setns"),
    ROW(chroot, "chroot"),
};

void fb_real_find(void)
{
    static _Bool found; /* calls before the constructor come from one thread */

    void *by_number;

    if (found)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(RTLD_NEXT, rows[i].name);

        memcpy((char *)&fb_real + rows[i].offset, &symbol, sizeof symbol);
    }
    by_number = dlsym(RTLD_NEXT, "syscall");
    memcpy(&fb_syscall_real, &by_number, sizeof by_number);
    found = 1;
}

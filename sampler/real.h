/* real.h - the C library's own functions under the names that we interpose.
 *
 * Found once, in the constructor, with dlsym(RTLD_NEXT); a call that comes
 * before it (another library's constructor) finds them then. */
#ifndef FB_SAMPLER_REAL_H
#define FB_SAMPLER_REAL_H

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/types.h>
#include <threads.h>

struct fb_real {
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void (*pthread_exit)(void *);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    sighandler_t (*signal)(int, sighandler_t);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    int (*clone)(int (*)(void *), void *, int, void *, ...);
    pid_t (*fork_alone)(void); /* _Fork */
    void (*exit_now)(int);     /* _exit */
    int (*setitimer)(int, const struct itimerval *, struct itimerval *);
    int (*getitimer)(int, struct itimerval *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*sigpending)(sigset_t *);
    int (*signalfd)(int, const sigset_t *, int);
    sighandler_t (*sigset)(int, sighandler_t);
    sighandler_t (*sysv_signal)(int, sighandler_t);
    int (*siginterrupt)(int, int);
    int (*prctl)(int, unsigned long, unsigned long, unsigned long, unsigned long);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*setuid)(uid_t);
    int (*seteuid)(uid_t);
    int (*setreuid)(uid_t, uid_t);
    int (*setresuid)(uid_t, uid_t, uid_t);
    int (*setgid)(gid_t);
    int (*setegid)(gid_t);
    int (*setregid)(gid_t, gid_t);
    int (*setresgid)(gid_t, gid_t, gid_t);
    int (*setgroups)(size_t, const gid_t *);
    int (*initgroups)(const char *, gid_t);
    int (*unshare)(int);
    int (*setns)(int, int);
    int (*chroot)(const char *);
};

extern struct fb_real fb_real;

/* syscall(), at a place of its own for code that is no C. */
extern long (*fb_syscall_real)(long number, ...);

/* Fills what is still NULL. */
void fb_real_find(void);

#endif

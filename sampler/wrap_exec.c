/* wrap_exec.c - the exec family: what was sampled is written before the program is replaced.
 *
 * The C library's members call each other inside, past any wrapper, so each is
 * interposed.  posix_spawn() is not: its child has no timers of ours. */
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "sampler/export.h"
#include "sampler/preload.h"
#include "sampler/real.h"
#include "sampler/wrap_filter.h"

static size_t vector_count(char *const vector[])
{
    size_t n = 0;

    while (vector != NULL && vector[n] != NULL)
        n++;
    return n;
}

static void vector_copy(char **to, const char *first, char *const from[], size_t n)
{
    to[0] = (char *)(size_t)first;
    for (size_t i = 0; i < n; i++)
        to[i + 1] = from[i];
    to[n + 1] = NULL;
}

/* Under a system call filter that would kill the next program for our start, it is told to be off.
 * On the stack, as the C library does it: exec must work where malloc does not. */
#define OFF_UNDER_A_FILTER(envp)                                                                   \
    do {                                                                                           \
        if (fb_filter_forbids_start()) {                                                           \
            size_t n = vector_count(envp);                                                         \
            char **copy = __builtin_alloca((n + 2) * sizeof *copy);                                \
            vector_copy(copy, "FLAMEBANK_OFF=1", envp, n);                                         \
            (envp) = copy;                                                                         \
        }                                                                                          \
    } while (0)

FB_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    fb_real_find();
    fb_preload_exec();
    OFF_UNDER_A_FILTER(envp);
    fb_real.execve(path, argv, envp);
    fb_preload_exec_failed();
    return -1;
}

FB_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    fb_real_find();
    fb_preload_exec();
    OFF_UNDER_A_FILTER(envp);
    fb_real.execvpe(file, argv, envp);
    fb_preload_exec_failed();
    return -1;
}

FB_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

FB_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

FB_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    fb_real_find();
    fb_preload_exec();
    OFF_UNDER_A_FILTER(envp);
    fb_real.fexecve(fd, argv, envp);
    fb_preload_exec_failed();
    return -1;
}

FB_EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[],
                       int flags)
{
    fb_real_find();
    fb_preload_exec();
    OFF_UNDER_A_FILTER(envp);
    fb_real.execveat(folder, path, argv, envp, flags);
    fb_preload_exec_failed();
    return -1;
}

/* The arguments up to the NULL, NULL included. */
static size_t list_count(va_list list)
{
    size_t n = 1;

    while (va_arg(list, char *) != NULL)
        n++;
    return n;
}

/* argv[0] = first, then n arguments of the list, the last of them NULL; what follows is the
 * caller's. */
static void list_copy(char **argv, const char *first, va_list *list, size_t n)
{
    argv[0] = (char *)(size_t)first;
    for (size_t i = 1; i <= n; i++)
        argv[i] = va_arg(*list, char *);
}

#define LIST_TO_ARGV(argv, first, list)                                                            \
    do {                                                                                           \
        va_list again;                                                                             \
        size_t n;                                                                                  \
        va_copy(again, list);                                                                      \
        n = list_count(again);                                                                     \
        va_end(again);                                                                             \
        (argv) = __builtin_alloca((n + 1) * sizeof(char *));                                       \
        list_copy(argv, first, &(list), n);                                                        \
    } while (0)

FB_EXPORT int execl(const char *path, const char *first, ...)
{
    char **argv;
    va_list list;

    va_start(list, first);
    LIST_TO_ARGV(argv, first, list);
    va_end(list);
    return execv(path, argv);
}

FB_EXPORT int execlp(const char *file, const char *first, ...)
{
    char **argv;
    va_list list;

    va_start(list, first);
    LIST_TO_ARGV(argv, first, list);
    va_end(list);
    return execvp(file, argv);
}

FB_EXPORT int execle(const char *path, const char *first, ...)
{
    char **argv;
    char *const *envp;
    va_list list;

    va_start(list, first);
    LIST_TO_ARGV(argv, first, list);
    envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}

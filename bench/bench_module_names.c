/* bench_module_names LIBRARY...: what it costs the arm to bank the names of functions that were
 * hit.
 *
 * By the objects of the sampler, in this process: each library is loaded, 1,000 addresses spread
 * over its code are wanted, and one look finds their names; CPU time of this thread, the least of
 * ten looks.  Says where that is over the 40 ms that the last look of a process may take. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sampler/module_names.h"
#include "sampler/modules.h"

enum { ADDRESSES = 1000, LOOKS = 10 };
static const double most_ms = 40;

struct wanted {
    const char *path;
    uint32_t id;
    uint64_t start, end, bias;
};

static void on_module(void *ctx, const struct fb_module_event *event)
{
    struct wanted *w = ctx;
    char path[PATH_MAX];

    if (!event->loaded || !realpath(event->path, path) || strcmp(path, w->path) != 0)
        return;
    w->id = event->id;
    w->start = event->start;
    w->end = event->end;
    w->bias = event->bias;
}

static void on_name(void *ctx, uint32_t frame, const char *name, bool same)
{
    unsigned *found = ctx;

    (void)frame;
    (void)name;
    (void)same;
    (*found)++;
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The CPU time of one look. */
static double look(const struct wanted *w, unsigned *ret_found)
{
    struct fb_module_names names = {.count = 0};
    double begin, spent;

    for (uint32_t i = 0; i < ADDRESSES; i++)
        fb_module_names_want(&names, i + 1, w->id,
                             w->start - w->bias + (w->end - w->start) / ADDRESSES * i);
    *ret_found = 0;
    begin = cpu_ms();
    fb_module_names_find(&names, true, on_name, ret_found);
    spent = cpu_ms() - begin;
    fb_pages_free(&names.pages);
    return spent;
}

static void measure(const char *given)
{
    char path[PATH_MAX] = "";
    struct wanted w = {.path = path};
    unsigned found = 0;
    double least = 1e9;

    if (!realpath(given, path) || !dlopen(path, RTLD_LAZY) || !fb_modules_scan(on_module, &w) ||
        w.id == 0) {
        printf("'%s' is not here: not measured\n", given);
        return;
    }
    for (int i = 0; i < LOOKS; i++) {
        double spent = look(&w, &found);

        least = spent < least ? spent : least;
    }
    printf("%-60s %6.2f ms CPU for %d addresses, %u named\n", path, least, ADDRESSES, found);
    if (least > most_ms || found == 0)
        printf("over the target: %.0f ms, and names found\n", most_ms);
}

/* Each in a process of its own: a library that another one brought was seen before. */
int main(int argc, char **argv)
{
    int status = 0;

    for (int i = 1; i < argc && status == 0; i++) {
        if (fork() == 0) {
            fb_modules_thread_begin(false);
            measure(argv[i]);
            fflush(stdout);
            _exit(0);
        }
        wait(&status);
    }
    return argc > 1 && status == 0 ? 0 : 2;
}

/* no_malloc.c - the unwinder never enters the host's heap: not in a scan, not in the handler.
 *
 * Not sanitized, because it is itself the C library's malloc for this program:
 * while `forbidden` is set, an allocation ends it. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampler/modules.h"
#include "sampler/signal/walk.h"
#include "tests/unit/sampler/all_tables.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static volatile bool forbidden;
static unsigned allowed_count;

static void check(void)
{
    static const char text[] = "no_malloc: the heap was entered\n";

    allowed_count++;
    if (!forbidden)
        return;
    if (write(2, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    check();
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    check();
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size)
{
    check();
    return __libc_realloc(p, size);
}

__attribute__((visibility("default"))) void free(void *p)
{
    check();
    __libc_free(p);
}

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;
static unsigned depth;

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static uint64_t pcs[128];
    enum fb_walk_stop stop;

    (void)sig;
    (void)info;
    depth = fb_walk_stack(context, &own_stack, &cache, pcs, 128, &stop);
}

static void on_event(void *ctx, const struct fb_module_event *event)
{
    unsigned *count = ctx;

    (void)event;
    ++*count;
}

/* Scans and walks with the heap forbidden; returns the events. */
static unsigned scan_and_walk(void)
{
    unsigned events = 0;

    forbidden = true;
    while (fb_modules_changed())
        if (!fb_modules_scan(on_event, &events))
            break;
    all_tables_make();
    raise(SIGPROF);
    forbidden = false;
    return events;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO};
    pthread_attr_t attr;
    unsigned at_start;
    unsigned loaded;
    unsigned unloaded;
    void *handle;
    void *low;
    size_t size;

    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack = (struct fb_walk_range){(uintptr_t)low, (uintptr_t)low + size};
    sigaction(SIGPROF, &action, NULL);
    at_start = scan_and_walk();
    handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (handle == NULL)
        return 2;
    loaded = scan_and_walk();
    dlclose(handle);
    unloaded = scan_and_walk();
    printf("modules %u, loaded %u, unloaded %u, depth %u; %u calls of the heap elsewhere\n",
           at_start, loaded, unloaded, depth, allowed_count);
    return at_start >= 3 && loaded == 1 && unloaded == 1 && depth >= 3 && allowed_count > 0 ? 0 : 1;
}

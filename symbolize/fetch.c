/* The few functions of libdebuginfod that are needed, by name: their interface has not changed
 * since 0.180 (2020). */
#include "symbolize/fetch.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

#define LIBRARY "libdebuginfod.so.1"

struct debuginfod_client;
typedef int (*progress_fn)(struct debuginfod_client *, long, long);
typedef void *(*user_data_fn)(struct debuginfod_client *);
typedef int (*find_fn)(struct debuginfod_client *, const unsigned char *, int, char **);

struct fb_fetch {
    struct fb_fetch_options options;
    struct fb_fetch_counts counts;
    void *library;
    struct debuginfod_client *client;
    void (*end)(struct debuginfod_client *);
    find_fn find[2]; /* by enum fb_fetch_what */
    double until_s;
    const char *path; /* of the file that comes */
};

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of the library that is loaded, the same for every client: a callback gets nothing but the client.
 */
static user_data_fn user_data;

/* Anything but 0 ends the transfer. */
static int on_progress(struct debuginfod_client *client, long done, long total)
{
    struct fb_fetch *f = user_data(client);

    if (!f || now_s() > f->until_s)
        return 1;
    if (f->options.progress)
        f->options.progress(f->options.data, f->path, done, total);
    return 0;
}

enum fb_status fb_fetch_open(const struct fb_fetch_options *options, struct fb_fetch **ret_fetch,
                             struct fb_err *err)
{
    struct debuginfod_client *(*begin)(void);
    void (*set_progress)(struct debuginfod_client *, progress_fn);
    void (*set_user_data)(struct debuginfod_client *, void *);
    struct fb_fetch *f = fb_alloc(sizeof *f);

    f->options = *options;
    f->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!f->library) {
        free(f);
        return fb_fail(err, FB_ENOTFOUND,
                       LIBRARY " is not installed (in Debian: libdebuginfod1), so nothing can be "
                               "fetched");
    }
    *(void **)&begin = dlsym(f->library, "debuginfod_begin");
    *(void **)&set_progress = dlsym(f->library, "debuginfod_set_progressfn");
    *(void **)&set_user_data = dlsym(f->library, "debuginfod_set_user_data");
    *(void **)&user_data = dlsym(f->library, "debuginfod_get_user_data");
    *(void **)&f->end = dlsym(f->library, "debuginfod_end");
    *(void **)&f->find[FB_FETCH_PROGRAM] = dlsym(f->library, "debuginfod_find_executable");
    *(void **)&f->find[FB_FETCH_DEBUG_FILE] = dlsym(f->library, "debuginfod_find_debuginfo");
    if (begin && set_progress && set_user_data && user_data && f->end && f->find[0] && f->find[1])
        f->client = begin();
    if (!f->client) {
        (void)dlclose(f->library);
        free(f);
        return fb_fail(err, FB_EUNSUPPORTED, LIBRARY " cannot be used, so nothing can be fetched");
    }
    set_user_data(f->client, f);
    set_progress(f->client, on_progress);
    f->until_s = now_s() + options->seconds;
    *ret_fetch = f;
    return FB_OK;
}

/* The library stays loaded: what it started (its HTTP client) may have left handlers behind. */
void fb_fetch_close(struct fb_fetch *fetch)
{
    if (!fetch)
        return;
    fetch->end(fetch->client);
    free(fetch);
}

char *fb_fetch_file(struct fb_fetch *fetch, enum fb_fetch_what what, const char *path,
                    const char *build_id)
{
    char *copy = NULL;
    int fd;

    if (now_s() > fetch->until_s) {
        fetch->counts.late++;
        return NULL;
    }
    fetch->counts.asked++;
    fetch->path = path;
    fd = fetch->find[what](fetch->client, (const unsigned char *)build_id, 0, &copy);
    if (fd < 0) {
        fetch->counts.late += now_s() > fetch->until_s;
        free(copy);
        return NULL;
    }
    (void)close(fd);
    fetch->counts.found++;
    return copy;
}

struct fb_fetch_counts fb_fetch_counts(const struct fb_fetch *fetch)
{
    return fetch->counts;
}

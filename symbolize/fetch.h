/* fetch.h - programs and debug files by build ID from debuginfod servers.
 *
 *     r = fb_fetch_open(&options, &fetch, err);
 *     char *path = fb_fetch_file(fetch, FB_FETCH_DEBUG_FILE, "/usr/lib/libz.so.1", build_id);
 *     fb_fetch_close(fetch);
 *
 * The wrapper of libdebuginfod, which is loaded when first wanted (dlopen) and not linked: it
 * brings an HTTP client with twenty libraries, for what most runs never do.  Servers are those of
 * DEBUGINFOD_URLS; what was fetched stays in the library's own cache and is not asked for again. */
#ifndef FB_SYMBOLIZE_FETCH_H
#define FB_SYMBOLIZE_FETCH_H

#include <stdint.h>

#include "base/err.h"

enum fb_fetch_what { FB_FETCH_PROGRAM, FB_FETCH_DEBUG_FILE };

struct fb_fetch_options {
    double seconds; /* for all files together; then nothing more is asked for */
    /* Called several times a second while a file comes; NULL: not.  total 0: unknown. */
    void (*progress)(void *data, const char *path, int64_t done, int64_t total);
    void *data;
};

struct fb_fetch_counts {
    unsigned asked, found;
    unsigned late; /* not asked for, or given up, since the time was over */
};

struct fb_fetch;

/* Fails where the library is not installed. */
enum fb_status fb_fetch_open(const struct fb_fetch_options *options, struct fb_fetch **ret_fetch,
                             struct fb_err *err);
void fb_fetch_close(struct fb_fetch *fetch);

/* The path of a copy on this machine, yours; NULL where no server has it in time.  `path` is for
 * the progress only. */
char *fb_fetch_file(struct fb_fetch *fetch, enum fb_fetch_what what, const char *path,
                    const char *build_id);

struct fb_fetch_counts fb_fetch_counts(const struct fb_fetch *fetch);

#endif

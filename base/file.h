/* file.h - whole files in and out, and what is compressed read as if it were not. */
#ifndef FB_BASE_FILE_H
#define FB_BASE_FILE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the bytes of `path` ("-" is standard input) to out.  Errors name the path. */
enum fb_status fb_file_read(const char *path, struct fb_buf *out, struct fb_err *err);

/* The same, gzip and zstd (told by their magic bytes) unpacked; out->max bounds the result. */
enum fb_status fb_file_read_unpacked(const char *path, struct fb_buf *out, struct fb_err *err);

/* Writes a new file beside `path` and renames it over: the old one is whole or replaced.  A path
 * that is not a regular file (a pipe, /dev/stdout) and "-" are written in place. */
enum fb_status fb_file_write(const char *path, const void *bytes, size_t n, struct fb_err *err);

/* The same piece by piece: nothing is at `path` before fb_file_out_close(); where that has `keep`
 * false, the new file is thrown away.
 *
 *     struct fb_file_out file;
 *     struct fb_buf out = {.drain = fb_file_out_put, .drain_arg = &file};
 *     r = fb_file_out_open(&file, path, err);
 *     ...                                            writers drain; the rest: fb_file_out_put()
 *     r = fb_file_out_close(&file, r == FB_OK, err);  also says what failed in between */
struct fb_file_out {
    int fd;
    char *path, *temporary; /* temporary NULL: written in place */
    struct fb_err err;      /* of the first failure             */
    bool has_failed;
};

enum fb_status fb_file_out_open(struct fb_file_out *file, const char *path, struct fb_err *err);
void fb_file_out_put(void *file, const void *bytes, size_t n);
enum fb_status fb_file_out_close(struct fb_file_out *file, bool keep, struct fb_err *err);

/* Writes all of it to an open descriptor (fd names it in the error); goes on after EINTR. */
enum fb_status fb_fd_write(int fd, const char *name, const void *bytes, size_t n,
                           struct fb_err *err);

#endif

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compress.h"
#include "base/vec.h"

enum { READ_STEP = 256 * 1024 };

static enum fb_status read_all(int fd, const char *name, struct fb_buf *out, struct fb_err *err)
{
    for (;;) {
        ssize_t n;

        fb_vec_reserve(&out->data, &out->room, out->len + READ_STEP + 1, 1);
        n = read(fd, out->data + out->len, out->room - out->len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fb_fail_errno(err, "%s: cannot be read", name);
        out->len += (size_t)n;
        out->data[out->len] = '\0';
        if (out->max && out->len > out->max)
            return fb_fail(err, FB_ELIMIT, "%s: larger than %zu bytes", name, out->max);
        if (n == 0)
            return FB_OK;
    }
}

enum fb_status fb_file_read(const char *path, struct fb_buf *out, struct fb_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    enum fb_status r;

    if (fd < 0)
        return fb_fail_errno(err, "%s: cannot be opened", path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        fb_vec_reserve(&out->data, &out->room, out->len + (size_t)st.st_size + 2, 1);
    r = read_all(fd, is_stdin ? "standard input" : path, out, err);
    if (!is_stdin)
        (void)close(fd);
    return r;
}

enum fb_status fb_file_read_unpacked(const char *path, struct fb_buf *out, struct fb_err *err)
{
    struct fb_buf packed = {0};
    enum fb_status r = fb_file_read(path, &packed, err);

    if (r == FB_OK && fb_compress_kind(packed.data, packed.len) != FB_COMPRESS_NONE) {
        r = fb_unpack(packed.data, packed.len, out, err);
        if (r != FB_OK)
            (void)fb_within(err, "%s", path);
    } else if (r == FB_OK) {
        size_t max = out->max;

        if (out->len == 0) {
            fb_buf_done(out);
            *out = packed;
            out->max = max;
            return FB_OK;
        }
        fb_buf_add(out, packed.data ? packed.data : "", packed.len);
    }
    fb_buf_done(&packed);
    return r;
}

enum fb_status fb_fd_write(int fd, const char *name, const void *bytes, size_t n,
                           struct fb_err *err)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t done = write(fd, at, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fb_fail_errno(err, "%s: cannot be written", name);
        at += done;
        n -= (size_t)done;
    }
    return FB_OK;
}

enum fb_status fb_file_out_open(struct fb_file_out *file, const char *path, struct fb_err *err)
{
    struct stat old;
    bool is_there;
    enum fb_status r;

    *file = (struct fb_file_out){.fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) {
        file->path = fb_strdup("standard output");
        return FB_OK;
    }
    is_there = stat(path, &old) == 0;
    file->path = fb_strdup(path);
    if (is_there && !S_ISREG(old.st_mode)) {
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        file->temporary = fb_format("%s.%ld.tmp", path, (long)getpid());
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (file->fd >= 0) {
        if (is_there && file->temporary) /* the permissions of the file that is replaced */
            (void)fchmod(file->fd, old.st_mode & 07777);
        return FB_OK;
    }
    r = file->temporary ? fb_fail_errno(err, "%s: cannot be created", path)
                        : fb_fail_errno(err, "%s: cannot be opened for writing", path);
    free(file->path);
    free(file->temporary);
    return r;
}

void fb_file_out_put(void *arg, const void *bytes, size_t n)
{
    struct fb_file_out *file = arg;

    if (!file->has_failed)
        file->has_failed = fb_fd_write(file->fd, file->path, bytes, n, &file->err) != FB_OK;
}

enum fb_status fb_file_out_close(struct fb_file_out *file, bool keep, struct fb_err *err)
{
    enum fb_status r = FB_OK;

    if (keep && file->has_failed) {
        *err = file->err;
        r = err->status;
    }
    if (file->fd != STDOUT_FILENO && close(file->fd) != 0 && keep && r == FB_OK)
        r = fb_fail_errno(err, "%s: cannot be written", file->path);
    if (keep && r == FB_OK && file->temporary && rename(file->temporary, file->path) != 0)
        r = fb_fail_errno(err, "%s: cannot be replaced", file->path);
    if (file->temporary && (!keep || r != FB_OK))
        (void)unlink(file->temporary);
    free(file->path);
    free(file->temporary);
    return r;
}

enum fb_status fb_file_write(const char *path, const void *bytes, size_t n, struct fb_err *err)
{
    struct fb_file_out file;
    enum fb_status r = fb_file_out_open(&file, path, err);

    if (r != FB_OK)
        return r;
    fb_file_out_put(&file, bytes, n);
    return fb_file_out_close(&file, true, err);
}

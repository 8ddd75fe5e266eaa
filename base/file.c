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

/* old: of the file that is replaced, whose permissions the new one gets; NULL if there is none. */
static enum fb_status write_replacing(const char *path, const struct stat *old, const void *bytes,
                                      size_t n, struct fb_err *err)
{
    char *temporary = fb_format("%s.%ld.tmp", path, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum fb_status r;

    if (fd < 0) {
        r = fb_fail_errno(err, "%s: cannot be created", path);
        free(temporary);
        return r;
    }
    if (old)
        (void)fchmod(fd, old->st_mode & 07777);
    r = fb_fd_write(fd, path, bytes, n, err);
    if (close(fd) != 0 && r == FB_OK)
        r = fb_fail_errno(err, "%s: cannot be written", path);
    if (r == FB_OK && rename(temporary, path) != 0)
        r = fb_fail_errno(err, "%s: cannot be replaced", path);
    if (r != FB_OK)
        (void)unlink(temporary);
    free(temporary);
    return r;
}

enum fb_status fb_file_write(const char *path, const void *bytes, size_t n, struct fb_err *err)
{
    struct stat st;
    int fd;
    enum fb_status r;

    if (strcmp(path, "-") == 0)
        return fb_fd_write(STDOUT_FILENO, "standard output", bytes, n, err);
    if (stat(path, &st) != 0)
        return write_replacing(path, NULL, bytes, n, err);
    if (S_ISREG(st.st_mode))
        return write_replacing(path, &st, bytes, n, err);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return fb_fail_errno(err, "%s: cannot be opened for writing", path);
    r = fb_fd_write(fd, path, bytes, n, err);
    (void)close(fd);
    return r;
}

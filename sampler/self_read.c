/* self_read.c - /proc/self/mem, else a pipe, else process_vm_readv(). */
#include "sampler/self_read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIPE_ROUND = 65536, PAGE_GRAIN = 4096 };

bool fb_self_read_open_pipe(struct fb_self_read *ret_reader)
{
    struct fb_self_read r = {.mem = -1, .pipe = {-1, -1}};
    struct stat st;
    bool ok = pipe2(r.pipe, O_CLOEXEC | O_NONBLOCK) == 0 && fstat(r.pipe[1], &st) == 0;

    if (ok) {
        r.pipe_device = st.st_dev;
        r.pipe_inode = st.st_ino;
    } else {
        fb_self_read_close(&r);
    }
    *ret_reader = r;
    return ok;
}

void fb_self_read_open(struct fb_self_read *ret_reader)
{
    *ret_reader = (struct fb_self_read){.mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
                                        .pipe = {-1, -1}};
    if (ret_reader->mem < 0)
        fb_self_read_open_pipe(ret_reader);
}

static ssize_t mem_round(const struct fb_self_read *r, uint64_t address, void *buffer, size_t size)
{
    return pread(r->mem, buffer, size, (off_t)address);
}

static bool pipe_is_ours(const struct fb_self_read *r)
{
    struct stat st;

    return fstat(r->pipe[1], &st) == 0 && st.st_dev == r->pipe_device && st.st_ino == r->pipe_inode;
}

/* A round ends at a page of the source, because write() keeps nothing of a page of the pipe that
 * it could not fill.  What went in comes out before the next round: the pipe is empty between
 * rounds. */
static ssize_t pipe_round(const struct fb_self_read *r, uint64_t address, void *buffer, size_t size)
{
    size_t to_page = PAGE_GRAIN - address % PAGE_GRAIN;
    size_t most = to_page < PAGE_GRAIN ? to_page : PIPE_ROUND;
    uint8_t *to = buffer;
    ssize_t in;
    ssize_t out = 0;

    if (!pipe_is_ours(r))
        return -1;
    in = write(r->pipe[1], (const void *)(uintptr_t)address, size < most ? size : most);
    while (out < in) {
        ssize_t n = read(r->pipe[0], to + out, (size_t)(in - out));

        if (n <= 0 && errno != EINTR)
            return -1;
        out += n > 0 ? n : 0;
    }
    return in;
}

static ssize_t vm_round(uint64_t address, void *buffer, size_t size)
{
    struct iovec to = {.iov_base = buffer, .iov_len = size};
    struct iovec from = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0);
}

static ssize_t any_round(const struct fb_self_read *r, uint64_t address, void *buffer, size_t size)
{
    if (r->mem >= 0)
        return mem_round(r, address, buffer, size);
    return r->pipe[0] >= 0 ? pipe_round(r, address, buffer, size) : vm_round(address, buffer, size);
}

size_t fb_self_read(const struct fb_self_read *reader, uint64_t address, void *buffer, size_t size)
{
    uint8_t *to = buffer;
    size_t done = 0;

    while (done < size) {
        ssize_t n = any_round(reader, address + done, to + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

void fb_self_read_close(struct fb_self_read *reader)
{
    if (reader->mem >= 0)
        close(reader->mem);
    for (int i = 0; i < 2; i++)
        if (reader->pipe[i] >= 0)
            close(reader->pipe[i]);
    *reader = (struct fb_self_read){.mem = -1, .pipe = {-1, -1}};
}

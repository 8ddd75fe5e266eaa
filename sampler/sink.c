/* sink.c - names, descriptors and appending.  See sink.h. */
#include "sampler/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "sampler/say.h"
#include "sampler/text.h"

enum {
    HEADROOM = FB_CHUNK_HEADER_SIZE + FB_CHUNK_PREFIX_MAX,
    NAME_TRIES = 10000,
    LOCK_TRIES = 50,
    LOCK_WAIT_NS = 2000000,
};

void fb_sink_init(struct fb_sink *sink, const struct fb_config *config, uint64_t run_id)
{
    memset(sink, 0, sizeof *sink);
    sink->config = config;
    sink->fd = -1;
    sink->run_id = run_id;
    while (sink->writer_id == 0)
        if (getrandom(&sink->writer_id, sizeof sink->writer_id, GRND_NONBLOCK) < 0)
            sink->writer_id = run_id ^ (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);
    fb_crc32_init(sink->crc_table);
}

/* 20261130T111433Z: UTC by the civil calendar, without the C library's time zone lock. */
static void time_add(struct fb_text *t, uint64_t seconds)
{
    uint64_t days = seconds / 86400 + 719468;
    uint64_t era = days / 146097;
    uint64_t doe = days % 146097;
    uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    uint64_t month = (5 * doy + 2) / 153;

    fb_text_padded(t, yoe + era * 400 + (month >= 10), 4);
    fb_text_padded(t, month < 10 ? month + 3 : month - 9, 2);
    fb_text_padded(t, doy - (153 * month + 2) / 5 + 1, 2);
    fb_text_str(t, "T");
    fb_text_padded(t, seconds % 86400 / 3600, 2);
    fb_text_padded(t, seconds % 3600 / 60, 2);
    fb_text_padded(t, seconds % 60, 2);
    fb_text_str(t, "Z");
}

static void executable_add(struct fb_text *t)
{
    char path[4096];
    ssize_t n = readlink("/proc/thread-self/exe", path, sizeof path - 1);
    const char *base;

    if (n <= 0) {
        fb_text_str(t, "unknown");
        return;
    }
    path[n] = '\0';
    base = strrchr(path, '/');
    fb_text_str(t, base != NULL ? base + 1 : path);
}

static void pattern_expand(struct fb_text *t, const char *pattern)
{
    struct utsname host;

    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at != '%') {
            fb_text_add(t, at, 1);
            continue;
        }
        switch (*++at) {
        case 'p':
            fb_text_dec(t, (uint64_t)getpid());
            break;
        case 'e':
            executable_add(t);
            break;
        case 'h':
            fb_text_str(t, uname(&host) == 0 ? host.nodename : "unknown");
            break;
        case 't':
            time_add(t, (uint64_t)time(NULL));
            break;
        default:
            fb_text_add(t, at, 1);
        }
    }
}

/* Away from 0..2: where the descriptor table is shared, the host's own may be closed. */
static int move_up(int fd)
{
    int higher = fd >= 0 && fd <= 2 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;

    if (higher < 0)
        return fd;
    close(fd);
    return higher;
}

/* The header and the first chunk; the header alone where there is no room for both. */
static bool header_write(struct fb_sink *sink, int fd)
{
    uint8_t header[FB_BANK_HEADER_SIZE];
    ssize_t n;

    fb_bank_header_store(header, sink->run_id, sink->writer_id);
    n = write(fd, header, sizeof header);
    if (n >= 0 && n < (ssize_t)sizeof header)
        errno = ENOSPC;
    if (n < (ssize_t)sizeof header)
        return false;
    n = write(fd, sink->first.iov_base, sink->first.iov_len);
    sink->first_is_in = n > 0 && (size_t)n == sink->first.iov_len;
    return sink->first_is_in || n <= 0 || ftruncate(fd, (off_t)sizeof header) == 0;
}

/* A file without a name yet in the folder of sink->path, with its beginning in it: whatever kills
 * us, no name stands for less than that.  -1 where the file system or the kernel cannot. */
static int file_make_nameless(struct fb_sink *sink)
{
    char folder[sizeof sink->path];
    struct fb_text t = {.data = folder, .cap = sizeof folder};
    const char *slash = strrchr(sink->path, '/');
    int fd;

    if (slash == NULL)
        fb_text_str(&t, ".");
    else
        fb_text_add(&t, sink->path, slash == sink->path ? 1 : (size_t)(slash - sink->path));
    fd = move_up(open(folder, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, sink->config->mode));
    if (fd >= 0 && !header_write(sink, fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* False, errno EEXIST: the name is taken. */
static bool file_name(int fd, const char *path)
{
    char own[64];
    struct fb_text t = {.data = own, .cap = sizeof own};

    fb_text_str(&t, "/proc/thread-self/fd/");
    fb_text_dec(&t, (uint64_t)fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* The file at sink->path, header and all; -1, errno EEXIST: the name is taken.  *nameless is -1 at
 * first, and is kept for the next name. */
static int file_make_at(struct fb_sink *sink, int *nameless)
{
    int fd = *nameless >= 0 ? *nameless : file_make_nameless(sink);

    *nameless = -1;
    if (fd >= 0) {
        if (file_name(fd, sink->path))
            return fd;
        if (errno == EEXIST) {
            *nameless = fd;
            return -1;
        }
        close(fd);
    }
    fd = move_up(open(sink->path, O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                      sink->config->mode));
    if (fd >= 0 && !header_write(sink, fd)) {
        int reason = errno;

        unlink(sink->path);
        close(fd);
        errno = reason == EEXIST ? EIO : reason;
        return -1;
    }
    return fd;
}

/* Makes folder/name, "-2" ... before the suffix while the name exists.  folder NULL: name is whole.
 */
static int file_make(struct fb_sink *sink, const char *folder, const char *name)
{
    int nameless = -1;
    const char *slash = strrchr(name, '/');
    const char *dot = strrchr(name, '.');
    size_t stem = strlen(name);

    if (dot != NULL && dot > name && (slash == NULL || dot > slash + 1))
        stem = (size_t)(dot - name);
    for (unsigned i = 1; i <= NAME_TRIES; i++) {
        struct fb_text path = {.data = sink->path, .cap = sizeof sink->path};
        int fd;

        if (folder != NULL) {
            fb_text_str(&path, folder);
            fb_text_str(&path, "/");
        }
        fb_text_add(&path, name, stem);
        if (i > 1) {
            fb_text_str(&path, "-");
            fb_text_dec(&path, i);
        }
        fb_text_str(&path, name + stem);
        fd = file_make_at(sink, &nameless);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    if (nameless >= 0)
        close(nameless);
    return -1;
}

static int file_make_somewhere(struct fb_sink *sink)
{
    char name[FB_CONFIG_OUT_MAX];
    struct fb_text t = {.data = name, .cap = sizeof name};
    const char *folders[] = {sink->config->tmpdir, "/tmp"};
    const char *base;
    int fd;
    int reason;

    pattern_expand(&t, sink->config->out);
    fd = file_make(sink, NULL, name);
    if (fd >= 0)
        return fd;
    reason = errno;
    base = strrchr(name, '/');
    base = base != NULL ? base + 1 : name;
    for (size_t i = 0; i < 2 && fd < 0; i++)
        if (folders[i][0] != '\0')
            fd = file_make(sink, folders[i], base);
    if (fd >= 0)
        fb_say(sink->config->root ? FB_SAY_ALWAYS : FB_SAY_ONCE_A_RUN, name,
               "cannot be made, the bank is", sink->path, reason);
    else
        fb_say(FB_SAY_ALWAYS, name, "cannot be made, nor in $TMPDIR or /tmp: no bank", NULL,
               reason);
    return fd;
}

/* Writes the chunk's header before it, zeros behind it. */
static struct iovec chunk_frame(const struct fb_sink *sink, struct fb_chunk *chunk,
                                enum fb_chunk_type type, const uint8_t *prefix, size_t n)
{
    uint8_t *payload = chunk->body.data - n;
    size_t length = n + chunk->body.len;
    size_t padding = fb_chunk_padding(length);
    struct fb_chunk_header header = {
        .type = (uint16_t)type,
        .run_id = sink->run_id,
        .sequence = sink->sequence,
        .raw_length = (uint32_t)length,
        .stored_length = (uint32_t)length,
    };

    if (n > 0)
        memcpy(payload, prefix, n);
    memset(payload + length, 0, padding);
    fb_chunk_header_store(payload - FB_CHUNK_HEADER_SIZE, &header, payload, sink->crc_table);
    return (struct iovec){payload - FB_CHUNK_HEADER_SIZE, FB_CHUNK_HEADER_SIZE + length + padding};
}

bool fb_sink_open(struct fb_sink *sink, struct fb_chunk *manifest)
{
    uint8_t bytes[FB_CHUNK_PREFIX_MAX];
    struct fb_wire_out count = {.data = bytes, .cap = sizeof bytes};
    struct stat st;

    if (sink->fd >= 0 || sink->refused)
        return sink->fd >= 0;
    fb_wire_put_varint(&count, manifest->count);
    if (!manifest->body.overflow)
        sink->first = chunk_frame(sink, manifest, FB_CHUNK_MANIFEST, count.data, count.len);
    sink->fd = file_make_somewhere(sink);
    if (sink->fd < 0 || fstat(sink->fd, &st) != 0) {
        fb_sink_discard(sink);
        return false;
    }
    sink->device = st.st_dev;
    sink->inode = st.st_ino;
    sink->bytes = FB_BANK_HEADER_SIZE;
    if (sink->first_is_in) {
        sink->bytes += sink->first.iov_len;
        sink->sequence++;
        fb_chunk_begin(manifest, manifest->memory, manifest->size);
    }
    sink->looked_size = sink->looked_bytes = sink->bytes;
    if (!sink->first_is_in) /* says why */
        fb_sink_write_list(sink, manifest, FB_CHUNK_MANIFEST, NULL);
    return true;
}

void fb_sink_discard(struct fb_sink *sink)
{
    sink->refused = true;
    if (sink->fd < 0)
        return;
    unlink(sink->path);
    close(sink->fd);
    sink->fd = -1;
}

void fb_chunk_begin(struct fb_chunk *chunk, void *memory, size_t size)
{
    chunk->memory = memory;
    chunk->size = size;
    chunk->count = 0;
    chunk->body = (struct fb_wire_out){.data = chunk->memory + HEADROOM,
                                       .cap = size - HEADROOM - FB_CHUNK_ALIGN};
}

/* The descriptor is still our file: a host may have closed it and got its number for another. */
static bool descriptor_is_ours(const struct fb_sink *sink, off_t *ret_size)
{
    struct stat st;

    if (fstat(sink->fd, &st) != 0 || st.st_dev != sink->device || st.st_ino != sink->inode)
        return false;
    *ret_size = st.st_size;
    return true;
}

bool fb_sink_foreign(struct fb_sink *sink, uint64_t *ret_from, uint64_t *ret_to)
{
    uint64_t own = sink->bytes - sink->looked_bytes;
    off_t size = 0;

    if (sink->fd < 0 || sink->quiet || !descriptor_is_ours(sink, &size))
        return false;
    *ret_from = sink->looked_size;
    *ret_to = (uint64_t)size;
    sink->looked_size = (uint64_t)size;
    sink->looked_bytes = sink->bytes;
    return *ret_to > *ret_from + own;
}

/* Somebody who holds the lock for ever must not stop us: after 100 ms we append without it, which
 * O_APPEND keeps whole on a local file system. */
static bool file_lock(int fd)
{
    const struct timespec wait = {0, LOCK_WAIT_NS};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK)
            return false;
        nanosleep(&wait, NULL);
    }
    return false;
}

static bool reopen(struct fb_sink *sink, off_t *ret_size)
{
    sink->fd = open(sink->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (sink->fd < 0) /* FLAMEBANK_MODE may let nobody read it */
        sink->fd = open(sink->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (sink->fd < 0)
        return false;
    sink->fd = move_up(sink->fd);
    if (descriptor_is_ours(sink, ret_size))
        return true;
    close(sink->fd);
    sink->fd = -1;
    return false;
}

/* Under a system call filter: a chunk that is written in part stays as damage that readers step
 * over. */
static bool append_quietly(struct fb_sink *sink, const uint8_t *bytes, size_t n)
{
    ssize_t written = write(sink->fd, bytes, n);

    if (written > 0)
        sink->bytes += (uint64_t)written;
    return written == (ssize_t)n;
}

/* What came to the file, -1 for nothing; *ret_reason where it is less than n. */
static ssize_t write_whole(int fd, const uint8_t *bytes, size_t n, int *ret_reason)
{
    ssize_t written = write(fd, bytes, n);
    ssize_t more;

    *ret_reason = errno;
    if (written <= 0 || (size_t)written == n)
        return written;
    more = write(fd, bytes + written, n - (size_t)written); /* full, or a limit? */
    *ret_reason = more < 0 ? errno : ENOSPC;
    return more > 0 ? written + more : written;
}

static bool append(struct fb_sink *sink, const uint8_t *bytes, size_t n)
{
    off_t size = 0;
    bool locked;
    ssize_t written;
    int reason;

    if (sink->fd < 0)
        return false;
    if (sink->quiet)
        return append_quietly(sink, bytes, n);
    if (!descriptor_is_ours(sink, &size) && !reopen(sink, &size))
        return false;
    locked = file_lock(sink->fd);
    if (locked && !descriptor_is_ours(sink, &size))
        return false;
    written = write_whole(sink->fd, bytes, n, &reason);
    if (written > 0 && (size_t)written < n && locked && ftruncate(sink->fd, size) == 0)
        written = 0;
    if (locked)
        flock(sink->fd, LOCK_UN);
    if (written > 0)
        sink->bytes += (uint64_t)written;
    if (written == (ssize_t)n)
        return true;
    if (!sink->said)
        fb_say(FB_SAY_ALWAYS, sink->path, "is not written for now", NULL, reason);
    sink->said = true;
    return false;
}

bool fb_sink_write(struct fb_sink *sink, struct fb_chunk *chunk, enum fb_chunk_type type,
                   const uint8_t *prefix, size_t n)
{
    struct iovec framed;

    if (chunk->body.overflow || n > FB_CHUNK_PREFIX_MAX)
        return false;
    framed = chunk_frame(sink, chunk, type, prefix, n);
    if (!append(sink, framed.iov_base, framed.iov_len))
        return false;
    sink->sequence++;
    fb_chunk_begin(chunk, chunk->memory, chunk->size);
    return true;
}

bool fb_sink_write_list(struct fb_sink *sink, struct fb_chunk *chunk, enum fb_chunk_type type,
                        const struct fb_wire_out *prefix)
{
    uint8_t bytes[FB_CHUNK_PREFIX_MAX];
    struct fb_wire_out out = {.data = bytes, .cap = sizeof bytes};

    if (prefix != NULL)
        fb_wire_put_bytes(&out, prefix->data, prefix->len);
    fb_wire_put_varint(&out, chunk->count);
    return fb_sink_write(sink, chunk, type, out.data, out.len);
}

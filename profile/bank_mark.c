/* One chunk appended to a bank that its arm may be writing: under the same lock, in one write. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/vec.h"
#include "profile/bank.h"

enum {
    NAME_MAX_BYTES = 200,
    PAYLOAD_MAX = 256,
    LABEL_PREFIX = 6,       /* "label." */
    TAIL_BYTES = 64 << 10,  /* an END and all that others added before it was seen */
    ANSWER_BYTES = 4 << 20, /* what an arm writes in a second or two */
    ANSWER_LOOK_NS = 20000000,
};

struct appender {
    int fd;
    const char *path;
    bool may_have_ended; /* what is added is true of an ended run as well */
    uint64_t run_id;
    uint32_t crc_table[256];
};

static size_t encode_mark(uint8_t *at, size_t room, const char *name, int64_t wall_ns,
                          double offered, uint8_t flags)
{
    struct fb_wire_out out = {.data = at, .cap = room};

    fb_wire_put_varint(&out, 1);
    fb_wire_put_signed(&out, 0);
    fb_wire_put_signed(&out, wall_ns);
    fb_wire_put_blob(&out, name, strnlen(name, NAME_MAX_BYTES));
    fb_wire_put_u8(&out, flags);
    fb_wire_put_varint(&out, offered > 0 ? (uint64_t)llround(offered * 1000.0) : 0);
    return out.len;
}

static size_t encode_ask(uint8_t *at, size_t room, int64_t wall_ns, enum fb_event_kind kind)
{
    struct fb_wire_out out = {.data = at, .cap = room};

    fb_wire_put_varint(&out, 1);
    fb_wire_put_signed(&out, 0);
    fb_wire_put_signed(&out, wall_ns);
    fb_wire_put_u8(&out, (uint8_t)kind);
    fb_wire_put_varint(&out, 0);
    return out.len;
}

/* The whole chunk at `at` of bytes[0 .. n). */
static bool chunk_at(const struct appender *a, const uint8_t *bytes, size_t n, size_t at,
                     struct fb_chunk_header *ret_h)
{
    uint32_t crc;

    if (n - at < FB_CHUNK_HEADER_SIZE || !fb_chunk_header_load(bytes + at, ret_h) ||
        ret_h->run_id != a->run_id || ret_h->stored_length > n - at - FB_CHUNK_HEADER_SIZE)
        return false;
    crc = fb_crc32(a->crc_table, 0, bytes + at, 28);
    crc = fb_crc32(a->crc_table, crc, bytes + at + FB_CHUNK_HEADER_SIZE, ret_h->stored_length);
    return crc == ret_h->crc;
}

/* The next whole chunk from *at on; *at is behind it afterwards. */
static bool chunk_next(const struct appender *a, const uint8_t *bytes, size_t n, size_t *at,
                       struct fb_chunk_header *ret_h, const uint8_t **ret_payload)
{
    for (; n - *at >= FB_CHUNK_HEADER_SIZE; *at += FB_CHUNK_ALIGN) {
        if (!chunk_at(a, bytes, n, *at, ret_h))
            continue;
        *ret_payload = bytes + *at + FB_CHUNK_HEADER_SIZE;
        *at += FB_CHUNK_HEADER_SIZE + ret_h->stored_length;
        *at += fb_chunk_padding(ret_h->stored_length);
        *at = *at < n ? *at : n;
        return true;
    }
    return false;
}

/* Bytes of the file from `from` (a multiple of 8) on; yours. */
static uint8_t *tail_read(const struct appender *a, off_t from, size_t most, size_t *ret_n)
{
    struct stat st;
    uint8_t *bytes = fb_alloc(most);
    ssize_t n = 0;

    if (fstat(a->fd, &st) == 0 && st.st_size > from)
        n = pread(a->fd, bytes, most, from);
    *ret_n = n > 0 ? (size_t)n : 0;
    return bytes;
}

/* The writer's last chunk is its END. */
static bool has_ended(const struct appender *a, off_t size)
{
    off_t from = size > TAIL_BYTES ? (size - TAIL_BYTES + 7) / 8 * 8 : FB_BANK_HEADER_SIZE;
    struct fb_chunk_header h;
    const uint8_t *payload;
    size_t n, at = 0;
    uint8_t *bytes = tail_read(a, from, TAIL_BYTES, &n);
    bool ended = false;

    while (chunk_next(a, bytes, n, &at, &h, &payload))
        if (!(h.flags & FB_CHUNK_FOREIGN))
            ended = h.type == FB_CHUNK_END;
    free(bytes);
    return ended;
}

/* Pads a torn tail up to alignment first, so that the new chunk starts where readers look. */
static enum fb_status append_locked(struct appender *a, enum fb_chunk_type type,
                                    const uint8_t *payload, size_t length, off_t *ret_end,
                                    struct fb_err *err)
{
    struct fb_chunk_header h = {.type = (uint16_t)type,
                                .flags = FB_CHUNK_FOREIGN,
                                .run_id = a->run_id,
                                .raw_length = (uint32_t)length,
                                .stored_length = (uint32_t)length};
    uint8_t *chunk;
    struct stat st;
    size_t lead, n;
    ssize_t done;

    if (fstat(a->fd, &st) != 0)
        return fb_fail_errno(err, "%s: cannot be examined", a->path);
    if (!a->may_have_ended && has_ended(a, st.st_size))
        return fb_fail(err, FB_EFORMAT,
                       "%s: its arm has ended, so nothing can be marked in it any more", a->path);
    lead = fb_chunk_padding((size_t)st.st_size);
    n = lead + FB_CHUNK_HEADER_SIZE + length + fb_chunk_padding(length);
    chunk = fb_alloc(n);
    fb_chunk_header_store(chunk + lead, &h, payload, a->crc_table);
    memcpy(chunk + lead + FB_CHUNK_HEADER_SIZE, payload, length);
    do {
        done = write(a->fd, chunk, n);
    } while (done < 0 && errno == EINTR);
    free(chunk);
    *ret_end = st.st_size + (off_t)n;
    if (done != (ssize_t)n)
        return done < 0 ? fb_fail_errno(err, "%s: cannot be written", a->path)
                        : fb_fail(err, FB_EIO, "%s: only a part of it was written", a->path);
    return FB_OK;
}

static enum fb_status append(struct appender *a, enum fb_chunk_type type, const uint8_t *payload,
                             size_t length, off_t *ret_end, struct fb_err *err)
{
    enum fb_status r;

    while (flock(a->fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return fb_fail_errno(err, "%s: cannot be locked", a->path);
    }
    r = append_locked(a, type, payload, length, ret_end, err);
    (void)flock(a->fd, LOCK_UN);
    return r;
}

static enum fb_status header_check(struct appender *a, struct fb_err *err)
{
    uint8_t header[FB_BANK_HEADER_SIZE];

    if (pread(a->fd, header, sizeof header, 0) != (ssize_t)sizeof header ||
        !fb_bank_sniff(header, sizeof header))
        return fb_fail(err, FB_EFORMAT, "%s: not a bank, so nothing can be added to it", a->path);
    if (fb_wire_load_le(header + 8, 2) != FB_BANK_MAJOR)
        return fb_fail(err, FB_EUNSUPPORTED, "%s: is of a bank format version other than %d",
                       a->path, FB_BANK_MAJOR);
    a->run_id = fb_wire_load_le(header + 16, 8);
    return FB_OK;
}

static enum fb_status appender_open(struct appender *a, const char *path, struct fb_err *err)
{
    enum fb_status r;

    a->path = path;
    a->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (a->fd < 0)
        return fb_fail_errno(err, "%s: cannot be opened", path);
    fb_crc32_init(a->crc_table);
    r = header_check(a, err);
    if (r != FB_OK)
        (void)close(a->fd);
    return r;
}

enum fb_status fb_bank_mark(const char *path, const char *name, int64_t wall_ns, double offered,
                            uint8_t flags, struct fb_err *err)
{
    struct appender a = {0};
    uint8_t payload[PAYLOAD_MAX];
    off_t end;
    enum fb_status r = appender_open(&a, path, err);

    if (r != FB_OK)
        return r;
    r = append(&a, FB_CHUNK_MARKS, payload,
               encode_mark(payload, sizeof payload, name, wall_ns, offered, flags), &end, err);
    (void)close(a.fd);
    return r;
}

enum fb_status fb_bank_label(const char *path, const char *const *labels, size_t count,
                             struct fb_err *err)
{
    struct appender a = {.may_have_ended = true};
    struct fb_wire_out out = {.cap = FB_WIRE_VARINT_MAX};
    uint8_t *payload;
    off_t end;
    enum fb_status r = appender_open(&a, path, err);

    if (r != FB_OK)
        return r;
    for (size_t i = 0; i < count; i++)
        out.cap += 2 * FB_WIRE_VARINT_MAX + LABEL_PREFIX + strlen(labels[i]);
    out.data = payload = fb_alloc(out.cap);
    fb_wire_put_varint(&out, count);
    for (size_t i = 0; i < count; i++) {
        size_t key = (size_t)(strchr(labels[i], '=') - labels[i]);

        fb_wire_put_varint(&out, LABEL_PREFIX + key);
        fb_wire_put_bytes(&out, "label.", LABEL_PREFIX);
        fb_wire_put_bytes(&out, labels[i], key);
        fb_wire_put_blob(&out, labels[i] + key + 1, strlen(labels[i] + key + 1));
    }
    r = append(&a, FB_CHUNK_MANIFEST, payload, out.len, &end, err);
    free(payload);
    (void)close(a.fd);
    return r;
}

/* One of the events of an EVENTS payload is of that kind. */
static bool events_have(const uint8_t *payload, size_t n, enum fb_event_kind kind)
{
    struct fb_wire_in in = {.data = payload, .len = n};
    uint64_t count = fb_wire_get_varint(&in);
    bool found = false;

    for (uint64_t i = 0; i < count && !in.bad; i++) {
        (void)fb_wire_get_signed(&in);
        (void)fb_wire_get_signed(&in);
        found = fb_wire_get_u8(&in) == kind || found;
        (void)fb_wire_get_varint(&in);
    }
    return found && !in.bad;
}

/* The arm's own event behind the question. */
static bool is_answered(const struct appender *a, off_t from, enum fb_event_kind answer)
{
    struct fb_chunk_header h;
    const uint8_t *payload;
    size_t n, at = 0;
    uint8_t *bytes = tail_read(a, from, ANSWER_BYTES, &n);
    bool answered = false;

    while (!answered && chunk_next(a, bytes, n, &at, &h, &payload))
        answered = h.type == FB_CHUNK_EVENTS && !(h.flags & FB_CHUNK_FOREIGN) &&
                   events_have(payload, h.stored_length, answer);
    free(bytes);
    return answered;
}

enum fb_status fb_bank_ask(const char *path, enum fb_event_kind ask, int64_t wall_ns,
                           unsigned wait_ms, struct fb_err *err)
{
    const struct timespec look = {0, ANSWER_LOOK_NS};
    enum fb_event_kind answer = ask == FB_EVENT_ASK_PAUSE ? FB_EVENT_PAUSED : FB_EVENT_RESUMED;
    struct appender a = {0};
    uint8_t payload[PAYLOAD_MAX];
    off_t end;
    enum fb_status r = appender_open(&a, path, err);

    if (r != FB_OK)
        return r;
    r = append(&a, FB_CHUNK_EVENTS, payload, encode_ask(payload, sizeof payload, wall_ns, ask),
               &end, err);
    for (uint64_t waited = 0; r == FB_OK && !is_answered(&a, end, answer);
         waited += ANSWER_LOOK_NS) {
        if (waited >= (uint64_t)wait_ms * 1000000u)
            r = fb_fail(err, FB_EIO,
                        "%s: its arm did not answer within %u s: it was killed, is held up, or "
                        "may only write (a system call filter)",
                        path, wait_ms / 1000);
        else
            (void)nanosleep(&look, NULL);
    }
    (void)close(a.fd);
    return r;
}

/* Three layers, each of which fills what it is given or is at the end: raw bytes, unpacked bytes,
 * text.  What was looked at and not taken (head, the rest behind a cut) waits in `ahead`. */
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compress.h"
#include "base/utf8.h"
#include "base/vec.h"

enum {
    AHEAD_STEP = 16 * 1024,
    PACKED_STEP = 128 * 1024,
    READ_STEP = 256 * 1024,
    UNITS_STEP = 4096
};

enum encoding { UNSEEN, AS_IT_IS, UTF16_LITTLE, UTF16_BIG };

struct fb_source {
    char *name;
    int fd; /* -1: memory */
    const char *bytes;
    size_t bytes_n, bytes_at;
    bool raw_end; /* of what is read: nothing more will come */

    enum fb_compress_kind kind;
    struct fb_unpacker *unpacker;
    char *packed;
    size_t packed_n, packed_at;
    uint64_t packed_total, unpacked_total;
    bool unpacked_end;

    enum encoding encoding;
    unsigned char start[4]; /* bytes that were read to tell the layers, taken first */
    size_t start_n, start_at;
    uint16_t high; /* first half of a surrogate pair that is open, 0 none */

    char *ahead;
    size_t ahead_n, ahead_at, ahead_room;
};

/* ---- raw bytes ---- */

static enum fb_status raw_read(struct fb_source *s, void *to, size_t n, size_t *ret_n,
                               struct fb_err *err)
{
    size_t have = 0;

    if (s->fd < 0) {
        have = s->bytes_n - s->bytes_at < n ? s->bytes_n - s->bytes_at : n;
        if (have > 0)
            memcpy(to, s->bytes + s->bytes_at, have);
        s->bytes_at += have;
        s->raw_end = s->bytes_at == s->bytes_n;
    }
    while (s->fd >= 0 && have < n && !s->raw_end) {
        ssize_t got = read(s->fd, (char *)to + have, n - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fb_fail_errno(err, "%s: cannot be read", s->name);
        s->raw_end = got == 0;
        have += (size_t)got;
    }
    *ret_n = have;
    return FB_OK;
}

/* ---- unpacked bytes ---- */

static enum fb_status refill(struct fb_source *s, struct fb_err *err)
{
    enum fb_status r;

    if (s->packed_at < s->packed_n || s->raw_end)
        return FB_OK;
    s->packed_at = 0;
    r = raw_read(s, s->packed, PACKED_STEP, &s->packed_n, err);
    s->packed_total += s->packed_n;
    return r;
}

static enum fb_status unpack(struct fb_source *s, char *to, size_t n, size_t *ret_n,
                             struct fb_err *err)
{
    size_t have = 0;

    while (have < n && !s->unpacked_end) {
        size_t in_n, out_n = n - have;
        enum fb_status r = refill(s, err);

        if (r != FB_OK)
            return r;
        in_n = s->packed_n - s->packed_at;
        r = fb_unpacker_step(s->unpacker, s->packed + s->packed_at, &in_n, s->raw_end, to + have,
                             &out_n, &s->unpacked_end, err);
        if (r != FB_OK)
            return fb_within(err, "%s", s->name);
        s->packed_at += in_n;
        s->unpacked_total += out_n;
        have += out_n;
        if (s->unpacked_total > FB_UNPACK_FREE &&
            s->unpacked_total / FB_UNPACK_RATIO > s->packed_total)
            return fb_fail(
                err, FB_ELIMIT,
                "%s: unpacks to more than %d times its size (%llu bytes of %llu so far), "
                "which no profile does",
                s->name, FB_UNPACK_RATIO, (unsigned long long)s->unpacked_total,
                (unsigned long long)s->packed_total);
    }
    *ret_n = have;
    return FB_OK;
}

static enum fb_status unpacked_read(struct fb_source *s, char *to, size_t n, size_t *ret_n,
                                    struct fb_err *err)
{
    if (s->kind != FB_COMPRESS_NONE)
        return unpack(s, to, n, ret_n, err);
    return raw_read(s, to, n, ret_n, err);
}

/* ---- text ---- */

static enum fb_status start_read(struct fb_source *s, char *to, size_t n, size_t *ret_n,
                                 struct fb_err *err)
{
    size_t have = s->start_n - s->start_at < n ? s->start_n - s->start_at : n, more = 0;
    enum fb_status r = FB_OK;

    if (have > 0)
        memcpy(to, s->start + s->start_at, have);
    s->start_at += have;
    if (have < n)
        r = unpacked_read(s, to + have, n - have, &more, err);
    *ret_n = have + more;
    return r;
}

/* One UTF-16 unit to UTF-8; returns the bytes written (up to 6: a lone half and what follows it).
 */
static size_t put_unit(struct fb_source *s, uint16_t unit, char *to)
{
    size_t n = 0;

    if (s->high != 0 && (unit & 0xfc00) == 0xdc00) {
        uint32_t code = 0x10000 + ((uint32_t)(s->high & 0x3ff) << 10) + (unit & 0x3ff);

        s->high = 0;
        return fb_utf8_write(to, code);
    }
    if (s->high != 0)
        n = fb_utf8_write(to, 0xfffd);
    s->high = 0;
    if ((unit & 0xfc00) == 0xd800)
        s->high = unit;
    else
        n += fb_utf8_write(to + n, (unit & 0xfc00) == 0xdc00 ? 0xfffd : unit);
    return n;
}

static enum fb_status utf16_read(struct fb_source *s, char *to, size_t n, size_t *ret_n,
                                 struct fb_err *err)
{
    unsigned char units[UNITS_STEP];
    size_t have = 0, got;

    while (n - have >= 6) {
        size_t want = (n - have) / 6 * 2;
        enum fb_status r =
            start_read(s, (char *)units, want < UNITS_STEP ? want : UNITS_STEP, &got, err);

        if (r != FB_OK)
            return r;
        if (got % 2 != 0)
            return fb_fail(err, FB_EFORMAT, "%s: UTF-16 text ends inside a character", s->name);
        for (size_t i = 0; i < got; i += 2) {
            unsigned first = units[i], second = units[i + 1];

            have += put_unit(
                s, (uint16_t)(s->encoding == UTF16_BIG ? first << 8 | second : second << 8 | first),
                to + have);
        }
        if (got == 0) {
            if (s->high != 0)
                have += fb_utf8_write(to + have, 0xfffd);
            s->high = 0;
            break;
        }
    }
    *ret_n = have;
    return FB_OK;
}

/* What the first bytes say of the two layers.  The magic of zstd has four bytes. */
static enum fb_status tell_layers(struct fb_source *s, struct fb_err *err)
{
    enum fb_status r = raw_read(s, s->start, sizeof s->start, &s->start_n, err);

    s->encoding = AS_IT_IS;
    if (r != FB_OK)
        return r;
    s->kind = fb_compress_kind(s->start, s->start_n);
    if (s->kind != FB_COMPRESS_NONE) {
        s->unpacker = fb_unpacker_new(s->kind);
        s->packed = fb_alloc(PACKED_STEP);
        memcpy(s->packed, s->start, s->start_n);
        s->packed_total = s->packed_n = s->start_n;
        r = unpack(s, (char *)s->start, sizeof s->start, &s->start_n, err);
    }
    if (s->start_n >= 3 && memcmp(s->start, "\xef\xbb\xbf", 3) == 0) {
        s->start_at = 3;
    } else if (s->start_n >= 2 && memcmp(s->start, "\xff\xfe", 2) == 0) {
        s->encoding = UTF16_LITTLE;
        s->start_at = 2;
    } else if (s->start_n >= 2 && memcmp(s->start, "\xfe\xff", 2) == 0) {
        s->encoding = UTF16_BIG;
        s->start_at = 2;
    }
    return r;
}

static enum fb_status text_read(struct fb_source *s, char *to, size_t n, size_t *ret_n,
                                struct fb_err *err)
{
    enum fb_status r = s->encoding == UNSEEN ? tell_layers(s, err) : FB_OK;

    *ret_n = 0;
    if (r != FB_OK)
        return r;
    if (s->encoding != AS_IT_IS)
        return utf16_read(s, to, n, ret_n, err);
    return start_read(s, to, n, ret_n, err);
}

/* ---- the source ---- */

static struct fb_source *source_new(const char *name, int fd)
{
    struct fb_source *s = fb_alloc(sizeof *s);

    s->name = fb_strdup(name);
    s->fd = fd;
    return s;
}

enum fb_status fb_source_open(const char *path, struct fb_source **ret_s, struct fb_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fb_fail_errno(err, "%s: cannot be opened", path);
    *ret_s = source_new(is_stdin ? "standard input" : path, fd);
    return FB_OK;
}

struct fb_source *fb_source_of_bytes(const void *bytes, size_t n, const char *name)
{
    struct fb_source *s = source_new(name, -1);

    s->bytes = bytes;
    s->bytes_n = n;
    return s;
}

void fb_source_close(struct fb_source *s)
{
    if (!s)
        return;
    if (s->fd > STDIN_FILENO)
        (void)close(s->fd);
    fb_unpacker_free(s->unpacker);
    free(s->packed);
    free(s->ahead);
    free(s->name);
    free(s);
}

const char *fb_source_name(const struct fb_source *s)
{
    return s->name;
}

/* Reads until `want` bytes wait in `ahead` or the input ends. */
static enum fb_status look_ahead(struct fb_source *s, size_t want, struct fb_err *err)
{
    size_t have = s->ahead_n - s->ahead_at, got;

    if (have >= want)
        return FB_OK;
    if (s->ahead_at > 0)
        memmove(s->ahead, s->ahead + s->ahead_at, have);
    s->ahead_at = 0;
    s->ahead_n = have;
    while (s->ahead_n < want) {
        /* Room as the bytes come: `want` is often far more than there is.  6 more, in which a
         * converted character always fits. */
        size_t step = s->ahead_n > AHEAD_STEP ? s->ahead_n : AHEAD_STEP;
        size_t most = want - s->ahead_n > step ? s->ahead_n + step : want;
        enum fb_status r;

        fb_vec_reserve(&s->ahead, &s->ahead_room, most + 7, 1);
        r = text_read(s, s->ahead + s->ahead_n, most + 6 - s->ahead_n, &got, err);
        if (r != FB_OK)
            return r;
        if (got == 0)
            break;
        s->ahead_n += got;
    }
    fb_vec_reserve(&s->ahead, &s->ahead_room, s->ahead_n + 1, 1);
    s->ahead[s->ahead_n] = '\0';
    return FB_OK;
}

enum fb_status fb_source_head(struct fb_source *s, size_t want, const char **ret_bytes,
                              size_t *ret_n, struct fb_err *err)
{
    enum fb_status r = look_ahead(s, want, err);
    size_t have = s->ahead_n - s->ahead_at;

    if (r != FB_OK)
        return r;
    *ret_bytes = s->ahead ? s->ahead + s->ahead_at : "";
    *ret_n = have < want ? have : want;
    return FB_OK;
}

enum fb_status fb_source_read(struct fb_source *s, void *to, size_t n, size_t *ret_n,
                              struct fb_err *err)
{
    size_t have = s->ahead_n - s->ahead_at, more = 1;
    enum fb_status r = FB_OK;

    if (have > n)
        have = n;
    if (have > 0)
        memcpy(to, s->ahead + s->ahead_at, have);
    s->ahead_at += have;
    while (r == FB_OK && n - have >= 6) {
        r = text_read(s, (char *)to + have, n - have, &more, err);
        have += more;
        if (more == 0)
            break;
    }
    /* A place too small for any character: by way of `ahead`. */
    if (r == FB_OK && have < n && more != 0) {
        r = look_ahead(s, n - have, err);
        more = s->ahead_n - s->ahead_at < n - have ? s->ahead_n - s->ahead_at : n - have;
        if (more > 0)
            memcpy((char *)to + have, s->ahead + s->ahead_at, more);
        s->ahead_at += more;
        have += more;
    }
    *ret_n = have;
    return r;
}

enum fb_status fb_source_all(struct fb_source *s, const char **ret_bytes, size_t *ret_n,
                             struct fb_err *err)
{
    size_t want = READ_STEP, had = 0;
    enum fb_status r = FB_OK;

    for (;;) {
        r = look_ahead(s, want, err);
        if (r != FB_OK)
            return r;
        had = s->ahead_n - s->ahead_at;
        if (had < want)
            break;
        want = had + had / 2 + READ_STEP;
    }
    *ret_bytes = s->ahead + s->ahead_at;
    *ret_n = had;
    s->ahead_at = s->ahead_n;
    return FB_OK;
}

/* ---- blocks ---- */

size_t fb_cut_lines(const char *text, size_t n)
{
    const char *last = memrchr(text, '\n', n);

    return last ? (size_t)(last - text) + 1 : 0;
}

/* Reads on until the block holds `size` bytes or the input ends. */
static enum fb_status fill(struct fb_source *s, size_t size, struct fb_block *block,
                           bool *ret_ended, struct fb_err *err)
{
    size_t got;
    enum fb_status r;

    fb_vec_reserve(&block->text, &block->room, size + FB_BLOCK_PAD, 1);
    r = fb_source_read(s, block->text + block->len, size - block->len, &got, err);
    block->len += got;
    *ret_ended = block->len < size;
    return r;
}

static void keep_rest(struct fb_source *s, const char *rest, size_t n)
{
    /* What is behind the rest in `ahead` (a few bytes of a conversion) follows it. */
    size_t waiting = s->ahead_n - s->ahead_at;

    if (s->ahead_at < n) {
        fb_vec_reserve(&s->ahead, &s->ahead_room, n + waiting + 1, 1);
        memmove(s->ahead + n, s->ahead + s->ahead_at, waiting);
        s->ahead_at = n;
        s->ahead_n = n + waiting;
    }
    s->ahead_at -= n;
    memcpy(s->ahead + s->ahead_at, rest, n);
}

enum fb_status fb_source_block(struct fb_source *s, size_t size, fb_cut_fn cut,
                               struct fb_block *block, struct fb_err *err)
{
    bool ended;
    size_t take;

    block->len = 0;
    for (;;) {
        enum fb_status r = fill(s, size, block, &ended, err);

        if (r != FB_OK)
            return r;
        take = ended ? block->len : cut(block->text, block->len);
        if (take > 0 || ended)
            break;
        if (size > FB_BLOCK_MOST / 2)
            return fb_fail(err, FB_ELIMIT, "%s: holds a line (or a sample) of more than %zu bytes",
                           s->name, FB_BLOCK_MOST / 2);
        size *= 2;
    }
    if (take < block->len)
        keep_rest(s, block->text + take, block->len - take);
    block->len = take;
    memset(block->text + take, 0, FB_BLOCK_PAD);
    return FB_OK;
}

void fb_block_done(struct fb_block *block)
{
    free(block->text);
    *block = (struct fb_block){0};
}

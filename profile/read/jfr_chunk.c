#include "profile/read/jfr_chunk.h"

#include <string.h>

#include "profile/read/jfr_types.h"

enum { READ_STEP = 4 << 20, COMPRESSED_NUMBERS = 1 };

static uint64_t big_endian(const unsigned char *at, unsigned width)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < width; i++)
        v = v << 8 | at[i];
    return v;
}

/* Appends up to n bytes: as many as there are, however many a header claims. */
static enum fb_status append(struct fb_jfr_chunk *chunk, struct fb_source *source, uint64_t n,
                             struct fb_err *err)
{
    static const char zeros[4096];

    while (n > 0) {
        size_t want = n < READ_STEP ? (size_t)n : READ_STEP, got, from = chunk->buf.len;
        enum fb_status r;

        for (size_t room = 0; room < want; room += sizeof zeros)
            fb_buf_add(&chunk->buf, zeros, want - room < sizeof zeros ? want - room : sizeof zeros);
        r = fb_source_read(source, chunk->buf.data + from, want, &got, err);
        if (r != FB_OK)
            return r;
        chunk->buf.len = from + got;
        if (got < want)
            return FB_OK;
        n -= got;
    }
    return FB_OK;
}

static bool is_header(const char *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "FLR", 4) == 0;
}

static enum fb_status read_header(struct fb_jfr_chunk *chunk, struct fb_source *source,
                                  uint64_t *ret_size, struct fb_err *err)
{
    unsigned char h[FB_JFR_HEADER_SIZE];
    const char *name = fb_source_name(source);
    size_t n;
    enum fb_status r = fb_source_read(source, h, sizeof h, &n, err);

    if (r != FB_OK)
        return r;
    if (n < sizeof h || !is_header((const char *)h, n))
        return fb_fail(err, FB_EFORMAT, "%s: chunk %llu: a header of %d bytes ('FLR') was expected",
                       name, (unsigned long long)chunk->number, FB_JFR_HEADER_SIZE);
    if (big_endian(h + 4, 2) != 2)
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is a recording of version %llu.%llu, 2 was expected (JDK 9 and later)",
                       name, (unsigned long long)big_endian(h + 4, 2),
                       (unsigned long long)big_endian(h + 6, 2));
    if (!(big_endian(h + 64, 4) & COMPRESSED_NUMBERS))
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: chunk %llu: its numbers are not compressed, as they were expected",
                       name, (unsigned long long)chunk->number);
    *ret_size = big_endian(h + 8, 8);
    chunk->is_finished = h[64] == 0;
    chunk->start_ns = (int64_t)big_endian(h + 32, 8);
    chunk->start_ticks = big_endian(h + 48, 8);
    chunk->ticks_per_second = big_endian(h + 56, 8);
    if (chunk->ticks_per_second == 0 || chunk->ticks_per_second > (uint64_t)1 << 40)
        return fb_fail(err, FB_EFORMAT, "%s: chunk %llu: %llu ticks a second cannot be", name,
                       (unsigned long long)chunk->number,
                       (unsigned long long)chunk->ticks_per_second);
    return FB_OK;
}

enum fb_status fb_jfr_chunk_next(struct fb_jfr_chunk *chunk, struct fb_source *source,
                                 struct fb_err *err)
{
    const char *head;
    size_t n;
    uint64_t size = 0, rest;
    enum fb_status r = fb_source_head(source, 4, &head, &n, err);

    chunk->bytes = (struct fb_wire_in){0};
    chunk->buf.len = 0;
    chunk->torn_bytes = 0;
    if (r != FB_OK || n == 0)
        return r;
    chunk->number++;
    r = read_header(chunk, source, &size, err);
    rest = size < FB_JFR_HEADER_SIZE ? UINT64_MAX : size - FB_JFR_HEADER_SIZE;
    if (r == FB_OK)
        r = append(chunk, source, rest, err);
    chunk->is_whole = size >= FB_JFR_HEADER_SIZE && chunk->buf.len == rest;
    if (r == FB_OK)
        r = fb_source_head(source, 4, &head, &n, err);
    if (r == FB_OK && n > 0 && !is_header(head, n)) {
        chunk->is_whole = false;
        r = append(chunk, source, UINT64_MAX, err);
    }
    chunk->bytes =
        (struct fb_wire_in){.data = (const uint8_t *)chunk->buf.data, .len = chunk->buf.len};
    return r;
}

void fb_jfr_chunk_done(struct fb_jfr_chunk *chunk)
{
    fb_buf_done(&chunk->buf);
}

bool fb_jfr_event_next(struct fb_wire_in *in, struct fb_jfr_event *ret)
{
    size_t from = in->pos;
    uint64_t size;

    if (in->bad || in->pos >= in->len)
        return false;
    size = fb_jfr_varint(in);
    if (in->bad || size > in->len - from || size < in->pos - from + 1) {
        in->pos = from;
        in->bad = true;
        return false;
    }
    ret->payload =
        (struct fb_wire_in){.data = in->data + from, .len = (size_t)size, .pos = in->pos - from};
    ret->type = fb_jfr_varint(&ret->payload);
    in->pos = from + (size_t)size;
    return true;
}

int64_t fb_jfr_span(const struct fb_jfr_chunk *chunk, uint64_t ticks)
{
    __extension__ typedef __int128 wide;
    wide ns = (wide)(int64_t)ticks * 1000000000 / (wide)chunk->ticks_per_second;

    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

int64_t fb_jfr_time(const struct fb_jfr_chunk *chunk, uint64_t ticks)
{
    return (int64_t)((uint64_t)chunk->start_ns +
                     (uint64_t)fb_jfr_span(chunk, ticks - chunk->start_ticks));
}

/* wire.h - bounded reading and writing of little-endian fields and varints.
 *
 * Header-only and free of libc calls other than memcpy, because the sampler
 * encodes its chunks with it inside somebody else's process.
 *
 *     struct fb_wire_out out = {.data = buffer, .cap = sizeof buffer};
 *     fb_wire_put_varint(&out, 300);
 *     if (out.overflow) ...                    one check at the end is enough
 *
 *     struct fb_wire_in in = {.data = bytes, .len = n};
 *     uint64_t v = fb_wire_get_varint(&in);
 *     if (in.bad) ...                          likewise; a bad cursor yields zeros
 *
 * A varint is LEB128 of at most FB_WIRE_VARINT_MAX bytes; a signed one is
 * zigzag coded first.  Reading never leaves [data, data + len); after the first
 * violation `bad` stays set and every later read yields 0, so loops that are
 * bounded by a count from the input must also stop on `bad`. */
#ifndef FB_BASE_WIRE_H
#define FB_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FB_WIRE_VARINT_MAX = 10 };

struct fb_wire_out {
    uint8_t *data;
    size_t cap; /* bytes of room at data                         */
    size_t len; /* bytes written                                 */
    bool overflow;
};

struct fb_wire_in {
    const uint8_t *data;
    size_t len;
    size_t pos;
    bool bad;
};

static inline void fb_wire_put_bytes(struct fb_wire_out *out, const void *bytes, size_t n)
{
    if (out->overflow || n > out->cap - out->len) {
        out->overflow = true;
        return;
    }
    if (n > 0)
        memcpy(out->data + out->len, bytes, n);
    out->len += n;
}

static inline void fb_wire_put_u8(struct fb_wire_out *out, uint8_t v)
{
    fb_wire_put_bytes(out, &v, 1);
}

static inline void fb_wire_store_le(uint8_t *at, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t fb_wire_load_le(const uint8_t *at, unsigned width)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < width; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

/* width = 1..8 bytes, little-endian. */
static inline void fb_wire_put_le(struct fb_wire_out *out, uint64_t v, unsigned width)
{
    uint8_t bytes[8];

    fb_wire_store_le(bytes, v, width);
    fb_wire_put_bytes(out, bytes, width);
}

static inline void fb_wire_put_varint(struct fb_wire_out *out, uint64_t v)
{
    uint8_t bytes[FB_WIRE_VARINT_MAX];
    size_t n = 0;

    while (v >= 0x80) {
        bytes[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (uint8_t)v;
    fb_wire_put_bytes(out, bytes, n);
}

static inline uint64_t fb_wire_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t fb_wire_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline void fb_wire_put_signed(struct fb_wire_out *out, int64_t v)
{
    fb_wire_put_varint(out, fb_wire_zigzag(v));
}

/* A string or blob: varint length, then the bytes. */
static inline void fb_wire_put_blob(struct fb_wire_out *out, const void *bytes, size_t n)
{
    fb_wire_put_varint(out, n);
    fb_wire_put_bytes(out, bytes, n);
}

static inline size_t fb_wire_left(const struct fb_wire_in *in)
{
    return in->bad ? 0 : in->len - in->pos;
}

/* Borrowed pointer into the input, NULL (and bad) if fewer than n bytes are left. */
static inline const uint8_t *fb_wire_get_bytes(struct fb_wire_in *in, size_t n)
{
    const uint8_t *at;

    if (in->bad || n > in->len - in->pos) {
        in->bad = true;
        return NULL;
    }
    at = in->data + in->pos;
    in->pos += n;
    return at;
}

static inline uint64_t fb_wire_get_le(struct fb_wire_in *in, unsigned width)
{
    const uint8_t *at = fb_wire_get_bytes(in, width);

    return at ? fb_wire_load_le(at, width) : 0;
}

static inline uint8_t fb_wire_get_u8(struct fb_wire_in *in)
{
    return (uint8_t)fb_wire_get_le(in, 1);
}

static inline uint64_t fb_wire_get_varint(struct fb_wire_in *in)
{
    uint64_t v = 0;

    if (in->bad)
        return 0;
    for (unsigned shift = 0; in->pos < in->len && shift < 64; shift += 7) {
        uint8_t b = in->data[in->pos++];

        if (shift == 63 && b > 1)
            break;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    in->bad = true;
    return 0;
}

static inline int64_t fb_wire_get_signed(struct fb_wire_in *in)
{
    return fb_wire_unzigzag(fb_wire_get_varint(in));
}

/* Borrowed bytes of a blob, *ret_n their count; NULL and bad if it does not fit. */
static inline const uint8_t *fb_wire_get_blob(struct fb_wire_in *in, size_t *ret_n)
{
    uint64_t n = fb_wire_get_varint(in);

    *ret_n = 0;
    if (in->bad || n > fb_wire_left(in)) {
        in->bad = true;
        return NULL;
    }
    *ret_n = (size_t)n;
    return fb_wire_get_bytes(in, (size_t)n);
}

#endif

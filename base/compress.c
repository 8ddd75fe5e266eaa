#include "base/compress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/vec.h"

enum { STEP = 256 * 1024 };

enum fb_compress_kind fb_compress_kind(const void *bytes, size_t n)
{
    if (n >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        return FB_COMPRESS_GZIP;
    if (n >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
        return FB_COMPRESS_ZSTD;
    return FB_COMPRESS_NONE;
}

struct fb_unpacker {
    enum fb_compress_kind kind;
    z_stream z;
    ZSTD_DCtx *zstd;
    bool full;  /* the last step ended for want of room: more may be held back */
    bool whole; /* what was read so far ends with a whole member or frame      */
    bool done;  /* nothing further will come, whatever bytes follow            */
};

struct fb_unpacker *fb_unpacker_new(enum fb_compress_kind kind)
{
    struct fb_unpacker *u = fb_alloc(sizeof *u);

    u->kind = kind;
    if (kind == FB_COMPRESS_ZSTD)
        u->zstd = ZSTD_createDCtx();
    /* abort: only for want of memory */
    if (kind == FB_COMPRESS_ZSTD ? !u->zstd : inflateInit2(&u->z, 15 + 16) != Z_OK)
        abort();
    return u;
}

void fb_unpacker_free(struct fb_unpacker *u)
{
    if (!u)
        return;
    if (u->kind == FB_COMPRESS_ZSTD)
        (void)ZSTD_freeDCtx(u->zstd);
    else
        (void)inflateEnd(&u->z);
    free(u);
}

/* Inflates the members that follow each other; trailing zeros and garbage after a whole member
 * are ignored, as gzip(1) does. */
static enum fb_status inflate_step(struct fb_unpacker *u, bool last, struct fb_err *err)
{
    z_stream *z = &u->z;

    while (z->avail_out > 0) {
        int r;

        if (z->avail_in == 0 && !u->full && (!last || u->whole)) {
            u->done = last;
            return FB_OK;
        }
        r = inflate(z, Z_NO_FLUSH);
        u->full = z->avail_out == 0 && r != Z_STREAM_END;
        if (r == Z_STREAM_END) {
            u->whole = true;
            if (inflateReset(z) != Z_OK)
                return fb_fail(err, FB_EFORMAT, "gzip member cannot be followed");
        } else if (r == Z_OK) {
            u->whole = false;
        } else if (u->whole) {
            u->done = true;
            return FB_OK;
        } else if (r == Z_BUF_ERROR && z->avail_in == 0) {
            if (last)
                return fb_fail(err, FB_EFORMAT, "gzip data ends early");
            return FB_OK;
        } else {
            return fb_fail(err, FB_EFORMAT, "gzip data is damaged (%s)",
                           z->msg ? z->msg : "no reason");
        }
    }
    return FB_OK;
}

static enum fb_status gzip_step(struct fb_unpacker *u, const void *in, size_t *in_n, bool last,
                                void *out, size_t *out_n, struct fb_err *err)
{
    unsigned given = *in_n > UINT_MAX ? UINT_MAX : (unsigned)*in_n;
    unsigned room = *out_n > UINT_MAX ? UINT_MAX : (unsigned)*out_n;
    enum fb_status r;

    u->z.next_in = (unsigned char *)(size_t)in;
    u->z.avail_in = given;
    u->z.next_out = out;
    u->z.avail_out = room;
    r = inflate_step(u, last && given == *in_n, err);
    *in_n = given - u->z.avail_in;
    *out_n = room - u->z.avail_out;
    return r;
}

static enum fb_status zstd_step(struct fb_unpacker *u, const void *in, size_t *in_n, bool last,
                                void *out, size_t *out_n, struct fb_err *err)
{
    ZSTD_inBuffer i = {in, *in_n, 0};
    ZSTD_outBuffer o = {out, *out_n, 0};

    while (o.pos < o.size && !u->done) {
        size_t hint;

        if (i.pos == i.size && !u->full && (!last || u->whole)) {
            u->done = last;
            break;
        }
        hint = ZSTD_decompressStream(u->zstd, &o, &i);
        if (ZSTD_isError(hint))
            return fb_fail(err, FB_EFORMAT, "zstd data is damaged (%s)", ZSTD_getErrorName(hint));
        u->whole = hint == 0;
        u->full = o.pos == o.size && hint != 0;
        if (!u->whole && i.pos == i.size && o.pos < o.size) {
            if (last)
                return fb_fail(err, FB_EFORMAT, "zstd data ends early");
            break;
        }
    }
    *in_n = i.pos;
    *out_n = o.pos;
    return FB_OK;
}

enum fb_status fb_unpacker_step(struct fb_unpacker *u, const void *in, size_t *in_n, bool last,
                                void *out, size_t *out_n, bool *ret_done, struct fb_err *err)
{
    enum fb_status r = FB_OK;

    if (u->done)
        *in_n = *out_n = 0;
    else if (u->kind == FB_COMPRESS_ZSTD)
        r = zstd_step(u, in, in_n, last, out, out_n, err);
    else
        r = gzip_step(u, in, in_n, last, out, out_n, err);
    *ret_done = u->done;
    return r;
}

enum fb_status fb_unpack(const void *bytes, size_t n, struct fb_buf *out, struct fb_err *err)
{
    enum fb_compress_kind kind = fb_compress_kind(bytes, n);
    struct fb_unpacker *u;
    enum fb_status r = FB_OK;
    bool done = false;
    char *step;
    size_t at = 0;

    if (kind == FB_COMPRESS_NONE)
        return fb_fail(err, FB_EFORMAT, "neither gzip nor zstd data");
    u = fb_unpacker_new(kind);
    step = fb_alloc(STEP);
    while (r == FB_OK && !done) {
        size_t in_n = n - at, out_n = STEP;

        r = fb_unpacker_step(u, (const char *)bytes + at, &in_n, true, step, &out_n, &done, err);
        if (r != FB_OK)
            break;
        at += in_n;
        fb_buf_add(out, step, out_n);
        if (out->overflow)
            r = fb_fail(err, FB_ELIMIT, "unpacks to more than %zu bytes", out->max);
    }
    free(step);
    fb_unpacker_free(u);
    return r;
}

void fb_zstd_pack(const void *bytes, size_t n, int level, struct fb_buf *out)
{
    size_t bound = ZSTD_compressBound(n), done;

    fb_vec_reserve(&out->data, &out->room, out->len + bound + 1, 1);
    done = ZSTD_compress(out->data + out->len, bound, bytes, n, level);
    if (ZSTD_isError(done)) /* only for want of memory: the bound is enough room */
        abort();
    out->len += done;
    out->data[out->len] = '\0';
}

enum fb_status fb_zstd_unpack_exact(const void *bytes, size_t n, void *raw, size_t raw_n,
                                    struct fb_err *err)
{
    size_t done = ZSTD_decompress(raw, raw_n, bytes, n);

    if (ZSTD_isError(done))
        return fb_fail(err, FB_EFORMAT, "zstd frame is damaged (%s)", ZSTD_getErrorName(done));
    if (done != raw_n)
        return fb_fail(err, FB_EFORMAT, "zstd frame holds %zu bytes, %zu expected", done, raw_n);
    return FB_OK;
}

void fb_gzip_pack(const void *bytes, size_t n, struct fb_buf *out)
{
    z_stream z = {0};
    int r;

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    z.next_in = (unsigned char *)(size_t)bytes;
    z.avail_in = (unsigned)n;
    do {
        char step[16 * 1024];

        z.next_out = (unsigned char *)step;
        z.avail_out = sizeof step;
        r = deflate(&z, Z_FINISH);
        fb_buf_add(out, step, sizeof step - z.avail_out);
    } while (r == Z_OK);
    (void)deflateEnd(&z);
}

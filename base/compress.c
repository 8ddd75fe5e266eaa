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

static enum fb_status too_large(const struct fb_buf *out, struct fb_err *err)
{
    return fb_fail(err, FB_ELIMIT, "unpacks to more than %zu bytes", out->max);
}

/* Inflates all members that follow each other; trailing zeros and garbage after a whole member
 * are ignored, as gzip(1) does. */
static enum fb_status inflate_all(z_stream *z, const void *bytes, size_t n, struct fb_buf *out,
                                  char *step, struct fb_err *err)
{
    const unsigned char *next = bytes;
    size_t left = n;
    bool whole = false;

    for (;;) {
        int r;

        if (z->avail_in == 0) {
            z->next_in = (unsigned char *)(size_t)next;
            z->avail_in = left > UINT_MAX ? UINT_MAX : (unsigned)left;
            next += z->avail_in;
            left -= z->avail_in;
        }
        if (z->avail_in == 0 && whole)
            return FB_OK;
        z->next_out = (unsigned char *)step;
        z->avail_out = STEP;
        r = inflate(z, Z_NO_FLUSH);
        fb_buf_add(out, step, STEP - z->avail_out);
        if (out->overflow)
            return too_large(out, err);
        if (r == Z_STREAM_END) {
            whole = true;
            if (inflateReset(z) != Z_OK)
                return fb_fail(err, FB_EFORMAT, "gzip member cannot be followed");
        } else if (whole && r != Z_OK) {
            return FB_OK;
        } else if (r == Z_BUF_ERROR && z->avail_in == 0 && left == 0) {
            return fb_fail(err, FB_EFORMAT, "gzip data ends early");
        } else if (r != Z_OK && r != Z_BUF_ERROR) {
            return fb_fail(err, FB_EFORMAT, "gzip data is damaged (%s)",
                           z->msg ? z->msg : "no reason");
        } else {
            whole = false;
        }
    }
}

static enum fb_status gzip_unpack(const void *bytes, size_t n, struct fb_buf *out,
                                  struct fb_err *err)
{
    z_stream z = {0};
    char *step = fb_alloc(STEP);
    enum fb_status r;

    if (inflateInit2(&z, 15 + 16) != Z_OK)
        r = fb_fail(err, FB_ELIMIT, "gzip data cannot be unpacked (no memory)");
    else
        r = inflate_all(&z, bytes, n, out, step, err);
    (void)inflateEnd(&z);
    free(step);
    return r;
}

static enum fb_status zstd_unpack(const void *bytes, size_t n, struct fb_buf *out,
                                  struct fb_err *err)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    char *step = fb_alloc(STEP);
    ZSTD_inBuffer in = {bytes, n, 0};
    enum fb_status r = FB_OK;
    size_t hint = 1;

    while (r == FB_OK && (in.pos < in.size || hint != 0)) {
        ZSTD_outBuffer o = {step, STEP, 0};

        hint = ZSTD_decompressStream(context, &o, &in);
        if (ZSTD_isError(hint)) {
            r = fb_fail(err, FB_EFORMAT, "zstd data is damaged (%s)", ZSTD_getErrorName(hint));
            break;
        }
        fb_buf_add(out, step, o.pos);
        if (out->overflow)
            r = too_large(out, err);
        else if (hint != 0 && in.pos == in.size && o.pos < STEP)
            r = fb_fail(err, FB_EFORMAT, "zstd data ends early");
    }
    (void)ZSTD_freeDCtx(context);
    free(step);
    return r;
}

enum fb_status fb_unpack(const void *bytes, size_t n, struct fb_buf *out, struct fb_err *err)
{
    switch (fb_compress_kind(bytes, n)) {
    case FB_COMPRESS_GZIP:
        return gzip_unpack(bytes, n, out, err);
    case FB_COMPRESS_ZSTD:
        return zstd_unpack(bytes, n, out, err);
    case FB_COMPRESS_NONE:
        break;
    }
    return fb_fail(err, FB_EFORMAT, "neither gzip nor zstd data");
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

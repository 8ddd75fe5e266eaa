/* compress.h - zstd and gzip: the wrapper of libzstd and zlib. */
#ifndef FB_BASE_COMPRESS_H
#define FB_BASE_COMPRESS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum fb_compress_kind { FB_COMPRESS_NONE, FB_COMPRESS_GZIP, FB_COMPRESS_ZSTD };

/* Told by the magic bytes at the start. */
enum fb_compress_kind fb_compress_kind(const void *bytes, size_t n);

/* Appends the unpacked bytes (all members or frames) to out.  A stream that ends early, is
 * damaged, or passes out->max fails; what was unpacked by then stays in out. */
enum fb_status fb_unpack(const void *bytes, size_t n, struct fb_buf *out, struct fb_err *err);

/* Unpacking in steps: all members or frames of a stream, whose bytes come piece by piece. */
struct fb_unpacker;
struct fb_unpacker *fb_unpacker_new(enum fb_compress_kind kind); /* gzip or zstd; never NULL */
void fb_unpacker_free(struct fb_unpacker *u);

/* Reads up to *in_n bytes and writes up to *out_n; both become what was read and written.  Nothing
 * read and nothing written: it wants more input.  last: no further input follows `in`.  *ret_done:
 * the stream is over. */
enum fb_status fb_unpacker_step(struct fb_unpacker *u, const void *in, size_t *in_n, bool last,
                                void *out, size_t *out_n, bool *ret_done, struct fb_err *err);

/* Appends one zstd frame (with its content size) to out.  level: 1 fast ... 19 small. */
void fb_zstd_pack(const void *bytes, size_t n, int level, struct fb_buf *out);

/* Appends one gzip member, without time or name: the same input gives the same bytes. */
void fb_gzip_pack(const void *bytes, size_t n, struct fb_buf *out);

/* Unpacks one zstd frame of exactly raw_n bytes to raw. */
enum fb_status fb_zstd_unpack_exact(const void *bytes, size_t n, void *raw, size_t raw_n,
                                    struct fb_err *err);

#endif

/* source.h - the bytes of an input as a stream: plain, gzip or zstd, a file, a pipe or memory.
 *
 *     struct fb_source *s;
 *     r = fb_source_open("run.folded.gz", &s, err);            "-" is standard input
 *     r = fb_source_head(s, FB_SNIFF_BYTES, &head, &n, err);   looks, takes nothing
 *     while ((r = fb_source_block(s, size, fb_cut_lines, &block, err)) == FB_OK && block.len > 0)
 *         ...                                                  whole lines, and no copy of them
 *     fb_block_done(&block);
 *     fb_source_close(s);
 *
 * gzip and zstd are told by their magic bytes and unpacked on the way.  Text in UTF-16 with a byte
 * order mark becomes UTF-8, and a UTF-8 mark is left out.  Memory does not grow with the input, but
 * for fb_source_all().  Errors name the source.
 *
 * A decompression bomb is refused (FB_ELIMIT): what was unpacked may pass FB_UNPACK_FREE bytes only
 * while it is at most FB_UNPACK_RATIO times what was read.
 *
 * One thread at a time; blocks are their caller's, so that others may work on them meanwhile. */
#ifndef FB_BASE_SOURCE_H
#define FB_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    FB_SNIFF_BYTES = 256 * 1024,
    FB_UNPACK_RATIO = 500,
    FB_BLOCK_PAD = 64, /* zero bytes behind the text of a block, for reads past its end */
};

#define FB_UNPACK_FREE ((uint64_t)256 << 20)
#define FB_BLOCK_MOST  ((size_t)256 << 20) /* a line (or what else is not cut) is shorter */

struct fb_source;

enum fb_status fb_source_open(const char *path, struct fb_source **ret_s, struct fb_err *err);
/* Borrows the bytes; never NULL. */
struct fb_source *fb_source_of_bytes(const void *bytes, size_t n, const char *name);
void fb_source_close(struct fb_source *s); /* NULL is fine */

/* The path, "standard input", or the name given; for messages. */
const char *fb_source_name(const struct fb_source *s);

/* The next `want` bytes (fewer only before the end) without taking them; borrowed until the next
 * call. */
enum fb_status fb_source_head(struct fb_source *s, size_t want, const char **ret_bytes,
                              size_t *ret_n, struct fb_err *err);

/* Up to n bytes into `to`; fewer only before the end. */
enum fb_status fb_source_read(struct fb_source *s, void *to, size_t n, size_t *ret_n,
                              struct fb_err *err);

/* All bytes that are left, NUL-terminated, borrowed until the source is closed. */
enum fb_status fb_source_all(struct fb_source *s, const char **ret_bytes, size_t *ret_n,
                             struct fb_err *err);

struct fb_block {
    char *text; /* text[len] and FB_BLOCK_PAD - 1 bytes more are 0 */
    size_t len, room;
};

/* How much of a text may be taken, so that what follows begins something new; 0: it is not seen. */
typedef size_t (*fb_cut_fn)(const char *text, size_t n);

/* Up to and with the last newline. */
size_t fb_cut_lines(const char *text, size_t n);

/* Fills the block (zero at first, then used again) with about `size` bytes, as far as cut() says;
 * at the end with what is left.  Where blocks end depends on the bytes alone, not on how they came.
 * len 0: the end. */
enum fb_status fb_source_block(struct fb_source *s, size_t size, fb_cut_fn cut,
                               struct fb_block *block, struct fb_err *err);
void fb_block_done(struct fb_block *block);

#endif

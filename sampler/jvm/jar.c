/* jar.c - see jar.h; the layout is that of PKWARE's APPNOTE, 4.3.12 and 4.3.16. */
#include "sampler/jvm/jar.h"

#include <string.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/wire.h"

enum {
    END_BYTES = 22,
    END_MAGIC = 0x06054b50,
    END_FIRST_LOOK = 1024, /* most have no comment */
    ENTRY_BYTES = 46,
    ENTRY_MAGIC = 0x02014b50,
};

/* n bytes at the offset; false as well where no more may be read. */
static bool bytes_at(struct fb_jar_reader *r, int fd, uint64_t at, size_t n)
{
    if (n > r->left)
        return false;
    r->left -= n;
    return pread(fd, r->buffer, n, (off_t)at) == (ssize_t)n;
}

/* The record at the end: it ends with a comment that says its length. */
static bool end_find(struct fb_jar_reader *r, int fd, uint64_t size, size_t look, uint64_t *ret_at,
                     const uint8_t **ret_end)
{
    size_t n = size < look ? (size_t)size : look;

    if (n < END_BYTES || !bytes_at(r, fd, size - n, n))
        return false;
    for (size_t at = n - END_BYTES + 1; at-- > 0;) {
        const uint8_t *end = r->buffer + at;

        if (fb_wire_load_le(end, 4) == END_MAGIC &&
            at + END_BYTES + fb_wire_load_le(end + 20, 2) == n) {
            *ret_at = size - n + at;
            *ret_end = end;
            return true;
        }
    }
    return false;
}

/* Takes the entries that are whole in the n bytes of the buffer; returns their bytes. */
static size_t entries_take(const struct fb_jar_reader *r, size_t n, uint32_t *crc)
{
    size_t at = 0;

    while (n - at >= ENTRY_BYTES) {
        const uint8_t *e = r->buffer + at;
        size_t name = (size_t)fb_wire_load_le(e + 28, 2);
        size_t bytes = ENTRY_BYTES + name + (size_t)fb_wire_load_le(e + 30, 2) +
                       (size_t)fb_wire_load_le(e + 32, 2);

        if (fb_wire_load_le(e, 4) != ENTRY_MAGIC || bytes > n - at)
            break;
        *crc = fb_crc32(r->crc_table, *crc, e + 16, 4); /* of the entry's bytes */
        *crc = fb_crc32(r->crc_table, *crc, e + 24, 4); /* its size, unpacked   */
        *crc = fb_crc32(r->crc_table, *crc, e + ENTRY_BYTES, name);
        at += bytes;
    }
    return at;
}

bool fb_jar_hash(struct fb_jar_reader *r, int fd, uint64_t size, uint32_t *ret_hash)
{
    uint64_t end_at, at, bytes;
    const uint8_t *end;
    uint32_t crc = 0;

    if (size > UINT32_MAX || (!end_find(r, fd, size, END_FIRST_LOOK, &end_at, &end) &&
                              !end_find(r, fd, size, FB_JAR_BUFFER, &end_at, &end)))
        return false;
    bytes = fb_wire_load_le(end + 12, 4);
    if (bytes > end_at)
        return false;
    /* Not from where the record says: a script may be in front of the zip file. */
    for (at = end_at - bytes; at < end_at;) {
        size_t n = end_at - at < FB_JAR_BUFFER ? (size_t)(end_at - at) : FB_JAR_BUFFER;
        size_t taken = bytes_at(r, fd, at, n) ? entries_take(r, n, &crc) : 0;

        if (taken == 0)
            return false;
        at += taken;
    }
    *ret_hash = crc;
    return true;
}

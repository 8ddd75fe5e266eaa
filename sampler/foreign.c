/* foreign.c - see foreign.h. */
#include "sampler/foreign.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The last question of an EVENTS payload; 0: none, or it breaks a rule. */
static unsigned payload_ask(const uint8_t *payload, size_t n)
{
    struct fb_wire_in in = {.data = payload, .len = n};
    uint64_t count = fb_wire_get_varint(&in);
    unsigned ask = 0;

    for (uint64_t i = 0; i < count && !in.bad; i++) {
        unsigned kind;

        (void)fb_wire_get_signed(&in);
        (void)fb_wire_get_signed(&in);
        kind = fb_wire_get_u8(&in);
        (void)fb_wire_get_varint(&in);
        if (kind == FB_EVENT_ASK_PAUSE || kind == FB_EVENT_ASK_RESUME)
            ask = kind;
    }
    return in.bad || in.pos != n ? 0 : ask;
}

/* A whole question of somebody else's in bytes[0 .. n), its checksum right. */
static bool is_question(const uint8_t *bytes, size_t n, const struct fb_chunk_header *h,
                        const uint32_t crc_table[256])
{
    uint32_t crc;

    if (h->type != FB_CHUNK_EVENTS || h->flags != FB_CHUNK_FOREIGN ||
        h->raw_length != h->stored_length || h->stored_length > n - FB_CHUNK_HEADER_SIZE)
        return false;
    crc = fb_crc32(crc_table, 0, bytes, 28);
    crc = fb_crc32(crc_table, crc, bytes + FB_CHUNK_HEADER_SIZE, h->stored_length);
    return crc == h->crc;
}

/* From `at` on, the next place in bytes[0 .. n) where a chunk may begin; n rounded down if none. */
static size_t sync_next(const uint8_t *bytes, size_t n, size_t at)
{
    for (; at + 4 <= n; at += FB_CHUNK_ALIGN)
        if (fb_wire_load_le(bytes + at, 4) == FB_CHUNK_SYNC)
            return at;
    return at;
}

unsigned fb_foreign_ask(int fd, uint64_t from, uint64_t to, uint64_t run_id,
                        const uint32_t crc_table[256])
{
    uint64_t at = (from + FB_CHUNK_ALIGN - 1) / FB_CHUNK_ALIGN * FB_CHUNK_ALIGN;
    unsigned ask = 0;

    for (int i = 0; i < FB_FOREIGN_READS && at + FB_CHUNK_HEADER_SIZE <= to; i++) {
        uint8_t bytes[FB_FOREIGN_CHUNK];
        uint64_t left = to - at;
        struct fb_chunk_header h;
        ssize_t got =
            pread(fd, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes, (off_t)at);
        size_t n = got > 0 ? (size_t)got : 0;

        if (n < FB_CHUNK_HEADER_SIZE)
            break;
        if (!fb_chunk_header_load(bytes, &h) || h.run_id != run_id ||
            h.stored_length > left - FB_CHUNK_HEADER_SIZE) {
            at += sync_next(bytes, n, FB_CHUNK_ALIGN);
            continue;
        }
        if (is_question(bytes, n, &h, crc_table)) {
            unsigned one = payload_ask(bytes + FB_CHUNK_HEADER_SIZE, h.stored_length);

            ask = one != 0 ? one : ask;
        }
        at += FB_CHUNK_HEADER_SIZE + h.stored_length + fb_chunk_padding(h.stored_length);
    }
    return ask;
}

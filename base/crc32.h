/* crc32.h - the checksum of a chunk: CRC-32 as in zlib, PNG and Ethernet.
 *
 * Header-only, because the sampler needs it without a library.  The table is
 * the caller's (1 KiB), made once by fb_crc32_init():
 *
 *     uint32_t table[256];
 *     fb_crc32_init(table);
 *     crc = fb_crc32(table, 0, header, 32);
 *     crc = fb_crc32(table, crc, payload, n);      same value as zlib's crc32()
 */
#ifndef FB_BASE_CRC32_H
#define FB_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

static inline void fb_crc32_init(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;

        for (int bit = 0; bit < 8; bit++)
            c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static inline uint32_t fb_crc32(const uint32_t table[256], uint32_t crc, const void *bytes,
                                size_t n)
{
    const uint8_t *p = bytes;

    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
}

#endif

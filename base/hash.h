/* hash.h - 64-bit hashes for tables in memory (never written to a file). */
#ifndef FB_BASE_HASH_H
#define FB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finaliser of splitmix64: every input bit reaches every output bit. */
static inline uint64_t fb_hash_mix(uint64_t v)
{
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9u;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

static inline uint64_t fb_hash_pair(uint64_t a, uint64_t b)
{
    return fb_hash_mix(a * 0x9e3779b97f4a7c15u + fb_hash_mix(b + 0x632be59bd9b4e019u));
}

/* Eight bytes at a step; the value depends on the byte order of the machine. */
static inline uint64_t fb_hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t h = 0x9e3779b97f4a7c15u ^ n, word;

    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    if (n > 0) {
        word = 0;
        memcpy(&word, p, n);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return fb_hash_mix(h);
}

#endif

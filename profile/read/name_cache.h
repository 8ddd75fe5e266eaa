/* name_cache.h - what was made of a piece of text, by its bytes: text readers meet the same names
 * over and over.  Private to profile/.
 *
 *     struct fb_name_slot *slot = fb_name_cache_at(&cache, place, text, n);
 *     if (slot->value == 0)
 *         slot->value = make(text, n);                 a slot is valid until the next call
 *     fb_name_cache_done(&cache);
 *
 * `place` tells equal texts apart that stand in different places (a symbol in another file).
 * Zero-initialise.  Keeps a copy of each text. */
#ifndef FB_PROFILE_READ_NAME_CACHE_H
#define FB_PROFILE_READ_NAME_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

struct fb_name_slot {
    const char *text; /* NULL: free */
    uint32_t hash, len;
    uint32_t place;
    uint32_t value; /* 0 in a new slot */
};

struct fb_name_cache {
    struct fb_name_slot *slots; /* a power of two of them, or NULL */
    size_t size, count;
    struct fb_arena arena;
};

/* Adds a text that is not there, of less than 4 GiB. */
struct fb_name_slot *fb_name_cache_add(struct fb_name_cache *cache, uint32_t hash, uint32_t place,
                                       const char *text, size_t len);
void fb_name_cache_done(struct fb_name_cache *cache);

static inline struct fb_name_slot *fb_name_cache_at(struct fb_name_cache *cache, uint32_t place,
                                                    const char *text, size_t len)
{
    uint32_t hash = (uint32_t)(fb_hash_bytes(text, len) >> 32) + place * 0x9e3779b1u;

    for (size_t i = hash; cache->size > 0; i++) {
        struct fb_name_slot *slot = &cache->slots[i & (cache->size - 1)];

        if (!slot->text)
            break;
        if (slot->hash == hash && slot->len == len && slot->place == place &&
            memcmp(slot->text, text, len) == 0)
            return slot;
    }
    return fb_name_cache_add(cache, hash, place, text, len);
}

#endif

#include "profile/read/name_cache.h"

#include <stdlib.h>

#include "base/vec.h"

static struct fb_name_slot *free_slot(struct fb_name_slot *slots, size_t size, uint32_t hash)
{
    size_t i = hash & (size - 1);

    while (slots[i].text)
        i = (i + 1) & (size - 1);
    return &slots[i];
}

static void grow(struct fb_name_cache *cache)
{
    size_t size = cache->size ? cache->size * 2 : 1024;
    struct fb_name_slot *slots = fb_alloc_array(size, sizeof *slots);

    for (size_t i = 0; i < cache->size; i++) {
        if (cache->slots[i].text)
            *free_slot(slots, size, cache->slots[i].hash) = cache->slots[i];
    }
    free(cache->slots);
    cache->slots = slots;
    cache->size = size;
}

struct fb_name_slot *fb_name_cache_add(struct fb_name_cache *cache, uint32_t hash, uint32_t place,
                                       const char *text, size_t len)
{
    struct fb_name_slot *slot;

    if ((cache->count + 1) * 2 > cache->size)
        grow(cache);
    slot = free_slot(cache->slots, cache->size, hash);
    *slot = (struct fb_name_slot){.text = fb_arena_copy(&cache->arena, text, len),
                                  .hash = hash,
                                  .len = (uint32_t)len,
                                  .place = place};
    cache->count++;
    return slot;
}

void fb_name_cache_done(struct fb_name_cache *cache)
{
    free(cache->slots);
    fb_arena_done(&cache->arena);
    *cache = (struct fb_name_cache){0};
}

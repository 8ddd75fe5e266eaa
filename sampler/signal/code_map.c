/* code_map.c - one pointer, one count of readers, one flag. */
#include "sampler/signal/code_map.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sampler/signal/sigsafe.h"

static const struct fb_code_map empty_map = {.generation = 1};

static _Atomic(const struct fb_code_map *) current_map = &empty_map;
static _Atomic uint32_t reader_count;

const struct fb_code_map *fb_code_map_enter(void)
{
    atomic_fetch_add(&reader_count, 1);
    return atomic_load(&current_map);
}

void fb_code_map_leave(void)
{
    atomic_fetch_sub(&reader_count, 1);
}

const struct fb_code_module *fb_code_map_find(const struct fb_code_map *map, uint64_t pc)
{
    uint32_t low = 0;
    uint32_t high = map->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (map->modules[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || pc >= map->modules[low - 1].end)
        return NULL;
    return &map->modules[low - 1];
}

void fb_code_map_publish(const struct fb_code_map *map)
{
    atomic_store(&current_map, map);
}

bool fb_code_map_quiet(void)
{
    return atomic_load(&reader_count) == 0;
}

void fb_code_map_forget_readers(void)
{
    atomic_store(&reader_count, 0);
}

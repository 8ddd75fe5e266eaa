/* all_tables.h - the rows of all code that is known, as if walks had been everywhere. */
#ifndef FB_TESTS_SAMPLER_ALL_TABLES_H
#define FB_TESTS_SAMPLER_ALL_TABLES_H

#include "sampler/modules.h"
#include "sampler/signal/code_map.h"

static inline void all_tables_make(void)
{
    const struct fb_code_map *map = fb_code_map_enter();

    for (uint32_t i = 0; i < map->count; i++)
        for (uint64_t pc = map->modules[i].start; pc < map->modules[i].end;
             pc += 1u << FB_BLOCK_SHIFT)
            fb_code_module_rule(&map->modules[i], pc);
    fb_code_map_leave();
    while (fb_modules_tables_make())
        ;
}

#endif

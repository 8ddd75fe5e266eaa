/* maps.h - what /proc/self/maps says about an address. */
#ifndef FB_SAMPLER_MAPS_H
#define FB_SAMPLER_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct fb_map {
    uint64_t start;
    uint64_t end;
    bool executable;
    bool anonymous; /* no file behind it */
};

enum { FB_MAPS_MAX = 1024 };

/* Executable anonymous mappings: where generated code lives. */
struct fb_maps {
    uint32_t count;
    struct fb_map map[FB_MAPS_MAX];
};

/* The mapping that holds address; false if there is none.  One pass over the file. */
bool fb_maps_find(uint64_t address, struct fb_map *ret_map);

/* Reads the list anew; what is beyond FB_MAPS_MAX is left out. */
void fb_maps_read_generated(struct fb_maps *maps);

bool fb_maps_is_generated(const struct fb_maps *maps, uint64_t address);

#endif

/* maps.h - what /proc/self/maps says. */
#ifndef FB_SAMPLER_MAPS_H
#define FB_SAMPLER_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct fb_map {
    uint64_t start;
    uint64_t end;
    bool executable;
    bool anonymous;  /* no file behind it */
    uint64_t offset; /* in the file       */
    uint64_t device; /* major << 32 | minor */
    uint64_t inode;
};

enum { FB_MAPS_MAX = 1024, FB_MAPS_PATH = 1024 };

/* path: "" or what the line says, cut at FB_MAPS_PATH; borrowed for the call.  False: enough. */
typedef bool (*fb_maps_fn)(const struct fb_map *map, const char *path, void *ctx);

void fb_maps_each(fb_maps_fn each, void *ctx);

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

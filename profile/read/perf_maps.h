/* perf_maps.h - which file was mapped where, by process, as perf.data tells it.  Private to
 * profile/.
 *
 *     fb_perf_maps_add(&maps, pid, &map);             later maps replace what they overlap
 *     fb_perf_maps_fork(&maps, parent, child);
 *     map = fb_perf_maps_find(&maps, pid, address);   NULL: nothing is mapped there
 *
 * The kernel's maps are those of FB_PERF_KERNEL. */
#ifndef FB_PROFILE_READ_PERF_MAPS_H
#define FB_PROFILE_READ_PERF_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

#define FB_PERF_KERNEL UINT32_MAX

struct fb_perf_map {
    uint64_t start, end, offset; /* [start, end) is the file from `offset` on */
    uint32_t file;               /* the caller's                              */
};

struct fb_perf_process {
    uint32_t pid;
    struct fb_perf_map *maps; /* by address, without overlaps */
    size_t count, room;
};

struct fb_perf_maps {
    struct fb_perf_process *processes;
    size_t count, room;
    struct fb_index index; /* private */
};

void fb_perf_maps_done(struct fb_perf_maps *maps);
void fb_perf_maps_add(struct fb_perf_maps *maps, uint32_t pid, const struct fb_perf_map *map);
void fb_perf_maps_fork(struct fb_perf_maps *maps, uint32_t parent, uint32_t child);
void fb_perf_maps_exec(struct fb_perf_maps *maps, uint32_t pid); /* all of its maps are gone */
const struct fb_perf_map *fb_perf_maps_find(const struct fb_perf_maps *maps, uint32_t pid,
                                            uint64_t address);

#endif

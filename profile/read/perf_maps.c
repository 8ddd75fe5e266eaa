#include "profile/read/perf_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

void fb_perf_maps_done(struct fb_perf_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++)
        free(maps->processes[i].maps);
    free(maps->processes);
    fb_index_done(&maps->index);
    *maps = (struct fb_perf_maps){0};
}

static struct fb_perf_process *find_process(const struct fb_perf_maps *maps, uint32_t pid)
{
    struct fb_index_cursor at = fb_index_seek(&maps->index, fb_hash_mix(pid));
    uint32_t i;

    while (fb_index_step(&maps->index, &at, &i)) {
        if (maps->processes[i].pid == pid)
            return &maps->processes[i];
    }
    return NULL;
}

static struct fb_perf_process *put_process(struct fb_perf_maps *maps, uint32_t pid)
{
    struct fb_perf_process *p = find_process(maps, pid);

    if (p)
        return p;
    fb_vec_reserve(&maps->processes, &maps->room, maps->count + 1, sizeof *maps->processes);
    fb_index_add(&maps->index, fb_hash_mix(pid), (uint32_t)maps->count);
    p = &maps->processes[maps->count++];
    *p = (struct fb_perf_process){.pid = pid};
    return p;
}

/* The first map that ends behind an address. */
static size_t first_behind(const struct fb_perf_process *p, uint64_t address)
{
    size_t low = 0, high = p->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void fb_perf_maps_add(struct fb_perf_maps *maps, uint32_t pid, const struct fb_perf_map *map)
{
    struct fb_perf_process *p = put_process(maps, pid);
    size_t from = first_behind(p, map->start), to = from, parts = 0;
    struct fb_perf_map part[3];

    if (map->start >= map->end)
        return;
    while (to < p->count && p->maps[to].start < map->end)
        to++;
    /* What sticks out of the maps that are replaced stays. */
    if (from < to && p->maps[from].start < map->start) {
        part[parts] = p->maps[from];
        part[parts++].end = map->start;
    }
    part[parts++] = *map;
    if (from < to && p->maps[to - 1].end > map->end) {
        part[parts] = p->maps[to - 1];
        part[parts].offset += map->end - part[parts].start;
        part[parts++].start = map->end;
    }
    fb_vec_reserve(&p->maps, &p->room, p->count + parts, sizeof *p->maps);
    memmove(p->maps + from + parts, p->maps + to, (p->count - to) * sizeof *p->maps);
    memcpy(p->maps + from, part, parts * sizeof *part);
    p->count = p->count - (to - from) + parts;
}

void fb_perf_maps_fork(struct fb_perf_maps *maps, uint32_t parent, uint32_t child)
{
    struct fb_perf_process *to, *from;

    if (parent == child || !find_process(maps, parent))
        return;
    to = put_process(maps, child);
    from = find_process(maps, parent);
    fb_vec_reserve(&to->maps, &to->room, from->count, sizeof *to->maps);
    if (from->count > 0)
        memcpy(to->maps, from->maps, from->count * sizeof *to->maps);
    to->count = from->count;
}

void fb_perf_maps_exec(struct fb_perf_maps *maps, uint32_t pid)
{
    struct fb_perf_process *p = find_process(maps, pid);

    if (p)
        p->count = 0;
}

const struct fb_perf_map *fb_perf_maps_find(const struct fb_perf_maps *maps, uint32_t pid,
                                            uint64_t address)
{
    const struct fb_perf_process *p = find_process(maps, pid);
    size_t i = p ? first_behind(p, address) : 0;

    return p && i < p->count && p->maps[i].start <= address ? &p->maps[i] : NULL;
}

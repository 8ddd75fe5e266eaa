/* maps.c - a line reader for /proc/self/maps on a small buffer.  See maps.h. */
#include "sampler/maps.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 96 + FB_MAPS_PATH }; /* numbers, and a path that may be cut */

static uint64_t hex(const char **at)
{
    uint64_t v = 0;

    for (;; (*at)++) {
        char c = **at;

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint64_t)(c - 'a' + 10);
        else
            return v;
    }
}

/* "start-end rwxp offset dev inode   path": the inode of an anonymous mapping is 0. */
static const char *line_parse(const char *line, struct fb_map *ret_map)
{
    const char *at = line;

    ret_map->start = hex(&at);
    if (*at++ != '-')
        return NULL;
    ret_map->end = hex(&at);
    if (*at != ' ' || strnlen(at, 6) < 6)
        return NULL;
    ret_map->executable = at[3] == 'x';
    at += 6;
    ret_map->offset = hex(&at);
    at += *at == ' ';
    ret_map->device = hex(&at) << 32;
    at += *at == ':';
    ret_map->device |= hex(&at);
    at += *at == ' ';
    for (ret_map->inode = 0; *at >= '0' && *at <= '9'; at++)
        ret_map->inode = ret_map->inode * 10 + (uint64_t)(*at - '0');
    ret_map->anonymous = ret_map->inode == 0;
    while (*at == ' ')
        at++;
    return at;
}

void fb_maps_each(fb_maps_fn each, void *ctx)
{
    char buffer[4096];
    char line[LINE_MAX_BYTES];
    size_t length = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    struct fb_map map;
    ssize_t n;

    if (fd < 0)
        return;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            const char *path;

            if (buffer[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = buffer[i];
                continue;
            }
            line[length] = '\0';
            length = 0;
            path = line_parse(line, &map);
            if (path != NULL && !each(&map, path, ctx))
                goto done;
        }
done:
    close(fd);
}

struct search {
    uint64_t address;
    struct fb_map found;
    bool is_found;
};

static bool search_map(const struct fb_map *map, const char *path, void *ctx)
{
    struct search *s = ctx;

    (void)path;
    if (s->address < map->start || s->address >= map->end)
        return true;
    s->found = *map;
    s->is_found = true;
    return false;
}

bool fb_maps_find(uint64_t address, struct fb_map *ret_map)
{
    struct search s = {.address = address};

    fb_maps_each(search_map, &s);
    if (s.is_found)
        *ret_map = s.found;
    return s.is_found;
}

static bool collect_map(const struct fb_map *map, const char *path, void *ctx)
{
    struct fb_maps *maps = ctx;

    (void)path;
    if (map->executable && map->anonymous && maps->count < FB_MAPS_MAX)
        maps->map[maps->count++] = *map;
    return true;
}

void fb_maps_read_generated(struct fb_maps *maps)
{
    maps->count = 0;
    fb_maps_each(collect_map, maps);
}

bool fb_maps_is_generated(const struct fb_maps *maps, uint64_t address)
{
    for (uint32_t i = 0; i < maps->count; i++)
        if (address >= maps->map[i].start && address < maps->map[i].end)
            return true;
    return false;
}

#include "profile/read/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

struct line {
    const char *at, *end;
};

static void skip_blanks(struct line *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
        l->at++;
}

static bool take_hex(struct line *l, uint64_t *ret)
{
    const char *from = l->at;
    uint64_t v = 0;

    for (; l->at < l->end; l->at++) {
        char c = *l->at;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            break;
        v = v << 4 | (uint64_t)digit;
    }
    *ret = v;
    return l->at > from && l->at - from <= 16;
}

/* The next word; empty at the end. */
static struct line take_word(struct line *l)
{
    struct line word;

    skip_blanks(l);
    word.at = l->at;
    while (l->at < l->end && *l->at != ' ' && *l->at != '\t')
        l->at++;
    word.end = l->at;
    return word;
}

static bool read_map(struct fb_places *places, struct line l)
{
    struct fb_module m = {.unload_ns = INT64_MAX};
    struct line perms;

    if (!take_hex(&l, &m.start) || l.at == l.end || *l.at++ != '-' || !take_hex(&l, &m.end) ||
        m.end <= m.start)
        return false;
    if (l.at < l.end && *l.at == ':') {
        l.at++;
    } else {
        perms = take_word(&l);
        skip_blanks(&l);
        if (perms.end - perms.at < 4 || !take_hex(&l, &m.offset))
            return false;
        if (perms.at[2] != 'x')
            return true;
        (void)take_word(&l); /* device and inode */
        (void)take_word(&l);
    }
    skip_blanks(&l);
    while (l.end > l.at && (l.end[-1] == ' ' || l.end[-1] == '\t'))
        l.end--;
    m.path = fb_strings_put(&places->p->strings, l.at, (size_t)(l.end - l.at));
    m.bias = m.start - m.offset;
    m.by_offset = l.at < l.end && *l.at == '/';
    fb_vec_reserve(&places->maps, &places->maps_room, places->maps_count + 1, sizeof *places->maps);
    places->maps[places->maps_count++] =
        (struct fb_place_map){m.start, m.end, fb_profile_module_add(places->p, &m)};
    return true;
}

/* The place in parentheses at the end of a name: "(Source.java:6)", "(native)". */
static void take_source(struct fb_places *places, struct line *l, struct fb_frame *f)
{
    const char *open = l->end, *colon;

    if (l->end - l->at < 3 || l->end[-1] != ')')
        return;
    while (open > l->at && *open != '(')
        open--;
    if (open <= l->at || open[-1] != ' ')
        return;
    colon = memrchr(open, ':', (size_t)(l->end - open));
    if (colon) {
        long line = strtol(colon + 1, NULL, 10);

        f->line = line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
    }
    f->file = fb_strings_put(&places->p->strings, open + 1,
                             (size_t)((colon ? colon : l->end - 1) - open - 1));
    l->end = open - 1;
}

static void read_name(struct fb_places *places, struct line l)
{
    struct fb_place_name n = {.frame.kind = FB_FRAME_NATIVE};

    if (l.end - l.at < 4 || memcmp(l.at, "0x", 2) != 0)
        return;
    l.at += 2;
    if (!take_hex(&l, &n.address))
        return;
    skip_blanks(&l);
    while (l.end > l.at && l.end[-1] == ' ')
        l.end--;
    take_source(places, &l, &n.frame);
    if (l.at == l.end)
        return;
    n.frame.kind = FB_FRAME_JAVA;
    n.frame.name = fb_strings_put(&places->p->strings, l.at, (size_t)(l.end - l.at));
    fb_vec_reserve(&places->names, &places->names_room, places->names_count + 1,
                   sizeof *places->names);
    fb_index_add(&places->name_index, fb_hash_mix(n.address), (uint32_t)places->names_count);
    places->names[places->names_count++] = n;
}

void fb_places_read(struct fb_places *places, const char *text, size_t n)
{
    const char *end = text + n;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct line l = {text, stop ? stop : end};

        text = stop ? stop + 1 : end;
        skip_blanks(&l);
        if (l.end > l.at && l.end[-1] == '\r')
            l.end--;
        if (!read_map(places, l))
            read_name(places, l);
    }
    places->sorted = false;
}

static int by_start(const void *a, const void *b)
{
    const struct fb_place_map *x = a, *y = b;

    return x->start != y->start ? (x->start < y->start ? -1 : 1)
                                : (x->module > y->module) - (x->module < y->module);
}

static const struct fb_place_map *find_map(struct fb_places *places, uint64_t address)
{
    size_t low = 0, high = places->maps_count;

    if (!places->sorted && places->maps_count > 1)
        qsort(places->maps, places->maps_count, sizeof *places->maps, by_start);
    places->sorted = true;
    while (low < high) { /* the last that starts at or before it */
        size_t middle = (low + high) / 2;

        if (places->maps[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < places->maps[low - 1].end ? &places->maps[low - 1] : NULL;
}

fb_frame_id fb_places_frame(struct fb_places *places, uint64_t address)
{
    struct fb_frame f = {.kind = FB_FRAME_NATIVE, .address = address};
    struct fb_index_cursor at = fb_index_seek(&places->name_index, fb_hash_mix(address));
    const struct fb_place_map *map;
    uint32_t i;

    while (fb_index_step(&places->name_index, &at, &i)) {
        if (places->names[i].address == address)
            return fb_profile_frame_put(places->p, &places->names[i].frame);
    }
    map = find_map(places, address);
    if (map) {
        f.module = map->module;
        f.address = address - places->p->modules[map->module].bias;
    }
    return fb_profile_frame_put(places->p, &f);
}

void fb_places_done(struct fb_places *places)
{
    free(places->maps);
    free(places->names);
    fb_index_done(&places->name_index);
}

#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

void fb_strings_init(struct fb_strings *s)
{
    *s = (struct fb_strings){0};
    (void)fb_strings_put(s, "", 0);
}

void fb_strings_done(struct fb_strings *s)
{
    free(s->items);
    fb_index_done(&s->index);
    fb_arena_done(&s->arena);
    *s = (struct fb_strings){0};
}

static uint32_t find_hashed(const struct fb_strings *s, uint64_t hash, const char *text, size_t len)
{
    struct fb_index_cursor at = fb_index_seek(&s->index, hash);
    uint32_t id;

    while (fb_index_step(&s->index, &at, &id)) {
        const struct fb_string *item = &s->items[id];

        if (item->len == len && memcmp(item->text, text, len) == 0)
            return id;
    }
    return UINT32_MAX;
}

uint32_t fb_strings_find(const struct fb_strings *s, const char *text, size_t len)
{
    return find_hashed(s, fb_hash_bytes(text, len), text, len);
}

uint32_t fb_strings_put(struct fb_strings *s, const char *text, size_t len)
{
    uint64_t hash = fb_hash_bytes(text, len);
    uint32_t id = find_hashed(s, hash, text, len);

    if (id != UINT32_MAX)
        return id;
    fb_vec_reserve(&s->items, &s->room, s->count + 1, sizeof *s->items);
    id = (uint32_t)s->count;
    s->items[s->count++] = (struct fb_string){fb_arena_copy(&s->arena, text, len), len};
    fb_index_add(&s->index, hash, id);
    return id;
}

uint32_t fb_strings_put_z(struct fb_strings *s, const char *text)
{
    return fb_strings_put(s, text, strlen(text));
}

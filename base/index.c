#include "base/index.h"

#include <stdlib.h>

#include "base/vec.h"

static void slot_put(struct fb_index_slot *slots, size_t size, size_t at, struct fb_index_slot s)
{
    while (slots[at].id_plus_1 != 0)
        at = (at + 1) & (size - 1);
    slots[at] = s;
}

static void grow(struct fb_index *ix)
{
    size_t size = ix->size ? ix->size * 2 : 64;
    struct fb_index_slot *slots = fb_alloc_array(size, sizeof *slots);

    for (size_t i = 0; i < ix->size; i++) {
        if (ix->slots[i].id_plus_1 != 0)
            slot_put(slots, size, ix->slots[i].hash & (size - 1), ix->slots[i]);
    }
    free(ix->slots);
    ix->slots = slots;
    ix->size = size;
}

void fb_index_add(struct fb_index *ix, uint64_t hash, uint32_t id)
{
    struct fb_index_slot s = {(uint32_t)(hash >> 32), id + 1};

    if ((ix->count + 1) * 2 > ix->size)
        grow(ix);
    slot_put(ix->slots, ix->size, s.hash & (ix->size - 1), s);
    ix->count++;
}

void fb_index_done(struct fb_index *ix)
{
    free(ix->slots);
    *ix = (struct fb_index){0};
}

/* intern.c - two open-addressing tables.  See intern.h. */
#include "sampler/intern.h"

#include <string.h>
#include <sys/mman.h>

#include "sampler/memory.h"

enum {
    FRAMES_FIRST = 1 << 8,
    NODES_FIRST = 1 << 10,
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static bool key_equal(const struct fb_frame_key *a, const struct fb_frame_key *b)
{
    return a->address == b->address && a->module == b->module && a->name == b->name &&
           a->kind == b->kind;
}

static struct fb_frame_slot *frame_slot(struct fb_frame_slot *table, uint32_t slots,
                                        const struct fb_frame_key *key)
{
    uint64_t hash =
        mix(key->address + ((uint64_t)key->module << 40) + ((uint64_t)key->name << 8) + key->kind);
    uint32_t at = (uint32_t)hash & (slots - 1);

    while (table[at].id != 0 && !key_equal(&table[at].key, key))
        at = (at + 1) & (slots - 1);
    return &table[at];
}

static struct fb_node_slot *node_slot(struct fb_node_slot *table, uint32_t slots, uint32_t parent,
                                      uint32_t frame)
{
    uint32_t at = (uint32_t)mix((uint64_t)parent << 32 | frame) & (slots - 1);

    while (table[at].id != 0 && (table[at].parent != parent || table[at].frame != frame))
        at = (at + 1) & (slots - 1);
    return &table[at];
}

static bool frames_resize(struct fb_intern *in, uint32_t slots)
{
    struct fb_frame_slot *table = fb_memory_map(slots * sizeof *table);

    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < in->frame_slots; i++)
        if (in->frames[i].id != 0)
            *frame_slot(table, slots, &in->frames[i].key) = in->frames[i];
    fb_memory_unmap(in->frames, in->frame_slots * sizeof *in->frames);
    in->frames = table;
    in->frame_slots = slots;
    return true;
}

static bool nodes_resize(struct fb_intern *in, uint32_t slots)
{
    struct fb_node_slot *table = fb_memory_map(slots * sizeof *table);

    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < in->node_slots; i++)
        if (in->nodes[i].id != 0)
            *node_slot(table, slots, in->nodes[i].parent, in->nodes[i].frame) = in->nodes[i];
    fb_memory_unmap(in->nodes, in->node_slots * sizeof *in->nodes);
    in->nodes = table;
    in->node_slots = slots;
    return true;
}

bool fb_intern_init(struct fb_intern *in)
{
    memset(in, 0, sizeof *in);
    in->next_frame = in->next_node = 1;
    if (frames_resize(in, FRAMES_FIRST) && nodes_resize(in, NODES_FIRST))
        return true;
    fb_intern_done(in);
    return false;
}

void fb_intern_done(struct fb_intern *in)
{
    fb_memory_unmap(in->frames, in->frame_slots * sizeof *in->frames);
    fb_memory_unmap(in->nodes, in->node_slots * sizeof *in->nodes);
    memset(in, 0, sizeof *in);
}

static void nodes_reset(struct fb_intern *in)
{
    madvise(in->nodes, in->node_slots * sizeof *in->nodes, MADV_DONTNEED);
    in->node_used = 0;
}

void fb_intern_reset(struct fb_intern *in)
{
    madvise(in->frames, in->frame_slots * sizeof *in->frames, MADV_DONTNEED);
    in->frame_used = 0;
    nodes_reset(in);
}

uint32_t fb_intern_frame(struct fb_intern *in, const struct fb_frame_key *key, bool *ret_new)
{
    struct fb_frame_slot *slot = frame_slot(in->frames, in->frame_slots, key);

    *ret_new = slot->id == 0;
    if (slot->id != 0)
        return slot->id;
    if (in->frame_used >= in->frame_slots / 4 * 3) {
        if (in->frame_slots < FB_INTERN_FRAMES_MAX) {
            if (!frames_resize(in, in->frame_slots * 2))
                return 0;
        } else {
            madvise(in->frames, in->frame_slots * sizeof *in->frames, MADV_DONTNEED);
            in->frame_used = 0;
        }
        slot = frame_slot(in->frames, in->frame_slots, key);
    }
    slot->key = *key;
    slot->id = in->next_frame++;
    in->frame_used++;
    return slot->id;
}

uint32_t fb_intern_node(struct fb_intern *in, uint32_t parent, uint32_t frame, bool *ret_new)
{
    struct fb_node_slot *slot = node_slot(in->nodes, in->node_slots, parent, frame);

    *ret_new = slot->id == 0;
    if (slot->id != 0)
        return slot->id;
    if (in->node_used >= in->node_slots / 4 * 3) {
        if (in->node_slots >= FB_INTERN_NODES_MAX)
            nodes_reset(in);
        else if (!nodes_resize(in, in->node_slots * 2))
            return 0;
        slot = node_slot(in->nodes, in->node_slots, parent, frame);
    }
    slot->parent = parent;
    slot->frame = frame;
    slot->id = in->next_node++;
    in->node_used++;
    return slot->id;
}

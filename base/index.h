/* index.h - a hash index: from a key's hash to the small number that names it.
 *
 * The index stores only (hash, id); the keys live in the owner's array.  So one implementation
 * serves strings, (parent, frame) pairs and function identities:
 *
 *     struct fb_index_cursor at = fb_index_seek(&ix, hash);
 *     while (fb_index_step(&ix, &at, &id))         candidates with this hash
 *         if (keys[id] is the key) return id;
 *     fb_index_add(&ix, hash, new_id);
 *
 * Only the upper 32 bits of a hash are used.  Zero-initialise; fb_index_done() frees. */
#ifndef FB_BASE_INDEX_H
#define FB_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_index {
    struct fb_index_slot *slots; /* a power of two of them, or NULL */
    size_t size, count;
};

struct fb_index_slot {
    uint32_t hash, id_plus_1; /* 0: free */
};

struct fb_index_cursor {
    uint32_t hash;
    size_t at;
};

static inline struct fb_index_cursor fb_index_seek(const struct fb_index *ix, uint64_t hash)
{
    uint32_t high = (uint32_t)(hash >> 32);
    struct fb_index_cursor c = {high, ix->size ? high & (ix->size - 1) : 0};

    return c;
}

static inline bool fb_index_step(const struct fb_index *ix, struct fb_index_cursor *c,
                                 uint32_t *ret_id)
{
    while (ix->size > 0 && ix->slots[c->at].id_plus_1 != 0) {
        const struct fb_index_slot *slot = &ix->slots[c->at];

        c->at = (c->at + 1) & (ix->size - 1);
        if (slot->hash == c->hash) {
            *ret_id = slot->id_plus_1 - 1;
            return true;
        }
    }
    return false;
}

/* id < UINT32_MAX.  Does not look whether the key is there already. */
void fb_index_add(struct fb_index *ix, uint64_t hash, uint32_t id);
void fb_index_done(struct fb_index *ix);

#endif

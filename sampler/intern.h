/* intern.h - addresses become frame ids, stacks become ids of a prefix tree.
 *
 * Context: the helper thread alone.  Own memory, never the host's heap.
 *
 *     frame = fb_intern_frame(&in, &key, &is_new);       is_new: to be written to the bank
 *     node = fb_intern_node(&in, node, frame, &is_new);  from 0, outermost frame first
 *
 * Ids only grow and are never reused in a bank.  A table that is full at its
 * maximum is dropped and started anew: the same frame then gets a second id,
 * which costs bytes and nothing else.  Tables start at one page and double. */
#ifndef FB_SAMPLER_INTERN_H
#define FB_SAMPLER_INTERN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FB_INTERN_FRAMES_MAX = 1 << 17, /* slots; 3/4 of them may be in use */
    FB_INTERN_NODES_MAX = 1 << 18,
};

struct fb_frame_key {
    uint64_t address; /* ELF virtual address, or runtime address without a module */
    uint32_t module;  /* module id + 1, or 0                                      */
    uint16_t name;    /* string id, or 0                                          */
    uint8_t kind;     /* enum fb_frame_kind                                       */
    uint8_t zero;
};

struct fb_frame_slot {
    struct fb_frame_key key;
    uint32_t id; /* 0: empty */
    uint32_t zero;
};

struct fb_node_slot {
    uint32_t parent;
    uint32_t frame;
    uint32_t id; /* 0: empty */
};

struct fb_intern {
    struct fb_frame_slot *frames;
    struct fb_node_slot *nodes;
    uint32_t frame_slots;
    uint32_t node_slots;
    uint32_t frame_used;
    uint32_t node_used;
    uint32_t next_frame;
    uint32_t next_node;
};

/* False: no memory. */
bool fb_intern_init(struct fb_intern *in);
void fb_intern_done(struct fb_intern *in);

/* Forgets both tables; ids go on. */
void fb_intern_reset(struct fb_intern *in);

/* The frame's id, from 1; *ret_new says that it was given out now.  0: no memory. */
uint32_t fb_intern_frame(struct fb_intern *in, const struct fb_frame_key *key, bool *ret_new);

/* The id of the stack parent + frame, from 1 and greater than parent.  0: no memory. */
uint32_t fb_intern_node(struct fb_intern *in, uint32_t parent, uint32_t frame, bool *ret_new);

#endif

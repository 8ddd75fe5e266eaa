/* jfr_pools.h - the constants of one JFR chunk, and what they become in the profile.
 *
 *     fb_jfr_pools_init(&pools, &classes, profile, &threads);
 *     ok = fb_jfr_pools_read(&pools, payload of a checkpoint event);     any number of them
 *     stack = fb_jfr_stack(&pools, key, &found);
 *     fb_jfr_pools_done(&pools);
 *
 * Reading a pool only takes down where its entries are; stacks, methods and threads are put into
 * the profile when a sample first asks for them.  Keys and constants are a chunk's own; threads are
 * known beyond it by name and id.  Private to profile/read/jfr*.c. */
#ifndef FB_PROFILE_READ_JFR_POOLS_H
#define FB_PROFILE_READ_JFR_POOLS_H

#include "base/buf.h"
#include "profile/model.h"
#include "profile/read/jfr_types.h"

enum fb_jfr_pool {
    FB_JFR_SYMBOLS,
    FB_JFR_CLASSES,
    FB_JFR_METHODS,
    FB_JFR_STACKS,
    FB_JFR_THREADS,
    FB_JFR_STRINGS,
    FB_JFR_FRAME_TYPES,
    FB_JFR_STATES,
    FB_JFR_POOL_COUNT
};

struct fb_jfr_entry;

struct fb_jfr_thread_ids { /* beyond chunks */
    struct {
        uint32_t tid, name;
        uint64_t java_id;
    } * items; /* by thread of the profile */
    size_t room;
    struct fb_index index;
};

struct fb_jfr_pools {
    struct fb_jfr_classes *classes;
    struct fb_profile *p;
    struct fb_jfr_thread_ids *threads;
    struct {
        struct fb_jfr_entry *entries;
        size_t count, room;
        struct fb_index index;
        uint64_t class_id;
        uint32_t program; /* of an entry */
        bool exists;
    } pools[FB_JFR_POOL_COUNT];
    uint32_t frame_program; /* of a frame of a stack */
    bool tells_c1;          /* the recorder tells C1 from C2 */
    uint64_t truncated;     /* stacks that were asked for and are cut, once for each sample */
    fb_frame_id *frames;    /* of one stack */
    size_t frames_room;
    struct fb_buf text;
};

void fb_jfr_pools_init(struct fb_jfr_pools *pools, struct fb_jfr_classes *classes,
                       struct fb_profile *p, struct fb_jfr_thread_ids *threads);
void fb_jfr_pools_done(struct fb_jfr_pools *pools);

/* `in` begins behind the event's type.  False where the event is damaged; what was read by then
 * stays. */
bool fb_jfr_pools_read(struct fb_jfr_pools *pools, struct fb_wire_in in);

/* The stack of a key; false where the chunk does not have it (its recorder was killed before it was
 * written).  Key 0 is no stack: the root. */
bool fb_jfr_stack(struct fb_jfr_pools *pools, uint64_t key, fb_stack_id *ret_stack);
/* FB_NO_THREAD where the key is 0 or unknown. */
uint32_t fb_jfr_thread(struct fb_jfr_pools *pools, uint64_t key);
/* A class's name with dots, a state, a text of an event: strings of the profile; 0 unknown. */
uint32_t fb_jfr_class_name(struct fb_jfr_pools *pools, uint64_t key);
uint32_t fb_jfr_state(struct fb_jfr_pools *pools, uint64_t key);
uint32_t fb_jfr_string(struct fb_jfr_pools *pools, const struct fb_jfr_text *text);

#endif

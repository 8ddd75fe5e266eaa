/* code_map.h - which code is where: the table of tables that the handler reads.
 *
 * Context: signal for enter, leave, find and rule; the helper thread alone for
 * the others.
 *
 *     map = fb_code_map_enter();           in the handler
 *     module = fb_code_map_find(map, pc);
 *     rule = fb_code_module_rule(module, pc);
 *     fb_code_map_leave();
 *
 * Rows of a module are there at once, or made block by block once a walk has
 * come by (sampler/lazy.h): then a block without rows yet is FB_CFA_PENDING.
 * Asking for it sets its bit in `wanted`; fb_code_map_ring() at the end of the
 * handler rings the bell, a futex word that the helper sleeps on.  Blocks only
 * ever go from not made to made, so that no new map is needed for them.
 *
 * A map is immutable once published.  The writer of maps (sampler/modules.c)
 * publishes a new one and keeps the old one and every table that only the old
 * one names until fb_code_map_quiet() has been true AFTER the publication:
 * enter counts the reader before it loads the pointer and both sides are
 * sequentially consistent, so a reader that still holds the old map is either
 * counted when quiet looks, or has already left.  (arm64: the store of publish
 * and the load of quiet are stlr and ldar, which the architecture keeps in order;
 * emulators do not, so that a full fence stands between them.)  Rows of a block
 * are written before the release of their pointer, which walks acquire.  A handler that never
 * leaves (a host handler that jumps out of ours) keeps the count above zero for ever: then nothing
 * is freed any more, which is the safe side. */
#ifndef FB_SAMPLER_SIGNAL_CODE_MAP_H
#define FB_SAMPLER_SIGNAL_CODE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/signal/rule.h"

enum { FB_BLOCK_SHIFT = 15 };

/* Rows by block of code; those of a block hold offsets from the block's start. */
struct fb_code_blocks {
    uint32_t count;
    _Atomic(const struct fb_rows *) *rows; /* [count], NULL: not made yet             */
    _Atomic uint64_t *wanted;              /* a bit a block                            */
    _Atomic bool any_wanted;
};

struct fb_code_module {
    uint64_t start; /* runtime addresses of the executable segments: [start, end) */
    uint64_t end;
    uint64_t bias; /* for normal context: see sampler/modules.h */
    uint32_t id;
    struct fb_rows rows;           /* offsets are relative to start; row_count 0: no table  */
    struct fb_code_blocks *blocks; /* instead of rows, from start on; NULL: none   */
};

struct fb_code_map {
    uint64_t generation; /* differs between any two maps; 0 and 1 are not for modules.c */
    uint32_t count;
    struct fb_code_module modules[]; /* sorted by start, disjoint */
};

/* The current map (an empty one before the first publication), until leave. */
const struct fb_code_map *fb_code_map_enter(void);
void fb_code_map_leave(void);

/* The module whose code holds pc, or NULL. */
const struct fb_code_module *fb_code_map_find(const struct fb_code_map *map, uint64_t pc);

/* The rule for pc, which lies in the module: FB_CFA_NONE where it has none, FB_CFA_PENDING where it
 * is not known yet. */
const struct fb_rule *fb_code_module_rule(const struct fb_code_module *module, uint64_t pc);

/* There is unknown code, or a map has been asked for before there was one: a reason to ring, at
 * most once until fb_code_map_unknown_take(). */
void fb_code_map_unknown_say(void);
bool fb_code_map_unknown_take(void);

/* Wakes the helper if there has been a reason since the last time.  It may run at once, in our
 * place: so this is the last that a handler does. */
void fb_code_map_ring(void);

/* The futex word to count up and wake; it must stay. */
void fb_code_map_bell_set(_Atomic uint32_t *word);

/* Makes map the current one; it stays the caller's memory. */
void fb_code_map_publish(const struct fb_code_map *map);

/* True if no reader is between enter and leave at this moment. */
bool fb_code_map_quiet(void);

/* In the child of a fork: the other threads, and whatever they held, are gone. */
void fb_code_map_forget_readers(void);

#endif

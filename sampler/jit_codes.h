/* jit_codes.h - ranges of generated code over time, and which one an address was in.
 *
 * Context: the helper thread alone; own memory, bounded.
 *
 *     fb_jit_codes_add(&codes, &code);       in the order in which they were made
 *     fb_jit_codes_settle(&codes);           then they can be found
 *     code = fb_jit_codes_find(&codes, pc, time_ns, &several);
 *
 * Ranges may overlap, as addresses are used again.  Of those that hold an
 * address the answer is the last one that was there at the time, or the first
 * one, if none was yet.  A table that is full forgets what a later code at the
 * same start has replaced; then it takes no more. */
#ifndef FB_SAMPLER_JIT_CODES_H
#define FB_SAMPLER_JIT_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/pages.h"

enum { FB_JIT_CODES_MAX = 1 << 17 };

struct fb_jit_code {
    uint64_t start; /* [start, end) */
    uint64_t end;
    uint64_t time_ns;  /* not before */
    uint64_t name_at;  /* where its name is, in the file that it is of */
    uint64_t debug_at; /* and its lines; 0: it has none               */
    uint32_t order;    /* set here, from 1                            */
    uint32_t string;   /* of the bank, once it was given out          */
};

struct fb_jit_codes {
    struct fb_pages pages; /* settled ones by start and order, then new ones */
    uint32_t settled;
    uint32_t count;
    uint32_t last_order;
};

/* False: no room. */
bool fb_jit_codes_add(struct fb_jit_codes *codes, const struct fb_jit_code *code);

void fb_jit_codes_settle(struct fb_jit_codes *codes);

/* NULL: none holds it.  *ret_several: another time may have another answer.  Good until the next
 * call of add or settle. */
struct fb_jit_code *fb_jit_codes_find(const struct fb_jit_codes *codes, uint64_t pc,
                                      uint64_t time_ns, bool *ret_several);

/* The newest that starts there, settled or not; NULL: none. */
const struct fb_jit_code *fb_jit_codes_at(const struct fb_jit_codes *codes, uint64_t start);

void fb_jit_codes_clear(struct fb_jit_codes *codes);

#endif

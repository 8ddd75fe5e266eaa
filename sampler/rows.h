/* rows.h - FDEs of one stretch of code, compiled to the rows that the handler reads.
 *
 *     struct fb_rows_build b = {0};                        kept from use to use
 *     if (fb_rows_begin(&b, base, low, high, rules_max)) {
 *         while (...) fb_rows_add(&b, &cfi, &fde);         any order
 *         if (fb_rows_run(&b))
 *             fb_rows_pack(&b, memory of fb_rows_bytes(&b), &rows);
 *     }
 *     fb_rows_done(&b);
 *
 * Context: normal.  Addresses are runtime addresses; rows are offsets from base
 * and lie in [low, high).  Where FDEs overlap, the later start wins; one of a
 * .debug_frame gives way to any of an .eh_frame.  Gaps of FB_ROWS_GAP bytes or
 * more are rows without a rule; smaller ones are padding, and belong to the row
 * before.  Neighbours with equal rules are one row; rules beyond rules_max are
 * none. */
#ifndef FB_SAMPLER_ROWS_H
#define FB_SAMPLER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/cfi.h"
#include "sampler/pages.h"
#include "sampler/signal/rule.h"

enum { FB_ROWS_GAP = 16, FB_ROWS_RULES_MAX = 65535 };

struct fb_rows_build {
    struct fb_pages span_pages, pc_pages, index_pages, rule_pages, hash_pages;
    uint64_t base, low, high;
    uint32_t span_count;
    uint32_t row_count;
    uint32_t rule_count;
    uint32_t rules_max;
    uint32_t hash_mask;
    uint64_t limit; /* rows at or behind it are the next FDE's */
    bool out_of_memory;
};

/* Memory for any stretch of up to `code` bytes: fb_rows_begin() and the others map none then.  It
 * costs nothing until it is touched. */
bool fb_rows_reserve(struct fb_rows_build *b, size_t code, uint32_t rules_max);

/* high - base is below 4 GiB; rules_max at most FB_ROWS_RULES_MAX.  False without memory. */
bool fb_rows_begin(struct fb_rows_build *b, uint64_t base, uint64_t low, uint64_t high,
                   uint32_t rules_max);

/* Both must stay until fb_rows_run() is over; cfi NULL: the code is a signal trampoline. */
bool fb_rows_add(struct fb_rows_build *b, struct fb_cfi *cfi, const struct fb_cfi_fde *fde);

/* Sorts what was added, and says whether a gap of that many bytes is in [low, high). */
bool fb_rows_have_gap(struct fb_rows_build *b, uint64_t bytes);

/* False without memory, or if there is no row at all. */
bool fb_rows_run(struct fb_rows_build *b);

size_t fb_rows_bytes(const struct fb_rows_build *b);

/* memory is aligned to 8. */
void fb_rows_pack(const struct fb_rows_build *b, void *memory, struct fb_rows *ret_rows);

void fb_rows_done(struct fb_rows_build *b);

#endif

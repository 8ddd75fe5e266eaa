/* table.h - compiles a whole .eh_frame to rows: for modules that sampler/lazy.h cannot do.
 *
 *     struct fb_cfi cfi = {.bytes = copy, .size = n, .address = a, .machine = FB_MACHINE_HOST};
 *     if (fb_table_build(&cfi, text_start, text_end, 0, &table))
 *         ... table.rows ...
 *     fb_table_free(&table);
 *
 * Context: normal.  Needs the section's bytes only while it builds (a copy: see
 * sampler/self_read.h); the table owns one mapping.  Row pcs are offsets from
 * text_start; code outside [text_start, text_end) has no rows.  How FDEs become
 * rows: sampler/rows.h.
 *
 * A signal trampoline without call frame information (the vDSO of arm64 has had
 * none since Linux 5.8) is found by its instructions and given to the build as
 * `trampoline`; its rows start one instruction early, where a return address
 * minus 1 is looked up.
 *
 * Cost: 6 bytes a row and 4 bytes per KiB of code; some 0.7 us per FDE. */
#ifndef FB_SAMPLER_TABLE_H
#define FB_SAMPLER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/cfi.h"
#include "sampler/pages.h"
#include "sampler/signal/rule.h"

struct fb_table {
    struct fb_rows rows;
    struct fb_pages pages; /* what rows points into */
    uint32_t rule_count;
    uint32_t fde_count;
    uint32_t bad_count; /* records passed over */
};

/* trampoline: its runtime address, 0 if there is none.  False without memory, or if nothing covers
 * the text; *ret_table is set on success only. */
bool fb_table_build(struct fb_cfi *cfi, uint64_t text_start, uint64_t text_end, uint64_t trampoline,
                    struct fb_table *ret_table);

/* Offset of `mov x8, #__NR_rt_sigreturn; svc #0` (arm64) in code, or `size` if it is not there. */
size_t fb_table_trampoline_search(const uint8_t *code, size_t size);

void fb_table_free(struct fb_table *table);

#endif

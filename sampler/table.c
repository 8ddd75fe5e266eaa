/* table.c - a whole section at once.  See table.h and rows.h. */
#include "sampler/table.h"

#include <string.h>

#include "sampler/rows.h"

enum { TRAMPOLINE_SIZE = 8 };

static bool fdes_add(struct fb_rows_build *b, struct fb_cfi *cfi)
{
    struct fb_cfi_fde fde;

    while (fb_cfi_next(cfi, &fde))
        if (fde.start >= b->low && fde.end <= b->high && !fb_rows_add(b, cfi, &fde))
            return false;
    return true;
}

/* Its rows start one instruction early, where a return address minus 1 is looked up. */
static bool trampoline_add(struct fb_rows_build *b, uint64_t trampoline)
{
    struct fb_cfi_fde fde = {.start = trampoline - 4, .end = trampoline + TRAMPOLINE_SIZE};

    if (trampoline == 0 || fde.start < b->low || fde.end > b->high)
        return true;
    return fb_rows_add(b, NULL, &fde);
}

size_t fb_table_trampoline_search(const uint8_t *code, size_t size)
{
    static const uint8_t want[TRAMPOLINE_SIZE] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

    for (size_t at = 0; size >= sizeof want && at <= size - sizeof want; at += 4)
        if (memcmp(code + at, want, sizeof want) == 0)
            return at;
    return size;
}

static bool table_run(struct fb_rows_build *b, struct fb_cfi *cfi, uint64_t trampoline,
                      struct fb_table *table)
{
    if (!fdes_add(b, cfi) || !trampoline_add(b, trampoline) || b->span_count == 0)
        return false;
    table->fde_count = b->span_count;
    if (!fb_rows_run(b) || !fb_pages_map(&table->pages, fb_rows_bytes(b)))
        return false;
    fb_rows_pack(b, table->pages.data, &table->rows);
    table->rule_count = b->rule_count;
    table->bad_count = (uint32_t)cfi->bad_records;
    return true;
}

bool fb_table_build(struct fb_cfi *cfi, uint64_t text_start, uint64_t text_end, uint64_t trampoline,
                    struct fb_table *ret_table)
{
    struct fb_rows_build b = {.base = 0};
    struct fb_table table = {.rule_count = 0};
    bool ok;

    if (text_end <= text_start || text_end - text_start >= UINT32_MAX || cfi->size >= UINT32_MAX)
        return false;
    ok = fb_rows_begin(&b, text_start, text_start, text_end, FB_ROWS_RULES_MAX) &&
         table_run(&b, cfi, trampoline, &table);
    if (ok)
        *ret_table = table;
    fb_rows_done(&b);
    return ok;
}

void fb_table_free(struct fb_table *table)
{
    fb_pages_free(&table->pages);
    *table = (struct fb_table){.rule_count = 0};
}

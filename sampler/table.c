/* table.c - FDEs in address order, run into growing arrays, then packed into one mapping. */
#include "sampler/table.h"

#include <string.h>

enum {
    NO_RULE = 0, /* the first rule of every table is the empty one */
    RULE_MAX = 65535,
    HASH_SIZE = 1 << 17,
    TRAMPOLINE_SIZE = 8,
    TRAMPOLINE_CIE = UINT32_MAX, /* marks the span that is no FDE: sections are smaller */
};

/* An FDE, by code offset.  fde offsets are below 4 GiB: fb_cfi sections are. */
struct span {
    uint32_t start;
    uint32_t end;
    uint32_t program;
    uint32_t program_end;
    uint32_t cie;
};

struct build {
    struct fb_cfi *cfi;
    uint64_t text_start;
    struct fb_pages span_pages, pc_pages, index_pages, rule_pages, hash_pages;
    uint32_t span_count;
    uint32_t row_count;
    uint32_t rule_count;
    uint32_t limit; /* rows at or behind it are the next FDE's */
    bool out_of_memory;
};

/* --- rules --------------------------------------------------------------- */

static uint32_t rule_hash(const struct fb_rule *rule)
{
    uint64_t h = (uint32_t)rule->cfa_off * UINT64_C(0x9e3779b97f4a7c15);

    h ^= ((uint64_t)(uint32_t)rule->fp_off << 32 | (uint32_t)rule->ra_off) *
         UINT64_C(0xc2b2ae3d27d4eb4f);
    h ^= ((uint64_t)(uint32_t)rule->deref_add << 32 | (uint32_t)rule->cfa << 24 |
          (uint32_t)rule->fp << 16 | (uint32_t)rule->ra << 8 | rule->reg) *
         UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(h >> 40) & (HASH_SIZE - 1);
}

static bool rule_equal(const struct fb_rule *a, const struct fb_rule *b)
{
    return a->cfa == b->cfa && a->fp == b->fp && a->ra == b->ra && a->reg == b->reg &&
           a->cfa_off == b->cfa_off && a->fp_off == b->fp_off && a->ra_off == b->ra_off &&
           a->deref_add == b->deref_add;
}

/* The index of an equal rule, added if it is new; NO_RULE when the table of rules is full.
 * The hash has twice as many slots as there are rules, so a free one is always met. */
static uint16_t rule_intern(struct build *b, const struct fb_rule *rule)
{
    uint32_t *slots = b->hash_pages.data;
    struct fb_rule *rules = b->rule_pages.data;
    uint32_t at = rule_hash(rule);

    if (rule->cfa == FB_CFA_NONE)
        return NO_RULE;
    for (; slots[at] != 0; at = (at + 1) & (HASH_SIZE - 1))
        if (rule_equal(&rules[slots[at]], rule))
            return (uint16_t)slots[at];
    if (b->rule_count == RULE_MAX)
        return NO_RULE;
    if (!fb_pages_reserve(&b->rule_pages, (b->rule_count + 1) * sizeof *rules)) {
        b->out_of_memory = true;
        return NO_RULE;
    }
    rules = b->rule_pages.data;
    rules[b->rule_count] = *rule;
    slots[at] = b->rule_count;
    return (uint16_t)b->rule_count++;
}

/* --- rows ---------------------------------------------------------------- */

static void row_add(struct build *b, uint32_t pc, uint16_t rule)
{
    uint32_t *pcs = b->pc_pages.data;
    uint16_t *index = b->index_pages.data;

    if (b->row_count > 0 && pcs[b->row_count - 1] == pc)
        b->row_count--;
    if (b->row_count > 0 && index[b->row_count - 1] == rule)
        return;
    if (!fb_pages_reserve(&b->pc_pages, (b->row_count + 1) * sizeof *pcs) ||
        !fb_pages_reserve(&b->index_pages, (b->row_count + 1) * sizeof *index)) {
        b->out_of_memory = true;
        return;
    }
    pcs = b->pc_pages.data;
    index = b->index_pages.data;
    pcs[b->row_count] = pc;
    index[b->row_count++] = rule;
}

static void on_row(void *ctx, uint64_t pc, const struct fb_rule *rule)
{
    struct build *b = ctx;
    uint64_t offset = pc - b->text_start;

    if (offset < b->limit)
        row_add(b, (uint32_t)offset, rule_intern(b, rule));
}

/* --- FDEs in order ------------------------------------------------------- */

static bool spans_read(struct build *b, uint64_t text_end)
{
    struct fb_cfi_fde fde;

    while (fb_cfi_next(b->cfi, &fde)) {
        struct span *spans;

        if (fde.start < b->text_start || fde.end > text_end)
            continue;
        if (!fb_pages_reserve(&b->span_pages, (b->span_count + 1) * sizeof *spans))
            return false;
        spans = b->span_pages.data;
        spans[b->span_count++] = (struct span){.start = (uint32_t)(fde.start - b->text_start),
                                               .end = (uint32_t)(fde.end - b->text_start),
                                               .program = (uint32_t)fde.program,
                                               .program_end = (uint32_t)fde.program_end,
                                               .cie = (uint32_t)fde.cie};
    }
    return true;
}

static bool trampoline_add(struct build *b, uint64_t trampoline, uint64_t text_end)
{
    uint64_t start = trampoline - 4;
    struct span *spans;

    if (trampoline == 0 || start < b->text_start || start > text_end - TRAMPOLINE_SIZE - 4)
        return true;
    if (!fb_pages_reserve(&b->span_pages, (b->span_count + 1) * sizeof *spans))
        return false;
    spans = b->span_pages.data;
    start -= b->text_start;
    spans[b->span_count++] = (struct span){.start = (uint32_t)start,
                                           .end = (uint32_t)start + 4 + TRAMPOLINE_SIZE,
                                           .cie = TRAMPOLINE_CIE};
    return true;
}

static void span_sift(struct span *spans, uint32_t root, uint32_t count)
{
    struct span moved = spans[root];

    for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && spans[child + 1].start > spans[child].start)
            child++;
        if (moved.start >= spans[child].start)
            break;
        spans[root] = spans[child];
        root = child;
    }
    spans[root] = moved;
}

/* Heapsort: qsort() may call the host's malloc.  Most sections are sorted already. */
static void spans_sort(struct span *spans, uint32_t count)
{
    uint32_t i = 1;

    while (i < count && spans[i - 1].start <= spans[i].start)
        i++;
    if (i >= count)
        return;
    for (uint32_t root = count / 2; root-- > 0;)
        span_sift(spans, root, count);
    for (uint32_t last = count - 1; last > 0; last--) {
        struct span top = spans[0];

        spans[0] = spans[last];
        spans[last] = top;
        span_sift(spans, 0, last);
    }
}

static void span_run(struct build *b, const struct span *span)
{
    static const struct fb_rule signal = {.cfa = FB_CFA_SIGNAL};
    struct fb_cfi_fde fde = {.start = b->text_start + span->start,
                             .end = b->text_start + span->end,
                             .cie = span->cie,
                             .program = span->program,
                             .program_end = span->program_end};

    if (span->cie == TRAMPOLINE_CIE)
        on_row(b, fde.start, &signal);
    else
        fb_cfi_run(b->cfi, &fde, on_row, b);
}

static void spans_run(struct build *b)
{
    const struct span *spans = b->span_pages.data;

    for (uint32_t i = 0; i < b->span_count && !b->out_of_memory; i++) {
        uint32_t next = i + 1 < b->span_count ? spans[i + 1].start : UINT32_MAX;

        b->limit = next;
        span_run(b, &spans[i]);
        if (spans[i].end < next && next - spans[i].end >= FB_TABLE_GAP)
            row_add(b, spans[i].end, NO_RULE);
    }
}

/* --- packing ------------------------------------------------------------- */

static void pages_fill(const uint32_t *pcs, uint32_t row_count, uint32_t *pages,
                       uint32_t page_count)
{
    uint32_t row = 0;

    for (uint32_t page = 0; page <= page_count; page++) {
        while (row < row_count && pcs[row] >> FB_ROWS_PAGE_SHIFT < page)
            row++;
        pages[page] = row;
    }
}

static bool pack(const struct build *b, struct fb_table *table)
{
    const uint32_t *from = b->pc_pages.data;
    uint32_t rows = b->row_count;
    uint32_t page_count = (from[rows - 1] >> FB_ROWS_PAGE_SHIFT) + 1;
    size_t pages_at = (size_t)rows * sizeof(uint32_t);
    size_t rules_at = pages_at + ((size_t)page_count + 1) * sizeof(uint32_t);
    size_t index_at = rules_at + b->rule_count * sizeof(struct fb_rule);
    uint8_t *at;

    if (!fb_pages_map(&table->pages, index_at + (size_t)rows * sizeof(uint16_t)))
        return false;
    at = table->pages.data;
    memcpy(at, from, pages_at);
    memcpy(at + rules_at, b->rule_pages.data, index_at - rules_at);
    memcpy(at + index_at, b->index_pages.data, (size_t)rows * sizeof(uint16_t));
    pages_fill(from, rows, (uint32_t *)(void *)(at + pages_at), page_count);
    table->rows = (struct fb_rows){.pcs = (const uint32_t *)(const void *)at,
                                   .index = (const uint16_t *)(const void *)(at + index_at),
                                   .pages = (const uint32_t *)(const void *)(at + pages_at),
                                   .rules = (const struct fb_rule *)(const void *)(at + rules_at),
                                   .row_count = rows,
                                   .page_count = page_count};
    return true;
}

static bool build_run(struct build *b, uint64_t text_end, uint64_t trampoline)
{
    if (!fb_pages_map(&b->hash_pages, HASH_SIZE * sizeof(uint32_t)) ||
        !fb_pages_reserve(&b->rule_pages, sizeof(struct fb_rule)))
        return false;
    b->rule_count = 1; /* NO_RULE: fresh pages are zero, FB_CFA_NONE is too */
    if (!spans_read(b, text_end) || !trampoline_add(b, trampoline, text_end) || b->span_count == 0)
        return false;
    spans_sort(b->span_pages.data, b->span_count);
    spans_run(b);
    return !b->out_of_memory && b->row_count > 0;
}

size_t fb_table_trampoline_search(const uint8_t *code, size_t size)
{
    static const uint8_t want[TRAMPOLINE_SIZE] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

    for (size_t at = 0; size >= sizeof want && at <= size - sizeof want; at += 4)
        if (memcmp(code + at, want, sizeof want) == 0)
            return at;
    return size;
}

bool fb_table_build(struct fb_cfi *cfi, uint64_t text_start, uint64_t text_end, uint64_t trampoline,
                    struct fb_table *ret_table)
{
    struct build b = {.cfi = cfi, .text_start = text_start};
    struct fb_table table = {0};
    bool ok;

    if (text_end <= text_start || text_end - text_start >= UINT32_MAX || cfi->size >= UINT32_MAX)
        return false;
    ok = build_run(&b, text_end, trampoline) && pack(&b, &table);
    if (ok) {
        table.rule_count = b.rule_count;
        table.fde_count = b.span_count;
        table.bad_count = (uint32_t)cfi->bad_records;
        *ret_table = table;
    }
    fb_pages_free(&b.span_pages);
    fb_pages_free(&b.pc_pages);
    fb_pages_free(&b.index_pages);
    fb_pages_free(&b.rule_pages);
    fb_pages_free(&b.hash_pages);
    return ok;
}

void fb_table_free(struct fb_table *table)
{
    fb_pages_free(&table->pages);
    *table = (struct fb_table){0};
}

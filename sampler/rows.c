/* rows.c - FDEs in address order, run into growing arrays, then packed.  See rows.h. */
#include "sampler/rows.h"

#include <string.h>

enum {
    NO_RULE = 0, /* the first rule of every table is the empty one */
};

struct span {
    struct fb_cfi *cfi; /* NULL: a signal trampoline */
    struct fb_cfi_fde fde;
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
    return (uint32_t)(h >> 40);
}

static bool rule_equal(const struct fb_rule *a, const struct fb_rule *b)
{
    return a->cfa == b->cfa && a->fp == b->fp && a->ra == b->ra && a->reg == b->reg &&
           a->cfa_off == b->cfa_off && a->fp_off == b->fp_off && a->ra_off == b->ra_off &&
           a->deref_add == b->deref_add;
}

/* The index of an equal rule, added if it is new; NO_RULE when the table of rules is full.
 * The hash has twice as many slots as there are rules, so a free one is always met. */
static uint16_t rule_intern(struct fb_rows_build *b, const struct fb_rule *rule)
{
    uint32_t *slots = b->hash_pages.data;
    struct fb_rule *rules = b->rule_pages.data;
    uint32_t at = rule_hash(rule) & b->hash_mask;

    if (rule->cfa == FB_CFA_NONE)
        return NO_RULE;
    for (; slots[at] != 0; at = (at + 1) & b->hash_mask)
        if (rule_equal(&rules[slots[at]], rule))
            return (uint16_t)slots[at];
    if (b->rule_count == b->rules_max)
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

/* pc is at or above low and below high. */
static void row_add(struct fb_rows_build *b, uint64_t pc, uint16_t rule)
{
    uint32_t offset = (uint32_t)(pc - b->base);
    uint32_t *pcs = b->pc_pages.data;
    uint16_t *index = b->index_pages.data;

    if (b->row_count > 0 && pcs[b->row_count - 1] == offset)
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
    pcs[b->row_count] = offset;
    index[b->row_count++] = rule;
}

static void on_row(void *ctx, uint64_t pc, const struct fb_rule *rule)
{
    struct fb_rows_build *b = ctx;

    if (pc < b->limit)
        row_add(b, pc > b->low ? pc : b->low, rule_intern(b, rule));
}

/* --- FDEs in order ------------------------------------------------------- */

static uint32_t hash_slots(uint32_t rules_max)
{
    uint32_t slots = 64;

    while (slots < 2 * (rules_max + 1))
        slots *= 2;
    return slots;
}

/* A row and an FDE are of at least one byte of code. */
bool fb_rows_reserve(struct fb_rows_build *b, size_t code, uint32_t rules_max)
{
    return fb_pages_reserve(&b->span_pages, (code + 1) * sizeof(struct span)) &&
           fb_pages_reserve(&b->pc_pages, (code + 1) * sizeof(uint32_t)) &&
           fb_pages_reserve(&b->index_pages, (code + 1) * sizeof(uint16_t)) &&
           fb_pages_reserve(&b->rule_pages, ((size_t)rules_max + 1) * sizeof(struct fb_rule)) &&
           fb_pages_reserve(&b->hash_pages, hash_slots(rules_max) * sizeof(uint32_t));
}

bool fb_rows_begin(struct fb_rows_build *b, uint64_t base, uint64_t low, uint64_t high,
                   uint32_t rules_max)
{
    uint32_t slots = hash_slots(rules_max);

    if (!fb_pages_reserve(&b->hash_pages, slots * sizeof(uint32_t)) ||
        !fb_pages_reserve(&b->rule_pages, sizeof(struct fb_rule)))
        return false;
    memset(b->hash_pages.data, 0, slots * sizeof(uint32_t));
    memset(b->rule_pages.data, 0, sizeof(struct fb_rule)); /* NO_RULE: FB_CFA_NONE is 0 */
    b->base = base;
    b->low = low;
    b->high = high;
    b->hash_mask = slots - 1;
    b->rules_max = rules_max;
    b->rule_count = 1;
    b->span_count = 0;
    b->row_count = 0;
    b->out_of_memory = false;
    return true;
}

bool fb_rows_add(struct fb_rows_build *b, struct fb_cfi *cfi, const struct fb_cfi_fde *fde)
{
    struct span *spans;

    if (!fb_pages_reserve(&b->span_pages, (b->span_count + 1) * sizeof *spans))
        return false;
    spans = b->span_pages.data;
    spans[b->span_count++] = (struct span){.cfi = cfi, .fde = *fde};
    return true;
}

static void span_sift(struct span *spans, uint32_t root, uint32_t count)
{
    struct span moved = spans[root];

    for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && spans[child + 1].fde.start > spans[child].fde.start)
            child++;
        if (moved.fde.start >= spans[child].fde.start)
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

    while (i < count && spans[i - 1].fde.start <= spans[i].fde.start)
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

static bool is_debug(const struct span *span)
{
    return span->cfi != NULL && span->cfi->debug;
}

/* Drops spans of .debug_frame that meet one of .eh_frame before or behind them. */
static void spans_sift_debug(struct fb_rows_build *b)
{
    struct span *spans = b->span_pages.data;
    uint64_t end = 0; /* of the .eh_frame spans so far */
    uint32_t kept = 0;

    for (uint32_t i = 0; i < b->span_count; i++) {
        uint32_t next = i + 1;

        while (next < b->span_count && is_debug(&spans[next]))
            next++;
        if (is_debug(&spans[i]) &&
            (spans[i].fde.start < end ||
             (next < b->span_count && spans[next].fde.start < spans[i].fde.end)))
            continue;
        if (!is_debug(&spans[i]) && spans[i].fde.end > end)
            end = spans[i].fde.end;
        spans[kept++] = spans[i];
    }
    b->span_count = kept;
}

bool fb_rows_have_gap(struct fb_rows_build *b, uint64_t bytes)
{
    const struct span *spans = b->span_pages.data;
    uint64_t at = b->low;

    spans_sort(b->span_pages.data, b->span_count);
    for (uint32_t i = 0; i < b->span_count; i++) {
        if (spans[i].fde.start > at && spans[i].fde.start - at >= bytes)
            return true;
        if (spans[i].fde.end > at)
            at = spans[i].fde.end;
    }
    return b->high > at && b->high - at >= bytes;
}

static void span_run(struct fb_rows_build *b, const struct span *span)
{
    static const struct fb_rule signal = {.cfa = FB_CFA_SIGNAL};

    if (span->cfi == NULL)
        on_row(b, span->fde.start, &signal);
    else
        fb_cfi_run(span->cfi, &span->fde, on_row, b);
}

bool fb_rows_run(struct fb_rows_build *b)
{
    const struct span *spans = b->span_pages.data;

    spans_sort(b->span_pages.data, b->span_count);
    spans_sift_debug(b);
    for (uint32_t i = 0; i < b->span_count && !b->out_of_memory; i++) {
        uint64_t next = i + 1 < b->span_count ? spans[i + 1].fde.start : b->high;
        uint64_t end = spans[i].fde.end;

        b->limit = next < b->high ? next : b->high;
        span_run(b, &spans[i]);
        if (end >= b->low && end < b->limit && (next - end >= FB_ROWS_GAP || next >= b->high))
            row_add(b, end, NO_RULE);
    }
    return !b->out_of_memory && b->row_count > 0;
}

/* --- packing ------------------------------------------------------------- */

/* pcs, pages, rules, index: each is aligned to its size where the one before ends. */
struct layout {
    uint32_t page_count;
    size_t pages_at;
    size_t rules_at;
    size_t index_at;
    size_t size;
};

static struct layout layout_of(const struct fb_rows_build *b)
{
    const uint32_t *pcs = b->pc_pages.data;
    struct layout l;

    l.page_count = (pcs[b->row_count - 1] >> FB_ROWS_PAGE_SHIFT) + 1;
    l.pages_at = (size_t)b->row_count * sizeof(uint32_t);
    l.rules_at = l.pages_at + ((size_t)l.page_count + 1) * sizeof(uint32_t);
    l.index_at = l.rules_at + b->rule_count * sizeof(struct fb_rule);
    l.size = l.index_at + (size_t)b->row_count * sizeof(uint16_t);
    return l;
}

size_t fb_rows_bytes(const struct fb_rows_build *b)
{
    return layout_of(b).size;
}

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

void fb_rows_pack(const struct fb_rows_build *b, void *memory, struct fb_rows *ret_rows)
{
    struct layout l = layout_of(b);
    uint8_t *at = memory;

    memcpy(at, b->pc_pages.data, l.pages_at);
    memcpy(at + l.rules_at, b->rule_pages.data, l.index_at - l.rules_at);
    memcpy(at + l.index_at, b->index_pages.data, l.size - l.index_at);
    pages_fill(b->pc_pages.data, b->row_count, (uint32_t *)(void *)(at + l.pages_at), l.page_count);
    *ret_rows = (struct fb_rows){.pcs = memory,
                                 .index = (const uint16_t *)(const void *)(at + l.index_at),
                                 .pages = (const uint32_t *)(const void *)(at + l.pages_at),
                                 .rules = (const struct fb_rule *)(const void *)(at + l.rules_at),
                                 .row_count = b->row_count,
                                 .page_count = l.page_count};
}

void fb_rows_done(struct fb_rows_build *b)
{
    fb_pages_free(&b->span_pages);
    fb_pages_free(&b->pc_pages);
    fb_pages_free(&b->index_pages);
    fb_pages_free(&b->rule_pages);
    fb_pages_free(&b->hash_pages);
}

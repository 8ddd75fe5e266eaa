/* jit_codes.c - one sorted array; what is new is sorted behind it and merged.  See jit_codes.h. */
#include "sampler/jit_codes.h"

#include <string.h>

enum { LOOK_BACK = 64 }; /* ranges that overlap an address start that near before it */

static struct fb_jit_code *items(const struct fb_jit_codes *codes)
{
    return codes->pages.data;
}

static bool is_before(const struct fb_jit_code *a, const struct fb_jit_code *b)
{
    return a->start != b->start ? a->start < b->start : a->order < b->order;
}

static void sort(struct fb_jit_code *c, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < n; i++) {
            struct fb_jit_code moved = c[i];
            uint32_t at = i;

            for (; at >= gap && is_before(&moved, &c[at - gap]); at -= gap)
                c[at] = c[at - gap];
            c[at] = moved;
        }
}

/* Those that a later one at the same start has replaced go. */
static void forget_replaced(struct fb_jit_codes *codes)
{
    struct fb_jit_code *c = items(codes);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < codes->settled; i++)
        if (i + 1 == codes->settled || c[i + 1].start != c[i].start)
            c[kept++] = c[i];
    codes->settled = codes->count = kept;
}

bool fb_jit_codes_add(struct fb_jit_codes *codes, const struct fb_jit_code *code)
{
    if (codes->count == FB_JIT_CODES_MAX) {
        fb_jit_codes_settle(codes);
        forget_replaced(codes);
    }
    if (code->end <= code->start || codes->count == FB_JIT_CODES_MAX ||
        !fb_pages_reserve(&codes->pages, (codes->count + 1) * sizeof *code))
        return false;
    items(codes)[codes->count] = *code;
    items(codes)[codes->count++].order = ++codes->last_order;
    return true;
}

void fb_jit_codes_settle(struct fb_jit_codes *codes)
{
    struct fb_jit_code *c = items(codes);

    if (codes->count == codes->settled)
        return;
    sort(c + codes->settled, codes->count - codes->settled);
    /* Shell's sort is near to linear where two sorted runs follow each other; a run behind all of
     * the others, which is the rule, is in place. */
    if (codes->settled > 0 && is_before(&c[codes->settled], &c[codes->settled - 1]))
        sort(c, codes->count);
    codes->settled = codes->count;
}

/* How many settled ones start at or below pc. */
static uint32_t count_to(const struct fb_jit_codes *codes, uint64_t pc)
{
    const struct fb_jit_code *c = items(codes);
    uint32_t low = 0;
    uint32_t high = codes->settled;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (c[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fb_jit_code *fb_jit_codes_find(const struct fb_jit_codes *codes, uint64_t pc,
                                      uint64_t time_ns, bool *ret_several)
{
    struct fb_jit_code *c = items(codes);
    struct fb_jit_code *last = NULL;
    struct fb_jit_code *first = NULL;
    uint32_t at = count_to(codes, pc);
    unsigned found = 0;

    for (uint32_t i = 0; i < LOOK_BACK && i < at; i++) {
        struct fb_jit_code *code = &c[at - 1 - i];

        if (pc >= code->end)
            continue;
        found++;
        if (code->time_ns <= time_ns && (last == NULL || code->order > last->order))
            last = code;
        if (first == NULL || code->order < first->order)
            first = code;
    }
    *ret_several = found > 1;
    return last != NULL ? last : first;
}

const struct fb_jit_code *fb_jit_codes_at(const struct fb_jit_codes *codes, uint64_t start)
{
    const struct fb_jit_code *c = items(codes);
    uint32_t at;

    for (uint32_t i = codes->count; i > codes->settled; i--)
        if (c[i - 1].start == start)
            return &c[i - 1];
    at = count_to(codes, start);
    return at > 0 && c[at - 1].start == start ? &c[at - 1] : NULL;
}

void fb_jit_codes_clear(struct fb_jit_codes *codes)
{
    codes->settled = codes->count = 0;
}

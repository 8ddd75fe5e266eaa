/* Sort, one name per address, flatten the sized ones, then put the others into the gaps. */
#include "symbolize/symbol_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/symbol_rank.h"
#include "base/vec.h"

struct code_map {
    const struct fb_elf_code *code;
    size_t code_count;
    const uint64_t *starts;
    size_t starts_count;
};

/* A candidate that won its address, with its bounds. */
struct range {
    struct fb_symbol symbol;
    bool whole_table;
};

struct ranges {
    struct range *items;
    size_t count, room;
};

void fb_symbol_index_add(struct fb_symbol_index *ix, const struct fb_symbol_candidate *candidate)
{
    fb_vec_reserve(&ix->added, &ix->added_room, ix->added_count + 1, sizeof *ix->added);
    ix->added[ix->added_count++] = *candidate;
}

static struct fb_symbol_rank rank_of(const struct fb_symbol_candidate *c)
{
    return (struct fb_symbol_rank){c->name, (unsigned)c->kind, c->local, c->weak};
}

static int by_address_and_rank(const void *a, const void *b)
{
    const struct fb_symbol_candidate *x = a, *y = b;
    struct fb_symbol_rank rank_x = rank_of(x), rank_y = rank_of(y);

    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? 1 : -1;
    return fb_symbol_rank(&rank_x, &rank_y);
}

static void ranges_add(struct ranges *r, const struct fb_symbol_candidate *best, const char *ifunc,
                       uint64_t end)
{
    fb_vec_reserve(&r->items, &r->room, r->count + 1, sizeof *r->items);
    r->items[r->count++] =
        (struct range){{best->start, end, best->name, ifunc, best->kind}, best->whole_table};
}

/* One range per address.  The candidates are sorted, so the first of an address is the best and
 * the sections are walked once.  An unsized range ends, for now, where its section does. */
static void pick(const struct fb_symbol_index *ix, const struct code_map *map, struct ranges *sized,
                 struct ranges *unsized)
{
    size_t section = 0;

    for (size_t i = 0, next; i < ix->added_count; i = next) {
        const struct fb_symbol_candidate *best = &ix->added[i];
        uint64_t size = best->size, limit;
        const char *ifunc = NULL;

        for (next = i; next < ix->added_count && ix->added[next].start == best->start; next++) {
            if (ix->added[next].size > size)
                size = ix->added[next].size;
            if (!ifunc && ix->added[next].kind == FB_SYMBOL_RESOLVER)
                ifunc = ix->added[next].name;
        }
        while (section < map->code_count && map->code[section].end <= best->start)
            section++;
        if (section == map->code_count)
            return;
        if (map->code[section].start > best->start)
            continue;
        limit = map->code[section].end;
        if (size == 0)
            ranges_add(unsized, best, ifunc, limit);
        else
            ranges_add(sized, best, ifunc, size < limit - best->start ? best->start + size : limit);
    }
}

static void emit(struct fb_symbol_index *ix, const struct fb_symbol *symbol, uint64_t start,
                 uint64_t end)
{
    if (start >= end)
        return;
    fb_vec_reserve(&ix->items, &ix->room, ix->count + 1, sizeof *ix->items);
    ix->items[ix->count] = *symbol;
    ix->items[ix->count].start = start;
    ix->items[ix->count++].end = end;
}

/* Sweeps the sized ranges by start with a stack of those still open; the top one is the inner. */
static void flatten(struct fb_symbol_index *ix, const struct ranges *sized)
{
    size_t *open = fb_alloc_array(sized->count + 1, sizeof *open), depth = 0;
    uint64_t done = 0;

    for (size_t i = 0; i <= sized->count; i++) {
        uint64_t upto = i < sized->count ? sized->items[i].symbol.start : UINT64_MAX;

        while (depth > 0 && sized->items[open[depth - 1]].symbol.end <= upto) {
            const struct fb_symbol *top = &sized->items[open[--depth]].symbol;

            emit(ix, top, done > top->start ? done : top->start, top->end);
            if (top->end > done)
                done = top->end;
        }
        if (i == sized->count)
            break;
        if (depth > 0) {
            const struct fb_symbol *top = &sized->items[open[depth - 1]].symbol;

            emit(ix, top, done > top->start ? done : top->start, upto);
        }
        done = upto;
        open[depth++] = i;
    }
    free(open);
}

/* The first of sorted values above x, or UINT64_MAX; *at only moves forward. */
static uint64_t next_above(const uint64_t *values, size_t count, size_t *at, uint64_t x)
{
    while (*at < count && values[*at] <= x)
        (*at)++;
    return *at < count ? values[*at] : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* items[0 .. middle) and the rest are each in order; from behind, so that nothing is overwritten.
 */
static void merge(struct fb_symbol_index *ix, size_t middle)
{
    size_t more = ix->count - middle, at = ix->count;
    struct fb_symbol *tail = fb_alloc_array(more, sizeof *tail);

    if (more > 0)
        memcpy(tail, ix->items + middle, more * sizeof *tail);
    while (more > 0)
        ix->items[--at] = middle > 0 && ix->items[middle - 1].start > tail[more - 1].start
                              ? ix->items[--middle]
                              : tail[--more];
    free(tail);
}

/* Puts the unsized ranges, each cut at what follows it, between the sized ones. */
static void fill_gaps(struct fb_symbol_index *ix, const struct code_map *map,
                      const struct ranges *unsized)
{
    size_t sized_count = ix->count, item = 0, start = 0;

    for (size_t i = 0; i < unsized->count; i++) {
        struct fb_symbol s = unsized->items[i].symbol;

        if (map->starts_count == 0 && !unsized->items[i].whole_table)
            continue;
        while (item < sized_count && ix->items[item].end <= s.start)
            item++;
        if (item < sized_count) {
            if (ix->items[item].start <= s.start)
                continue;
            s.end = least(s.end, ix->items[item].start);
        }
        if (i + 1 < unsized->count)
            s.end = least(s.end, unsized->items[i + 1].symbol.start);
        s.end = least(s.end, next_above(map->starts, map->starts_count, &start, s.start));
        emit(ix, &s, s.start, s.end);
    }
    merge(ix, sized_count);
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct key {
    uint64_t start;
    uint32_t at; /* of added[] */
};

/* One digit of a radix sort, which keeps the order of equal ones. */
static void sort_digit(const struct key *from, struct key *to, size_t count, unsigned shift)
{
    size_t places[DIGITS] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        places[from[i].start >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t n = places[d];

        places[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

/* By address with a radix sort (comparing is half of the cost of an index), then the few of each
 * address by rank. */
static void sort_candidates(struct fb_symbol_index *ix)
{
    size_t count = ix->added_count;
    struct key *keys = fb_alloc_array(count, sizeof *keys);
    struct key *spare = fb_alloc_array(count, sizeof *spare);
    struct fb_symbol_candidate *sorted = fb_alloc_array(count, sizeof *sorted);
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        keys[i] = (struct key){ix->added[i].start, (uint32_t)i};
        bits |= keys[i].start;
    }
    for (unsigned shift = 0; shift < 64 && bits >> shift != 0; shift += DIGIT_BITS) {
        struct key *other = keys;

        sort_digit(keys, spare, count, shift);
        keys = spare;
        spare = other;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = ix->added[keys[i].at];
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].start == sorted[i].start;)
            end++;
        if (end - i > 1)
            qsort(sorted + i, end - i, sizeof *sorted, by_address_and_rank);
    }
    free(keys);
    free(spare);
    free(ix->added);
    ix->added = sorted;
    ix->added_room = count;
}

void fb_symbol_index_build(struct fb_symbol_index *ix, const struct fb_elf_code *code,
                           size_t code_count, const uint64_t *starts, size_t starts_count)
{
    const struct code_map map = {code, code_count, starts, starts_count};
    struct ranges sized = {0}, unsized = {0};

    sort_candidates(ix);
    pick(ix, &map, &sized, &unsized);
    flatten(ix, &sized);
    fill_gaps(ix, &map, &unsized);
    free(sized.items);
    free(unsized.items);
    free(ix->added);
    ix->added = NULL;
    ix->added_count = ix->added_room = 0;
    ix->starts = fb_alloc_array(ix->count, sizeof *ix->starts);
    for (size_t i = 0; i < ix->count; i++)
        ix->starts[i] = ix->items[i].start;
}

const struct fb_symbol *fb_symbol_index_find(const struct fb_symbol_index *ix, uint64_t address)
{
    size_t from = 0, n = ix->count;

    while (n > 0) {
        size_t half = n / 2;

        if (ix->starts[from + half] <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    if (from == 0 || address >= ix->items[from - 1].end)
        return NULL;
    return &ix->items[from - 1];
}

void fb_symbol_index_done(struct fb_symbol_index *ix)
{
    free(ix->items);
    free(ix->starts);
    free(ix->added);
    memset(ix, 0, sizeof *ix);
}

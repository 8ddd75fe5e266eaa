/* Sort, one name per address, flatten the sized ones, then put the others into the gaps.  What is
 * sorted are the places of the candidates, and the sized ones go straight into the sweep: a copy of
 * each costs more in fresh memory than its part of the work. */
#include "symbolize/symbol_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/symbol_rank.h"
#include "base/vec.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct key {
    uint64_t start;
    uint32_t at; /* of added[] */
};

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

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Below 0: x is the better name of the two, of one address. */
static int by_rank(const struct fb_symbol_candidate *x, const struct fb_symbol_candidate *y)
{
    struct fb_symbol_rank rank_x = rank_of(x), rank_y = rank_of(y);

    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? 1 : -1;
    return fb_symbol_rank(&rank_x, &rank_y);
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

/* The sized ranges by start, with a stack of those still open; the top one is the inner. */
struct sweep {
    struct fb_symbol *open;
    size_t depth, room;
    uint64_t done;
};

/* Ends the ranges that end at or before `upto`. */
static void sweep_close(struct fb_symbol_index *ix, struct sweep *w, uint64_t upto)
{
    while (w->depth > 0 && w->open[w->depth - 1].end <= upto) {
        const struct fb_symbol *top = &w->open[--w->depth];

        emit(ix, top, w->done > top->start ? w->done : top->start, top->end);
        if (top->end > w->done)
            w->done = top->end;
    }
}

static void sweep_open(struct fb_symbol_index *ix, struct sweep *w, const struct fb_symbol *symbol)
{
    sweep_close(ix, w, symbol->start);
    if (w->depth > 0) {
        const struct fb_symbol *top = &w->open[w->depth - 1];

        emit(ix, top, w->done > top->start ? w->done : top->start, symbol->start);
    }
    w->done = symbol->start;
    fb_vec_reserve(&w->open, &w->room, w->depth + 1, sizeof *w->open);
    w->open[w->depth++] = *symbol;
}

static void ranges_add(struct ranges *r, const struct fb_symbol *symbol, bool whole_table)
{
    fb_vec_reserve(&r->items, &r->room, r->count + 1, sizeof *r->items);
    r->items[r->count++] = (struct range){*symbol, whole_table};
}

/* The n candidates of one address become one range: the best name, the largest size, the best
 * IFUNC.  The end is not known where the size is 0. */
static const struct fb_symbol_candidate *join(const struct fb_symbol_index *ix,
                                              const struct key *keys, size_t n,
                                              struct fb_symbol *ret)
{
    const struct fb_symbol_candidate *best = NULL, *resolver = NULL;
    uint64_t size = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fb_symbol_candidate *c = &ix->added[keys[i].at];

        if (!best || by_rank(c, best) < 0)
            best = c;
        if (c->kind == FB_SYMBOL_RESOLVER && (!resolver || by_rank(c, resolver) < 0))
            resolver = c;
        if (c->size > size)
            size = c->size;
    }
    *ret = (struct fb_symbol){keys->start,
                              size <= UINT64_MAX - keys->start ? keys->start + size : UINT64_MAX,
                              best->name, resolver ? resolver->name : NULL, best->kind};
    return best;
}

/* One range per address, the sized ones flattened into the index.  The keys are sorted, so the
 * sections are walked once.  An unsized range ends, for now, where its section does. */
static void pick(struct fb_symbol_index *ix, const struct key *keys, const struct code_map *map,
                 struct ranges *unsized)
{
    struct sweep sweep = {0};
    size_t section = 0;

    for (size_t i = 0, next; i < ix->added_count; i = next) {
        uint64_t start = keys[i].start, limit;
        const struct fb_symbol_candidate *best;
        struct fb_symbol symbol;

        for (next = i + 1; next < ix->added_count && keys[next].start == start;)
            next++;
        while (section < map->code_count && map->code[section].end <= start)
            section++;
        if (section == map->code_count)
            break;
        if (map->code[section].start > start)
            continue;
        best = join(ix, keys + i, next - i, &symbol);
        limit = map->code[section].end;
        if (symbol.end == start) {
            symbol.end = limit;
            ranges_add(unsized, &symbol, best->whole_table);
        } else {
            symbol.end = least(symbol.end, limit);
            sweep_open(ix, &sweep, &symbol);
        }
    }
    sweep_close(ix, &sweep, UINT64_MAX);
    free(sweep.open);
}

/* The first of sorted values above x, or UINT64_MAX; *at only moves forward. */
static uint64_t next_above(const uint64_t *values, size_t count, size_t *at, uint64_t x)
{
    while (*at < count && values[*at] <= x)
        (*at)++;
    return *at < count ? values[*at] : UINT64_MAX;
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

/* By address with a radix sort: comparing is half of the cost of an index.  Free it. */
static struct key *sort_candidates(const struct fb_symbol_index *ix)
{
    size_t count = ix->added_count;
    struct key *keys = fb_alloc_array(count, sizeof *keys);
    struct key *spare = fb_alloc_array(count, sizeof *spare);
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
    free(spare);
    return keys;
}

void fb_symbol_index_build(struct fb_symbol_index *ix, const struct fb_elf_code *code,
                           size_t code_count, const uint64_t *starts, size_t starts_count)
{
    const struct code_map map = {code, code_count, starts, starts_count};
    struct ranges unsized = {0};
    struct key *keys;

    keys = sort_candidates(ix);
    pick(ix, keys, &map, &unsized);
    free(keys);
    fill_gaps(ix, &map, &unsized);
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

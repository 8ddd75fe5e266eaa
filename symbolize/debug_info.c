/* Units by address; per unit, once it is hit, its scopes and its line table. */
#include "symbolize/debug_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "symbolize/dwarf_lines.h"
#include "symbolize/dwarf_scopes.h"
#include "symbolize/dwarf_split.h"

/* OVERLAP_STEPS: how many units that start before an address are looked at. */
enum { OVERLAP_STEPS = 8, BUDGET_TIMES = 4 };

struct unit_range {
    uint64_t start, end;
    uint32_t unit;
};

struct unit_state {                      /* of a unit that was hit */
    const struct fb_dwarf_unit *entries; /* the unit itself, or its split one */
    struct fb_scopes *scopes;
    struct fb_line_table *lines; /* borrowed */
};

struct line_table {
    uint64_t offset;
    struct fb_line_table *table;
};

struct fb_debug {
    struct fb_dwarf *dwarf;
    struct fb_elf_file *alt_file;
    char *alt_missing;         /* name of the alternate that is not there */
    struct unit_range *ranges; /* by start */
    size_t ranges_count, ranges_room;
    struct unit_state **states; /* by unit */
    struct line_table *tables;
    size_t tables_count, tables_room;
    struct fb_index tables_index;
    struct fb_splits splits;
    struct fb_dwarf_ranges one; /* an entry's, and the budget */
    uint64_t lines_budget;
};

static int by_start(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;

    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static void add_unit(struct fb_debug *d, uint32_t index, const struct fb_elf_file *code)
{
    const struct fb_dwarf_unit *unit = &d->dwarf->units[index];
    struct fb_wire_in in = fb_dwarf_cursor(d->dwarf, FB_DWARF_INFO, unit->first);
    struct fb_dwarf_entry e;

    in.len = (size_t)unit->end;
    if (!unit->is_code || !fb_dwarf_entry_read(unit, &in, &e))
        return;
    fb_dwarf_ranges_read(unit, &e, &d->one);
    for (size_t i = 0; i < d->one.count; i++) {
        if (!fb_elf_file_code(code, d->one.items[i].start))
            continue;
        fb_vec_reserve(&d->ranges, &d->ranges_room, d->ranges_count + 1, sizeof *d->ranges);
        d->ranges[d->ranges_count++] =
            (struct unit_range){d->one.items[i].start, d->one.items[i].end, index};
    }
}

static void open_alt(struct fb_debug *d, const struct fb_elf_file *file,
                     const struct fb_elf_places *places)
{
    char *name;

    if (!fb_elf_search_alt(places, file, &d->alt_file, &name))
        return;
    d->dwarf->alt = d->alt_file ? fb_dwarf_open(d->alt_file) : NULL;
    if (d->dwarf->alt)
        free(name);
    else
        d->alt_missing = name;
}

struct fb_debug *fb_debug_open(const struct fb_elf_file *file, const struct fb_elf_file *code,
                               const struct fb_elf_places *places)
{
    struct fb_dwarf *dwarf = fb_dwarf_open(file);
    struct fb_debug *d;

    if (!dwarf || dwarf->is_split) {
        fb_dwarf_close(dwarf);
        return NULL;
    }
    d = fb_alloc(sizeof *d);
    d->dwarf = dwarf;
    d->splits = (struct fb_splits){.file = file, .debug_dir = places->debug_dir};
    d->states = fb_alloc_array(dwarf->units_count, sizeof *d->states);
    d->one.budget = BUDGET_TIMES * (dwarf->sections[FB_DWARF_RANGES].len / 8 +
                                    dwarf->sections[FB_DWARF_RNGLISTS].len) +
                    (1 << 20);
    d->lines_budget = BUDGET_TIMES * (uint64_t)dwarf->sections[FB_DWARF_LINE].len;
    open_alt(d, file, places);
    for (size_t i = 0; i < dwarf->units_count; i++)
        add_unit(d, (uint32_t)i, code);
    if (d->ranges_count > 0)
        qsort(d->ranges, d->ranges_count, sizeof *d->ranges, by_start);
    return d;
}

void fb_debug_close(struct fb_debug *debug)
{
    if (!debug)
        return;
    for (size_t i = 0; i < debug->dwarf->units_count; i++) {
        if (debug->states[i])
            fb_scopes_free(debug->states[i]->scopes);
        free(debug->states[i]);
    }
    for (size_t i = 0; i < debug->tables_count; i++)
        fb_line_table_free(debug->tables[i].table);
    free(debug->states);
    free(debug->tables);
    fb_index_done(&debug->tables_index);
    free(debug->ranges);
    free(debug->one.items);
    fb_splits_done(&debug->splits);
    fb_dwarf_close(debug->dwarf->alt);
    fb_dwarf_close(debug->dwarf);
    fb_elf_file_close(debug->alt_file);
    free(debug->alt_missing);
    free(debug);
}

/* The table at an offset is read once: units of one object share it. */
static struct fb_line_table *line_table(struct fb_debug *d, const struct fb_dwarf_unit *unit)
{
    uint64_t hash = fb_hash_mix(unit->line_offset);
    struct fb_index_cursor at = fb_index_seek(&d->tables_index, hash);
    uint32_t i;

    if (!unit->has_lines)
        return NULL;
    while (fb_index_step(&d->tables_index, &at, &i))
        if (d->tables[i].offset == unit->line_offset)
            return d->tables[i].table;
    fb_vec_reserve(&d->tables, &d->tables_room, d->tables_count + 1, sizeof *d->tables);
    fb_index_add(&d->tables_index, hash, (uint32_t)d->tables_count);
    d->tables[d->tables_count] =
        (struct line_table){unit->line_offset, fb_line_table_read(unit, &d->lines_budget)};
    return d->tables[d->tables_count++].table;
}

static struct unit_state *state_of(struct fb_debug *d, uint32_t index)
{
    const struct fb_dwarf_unit *unit = &d->dwarf->units[index];
    struct unit_state *s = d->states[index];

    if (s)
        return s;
    s = d->states[index] = fb_alloc(sizeof *s);
    s->entries = unit;
    if (unit->split_name[0] && unit->id != 0) {
        const struct fb_dwarf_unit *split = fb_splits_find(&d->splits, unit);

        s->entries = split ? split : unit;
    }
    s->scopes = fb_scopes_build(s->entries, &d->one);
    s->lines = line_table(d, unit);
    return s;
}

static void set_file(const struct unit_state *s, uint32_t file, uint32_t line,
                     struct fb_place *place)
{
    place->file = s->lines && line > 0 ? fb_line_table_file(s->lines, file) : NULL;
    place->line = place->file ? line : 0;
}

static size_t find_in(const struct unit_state *s, uint64_t address, bool with_inlined,
                      struct fb_place *places)
{
    uint32_t file = 0, line = 0, at = fb_scopes_find(s->scopes, address);
    bool has_line = s->lines && fb_line_table_find(s->lines, address, &file, &line);
    size_t n = 0;

    if (at == FB_NO_SCOPE && !has_line)
        return 0;
    places[0] = (struct fb_place){0};
    for (; at != FB_NO_SCOPE; at = s->scopes->items[at].parent) {
        const struct fb_scope *scope = &s->scopes->items[at];

        if (!with_inlined && scope->parent != FB_NO_SCOPE)
            continue;
        if (n == FB_PLACES_MAX)
            n--; /* the function itself is kept */
        places[n].function = fb_scope_name(s->entries, scope);
        set_file(s, file, line, &places[n++]);
        file = scope->call_file;
        line = scope->call_line;
    }
    if (n == 0)
        set_file(s, file, line, &places[n++]);
    return n;
}

size_t fb_debug_find(struct fb_debug *debug, uint64_t address, bool with_inlined,
                     struct fb_place *places)
{
    size_t from = 0, n = debug->ranges_count, found = 0;

    while (n > 0) {
        size_t half = n / 2;

        if (debug->ranges[from + half].start <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    for (size_t i = from; i > 0 && from - i < OVERLAP_STEPS && found == 0; i--)
        if (address < debug->ranges[i - 1].end)
            found =
                find_in(state_of(debug, debug->ranges[i - 1].unit), address, with_inlined, places);
    return found;
}

char *fb_debug_missing(const struct fb_debug *debug)
{
    if (debug->alt_missing)
        return fb_format("the shared part of its debug data, '%s', is not there",
                         debug->alt_missing);
    if (debug->splits.missing > 0)
        return fb_format("split debug data is not there: %zu file%s, first '%s'",
                         debug->splits.missing, debug->splits.missing == 1 ? "" : "s",
                         debug->splits.missing_name);
    return NULL;
}

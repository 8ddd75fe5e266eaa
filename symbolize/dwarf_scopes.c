/* The walk looks only at entries that have code.  What cannot hold any (types, the abstract copy of
 * an inlined function) is jumped over where the compiler left the way (DW_AT_sibling). */
#include "symbolize/dwarf_scopes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/vec.h"

/* DEPTH_MAX: of entries in each other whose functions are told apart; what is deeper counts to what
 * it is in. */
enum { ORIGINS_MAX = 16, DEPTH_MAX = 1024, PIECE_MOST = UINT32_MAX };

struct span { /* a range of a scope, before they are flattened */
    uint64_t start, end;
    uint32_t scope;
};

struct walk {
    const struct fb_dwarf_unit *unit;
    const struct fb_abbrevs *abbrevs;
    struct fb_wire_in in;
    struct fb_dwarf_ranges *ranges;
    struct fb_scopes *scopes;
    struct span *spans;
    size_t spans_count, spans_room;
    uint32_t *open; /* by depth: the scope that the children are in */
    size_t depth, open_room;
};

static bool is_scope(const struct fb_abbrev *a)
{
    return (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine) && a->has_pc;
}

static bool is_codeless(const struct fb_abbrev *a)
{
    switch (a->tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
        return !a->has_pc;
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
    case DW_TAG_GNU_formal_parameter_pack:
    case DW_TAG_GNU_template_parameter_pack:
        return true;
    default:
        return false;
    }
}

static void add_span(struct walk *w, const struct fb_dwarf_range *range, uint32_t scope)
{
    fb_vec_reserve(&w->spans, &w->spans_room, w->spans_count + 1, sizeof *w->spans);
    w->spans[w->spans_count++] = (struct span){range->start, range->end, scope};
}

/* A function begins a new chain: one that is nested in another was not inlined into it. */
static uint32_t add_scope(struct walk *w, const struct fb_dwarf_entry *e, uint64_t at,
                          uint32_t parent)
{
    struct fb_scopes *s = w->scopes;
    uint64_t file = e->values[FB_DWARF_CALL_FILE].n, line = e->values[FB_DWARF_CALL_LINE].n;
    struct fb_scope scope = {
        .parent = e->abbrev->tag == DW_TAG_subprogram ? FB_NO_SCOPE : parent,
        .entry = (uint32_t)(at - w->unit->start),
        .call_file = file > UINT32_MAX ? 0 : (uint32_t)file,
        .call_line = line > INT32_MAX ? 0 : (uint32_t)line,
    };

    if (w->depth > DEPTH_MAX ||
        (e->abbrev->tag == DW_TAG_inlined_subroutine && parent == FB_NO_SCOPE))
        return parent;
    fb_dwarf_ranges_read(w->unit, e, w->ranges);
    if (w->ranges->count == 0)
        return parent;
    fb_vec_reserve(&s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count] = scope;
    for (size_t i = 0; i < w->ranges->count; i++)
        add_span(w, &w->ranges->items[i], (uint32_t)s->count);
    return (uint32_t)s->count++;
}

static void enter(struct walk *w, uint32_t scope)
{
    fb_vec_reserve(&w->open, &w->open_room, w->depth + 1, sizeof *w->open);
    w->open[w->depth++] = scope;
}

/* Jumps to the next sibling where the entry says where that is, and that is forward. */
static bool jump(struct walk *w, const struct fb_abbrev *a)
{
    struct fb_wire_in ahead = w->in;
    struct fb_dwarf_entry e;
    uint64_t to;

    if (!a->has_sibling || !fb_dwarf_entry_read_as(w->unit, w->abbrevs, a, &ahead, &e))
        return false;
    to = w->unit->start + e.values[FB_DWARF_SIBLING].n;
    if (e.values[FB_DWARF_SIBLING].form == DW_FORM_ref_addr || to < ahead.pos || to > w->in.len)
        return false;
    w->in.pos = (size_t)to;
    return true;
}

static void walk_entry(struct walk *w, const struct fb_abbrev *a, uint64_t at)
{
    uint32_t scope = w->depth > 0 ? w->open[w->depth - 1] : FB_NO_SCOPE;
    struct fb_dwarf_entry e;

    if (a->has_children && is_codeless(a) && jump(w, a))
        return;
    if (is_scope(a)) {
        if (!fb_dwarf_entry_read_as(w->unit, w->abbrevs, a, &w->in, &e))
            return;
        scope = add_scope(w, &e, at, scope);
    } else {
        fb_dwarf_entry_skip(w->unit, w->abbrevs, a, &w->in);
    }
    if (a->has_children)
        enter(w, scope);
}

static void walk_unit(struct walk *w)
{
    while (!w->in.bad && w->in.pos < w->in.len) {
        uint64_t at = w->in.pos, code = fb_wire_get_varint(&w->in);
        const struct fb_abbrev *a;

        if (code == 0) {
            if (w->depth > 0)
                w->depth--;
            continue;
        }
        a = fb_abbrevs_find(w->abbrevs, code);
        if (!a)
            return;
        walk_entry(w, a, at);
    }
}

/* Outer before inner: a scope has a higher number than what it is in. */
static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    return (x->scope > y->scope) - (x->scope < y->scope);
}

static void emit(struct fb_scopes *s, uint64_t start, uint64_t end, uint32_t scope)
{
    struct fb_scope_piece *last = s->pieces_count > 0 ? &s->pieces[s->pieces_count - 1] : NULL;

    if (start >= end || end - start > PIECE_MOST)
        return;
    if (last && last->scope == scope && last->start + last->size == start &&
        end - last->start <= PIECE_MOST) {
        last->size = (uint32_t)(end - last->start);
        return;
    }
    fb_vec_reserve(&s->pieces, &s->pieces_room, s->pieces_count + 1, sizeof *s->pieces);
    s->pieces[s->pieces_count++] = (struct fb_scope_piece){start, (uint32_t)(end - start), scope};
}

/* A sweep with a stack of the spans that are open; the top one is the innermost. */
static void flatten(struct walk *w)
{
    uint32_t *open = fb_alloc_array(w->spans_count + 1, sizeof *open);
    size_t depth = 0;
    uint64_t done = 0;

    if (w->spans_count > 0)
        qsort(w->spans, w->spans_count, sizeof *w->spans, by_start);
    for (size_t i = 0; i <= w->spans_count; i++) {
        uint64_t upto = i < w->spans_count ? w->spans[i].start : UINT64_MAX;

        while (depth > 0 && w->spans[open[depth - 1]].end <= upto) {
            const struct span *top = &w->spans[open[--depth]];

            emit(w->scopes, done > top->start ? done : top->start, top->end, top->scope);
            done = top->end > done ? top->end : done;
        }
        if (depth > 0)
            emit(w->scopes, done, upto, w->spans[open[depth - 1]].scope);
        done = upto;
        open[depth++] = (uint32_t)i;
    }
    free(open);
}

struct fb_scopes *fb_scopes_build(const struct fb_dwarf_unit *unit, struct fb_dwarf_ranges *ranges)
{
    struct fb_scopes *s = fb_alloc(sizeof *s);
    struct walk w = {.unit = unit,
                     .abbrevs = fb_dwarf_abbrevs(unit),
                     .in = fb_dwarf_cursor(unit->dwarf, FB_DWARF_INFO, unit->first),
                     .ranges = ranges,
                     .scopes = s};

    if (!w.abbrevs)
        return s;
    w.in.len = (size_t)unit->end;
    walk_unit(&w);
    flatten(&w);
    free(w.spans);
    free(w.open);
    return s;
}

void fb_scopes_free(struct fb_scopes *scopes)
{
    if (!scopes)
        return;
    free(scopes->items);
    free(scopes->pieces);
    free(scopes);
}

uint32_t fb_scopes_find(const struct fb_scopes *scopes, uint64_t address)
{
    size_t from = 0, n = scopes->pieces_count;
    const struct fb_scope_piece *piece;

    while (n > 0) {
        size_t half = n / 2;

        if (scopes->pieces[from + half].start <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    if (from == 0)
        return FB_NO_SCOPE;
    piece = &scopes->pieces[from - 1];
    return address - piece->start < piece->size ? piece->scope : FB_NO_SCOPE;
}

const char *fb_scope_name(const struct fb_dwarf_unit *unit, const struct fb_scope *scope)
{
    uint64_t offset = unit->start + scope->entry;
    const char *plain = NULL;

    for (int i = 0; i < ORIGINS_MAX; i++) {
        struct fb_wire_in in = fb_dwarf_cursor(unit->dwarf, FB_DWARF_INFO, offset);
        const char *linkage, *name;
        struct fb_dwarf_entry e;

        in.len = (size_t)unit->end;
        if (offset >= unit->end || !fb_dwarf_entry_read(unit, &in, &e))
            break;
        linkage = fb_dwarf_text(unit, &e.values[FB_DWARF_LINKAGE_NAME]);
        if (linkage && linkage[0])
            return linkage;
        name = fb_dwarf_text(unit, &e.values[FB_DWARF_NAME]);
        if (!plain && name && name[0])
            plain = name;
        if (!fb_dwarf_reference(unit, &e.values[FB_DWARF_ORIGIN], &unit, &offset))
            break;
    }
    return plain;
}

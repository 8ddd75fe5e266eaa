/* dwarf_scopes.h - which functions, inlined into which, the code at an address of a unit is.
 *
 *     struct fb_scopes *s = fb_scopes_build(unit, &ranges);
 *     uint32_t at = fb_scopes_find(s, address);                     innermost, FB_NO_SCOPE: none
 *     for (; at != FB_NO_SCOPE; at = s->items[at].parent) ... s->items[at] ...
 *
 * One pass over the unit's entries; then the ranges of all functions and inlined copies are
 * flattened into disjoint pieces, each with its innermost scope. */
#ifndef FB_SYMBOLIZE_DWARF_SCOPES_H
#define FB_SYMBOLIZE_DWARF_SCOPES_H

#include "symbolize/dwarf_file.h"
#include "symbolize/dwarf_ranges.h"

#define FB_NO_SCOPE UINT32_MAX

struct fb_scope {
    uint32_t parent; /* what it was inlined into; FB_NO_SCOPE: a function of its own */
    uint32_t entry;  /* offset from the unit's start                                  */
    uint32_t call_file, call_line; /* of the call that it replaces; 0 unknown             */
};

struct fb_scope_piece {
    uint64_t start;
    uint32_t size, scope;
};

struct fb_scopes {
    struct fb_scope *items;
    size_t count, room;
    struct fb_scope_piece *pieces; /* disjoint, by start */
    size_t pieces_count, pieces_room;
};

/* Never NULL.  ranges: room for one entry's, and the budget of all. */
struct fb_scopes *fb_scopes_build(const struct fb_dwarf_unit *unit, struct fb_dwarf_ranges *ranges);
void fb_scopes_free(struct fb_scopes *scopes);

uint32_t fb_scopes_find(const struct fb_scopes *scopes, uint64_t address);

/* The linkage name of the scope's function, or its plain name; NULL where it has none. */
const char *fb_scope_name(const struct fb_dwarf_unit *unit, const struct fb_scope *scope);

#endif

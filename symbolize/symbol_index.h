/* symbol_index.h - from an address to the one best symbol that covers it.
 *
 *     struct fb_symbol_index ix = {0};
 *     fb_symbol_index_add(&ix, &candidate);          as often as needed, in any order
 *     fb_symbol_index_build(&ix, code, code_count, starts, starts_count);
 *     const struct fb_symbol *s = fb_symbol_index_find(&ix, address);
 *     fb_symbol_index_done(&ix);
 *
 * Building sorts once and flattens to disjoint ranges (58,000 symbols: some 3 ms); finding is a
 * binary search.  The rules:
 *   - a sized symbol covers its size, never more, cut at the end of its section; where two overlap,
 *     the one that starts later (the inner one) has the common part;
 *   - a symbol without size covers nothing that a sized one covers, and ends at the next symbol,
 *     the next function start of .eh_frame, or the end of its section.  From a table of exported
 *     symbols only, without function starts, it covers nothing: the gap after it may be other,
 *     stripped functions;
 *   - of several names at one address the best is, in this order: sized; function before IFUNC
 *     before untyped; visible before local; fewer leading underscores; strong before weak; shorter;
 *     first by bytes.  So libc's write is "write", not "__write" or "__GI___write", from whichever
 *     table it was read. */
#ifndef FB_SYMBOLIZE_SYMBOL_INDEX_H
#define FB_SYMBOLIZE_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf_file.h"

enum fb_symbol_kind { /* in the order of preference */
                      FB_SYMBOL_FUNCTION,
                      FB_SYMBOL_RESOLVER, /* an IFUNC: its range is the resolver's code, not the
                                             function's */
                      FB_SYMBOL_LABEL,    /* untyped: assembly    */
                      FB_SYMBOL_STUB,     /* a PLT entry of the named function     */
};

struct fb_symbol_candidate {
    uint64_t start, size;
    const char *name; /* borrowed; must outlive the index */
    enum fb_symbol_kind kind;
    bool local, weak;
    bool whole_table; /* from .symtab: its neighbours are known too */
};

struct fb_symbol {
    uint64_t start, end;
    const char *name;  /* as in the table, version included                    */
    const char *ifunc; /* the IFUNC whose resolver starts here, or NULL         */
    enum fb_symbol_kind kind;
};

struct fb_symbol_index {
    struct fb_symbol *items; /* disjoint, by start; after build */
    uint64_t *starts;        /* items[i].start, packed for the search */
    size_t count, room;
    struct fb_symbol_candidate *added; /* private, until build */
    size_t added_count, added_room;
};

void fb_symbol_index_add(struct fb_symbol_index *ix, const struct fb_symbol_candidate *candidate);

/* code: the sections, by start.  starts: function starts, rising, or none. */
void fb_symbol_index_build(struct fb_symbol_index *ix, const struct fb_elf_code *code,
                           size_t code_count, const uint64_t *starts, size_t starts_count);

/* Borrowed until fb_symbol_index_done(), or NULL where no symbol covers the address. */
const struct fb_symbol *fb_symbol_index_find(const struct fb_symbol_index *ix, uint64_t address);

void fb_symbol_index_done(struct fb_symbol_index *ix);

#endif

/* dwarf_ranges.h - the addresses that an entry covers: low and high, or a list of ranges. */
#ifndef FB_SYMBOLIZE_DWARF_RANGES_H
#define FB_SYMBOLIZE_DWARF_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/dwarf_form.h"

struct fb_dwarf_range { /* [start, end) */
    uint64_t start, end;
};

struct fb_dwarf_ranges {
    struct fb_dwarf_range *items;
    size_t count, room;
    /* Entries of lists that may still be read, over all calls: lists that overlap, or are asked for
     * by a million entries, are an attack. */
    size_t budget;
};

/* Puts the ranges of an entry in place of what `ranges` held; empty ones are left out. */
void fb_dwarf_ranges_read(const struct fb_dwarf_unit *unit, const struct fb_dwarf_entry *entry,
                          struct fb_dwarf_ranges *ranges);

#endif

/* dwarf_package.h - the index of a package of split units (.dwp): whose bytes are where. */
#ifndef FB_SYMBOLIZE_DWARF_PACKAGE_H
#define FB_SYMBOLIZE_DWARF_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"

struct fb_dwarf_parts { /* of one unit: where its part of each section starts */
    uint64_t info, abbrev, str_offsets, rnglists;
};

struct fb_dwarf_package {
    struct fb_dwarf_parts *items; /* by info */
    size_t count;
};

/* index: .debug_cu_index of version 2 (GNU, DWARF 4) or 5; no rows where it is none. */
void fb_dwarf_package_read(struct fb_wire_in index, struct fb_dwarf_package *ret_package);
void fb_dwarf_package_done(struct fb_dwarf_package *package);

/* The row whose part of .debug_info.dwo starts there, or NULL. */
const struct fb_dwarf_parts *fb_dwarf_package_find(const struct fb_dwarf_package *package,
                                                   uint64_t info_offset);

#endif

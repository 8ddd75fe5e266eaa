/* OFFSET  SIZE  MEANING
 *      0     4  version: 2, or 5 in two bytes and two of padding
 *      4     4  columns C
 *      8     4  units U
 *     12     4  slots S, a power of two
 *     16    8S  ids by slot, 0 free
 *      …    4S  rows by slot, 1..U
 *      …    4C  the section of each column
 *      …   4CU  offsets, by row
 *      …   4CU  sizes, by row
 * The rows are taken, not the slots: a reader of all units needs no hash. */
#include "symbolize/dwarf_package.h"

#include <stdlib.h>

#include "base/vec.h"

enum { INFO = 1, ABBREV = 3, STR_OFFSETS = 6, RNGLISTS = 8, COLUMNS_MAX = 16 };

static int by_info(const void *a, const void *b)
{
    const struct fb_dwarf_parts *x = a, *y = b;

    return (x->info > y->info) - (x->info < y->info);
}

static struct fb_dwarf_parts read_row(struct fb_wire_in *in, const uint32_t *sections,
                                      size_t columns, uint64_t version)
{
    struct fb_dwarf_parts parts = {.info = UINT64_MAX};

    for (size_t c = 0; c < columns; c++) {
        uint64_t offset = fb_wire_get_le(in, 4);

        if (sections[c] == INFO)
            parts.info = offset;
        else if (sections[c] == ABBREV)
            parts.abbrev = offset;
        else if (sections[c] == STR_OFFSETS)
            parts.str_offsets = offset;
        else if (sections[c] == RNGLISTS && version == 5)
            parts.rnglists = offset;
    }
    return parts;
}

void fb_dwarf_package_read(struct fb_wire_in index, struct fb_dwarf_package *ret_package)
{
    uint64_t version = fb_wire_get_le(&index, 4) & 0xffff, columns = fb_wire_get_le(&index, 4);
    uint64_t units = fb_wire_get_le(&index, 4), slots = fb_wire_get_le(&index, 4);
    uint32_t sections[COLUMNS_MAX];

    *ret_package = (struct fb_dwarf_package){0};
    if (index.bad || (version != 2 && version != 5) || columns == 0 || columns > COLUMNS_MAX ||
        slots > fb_wire_left(&index) / 12)
        return;
    index.pos += (size_t)slots * 12;
    for (size_t c = 0; c < columns; c++)
        sections[c] = (uint32_t)fb_wire_get_le(&index, 4);
    if (index.bad || units == 0 || units > fb_wire_left(&index) / (4 * columns))
        return;
    ret_package->items = fb_alloc_array((size_t)units, sizeof *ret_package->items);
    ret_package->count = (size_t)units;
    for (size_t i = 0; i < units; i++)
        ret_package->items[i] = read_row(&index, sections, (size_t)columns, version);
    qsort(ret_package->items, ret_package->count, sizeof *ret_package->items, by_info);
}

void fb_dwarf_package_done(struct fb_dwarf_package *package)
{
    free(package->items);
    *package = (struct fb_dwarf_package){0};
}

const struct fb_dwarf_parts *fb_dwarf_package_find(const struct fb_dwarf_package *package,
                                                   uint64_t info_offset)
{
    const struct fb_dwarf_parts key = {.info = info_offset};

    return package->count == 0 ? NULL
                               : bsearch(&key, package->items, package->count, sizeof key, by_info);
}

/* DWARF 5, section 2.17.3 and 7.25; .debug_ranges of DWARF 3 and 4. */
#include "symbolize/dwarf_ranges.h"

#include <dwarf.h>

#include "base/vec.h"
#include "symbolize/dwarf_file.h"

static void add(struct fb_dwarf_ranges *r, uint64_t start, uint64_t end)
{
    if (start >= end)
        return;
    fb_vec_reserve(&r->items, &r->room, r->count + 1, sizeof *r->items);
    r->items[r->count++] = (struct fb_dwarf_range){start, end};
}

static void read_old(const struct fb_dwarf_unit *owner, uint64_t offset, struct fb_dwarf_ranges *r)
{
    struct fb_wire_in in = fb_dwarf_cursor(owner->dwarf, FB_DWARF_RANGES, offset);
    uint64_t base = owner->low_pc, mask = owner->address_size == 8 ? UINT64_MAX : UINT32_MAX;

    for (; r->budget > 0; r->budget--) {
        uint64_t start = fb_wire_get_le(&in, owner->address_size);
        uint64_t end = fb_wire_get_le(&in, owner->address_size);

        if (in.bad || (start == 0 && end == 0))
            return;
        if (start == mask)
            base = end;
        else
            add(r, (base + start) & mask, (base + end) & mask);
    }
}

/* One entry of a list of DWARF 5; false at its end. */
static bool read_new_entry(const struct fb_dwarf_unit *unit, struct fb_wire_in *in, uint64_t *base,
                           struct fb_dwarf_ranges *r)
{
    uint64_t start = 0, end = 0;
    uint8_t size = unit->address_size, kind = fb_wire_get_u8(in);

    switch (kind) {
    case DW_RLE_base_addressx:
        return fb_dwarf_indexed_address(unit, fb_wire_get_varint(in), base);
    case DW_RLE_base_address:
        *base = fb_wire_get_le(in, size);
        return !in->bad;
    case DW_RLE_startx_endx:
        if (!fb_dwarf_indexed_address(unit, fb_wire_get_varint(in), &start) ||
            !fb_dwarf_indexed_address(unit, fb_wire_get_varint(in), &end))
            return false;
        break;
    case DW_RLE_startx_length:
        if (!fb_dwarf_indexed_address(unit, fb_wire_get_varint(in), &start))
            return false;
        end = start + fb_wire_get_varint(in);
        break;
    case DW_RLE_offset_pair:
        start = *base + fb_wire_get_varint(in);
        end = *base + fb_wire_get_varint(in);
        break;
    case DW_RLE_start_end:
        start = fb_wire_get_le(in, size);
        end = fb_wire_get_le(in, size);
        break;
    case DW_RLE_start_length:
        start = fb_wire_get_le(in, size);
        end = start + fb_wire_get_varint(in);
        break;
    default: /* the end of the list, or what is none */
        return false;
    }
    if (in->bad)
        return false;
    add(r, start, end);
    return true;
}

static void read_new(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value,
                     struct fb_dwarf_ranges *r)
{
    uint64_t offset = value->n, base = unit->skeleton ? unit->skeleton->low_pc : unit->low_pc;
    struct fb_wire_in in;

    if (value->form == DW_FORM_rnglistx) {
        in = fb_dwarf_cursor(unit->dwarf, FB_DWARF_RNGLISTS, unit->rnglists_base);
        if (offset >= fb_wire_left(&in) / unit->offset_size)
            return;
        in.pos += (size_t)offset * unit->offset_size;
        offset = unit->rnglists_base + fb_wire_get_le(&in, unit->offset_size);
    }
    in = fb_dwarf_cursor(unit->dwarf, FB_DWARF_RNGLISTS, offset);
    while (r->budget > 0 && read_new_entry(unit, &in, &base, r))
        r->budget--;
}

void fb_dwarf_ranges_read(const struct fb_dwarf_unit *unit, const struct fb_dwarf_entry *entry,
                          struct fb_dwarf_ranges *ranges)
{
    const struct fb_dwarf_value *list = &entry->values[FB_DWARF_RANGE_LIST];
    const struct fb_dwarf_value *high = &entry->values[FB_DWARF_HIGH_PC];
    const struct fb_dwarf_unit *owner = unit->skeleton ? unit->skeleton : unit;
    uint64_t start, end;

    ranges->count = 0;
    if (list->form != 0 && unit->version >= 5)
        read_new(unit, list, ranges);
    else if (list->form != 0)
        /* A split unit's are in its skeleton's file, from a base that the skeleton's do not use. */
        read_old(owner, list->n + (unit->skeleton ? owner->ranges_base : 0), ranges);
    else if (high->form != 0 && fb_dwarf_address(unit, &entry->values[FB_DWARF_LOW_PC], &start)) {
        if (!fb_dwarf_address(unit, high, &end))
            end = start + high->n;
        add(ranges, start, end);
    }
}

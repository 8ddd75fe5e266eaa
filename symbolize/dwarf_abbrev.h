/* dwarf_abbrev.h - a table of .debug_abbrev: the shapes of a unit's entries.
 *
 * A shape whose attributes all have a fixed size says so, and its entries are stepped over without
 * a look at them. */
#ifndef FB_SYMBOLIZE_DWARF_ABBREV_H
#define FB_SYMBOLIZE_DWARF_ABBREV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/wire.h"

struct fb_abbrev_attr {
    uint16_t name, form;
    int8_t size;    /* bytes of the value, -1 where they are in it       */
    uint8_t wanted; /* an enum fb_dwarf_wanted                           */
};

struct fb_abbrev {
    uint64_t code;
    uint32_t first; /* attributes: attrs[first .. first + count)      */
    uint32_t count;
    int32_t size;      /* bytes of all attributes, -1 where they differ  */
    uint32_t implicit; /* its first value in implicits[]                 */
    uint16_t tag;
    bool has_children;
    bool has_pc; /* low_pc or ranges is among them */
    bool has_sibling;
};

struct fb_abbrevs {
    uint64_t offset;
    uint8_t version, address_size, offset_size; /* what `size` is for */
    struct fb_abbrev *items;                    /* by code            */
    size_t count, room;
    struct fb_abbrev_attr *attrs;
    size_t attrs_count, attrs_room;
    int64_t *implicits; /* values of DW_FORM_implicit_const, in order */
    size_t implicits_count, implicits_room;
};

/* Reads the table that `in` is at; NULL where it is broken.  Free with fb_abbrevs_free(). */
struct fb_abbrevs *fb_abbrevs_read(struct fb_wire_in in, uint8_t version, uint8_t address_size,
                                   uint8_t offset_size);
void fb_abbrevs_free(struct fb_abbrevs *abbrevs);

/* NULL where there is no such code. */
const struct fb_abbrev *fb_abbrevs_find(const struct fb_abbrevs *abbrevs, uint64_t code);

#endif

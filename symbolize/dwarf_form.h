/* dwarf_form.h - the values of attributes: how many bytes they take, and what they mean.
 *
 *     struct fb_dwarf_entry e;
 *     if (fb_dwarf_entry_read(unit, &in, &e)) ...          `in` is behind the entry now
 *         fb_dwarf_text(unit, &e.values[FB_DWARF_NAME]) ...
 *
 * An entry is read at once into the few values that naming needs; the others are stepped over. */
#ifndef FB_SYMBOLIZE_DWARF_FORM_H
#define FB_SYMBOLIZE_DWARF_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolize/dwarf_abbrev.h"

struct fb_dwarf_unit;

/* A number, an offset, an index or the place of an inline string, by `form`; 0: not there. */
struct fb_dwarf_value {
    uint16_t form;
    uint64_t n;
};

enum fb_dwarf_wanted { /* the attributes that are kept */
                       FB_DWARF_NONE,
                       FB_DWARF_SIBLING,
                       FB_DWARF_NAME,
                       FB_DWARF_LINKAGE_NAME,
                       FB_DWARF_LOW_PC,
                       FB_DWARF_HIGH_PC,
                       FB_DWARF_RANGE_LIST,
                       FB_DWARF_ORIGIN, /* of a copy or a definition: the entry that has its name */
                       FB_DWARF_CALL_FILE,
                       FB_DWARF_CALL_LINE,
                       FB_DWARF_STMT_LIST,
                       FB_DWARF_COMP_DIR,
                       FB_DWARF_SPLIT_NAME,
                       FB_DWARF_SPLIT_ID,
                       FB_DWARF_STR_OFFSETS_BASE,
                       FB_DWARF_ADDR_BASE,
                       FB_DWARF_RNGLISTS_BASE,
                       FB_DWARF_GNU_RANGES_BASE,
                       FB_DWARF_WANTED_COUNT
};

struct fb_dwarf_entry {
    const struct fb_abbrev *abbrev;
    struct fb_dwarf_value values[FB_DWARF_WANTED_COUNT];
};

/* Where the values of an attribute are kept. */
enum fb_dwarf_wanted fb_dwarf_wanted_of(uint16_t attribute);

/* Bytes of a value of that form, -1 where they are in the value itself. */
int fb_dwarf_form_size(uint16_t form, uint8_t version, uint8_t address_size, uint8_t offset_size);

int64_t fb_dwarf_sleb(struct fb_wire_in *in);

/* Reads one value; a block is stepped over.  An unknown form makes `in` bad. */
void fb_dwarf_value_read(const struct fb_dwarf_unit *unit, struct fb_wire_in *in, uint16_t form,
                         int64_t implicit, struct fb_dwarf_value *ret_value);

/* The entry of shape `abbrev` whose attributes `in` is at; false where the bytes do not hold it. */
bool fb_dwarf_entry_read_as(const struct fb_dwarf_unit *unit, const struct fb_abbrevs *abbrevs,
                            const struct fb_abbrev *abbrev, struct fb_wire_in *in,
                            struct fb_dwarf_entry *ret_entry);
/* The entry at `in`, its code first; false at the end of a list of children, too. */
bool fb_dwarf_entry_read(const struct fb_dwarf_unit *unit, struct fb_wire_in *in,
                         struct fb_dwarf_entry *ret_entry);
/* Steps over the attributes of an entry. */
void fb_dwarf_entry_skip(const struct fb_dwarf_unit *unit, const struct fb_abbrevs *abbrevs,
                         const struct fb_abbrev *abbrev, struct fb_wire_in *in);

/* Borrowed text, NULL where the value is none. */
const char *fb_dwarf_text(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value);

/* An address, direct or by index. */
bool fb_dwarf_address(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value,
                      uint64_t *ret_address);
/* Entry `index` of the unit's part of .debug_addr. */
bool fb_dwarf_indexed_address(const struct fb_dwarf_unit *unit, uint64_t index,
                              uint64_t *ret_address);

/* Where a reference points: the unit, and the entry's offset in that unit's .debug_info. */
bool fb_dwarf_reference(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value,
                        const struct fb_dwarf_unit **ret_unit, uint64_t *ret_offset);

#endif

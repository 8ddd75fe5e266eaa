/* dwarf_file.h - the DWARF sections of one file, and the units in its .debug_info.
 *
 *     struct fb_dwarf *d = fb_dwarf_open(file);            NULL: there is none of ours
 *     for (size_t i = 0; i < d->units_count; i++) ... d->units[i] ...
 *     fb_dwarf_close(d);
 *
 * Own reading, not libdw's: that allocates per entry and searches linearly, which is tens of times
 * what a profile's names may cost.  libelf gives the bytes (compressed sections unpacked).  DWARF
 * 2 to 5, 32 and 64 bits, little-endian; a unit that is anything else is left out.  Every read is
 * bounded by its section, every count by the bytes that are there. */
#ifndef FB_SYMBOLIZE_DWARF_FILE_H
#define FB_SYMBOLIZE_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"
#include "symbolize/dwarf_abbrev.h"
#include "symbolize/elf_file.h"

enum fb_dwarf_section {
    FB_DWARF_INFO,
    FB_DWARF_ABBREV,
    FB_DWARF_STR,
    FB_DWARF_STR_OFFSETS,
    FB_DWARF_LINE,
    FB_DWARF_LINE_STR,
    FB_DWARF_ADDR,
    FB_DWARF_RANGES,
    FB_DWARF_RNGLISTS,
    FB_DWARF_SECTION_COUNT
};

/* A unit, with what its first entry says.  All offsets are in the sections of `dwarf`, those of a
 * package (.dwp) already moved to the unit's part. */
struct fb_dwarf_unit {
    struct fb_dwarf *dwarf;
    uint64_t start, end; /* in .debug_info: the header, and behind the unit */
    uint64_t first;      /* its first entry                                 */
    uint64_t abbrev_offset;
    uint64_t str_offsets_base, addr_base, ranges_base, rnglists_base;
    uint64_t id;                       /* pairs a skeleton with its split unit; 0 none    */
    uint64_t low_pc;                   /* of the unit: where its ranges start from        */
    uint64_t line_offset;              /* its line table, if has_lines                    */
    const char *comp_dir, *split_name; /* "" none; borrowed                     */
    /* A split unit's: the unit that has its addresses, ranges (DWARF 4) and lines; else NULL. */
    const struct fb_dwarf_unit *skeleton;
    const struct fb_abbrevs *abbrevs; /* private: fb_dwarf_abbrevs()              */
    uint8_t version, type, address_size, offset_size;
    bool has_lines, is_code; /* is_code: a compile unit, whole or skeleton       */
};

struct fb_dwarf {
    struct fb_wire_in sections[FB_DWARF_SECTION_COUNT]; /* len 0: not there */
    struct fb_dwarf_unit *units;                        /* by start           */
    size_t units_count, units_room;
    struct fb_dwarf *alt; /* the shared part that dwz(1) moved out, or NULL; owned by the opener */
    bool is_split;        /* a .dwo or .dwp file                              */
    struct fb_abbrevs **abbrevs; /* private: the tables read so far          */
    size_t abbrevs_count, abbrevs_room;
    struct fb_index abbrevs_index;
    uint64_t abbrevs_bytes, abbrevs_bytes_most; /* read, and how much will be: tables that overlap
                                                   are an attack */
};

/* The file must outlive it.  NULL where it has no .debug_info (.debug_info.dwo). */
struct fb_dwarf *fb_dwarf_open(const struct fb_elf_file *file);
void fb_dwarf_close(struct fb_dwarf *dwarf);

/* The unit that holds an offset of .debug_info, or NULL. */
const struct fb_dwarf_unit *fb_dwarf_unit_at(const struct fb_dwarf *dwarf, uint64_t offset);

/* The unit's table of abbreviations, read when first asked for; NULL where it is broken. */
const struct fb_abbrevs *fb_dwarf_abbrevs(const struct fb_dwarf_unit *unit);

/* The section from `offset` on; empty where it has no such offset. */
struct fb_wire_in fb_dwarf_cursor(const struct fb_dwarf *dwarf, enum fb_dwarf_section section,
                                  uint64_t offset);

#endif

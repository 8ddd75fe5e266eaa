/* DWARF 5, section 7.5.6, and the GNU forms of split DWARF 4 and dwz. */
#include "symbolize/dwarf_form.h"

#include <dwarf.h>
#include <string.h>

#include "symbolize/dwarf_file.h"

/* By attribute: its place in the kept values.  Those past the table are looked for by hand. */
static const uint8_t wanted[] = {
    [DW_AT_sibling] = FB_DWARF_SIBLING,
    [DW_AT_name] = FB_DWARF_NAME,
    [DW_AT_stmt_list] = FB_DWARF_STMT_LIST,
    [DW_AT_low_pc] = FB_DWARF_LOW_PC,
    [DW_AT_high_pc] = FB_DWARF_HIGH_PC,
    [DW_AT_comp_dir] = FB_DWARF_COMP_DIR,
    [DW_AT_abstract_origin] = FB_DWARF_ORIGIN,
    [DW_AT_specification] = FB_DWARF_ORIGIN,
    [DW_AT_ranges] = FB_DWARF_RANGE_LIST,
    [DW_AT_call_file] = FB_DWARF_CALL_FILE,
    [DW_AT_call_line] = FB_DWARF_CALL_LINE,
    [DW_AT_linkage_name] = FB_DWARF_LINKAGE_NAME,
    [DW_AT_str_offsets_base] = FB_DWARF_STR_OFFSETS_BASE,
    [DW_AT_addr_base] = FB_DWARF_ADDR_BASE,
    [DW_AT_rnglists_base] = FB_DWARF_RNGLISTS_BASE,
    [DW_AT_dwo_name] = FB_DWARF_SPLIT_NAME,
};

enum fb_dwarf_wanted fb_dwarf_wanted_of(uint16_t attribute)
{
    if (attribute < sizeof wanted)
        return (enum fb_dwarf_wanted)wanted[attribute];
    switch (attribute) {
    case DW_AT_MIPS_linkage_name:
        return FB_DWARF_LINKAGE_NAME;
    case DW_AT_GNU_dwo_name:
        return FB_DWARF_SPLIT_NAME;
    case DW_AT_GNU_dwo_id:
        return FB_DWARF_SPLIT_ID;
    case DW_AT_GNU_addr_base:
        return FB_DWARF_ADDR_BASE;
    case DW_AT_GNU_ranges_base:
        return FB_DWARF_GNU_RANGES_BASE;
    default:
        return FB_DWARF_NONE;
    }
}

int fb_dwarf_form_size(uint16_t form, uint8_t version, uint8_t address_size, uint8_t offset_size)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return address_size;
    case DW_FORM_ref_addr:
        return version == 2 ? address_size : offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return offset_size;
    default:
        return -1;
    }
}

int64_t fb_dwarf_sleb(struct fb_wire_in *in)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t b;

    do {
        b = fb_wire_get_u8(in);
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while ((b & 0x80) && !in->bad);
    if (shift < 64 && (b & 0x40))
        v |= ~(uint64_t)0 << shift;
    return (int64_t)v;
}

/* Forms whose size is in the value. */
static uint64_t read_variable(struct fb_wire_in *in, uint16_t form)
{
    size_t n;
    uint64_t at = in->pos;
    const uint8_t *end;

    switch (form) {
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return fb_wire_get_varint(in);
    case DW_FORM_sdata:
        return (uint64_t)fb_dwarf_sleb(in);
    case DW_FORM_string:
        end = in->bad ? NULL : memchr(in->data + in->pos, 0, in->len - in->pos);
        if (!end)
            in->bad = true;
        else
            in->pos = (size_t)(end - in->data) + 1;
        return at;
    case DW_FORM_block1:
        (void)fb_wire_get_bytes(in, fb_wire_get_u8(in));
        return at;
    case DW_FORM_block2:
        (void)fb_wire_get_bytes(in, (size_t)fb_wire_get_le(in, 2));
        return at;
    case DW_FORM_block4:
        (void)fb_wire_get_bytes(in, (size_t)fb_wire_get_le(in, 4));
        return at;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        (void)fb_wire_get_blob(in, &n);
        return at;
    default:
        in->bad = true;
        return 0;
    }
}

void fb_dwarf_value_read(const struct fb_dwarf_unit *unit, struct fb_wire_in *in, uint16_t form,
                         int64_t implicit, struct fb_dwarf_value *ret_value)
{
    int size;

    if (form == DW_FORM_indirect) {
        uint64_t actual = fb_wire_get_varint(in);

        form = actual > UINT16_MAX || actual == DW_FORM_indirect ? 0 : (uint16_t)actual;
        implicit = form == DW_FORM_implicit_const ? fb_dwarf_sleb(in) : 0;
    }
    size = fb_dwarf_form_size(form, unit->version, unit->address_size, unit->offset_size);
    ret_value->form = form;
    if (form == DW_FORM_implicit_const)
        ret_value->n = (uint64_t)implicit;
    else if (form == DW_FORM_flag_present)
        ret_value->n = 1;
    else if (size < 0)
        ret_value->n = read_variable(in, form);
    else if (size > 8)
        ret_value->n = fb_wire_get_bytes(in, (size_t)size) ? 0 : 0;
    else
        ret_value->n = fb_wire_get_le(in, (unsigned)size);
}

/* The sizes that compilers write, each at once. */
static uint64_t load(struct fb_wire_in *in, int size)
{
    const uint8_t *at = fb_wire_get_bytes(in, (size_t)size);

    if (!at)
        return 0;
    switch (size) {
    case 1:
        return at[0];
    case 2:
        return fb_wire_load_le(at, 2);
    case 4:
        return fb_wire_load_le(at, 4);
    case 8:
        return fb_wire_load_le(at, 8);
    default:
        return fb_wire_load_le(at, (unsigned)size);
    }
}

bool fb_dwarf_entry_read_as(const struct fb_dwarf_unit *unit, const struct fb_abbrevs *abbrevs,
                            const struct fb_abbrev *abbrev, struct fb_wire_in *in,
                            struct fb_dwarf_entry *ret_entry)
{
    uint32_t implicit = abbrev->implicit;

    memset(ret_entry, 0, sizeof *ret_entry);
    ret_entry->abbrev = abbrev;
    for (uint32_t i = 0; i < abbrev->count && !in->bad; i++) {
        const struct fb_abbrev_attr *a = &abbrevs->attrs[abbrev->first + i];
        struct fb_dwarf_value *value = &ret_entry->values[a->wanted];
        int64_t own = 0;

        if (a->form == DW_FORM_implicit_const)
            own = abbrevs->implicits[implicit++];
        if (a->wanted == FB_DWARF_NONE && a->size >= 0) {
            (void)fb_wire_get_bytes(in, (size_t)a->size);
        } else if (a->size > 0 && a->size <= 8) {
            value->form = a->form;
            value->n = load(in, a->size);
        } else {
            fb_dwarf_value_read(unit, in, a->form, own, value);
        }
    }
    ret_entry->values[FB_DWARF_NONE] = (struct fb_dwarf_value){0};
    return !in->bad;
}

bool fb_dwarf_entry_read(const struct fb_dwarf_unit *unit, struct fb_wire_in *in,
                         struct fb_dwarf_entry *ret_entry)
{
    const struct fb_abbrevs *abbrevs = fb_dwarf_abbrevs(unit);
    uint64_t code = fb_wire_get_varint(in);
    const struct fb_abbrev *abbrev =
        abbrevs && code != 0 && !in->bad ? fb_abbrevs_find(abbrevs, code) : NULL;

    return abbrev && fb_dwarf_entry_read_as(unit, abbrevs, abbrev, in, ret_entry);
}

void fb_dwarf_entry_skip(const struct fb_dwarf_unit *unit, const struct fb_abbrevs *abbrevs,
                         const struct fb_abbrev *abbrev, struct fb_wire_in *in)
{
    if (abbrev->size >= 0) {
        (void)fb_wire_get_bytes(in, (size_t)abbrev->size);
        return;
    }
    for (uint32_t i = 0; i < abbrev->count && !in->bad; i++) {
        const struct fb_abbrev_attr *a = &abbrevs->attrs[abbrev->first + i];
        struct fb_dwarf_value ignored;

        if (a->size >= 0)
            (void)fb_wire_get_bytes(in, (size_t)a->size);
        else if (a->form == DW_FORM_indirect)
            fb_dwarf_value_read(unit, in, a->form, 0, &ignored);
        else
            (void)read_variable(in, a->form);
    }
}

static const char *text_at(const struct fb_dwarf *dwarf, enum fb_dwarf_section section,
                           uint64_t offset)
{
    const struct fb_wire_in *s = &dwarf->sections[section];

    if (offset >= s->len || !memchr(s->data + offset, 0, s->len - (size_t)offset))
        return NULL;
    return (const char *)s->data + offset;
}

/* String `index` of the unit's part of .debug_str_offsets. */
static const char *indexed_text(const struct fb_dwarf_unit *unit, uint64_t index)
{
    struct fb_wire_in in =
        fb_dwarf_cursor(unit->dwarf, FB_DWARF_STR_OFFSETS, unit->str_offsets_base);
    uint64_t offset;

    if (index >= fb_wire_left(&in) / unit->offset_size)
        return NULL;
    in.pos += (size_t)index * unit->offset_size;
    offset = fb_wire_get_le(&in, unit->offset_size);
    return text_at(unit->dwarf, FB_DWARF_STR, offset);
}

const char *fb_dwarf_text(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value)
{
    switch (value->form) {
    case DW_FORM_string:
        return text_at(unit->dwarf, FB_DWARF_INFO, value->n);
    case DW_FORM_strp:
        return text_at(unit->dwarf, FB_DWARF_STR, value->n);
    case DW_FORM_line_strp:
        return text_at(unit->dwarf, FB_DWARF_LINE_STR, value->n);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        return unit->dwarf->alt ? text_at(unit->dwarf->alt, FB_DWARF_STR, value->n) : NULL;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        return indexed_text(unit, value->n);
    default:
        return NULL;
    }
}

bool fb_dwarf_indexed_address(const struct fb_dwarf_unit *unit, uint64_t index,
                              uint64_t *ret_address)
{
    const struct fb_dwarf_unit *owner = unit->skeleton ? unit->skeleton : unit;
    struct fb_wire_in in = fb_dwarf_cursor(owner->dwarf, FB_DWARF_ADDR, owner->addr_base);

    if (index >= fb_wire_left(&in) / owner->address_size)
        return false;
    in.pos += (size_t)index * owner->address_size;
    *ret_address = fb_wire_get_le(&in, owner->address_size);
    return true;
}

bool fb_dwarf_address(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value,
                      uint64_t *ret_address)
{
    switch (value->form) {
    case DW_FORM_addr:
        *ret_address = value->n;
        return true;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
        return fb_dwarf_indexed_address(unit, value->n, ret_address);
    default:
        return false;
    }
}

bool fb_dwarf_reference(const struct fb_dwarf_unit *unit, const struct fb_dwarf_value *value,
                        const struct fb_dwarf_unit **ret_unit, uint64_t *ret_offset)
{
    const struct fb_dwarf *target = unit->dwarf;

    switch (value->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        if (value->n >= unit->end - unit->start)
            return false;
        *ret_unit = unit;
        *ret_offset = unit->start + value->n;
        return true;
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_GNU_ref_alt:
        target = target->alt;
        break;
    case DW_FORM_ref_addr:
        break;
    default:
        return false;
    }
    *ret_unit = target ? fb_dwarf_unit_at(target, value->n) : NULL;
    *ret_offset = value->n;
    return *ret_unit != NULL;
}

/* Sections by name, then one pass over the headers of the units and their first entries. */
#include "symbolize/dwarf_file.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "symbolize/dwarf_form.h"
#include "symbolize/dwarf_package.h"

/* UNPACK_MOST: deflate makes at most 1032 bytes of one, zstd far more: what claims to be bigger
 * than that many times its size lies. */
enum { UNITS_MAX = 1 << 20, UNPACK_MOST = 1032 };

static const char *const section_names[FB_DWARF_SECTION_COUNT] = {
    [FB_DWARF_INFO] = "info",         [FB_DWARF_ABBREV] = "abbrev",
    [FB_DWARF_STR] = "str",           [FB_DWARF_STR_OFFSETS] = "str_offsets",
    [FB_DWARF_LINE] = "line",         [FB_DWARF_LINE_STR] = "line_str",
    [FB_DWARF_ADDR] = "addr",         [FB_DWARF_RANGES] = "ranges",
    [FB_DWARF_RNGLISTS] = "rnglists",
};

/* The bytes of a section, unpacked; empty where it cannot be. */
static struct fb_wire_in section_bytes(Elf_Scn *scn, const GElf_Shdr *header, const char *name)
{
    struct fb_wire_in none = {0};
    Elf_Data *data;

    if (header->sh_type == SHT_NOBITS)
        return none;
    if (header->sh_flags & SHF_COMPRESSED) {
        GElf_Chdr packed;

        if (!gelf_getchdr(scn, &packed) || packed.ch_size / UNPACK_MOST > header->sh_size ||
            elf_compress(scn, 0, 0) < 0)
            return none;
    } else if (strncmp(name, ".zdebug_", 8) == 0) {
        data = elf_rawdata(scn, NULL);
        if (!data || !data->d_buf || data->d_size < 12)
            return none;
        for (size_t i = 0; i < 4; i++) /* "ZLIB", the size in big-endian: under 4 GiB, as above */
            if (((const uint8_t *)data->d_buf)[4 + i] != 0)
                return none;
        if (elf_compress_gnu(scn, 0, 0) < 0)
            return none;
    }
    data = elf_rawdata(scn, NULL);
    if (!data || !data->d_buf)
        return none;
    return (struct fb_wire_in){.data = data->d_buf, .len = data->d_size};
}

/* ".debug_info" or ".zdebug_info", ".dwo" behind it in a split file; -1 for another. */
static int section_of(const char *name, bool is_split)
{
    size_t len = strlen(name), skip = strncmp(name, ".zdebug_", 8) == 0 ? 8 : 7;
    bool dwo = len > 4 && strcmp(name + len - 4, ".dwo") == 0;

    if (dwo != is_split || (strncmp(name, ".debug_", 7) != 0 && skip == 7) || len < skip)
        return -1;
    len -= dwo ? skip + 4 : skip;
    for (int i = 0; i < FB_DWARF_SECTION_COUNT; i++)
        if (strlen(section_names[i]) == len && strncmp(name + skip, section_names[i], len) == 0)
            return i;
    return -1;
}

static void read_sections(struct fb_dwarf *d, const struct fb_elf_file *file,
                          struct fb_wire_in *ret_package)
{
    size_t names;

    d->is_split = fb_elf_file_has_section(file, ".debug_info.dwo") &&
                  !fb_elf_file_has_section(file, ".debug_info");
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(file->elf, s));) {
        GElf_Shdr header;
        const char *name;
        int which;

        if (!gelf_getshdr(s, &header) || !(name = elf_strptr(file->elf, names, header.sh_name)))
            continue;
        which = section_of(name, d->is_split);
        if (which >= 0 && d->sections[which].len == 0)
            d->sections[which] = section_bytes(s, &header, name);
        else if (d->is_split && strcmp(name, ".debug_cu_index") == 0)
            *ret_package = section_bytes(s, &header, name);
    }
}

struct fb_wire_in fb_dwarf_cursor(const struct fb_dwarf *dwarf, enum fb_dwarf_section section,
                                  uint64_t offset)
{
    struct fb_wire_in in = dwarf->sections[section];

    in.pos = offset < in.len ? (size_t)offset : in.len;
    return in;
}

const struct fb_abbrevs *fb_dwarf_abbrevs(const struct fb_dwarf_unit *unit)
{
    struct fb_dwarf *d = unit->dwarf;
    struct fb_index_cursor at;
    struct fb_abbrevs *t;
    uint64_t hash;
    uint32_t i;

    if (unit->abbrevs)
        return unit->abbrevs;
    hash = fb_hash_pair((uint32_t)unit->abbrev_offset, (uint32_t)unit->version << 16 |
                                                           (uint32_t)unit->address_size << 8 |
                                                           unit->offset_size);
    at = fb_index_seek(&d->abbrevs_index, hash);
    while (fb_index_step(&d->abbrevs_index, &at, &i)) {
        t = d->abbrevs[i];
        if (t->offset == unit->abbrev_offset && t->version == unit->version &&
            t->address_size == unit->address_size && t->offset_size == unit->offset_size)
            return ((struct fb_dwarf_unit *)(size_t)unit)->abbrevs = t;
    }
    if (d->abbrevs_bytes > d->abbrevs_bytes_most)
        return NULL;
    t = fb_abbrevs_read(fb_dwarf_cursor(d, FB_DWARF_ABBREV, unit->abbrev_offset), unit->version,
                        unit->address_size, unit->offset_size);
    if (!t)
        return NULL;
    t->offset = unit->abbrev_offset;
    d->abbrevs_bytes += t->count * 4 + t->attrs_count * 2;
    fb_vec_reserve(&d->abbrevs, &d->abbrevs_room, d->abbrevs_count + 1, sizeof *d->abbrevs);
    fb_index_add(&d->abbrevs_index, hash, (uint32_t)d->abbrevs_count);
    d->abbrevs[d->abbrevs_count++] = t;
    return ((struct fb_dwarf_unit *)(size_t)unit)->abbrevs = t;
}

/* The header: where the unit ends is known even if it is of no kind of ours. */
static bool read_header(struct fb_wire_in *in, struct fb_dwarf_unit *u)
{
    uint64_t length;

    u->start = in->pos;
    u->offset_size = 4;
    length = fb_wire_get_le(in, 4);
    if (length == 0xffffffff) {
        length = fb_wire_get_le(in, 8);
        u->offset_size = 8;
    } else if (length >= 0xfffffff0) {
        return false;
    }
    if (in->bad || length > fb_wire_left(in))
        return false;
    u->end = in->pos + length;
    u->version = (uint8_t)fb_wire_get_le(in, 2);
    u->type = u->version >= 5 ? fb_wire_get_u8(in) : DW_UT_compile;
    if (u->version >= 5)
        u->address_size = fb_wire_get_u8(in);
    u->abbrev_offset = fb_wire_get_le(in, u->offset_size);
    if (u->version < 5)
        u->address_size = fb_wire_get_u8(in);
    if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
        u->id = fb_wire_get_le(in, 8);
    u->first = in->pos;
    return !in->bad;
}

static bool is_ours(const struct fb_dwarf_unit *u)
{
    return u->version >= 2 && u->version <= 5 && (u->address_size == 8 || u->address_size == 4) &&
           u->first < u->end && u->end - u->start < UINT32_MAX &&
           (u->type == DW_UT_compile || u->type == DW_UT_partial || u->type == DW_UT_skeleton ||
            u->type == DW_UT_split_compile);
}

/* Where the parts of a split unit start; in an object of its own, behind the headers. */
static void set_bases(struct fb_dwarf_unit *u, const struct fb_dwarf_package *package)
{
    uint64_t header = u->offset_size == 8 ? 16 : 8;
    static const struct fb_dwarf_parts none;
    const struct fb_dwarf_parts *parts = fb_dwarf_package_find(package, u->start);

    if (!u->dwarf->is_split)
        return;
    if (!parts)
        parts = &none;
    u->abbrev_offset += parts->abbrev;
    u->str_offsets_base = parts->str_offsets + (u->version >= 5 ? header : 0);
    u->rnglists_base = parts->rnglists + header + 4;
}

static void take_base(const struct fb_dwarf_entry *e, enum fb_dwarf_wanted which, uint64_t *base)
{
    if (e->values[which].form != 0)
        *base = e->values[which].n;
}

static void read_first(struct fb_dwarf_unit *u)
{
    struct fb_wire_in in = fb_dwarf_cursor(u->dwarf, FB_DWARF_INFO, u->first);
    const char *dir, *split;
    struct fb_dwarf_entry e;

    in.len = (size_t)u->end;
    if (!fb_dwarf_entry_read(u, &in, &e))
        return;
    if (!u->dwarf->is_split) {
        take_base(&e, FB_DWARF_STR_OFFSETS_BASE, &u->str_offsets_base);
        take_base(&e, FB_DWARF_RNGLISTS_BASE, &u->rnglists_base);
    }
    take_base(&e, FB_DWARF_ADDR_BASE, &u->addr_base);
    take_base(&e, FB_DWARF_GNU_RANGES_BASE, &u->ranges_base);
    take_base(&e, FB_DWARF_SPLIT_ID, &u->id);
    take_base(&e, FB_DWARF_STMT_LIST, &u->line_offset);
    u->has_lines = e.values[FB_DWARF_STMT_LIST].form != 0;
    dir = fb_dwarf_text(u, &e.values[FB_DWARF_COMP_DIR]);
    split = fb_dwarf_text(u, &e.values[FB_DWARF_SPLIT_NAME]);
    u->comp_dir = dir ? dir : "";
    u->split_name = split ? split : "";
    u->is_code = e.abbrev->tag == DW_TAG_compile_unit || e.abbrev->tag == DW_TAG_skeleton_unit;
    (void)fb_dwarf_address(u, &e.values[FB_DWARF_LOW_PC], &u->low_pc);
}

static void read_units(struct fb_dwarf *d, const struct fb_dwarf_package *package)
{
    struct fb_wire_in in = fb_dwarf_cursor(d, FB_DWARF_INFO, 0);

    while (fb_wire_left(&in) > 0 && d->units_count < UNITS_MAX) {
        struct fb_dwarf_unit u = {.dwarf = d, .comp_dir = "", .split_name = ""};

        if (!read_header(&in, &u))
            return;
        in.pos = (size_t)u.end;
        if (!is_ours(&u))
            continue;
        set_bases(&u, package);
        read_first(&u);
        fb_vec_reserve(&d->units, &d->units_room, d->units_count + 1, sizeof *d->units);
        d->units[d->units_count++] = u;
    }
}

struct fb_dwarf *fb_dwarf_open(const struct fb_elf_file *file)
{
    struct fb_dwarf_package package;
    struct fb_wire_in index = {0};
    struct fb_dwarf *d;
    GElf_Ehdr header;

    if (!gelf_getehdr(file->elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return NULL;
    d = fb_alloc(sizeof *d);
    read_sections(d, file, &index);
    d->abbrevs_bytes_most = 4 * d->sections[FB_DWARF_ABBREV].len;
    fb_dwarf_package_read(index, &package);
    read_units(d, &package);
    fb_dwarf_package_done(&package);
    if (d->units_count == 0) {
        fb_dwarf_close(d);
        return NULL;
    }
    return d;
}

void fb_dwarf_close(struct fb_dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->abbrevs_count; i++)
        fb_abbrevs_free(dwarf->abbrevs[i]);
    fb_index_done(&dwarf->abbrevs_index);
    free(dwarf->abbrevs);
    free(dwarf->units);
    free(dwarf);
}

const struct fb_dwarf_unit *fb_dwarf_unit_at(const struct fb_dwarf *dwarf, uint64_t offset)
{
    size_t from = 0, n = dwarf->units_count;

    while (n > 0) {
        size_t half = n / 2;

        if (dwarf->units[from + half].start <= offset) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    if (from == 0 || offset < dwarf->units[from - 1].first || offset >= dwarf->units[from - 1].end)
        return NULL;
    return &dwarf->units[from - 1];
}

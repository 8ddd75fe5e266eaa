/* Reading symbol tables through libelf, and the search table of .eh_frame_hdr by hand. */
#include "symbolize/elf_symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/symbol_rank.h"
#include "base/vec.h"
#include "base/wire.h"

void fb_elf_symbol_add(uint16_t machine, const GElf_Sym *symbol, const char *name, bool whole_table,
                       struct fb_symbol_index *ix)
{
    struct fb_symbol_candidate c = {.start = symbol->st_value,
                                    .size = symbol->st_size,
                                    .name = name,
                                    .local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL,
                                    .weak = GELF_ST_BIND(symbol->st_info) == STB_WEAK,
                                    .whole_table = whole_table};

    if (!name || !name[0] || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
        symbol->st_shndx == SHN_COMMON)
        return;
    switch (GELF_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
        c.kind = FB_SYMBOL_FUNCTION;
        break;
    case STT_GNU_IFUNC:
        c.kind = FB_SYMBOL_RESOLVER;
        break;
    case STT_NOTYPE:
        if (fb_symbol_is_mark(machine, name))
            return;
        c.kind = FB_SYMBOL_LABEL;
        break;
    default:
        return;
    }
    if (machine == EM_ARM)
        c.start &= ~(uint64_t)1; /* bit 0 says Thumb */
    fb_symbol_index_add(ix, &c);
}

/* The string at an offset of a table, "" where it does not end in it: elf_strptr() looks the
 * section up for each. */
static const char *text_at(const Elf_Data *strings, uint64_t offset)
{
    const char *bytes = strings ? strings->d_buf : NULL;

    if (!bytes || offset >= strings->d_size || bytes[strings->d_size - 1] != 0)
        return "";
    return bytes + offset;
}

static void add_table(const struct fb_elf_file *file, Elf_Scn *section, const GElf_Shdr *header,
                      struct fb_symbol_index *ix)
{
    Elf_Scn *names = elf_getscn(file->elf, header->sh_link);
    Elf_Data *data = elf_getdata(section, NULL), *strings = names ? elf_getdata(names, NULL) : NULL;
    size_t entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t count = data && data->d_buf && entry > 0 ? data->d_size / entry : 0;
    bool wide = gelf_getclass(file->elf) == ELFCLASS64; /* GElf_Sym is that class's */

    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;

        if (wide) /* a hostile table may lie unaligned */
            memcpy(&symbol, (const char *)data->d_buf + i * sizeof symbol, sizeof symbol);
        if (wide || gelf_getsym(data, (int)i, &symbol))
            fb_elf_symbol_add(file->machine, &symbol, text_at(strings, symbol.st_name),
                              header->sh_type == SHT_SYMTAB, ix);
    }
}

void fb_elf_symbols_add(const struct fb_elf_file *file, struct fb_symbol_index *ix, bool *ret_whole)
{
    bool whole = false;

    for (Elf_Scn *s = NULL; (s = elf_nextscn(file->elf, s));) {
        GElf_Shdr header;

        if (!gelf_getshdr(s, &header) ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        whole |= header.sh_type == SHT_SYMTAB;
        add_table(file, s, &header, ix);
    }
    if (ret_whole)
        *ret_whole = whole;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* OFFSET  SIZE  MEANING
 *      0     1  version, 1
 *      1     1  encoding of the pointer at 4: 4 bytes for all that is accepted
 *      2     1  encoding of the count: udata4
 *      3     1  encoding of the table: datarel | sdata4
 *      4     4  pointer to .eh_frame
 *      8     4  count
 *     12    8n  {start - section address, frame description - section address} */
uint64_t *fb_elf_function_starts(const struct fb_elf_file *file, size_t *ret_count)
{
    GElf_Shdr header;
    Elf_Data *data;
    const uint8_t *bytes;
    uint64_t *starts;
    bool sorted = true;
    size_t count;

    *ret_count = 0;
    if ((file->machine != EM_X86_64 && file->machine != EM_AARCH64) ||
        !fb_elf_file_section(file, ".eh_frame_hdr", &header, &data) || data->d_size < 12)
        return NULL;
    bytes = data->d_buf;
    if (bytes[0] != 1 || (bytes[1] & 0x0f & ~DW_EH_PE_signed) != DW_EH_PE_udata4 ||
        bytes[2] != DW_EH_PE_udata4 || bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return NULL;
    count = fb_wire_load_le(bytes + 8, 4);
    if (count == 0 || count > (data->d_size - 12) / 8)
        return NULL;
    starts = fb_alloc_array(count, sizeof *starts);
    for (size_t i = 0; i < count; i++) {
        starts[i] =
            header.sh_addr + (uint64_t)(int64_t)(int32_t)fb_wire_load_le(bytes + 12 + 8 * i, 4);
        sorted = sorted && (i == 0 || starts[i - 1] <= starts[i]);
    }
    if (!sorted) /* linkers do it */
        qsort(starts, count, sizeof *starts, by_value);
    *ret_count = count;
    return starts;
}

/* Decodes PLT entries and looks their GOT slots up in the relocations. */
#include "symbolize/plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/wire.h"

struct slot {
    uint64_t address; /* of the GOT entry */
    const char *name;
};

struct slots {
    struct slot *items; /* by address */
    size_t count, room;
    const char **by_number; /* of .rela.plt, NULL where an entry has no name */
    size_t numbers;
};

/* One PLT section being decoded. */
struct table {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
    const struct slots *slots;
    struct fb_symbol_index *stubs;
};

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static bool is_slot_type(uint16_t machine, uint64_t type, bool *ret_relative)
{
    bool x86 = machine == EM_X86_64;

    *ret_relative = type == (x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE);
    return *ret_relative || type == (x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT) ||
           type == (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT);
}

/* The symbol table that a relocation section refers to, or NULL. */
static Elf_Data *linked_symbols(Elf *elf, const GElf_Shdr *rela, GElf_Shdr *ret_symbols)
{
    Elf_Scn *section = elf_getscn(elf, rela->sh_link);

    if (rela->sh_link == 0 || !section || !gelf_getshdr(section, ret_symbols) ||
        (ret_symbols->sh_type != SHT_DYNSYM && ret_symbols->sh_type != SHT_SYMTAB))
        return NULL;
    return elf_getdata(section, NULL);
}

static void add_relocations(const struct fb_elf_file *file, Elf_Scn *section,
                            const GElf_Shdr *header, bool is_plt,
                            const struct fb_symbol_index *functions, struct slots *slots)
{
    GElf_Shdr symbols_header;
    Elf_Data *symbols = linked_symbols(file->elf, header, &symbols_header);
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && data->d_buf ? data->d_size / sizeof(GElf_Rela) : 0;

    if (is_plt && !slots->by_number) {
        slots->by_number = fb_alloc_array(count, sizeof *slots->by_number);
        slots->numbers = count;
    }
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        const char *name = NULL;
        bool relative;
        GElf_Rela rela;
        GElf_Sym symbol;

        memcpy(&rela, (const char *)data->d_buf + i * sizeof rela, sizeof rela);
        if (!is_slot_type(file->machine, GELF_R_TYPE(rela.r_info), &relative))
            continue;
        if (relative) {
            const struct fb_symbol *target =
                fb_symbol_index_find(functions, (uint64_t)rela.r_addend);

            name = target && target->ifunc ? target->ifunc : target ? target->name : NULL;
        } else if (symbols && gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol)) {
            name = elf_strptr(file->elf, symbols_header.sh_link, symbol.st_name);
        }
        if (!name || !name[0])
            continue;
        fb_vec_reserve(&slots->items, &slots->room, slots->count + 1, sizeof *slots->items);
        slots->items[slots->count++] = (struct slot){rela.r_offset, name};
        if (is_plt && i < slots->numbers)
            slots->by_number[i] = name;
    }
}

static void read_slots(const struct fb_elf_file *file, size_t names,
                       const struct fb_symbol_index *functions, struct slots *slots)
{
    for (Elf_Scn *s = NULL; (s = elf_nextscn(file->elf, s));) {
        GElf_Shdr header;
        const char *name;

        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA ||
            !(header.sh_flags & SHF_ALLOC))
            continue;
        name = elf_strptr(file->elf, names, header.sh_name);
        add_relocations(file, s, &header, name && strcmp(name, ".rela.plt") == 0, functions, slots);
    }
    if (slots->count > 0)
        qsort(slots->items, slots->count, sizeof *slots->items, by_address);
}

static const char *slot_name(const struct slots *slots, uint64_t address)
{
    const struct slot key = {.address = address};
    const struct slot *found =
        slots->count ? bsearch(&key, slots->items, slots->count, sizeof key, by_address) : NULL;

    return found ? found->name : NULL;
}

static void add_stub(const struct table *t, size_t from, size_t to, const char *name)
{
    if (name && from < to)
        fb_symbol_index_add(t->stubs, &(struct fb_symbol_candidate){.start = t->address + from,
                                                                    .size = to - from,
                                                                    .name = name,
                                                                    .kind = FB_SYMBOL_STUB});
}

/* The x86_64 entry at `at`, as ld, gold, lld and mold write them:
 *     [endbr64] [mov $number, %r11d] [bnd] jmp *slot(%rip) [push $number; jmp]
 *     [endbr64] push $number; [bnd] jmp
 * Returns its length, a multiple of 8; 8 also where there is none. */
static size_t decode_x86_entry(const struct table *t, size_t at, const char **ret_name)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t p[24] = {0};
    size_t n = t->size - at < 16 ? t->size - at : 16, i = 0;

    memcpy(p, t->bytes + at, n);
    if (memcmp(p, endbr64, 4) == 0)
        i = 4;
    if (p[i] == 0x68) {
        uint64_t number = fb_wire_load_le(p + i + 1, 4);

        *ret_name = number < t->slots->numbers ? t->slots->by_number[number] : NULL;
        return 16;
    }
    if (p[i] == 0x41 && p[i + 1] == 0xbb)
        i += 6;
    if (p[i] == 0xf2)
        i++;
    if (p[i] != 0xff || p[i + 1] != 0x25)
        return 8;
    i += 6;
    *ret_name = slot_name(t->slots, t->address + at + i +
                                        (uint64_t)(int64_t)(int32_t)fb_wire_load_le(p + i - 4, 4));
    return i > 8 || p[i] == 0x68 ? 16 : 8;
}

static void decode_x86(const struct table *t)
{
    for (size_t at = 0, n; at < t->size; at += n) {
        const char *name = NULL;

        n = decode_x86_entry(t, at, &name);
        add_stub(t, at, at + n < t->size ? at + n : t->size, name);
    }
}

/* [bti c] adrp x16, page; ldr x17, [x16, #low]; add x16, x16, #low; [autia1716] br x17 [nop] */
static void decode_aarch64(const struct table *t)
{
    for (size_t at = 0; at + 8 <= t->size; at += 4) {
        uint32_t adrp = (uint32_t)fb_wire_load_le(t->bytes + at, 4);
        uint32_t ldr = (uint32_t)fb_wire_load_le(t->bytes + at + 4, 4);
        uint64_t page = (t->address + at) & ~(uint64_t)0xfff;
        size_t from = at, to = at + 8;
        int64_t pages;

        if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
            continue;
        pages = (int64_t)((adrp >> 29 & 3) | (adrp >> 3 & 0x1ffffc));
        if (pages & 0x100000)
            pages -= 0x200000;
        page += (uint64_t)pages << 12;
        if (at >= 4 && fb_wire_load_le(t->bytes + at - 4, 4) == 0xd503245f)
            from -= 4;
        while (to + 4 <= t->size && to < at + 20 &&
               fb_wire_load_le(t->bytes + to, 4) != 0xd61f0220) /* br x17 */
            to += 4;
        if (to + 4 <= t->size)
            to += 4;
        add_stub(t, from, to, slot_name(t->slots, page + (ldr >> 10 & 0xfff) * 8));
    }
}

static bool is_plt_section(const char *name)
{
    return name && (strncmp(name, ".plt", 4) == 0 || strncmp(name, ".iplt", 5) == 0);
}

static void read_tables(const struct fb_elf_file *file, size_t names, const struct slots *slots,
                        struct fb_symbol_index *stubs)
{
    for (Elf_Scn *s = NULL; (s = elf_nextscn(file->elf, s));) {
        GElf_Shdr header;
        Elf_Data *data;

        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_PROGBITS ||
            !(header.sh_flags & SHF_EXECINSTR) ||
            !is_plt_section(elf_strptr(file->elf, names, header.sh_name)) ||
            !(data = elf_rawdata(s, NULL)) || !data->d_buf)
            continue;
        const struct table t = {.bytes = data->d_buf,
                                .size = data->d_size,
                                .address = header.sh_addr,
                                .slots = slots,
                                .stubs = stubs};

        if (file->machine == EM_X86_64)
            decode_x86(&t);
        else
            decode_aarch64(&t);
    }
}

void fb_plt_read(const struct fb_elf_file *file, const struct fb_symbol_index *functions,
                 struct fb_symbol_index *stubs)
{
    struct slots slots = {0};
    size_t names;

    if ((file->machine == EM_X86_64 || file->machine == EM_AARCH64) &&
        gelf_getclass(file->elf) ==
            ELFCLASS64 && /* not x32: relocations are GElf_Rela as they are */
        elf_getshdrstrndx(file->elf, &names) == 0) {
        read_slots(file, names, functions, &slots);
        read_tables(file, names, &slots, stubs);
        free(slots.items);
        free(slots.by_number);
    }
    fb_symbol_index_build(stubs, file->code, file->code_count, NULL, 0);
}

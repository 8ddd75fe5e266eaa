/* libdw decodes; which unit an address belongs to is our own sorted table, because .debug_aranges
 * is optional (clang writes none) and libdw's own search walks all units. */
#include "symbolize/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "base/vec.h"

struct unit_range {
    uint64_t start, end;
    Dwarf_Off die;
};

struct fb_lines {
    Dwarf *dwarf;
    struct unit_range *ranges; /* by start */
    size_t count, room;
};

enum { RANGES_MAX = 1 << 22, OVERLAP_STEPS = 8 };

static int by_start(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;

    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    return (x->die > y->die) - (x->die < y->die);
}

static void add_unit(struct fb_lines *lines, Dwarf_Die *die, const struct fb_elf_file *code)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && lines->count < RANGES_MAX) {
        if (start >= end || !fb_elf_file_code(code, start))
            continue;
        fb_vec_reserve(&lines->ranges, &lines->room, lines->count + 1, sizeof *lines->ranges);
        lines->ranges[lines->count++] = (struct unit_range){start, end, dwarf_dieoffset(die)};
    }
}

struct fb_lines *fb_lines_open(const struct fb_elf_file *file, const struct fb_elf_file *code)
{
    struct fb_lines *lines;
    Dwarf *dwarf;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;

    if (!fb_elf_file_has_section(file, ".debug_info") ||
        !fb_elf_file_has_section(file, ".debug_line"))
        return NULL;
    dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (!dwarf)
        return NULL;
    lines = fb_alloc(sizeof *lines);
    lines->dwarf = dwarf;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_unit(lines, &die, code);
    if (lines->count > 0)
        qsort(lines->ranges, lines->count, sizeof *lines->ranges, by_start);
    return lines;
}

void fb_lines_free(struct fb_lines *lines)
{
    if (!lines)
        return;
    dwarf_end(lines->dwarf);
    free(lines->ranges);
    free(lines);
}

static const struct unit_range *find_range(const struct fb_lines *lines, uint64_t address)
{
    size_t from = 0, n = lines->count;

    while (n > 0) {
        size_t half = n / 2;

        if (lines->ranges[from + half].start <= address) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    for (size_t i = from; i > 0 && from - i < OVERLAP_STEPS; i--)
        if (address < lines->ranges[i - 1].end)
            return &lines->ranges[i - 1];
    return NULL;
}

bool fb_lines_find(struct fb_lines *lines, uint64_t address, const char **ret_file,
                   uint32_t *ret_line)
{
    const struct unit_range *range = find_range(lines, address);
    const char *file;
    Dwarf_Die die;
    Dwarf_Line *row;
    int line;

    if (!range || !dwarf_offdie(lines->dwarf, range->die, &die))
        return false;
    row = dwarf_getsrc_die(&die, address);
    if (!row || dwarf_lineno(row, &line) != 0 || line <= 0)
        return false;
    file = dwarf_linesrc(row, NULL, NULL);
    if (!file || !file[0])
        return false;
    *ret_file = file;
    *ret_line = (uint32_t)line;
    return true;
}

/* symbol_scan.c - see symbol_scan.h. */
#include "sampler/symbol_scan.h"

#include <elf.h>
#include <string.h>
#include <time.h>

#include "base/symbol_rank.h"
#include "sampler/clock.h"

enum {
    BLOCK_SYMBOLS = 256,
    TIE_BYTES = 1024, /* of names that compete for one address */
    BLOCKS_A_LOOK = 16,
};

bool fb_symbol_limit_over(const struct fb_symbol_limit *limit)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec > limit->end_cpu_ns ||
           fb_clock_now() > limit->end_ns;
}

struct scan {
    const struct fb_module_file *file;
    struct fb_symbol_want *wants;
    uint32_t count;
    uint64_t strings; /* of the table at hand: where in the file, and how many bytes */
    uint64_t strings_size;
    bool whole_table;
    bool any_whole;
};

/* The first want at or behind the address. */
static uint32_t want_first(const struct scan *s, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = s->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->wants[middle].address >= address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool name_read(const struct scan *s, uint64_t at, char *buffer, size_t size)
{
    size_t n = fb_module_file_read_some(s->file, buffer, size - 1, at);

    buffer[n] = '\0';
    return n > 0 && buffer[0] != '\0';
}

/* Of two symbols that begin at one address. */
static bool is_better(const struct scan *s, const struct fb_symbol_found *x,
                      const struct fb_symbol_found *y)
{
    char name_x[TIE_BYTES];
    char name_y[TIE_BYTES];
    struct fb_symbol_rank rank_x = {name_x, x->kind, x->local, x->weak};
    struct fb_symbol_rank rank_y = {name_y, y->kind, y->local, y->weak};

    if (x->kind != y->kind || x->local != y->local)
        return x->kind != y->kind ? x->kind < y->kind : !x->local;
    return name_read(s, x->name_at, name_x, sizeof name_x) &&
           (!name_read(s, y->name_at, name_y, sizeof name_y) ||
            fb_symbol_rank(&rank_x, &rank_y) < 0);
}

static void found_take(const struct scan *s, struct fb_symbol_found *best,
                       const struct fb_symbol_found *found)
{
    if (best->name_at == 0 || found->start > best->start ||
        (found->start == best->start && is_better(s, found, best)))
        *best = *found;
}

static bool is_function(const struct scan *s, const struct fb_symbol_found *found)
{
    char name[64];

    if (found->kind < 2)
        return true;
    if (s->file->header.e_machine == EM_AARCH64 && found->local && found->size == 0)
        return false; /* "$x": too many to look at each */
    return name_read(s, found->name_at, name, sizeof name) &&
           !fb_symbol_is_mark(s->file->header.e_machine, name);
}

static void sized_take(struct scan *s, const struct fb_symbol_found *found, uint64_t size)
{
    uint64_t end = found->start + size;
    uint32_t i = want_first(s, found->start);

    if (i == s->count)
        return;
    if (found->start > s->wants[i].sized_before)
        s->wants[i].sized_before = found->start;
    for (; i < s->count && s->wants[i].address < end; i++)
        if (found->start >= s->wants[i].section && found->start >= s->wants[i].covering.start &&
            is_function(s, found))
            found_take(s, &s->wants[i].covering, found);
}

/* It may cover all wants behind it; for the others it is found again from the first one on. */
static void unsized_take(struct scan *s, const struct fb_symbol_found *found)
{
    uint32_t i = want_first(s, found->start);

    if (i < s->count && s->whole_table && found->start >= s->wants[i].section &&
        found->start >= s->wants[i].before.start && is_function(s, found))
        found_take(s, &s->wants[i].before, found);
}

static void symbol_take(struct scan *s, const ElfW(Sym) * symbol)
{
    struct fb_symbol_found found = {.start = symbol->st_value};
    unsigned type = symbol->st_info & 15;
    unsigned binding = symbol->st_info >> 4;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
        symbol->st_shndx == SHN_COMMON || symbol->st_name == 0 ||
        symbol->st_name >= s->strings_size ||
        (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
        return;
    if (found.start > s->wants[s->count - 1].address)
        return;
    found.name_at = s->strings + symbol->st_name;
    found.kind = type == STT_FUNC ? 0 : type == STT_GNU_IFUNC ? 1 : 2;
    found.local = binding == STB_LOCAL;
    found.weak = binding == STB_WEAK;
    found.size = symbol->st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)symbol->st_size;
    if (symbol->st_size != 0)
        sized_take(s, &found, symbol->st_size);
    else
        unsized_take(s, &found);
}

static bool table_scan(struct scan *s, const ElfW(Shdr) * table,
                       const struct fb_symbol_limit *limit)
{
    ElfW(Sym) block[BLOCK_SYMBOLS];
    ElfW(Shdr) strings;

    if (table->sh_entsize != sizeof block[0] ||
        !fb_module_file_section(s->file, table->sh_link, &strings))
        return true;
    s->strings = strings.sh_offset;
    s->strings_size = strings.sh_size;
    s->whole_table = table->sh_type == SHT_SYMTAB;
    for (uint64_t at = 0, looked = 0; at < table->sh_size; looked++) {
        uint64_t left = table->sh_size - at;
        size_t want = left < sizeof block ? (size_t)left : sizeof block;
        size_t n = fb_module_file_read_some(s->file, block, want, table->sh_offset + at);

        for (size_t i = 0; i < n / sizeof block[0]; i++)
            symbol_take(s, &block[i]);
        if (n < sizeof block)
            break;
        if (looked % BLOCKS_A_LOOK == 0 && fb_symbol_limit_over(limit))
            return false;
        at += n;
    }
    return true;
}

/* What a symbol without size may not reach over. */
static void sections_note(struct scan *s, const ElfW(Shdr) * section)
{
    uint32_t i = want_first(s, section->sh_addr);

    for (; i < s->count && s->wants[i].address - section->sh_addr < section->sh_size; i++)
        s->wants[i].section = section->sh_addr;
}

/* The last symbol without size before a want is that of the want before it, or its own. */
static void unsized_spread(struct scan *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct fb_symbol_want *w = &s->wants[i];
        const struct fb_symbol_want *before = i > 0 ? w - 1 : w;

        if (w->before.name_at == 0 && before->before.start >= w->section)
            w->before = before->before;
        if (w->sized_before < before->sized_before)
            w->sized_before = before->sized_before;
        if (w->covering.name_at == 0 && w->before.start > w->sized_before)
            w->covering = w->before;
    }
}

bool fb_symbol_scan(const struct fb_module_file *file, struct fb_symbol_want *wants, uint32_t n,
                    const struct fb_symbol_limit *limit)
{
    struct scan s = {.file = file, .wants = wants, .count = n};
    ElfW(Shdr) section;

    for (unsigned i = 0; i < file->section_count; i++)
        if (fb_module_file_section(file, i, &section) && (section.sh_flags & SHF_EXECINSTR) != 0 &&
            section.sh_addr != 0)
            sections_note(&s, &section);
    for (unsigned i = 0; i < file->section_count; i++)
        if (fb_module_file_section(file, i, &section) &&
            (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
            !table_scan(&s, &section, limit))
            return false;
    unsized_spread(&s);
    return true;
}

bool fb_symbol_scan_name(const struct fb_module_file *file, const struct fb_symbol_want *want,
                         char *buffer, size_t size)
{
    size_t n;

    if (want->covering.name_at == 0)
        return false;
    n = fb_module_file_read_some(file, buffer, size, want->covering.name_at);
    return memchr(buffer, '\0', n) != NULL;
}

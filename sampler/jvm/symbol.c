/* symbol.c - first the name among the names, then its place among the symbols.  See symbol.h. */
#include "sampler/jvm/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "sampler/pages.h"

enum {
    ROUND = 1 << 16,     /* bytes read at once */
    NAME_MAX_BYTES = 64, /* of what is looked for, with its NUL */
    SECTIONS_MAX = 4096,
    TABLE_MAX = 64 << 20, /* bytes of a table */
};

struct section {
    uint64_t offset;
    uint64_t size;
};

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static bool sections_find(int fd, struct section *ret_symbols, struct section *ret_names)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) section;

    if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof section ||
        header.e_shnum > SECTIONS_MAX)
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        if (!read_at(fd, &section, sizeof section, header.e_shoff + i * sizeof section))
            return false;
        if (section.sh_type != SHT_SYMTAB || section.sh_entsize != sizeof(ElfW(Sym)) ||
            section.sh_link >= header.e_shnum || section.sh_size > TABLE_MAX)
            continue;
        *ret_symbols = (struct section){section.sh_offset, section.sh_size};
        if (!read_at(fd, &section, sizeof section,
                     header.e_shoff + section.sh_link * sizeof section) ||
            section.sh_type != SHT_STRTAB || section.sh_size > TABLE_MAX)
            return false;
        *ret_names = (struct section){section.sh_offset, section.sh_size};
        return true;
    }
    return false;
}

/* Where in the names this one starts, behind a NUL.  Rounds overlap by the name's length. */
static bool name_find(int fd, const struct section *names, const char *name, char *buffer,
                      uint64_t *ret_at)
{
    char wanted[NAME_MAX_BYTES + 1] = "";
    size_t length = strlen(name) + 2;

    if (length > sizeof wanted)
        return false;
    memcpy(wanted + 1, name, length - 1);
    for (uint64_t at = 0; at < names->size; at += ROUND - length) {
        size_t n = names->size - at < ROUND ? (size_t)(names->size - at) : ROUND;
        const char *found;

        if (!read_at(fd, buffer, n, names->offset + at))
            return false;
        found = memmem(buffer, n, wanted, length);
        if (found != NULL) {
            *ret_at = at + (uint64_t)(found - buffer) + 1;
            return true;
        }
    }
    return false;
}

static bool value_find(int fd, const struct section *symbols, uint64_t name, char *buffer,
                       uint64_t *ret_value)
{
    const ElfW(Sym) *round = (const ElfW(Sym) *)(const void *)buffer;
    size_t per_round = ROUND / sizeof *round;

    for (uint64_t at = 0; at < symbols->size / sizeof *round; at += per_round) {
        uint64_t left = symbols->size / sizeof *round - at;
        size_t n = left < per_round ? (size_t)left : per_round;

        if (!read_at(fd, buffer, n * sizeof *round, symbols->offset + at * sizeof *round))
            return false;
        for (size_t i = 0; i < n; i++)
            if (round[i].st_name == name && round[i].st_shndx != SHN_UNDEF) {
                *ret_value = round[i].st_value;
                return true;
            }
    }
    return false;
}

bool fb_jvm_symbol_find(const char *path, const char *name, uint64_t *ret_value)
{
    struct fb_pages buffer = {0};
    struct section symbols;
    struct section names;
    uint64_t at;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok;

    if (fd < 0)
        return false;
    ok = fb_pages_map(&buffer, ROUND) && sections_find(fd, &symbols, &names) &&
         name_find(fd, &names, name, buffer.data, &at) &&
         value_find(fd, &symbols, at, buffer.data, ret_value);
    fb_pages_free(&buffer);
    close(fd);
    return ok;
}

/* elf_file.h - an ELF file's .eh_frame and text, and libdw's view of it, for the tests. */
#ifndef FB_TESTS_SAMPLER_ELF_FILE_H
#define FB_TESTS_SAMPLER_ELF_FILE_H

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sampler/cfi.h"

struct elf_file {
    int fd;
    Elf *elf;
    Dwarf_CFI *oracle; /* made from .eh_frame by libdw */
    struct fb_cfi cfi;
    uint64_t text_start;
    uint64_t text_end;
};

static inline bool elf_file_section(struct elf_file *f, Elf_Scn *section, size_t names)
{
    GElf_Shdr header;
    Elf_Data *data;

    if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS ||
        strcmp(elf_strptr(f->elf, names, header.sh_name), ".eh_frame") != 0)
        return false;
    data = elf_rawdata(section, NULL);
    f->cfi.bytes = data->d_buf;
    f->cfi.size = data->d_size;
    f->cfi.address = header.sh_addr;
    return true;
}

/* False if the file is not there or has no .eh_frame. */
static inline bool elf_file_open(struct elf_file *f, const char *path)
{
    size_t headers = 0;
    size_t names = 0;
    GElf_Ehdr ehdr;
    Elf_Scn *section = NULL;

    memset(f, 0, sizeof *f);
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0)
        return false;
    elf_version(EV_CURRENT);
    f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
    if (f->elf == NULL || gelf_getehdr(f->elf, &ehdr) == NULL)
        return false;
    f->cfi.machine = ehdr.e_machine == EM_AARCH64 ? FB_MACHINE_AARCH64 : FB_MACHINE_X86_64;
    elf_getphdrnum(f->elf, &headers);
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr p;

        gelf_getphdr(f->elf, (int)i, &p);
        if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0)
            continue;
        f->text_start = p.p_vaddr;
        f->text_end = p.p_vaddr + p.p_memsz;
    }
    elf_getshdrstrndx(f->elf, &names);
    while (f->cfi.bytes == NULL && (section = elf_nextscn(f->elf, section)) != NULL)
        elf_file_section(f, section, names);
    f->oracle = dwarf_getcfi_elf(f->elf);
    return f->cfi.bytes != NULL && f->oracle != NULL;
}

static inline void elf_file_close(struct elf_file *f)
{
    if (f->oracle != NULL)
        dwarf_cfi_end(f->oracle);
    if (f->elf != NULL)
        elf_end(f->elf);
    if (f->fd >= 0)
        close(f->fd);
}

#endif

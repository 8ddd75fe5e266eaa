/* module_file.c - section headers of a file by pread.  See module_file.h. */
#include "sampler/module_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    PHDRS_MAX = 64,
    SECTIONS_MAX = 4096,
    NAME_MAX_BYTES = 16,
    NOTES_MAX = 4096,
};

size_t fb_module_file_read_some(const struct fb_module_file *file, void *to, size_t size,
                                uint64_t at)
{
    uint8_t *bytes = to;
    size_t done = 0;

    if (file->fd < 0)
        return fb_self_read(file->memory, file->base + at, to, size);
    while (done < size) {
        ssize_t n = pread(file->fd, bytes + done, size - done, (off_t)(at + done));

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

bool fb_module_file_read(const struct fb_module_file *file, void *to, size_t size, uint64_t at)
{
    return fb_module_file_read_some(file, to, size, at) == size;
}

/* --- is it the file that is mapped? -------------------------------------- */

static bool same_headers(const struct fb_module_file *file, const ElfW(Phdr) * phdrs, size_t count)
{
    ElfW(Phdr) theirs[PHDRS_MAX];

    return count <= PHDRS_MAX && file->header.e_phnum == count &&
           file->header.e_phentsize == sizeof theirs[0] &&
           fb_module_file_read(file, theirs, count * sizeof theirs[0], file->header.e_phoff) &&
           memcmp(theirs, phdrs, count * sizeof theirs[0]) == 0;
}

static bool same_build_id(const struct fb_module_file *file, const struct fb_image *image,
                          const ElfW(Phdr) * phdrs, size_t count)
{
    uint8_t notes[NOTES_MAX];

    for (size_t i = 0; i < count && image->build_id_size > 0; i++) {
        size_t size = phdrs[i].p_filesz < sizeof notes ? phdrs[i].p_filesz : sizeof notes;

        if (phdrs[i].p_type == PT_NOTE &&
            fb_module_file_read(file, notes, size, phdrs[i].p_offset) &&
            memmem(notes, size, image->build_id, image->build_id_size) != NULL)
            return true;
    }
    return image->build_id_size == 0;
}

/* --- sections ------------------------------------------------------------- */

bool fb_module_file_section(const struct fb_module_file *file, unsigned i, ElfW(Shdr) * ret_section)
{
    return fb_module_file_read(file, ret_section, sizeof *ret_section,
                               file->header.e_shoff + i * sizeof *ret_section);
}

static bool header_read(struct fb_module_file *file)
{
    if (!fb_module_file_read(file, &file->header, sizeof file->header, 0) ||
        memcmp(file->header.e_ident, ELFMAG, SELFMAG) != 0 ||
        file->header.e_ident[EI_CLASS] != ELFCLASS64 ||
        file->header.e_shentsize != sizeof file->names || file->header.e_shnum > SECTIONS_MAX ||
        file->header.e_shstrndx >= file->header.e_shnum)
        return false;
    file->section_count = file->header.e_shnum;
    return fb_module_file_section(file, file->header.e_shstrndx, &file->names);
}

bool fb_module_file_open(const char *path, const struct fb_image *image, const ElfW(Phdr) * phdrs,
                         size_t count, struct fb_module_file *ret_file)
{
    struct fb_module_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};

    if (file.fd < 0)
        return false;
    if (!header_read(&file) || !same_headers(&file, phdrs, count) ||
        !same_build_id(&file, image, phdrs, count)) {
        close(file.fd);
        return false;
    }
    *ret_file = file;
    return true;
}

bool fb_module_file_open_memory(const struct fb_self_read *reader, const struct fb_image *image,
                                struct fb_module_file *ret_file)
{
    struct fb_module_file file = {.fd = -1, .memory = reader, .base = image->start};

    if (!header_read(&file))
        return false;
    *ret_file = file;
    return true;
}

void fb_module_file_close(struct fb_module_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

bool fb_module_file_section_find(const struct fb_module_file *file, const char *name,
                                 ElfW(Shdr) * ret_section)
{
    char text[NAME_MAX_BYTES];
    size_t length = strlen(name) + 1;

    for (unsigned i = 0; i < file->section_count; i++)
        if (fb_module_file_section(file, i, ret_section) && ret_section->sh_type != SHT_NOBITS &&
            ret_section->sh_name < file->names.sh_size &&
            fb_module_file_read(file, text, length, file->names.sh_offset + ret_section->sh_name) &&
            memcmp(text, name, length) == 0)
            return true;
    return false;
}

/* file_frame.c - section headers of a file by pread.  See file_frame.h. */
#include "sampler/file_frame.h"

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

struct file {
    int fd;
    ElfW(Ehdr) header;
    ElfW(Shdr) names; /* the section of section names */
};

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
    uint8_t *bytes = to;
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, bytes + done, size - done, (off_t)(at + done));

        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* --- is it the file that is mapped? -------------------------------------- */

static bool same_headers(const struct file *file, const ElfW(Phdr) * phdrs, size_t count)
{
    ElfW(Phdr) theirs[PHDRS_MAX];

    return count <= PHDRS_MAX && file->header.e_phnum == count &&
           file->header.e_phentsize == sizeof theirs[0] &&
           read_at(file->fd, theirs, count * sizeof theirs[0], file->header.e_phoff) &&
           memcmp(theirs, phdrs, count * sizeof theirs[0]) == 0;
}

static bool same_build_id(const struct file *file, const struct fb_image *image,
                          const ElfW(Phdr) * phdrs, size_t count)
{
    uint8_t notes[NOTES_MAX];

    for (size_t i = 0; i < count && image->build_id_size > 0; i++) {
        size_t size = phdrs[i].p_filesz < sizeof notes ? phdrs[i].p_filesz : sizeof notes;

        if (phdrs[i].p_type == PT_NOTE && read_at(file->fd, notes, size, phdrs[i].p_offset) &&
            memmem(notes, size, image->build_id, image->build_id_size) != NULL)
            return true;
    }
    return image->build_id_size == 0;
}

/* --- sections ------------------------------------------------------------- */

static bool section_get(const struct file *file, unsigned i, ElfW(Shdr) * ret_section)
{
    return read_at(file->fd, ret_section, sizeof *ret_section,
                   file->header.e_shoff + i * sizeof *ret_section);
}

static bool file_open(const char *path, struct file *ret_file)
{
    struct file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    bool ok = file.fd >= 0 && read_at(file.fd, &file.header, sizeof file.header, 0) &&
              memcmp(file.header.e_ident, ELFMAG, SELFMAG) == 0 &&
              file.header.e_ident[EI_CLASS] == ELFCLASS64 &&
              file.header.e_shentsize == sizeof file.names && file.header.e_shnum <= SECTIONS_MAX &&
              file.header.e_shstrndx < file.header.e_shnum &&
              section_get(&file, file.header.e_shstrndx, &file.names);

    if (!ok && file.fd >= 0)
        close(file.fd);
    *ret_file = file;
    return ok;
}

static bool section_find(const struct file *file, const char *name, ElfW(Shdr) * ret_section)
{
    char text[NAME_MAX_BYTES];
    size_t length = strlen(name) + 1;

    for (unsigned i = 0; i < file->header.e_shnum; i++)
        if (section_get(file, i, ret_section) && ret_section->sh_type != SHT_NOBITS &&
            ret_section->sh_name < file->names.sh_size &&
            read_at(file->fd, text, length, file->names.sh_offset + ret_section->sh_name) &&
            memcmp(text, name, length) == 0)
            return true;
    return false;
}

static bool section_copy(const struct file *file, const ElfW(Shdr) * section,
                         struct fb_pages *ret_bytes)
{
    if (section->sh_size == 0 || section->sh_size > FB_FILE_FRAME_MAX ||
        !fb_pages_map(ret_bytes, section->sh_size))
        return false;
    if (read_at(file->fd, ret_bytes->data, section->sh_size, section->sh_offset))
        return true;
    fb_pages_free(ret_bytes);
    return false;
}

static enum fb_file_found section_read(const struct file *file, const struct fb_image *image,
                                       const char *name, struct fb_file_frame *ret_frame)
{
    ElfW(Shdr) section;
    struct fb_file_frame frame = {.count = 0};

    if (!section_find(file, name, &section))
        return FB_FILE_NONE;
    if (section.sh_flags & SHF_COMPRESSED)
        return FB_FILE_COMPRESSED;
    if (!section_copy(file, &section, &frame.bytes))
        return FB_FILE_NONE;
    frame.cfi = (struct fb_cfi){.bytes = frame.bytes.data,
                                .size = section.sh_size,
                                .address = image->bias + section.sh_addr,
                                .machine = FB_MACHINE_HOST,
                                .debug = strcmp(name, ".debug_frame") == 0,
                                .bias = image->bias};
    *ret_frame = frame;
    return FB_FILE_READ;
}

/* --- the index ------------------------------------------------------------ */

static void sift(struct fb_file_fde *fdes, uint32_t root, uint32_t count)
{
    struct fb_file_fde moved = fdes[root];

    for (uint32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && fdes[child + 1].start > fdes[child].start)
            child++;
        if (moved.start >= fdes[child].start)
            break;
        fdes[root] = fdes[child];
        root = child;
    }
    fdes[root] = moved;
}

static void sort(struct fb_file_fde *fdes, uint32_t count)
{
    for (uint32_t root = count / 2; root-- > 0;)
        sift(fdes, root, count);
    for (uint32_t last = count; last-- > 1;) {
        struct fb_file_fde top = fdes[0];

        fdes[0] = fdes[last];
        fdes[last] = top;
        sift(fdes, 0, last);
    }
}

/* Of all FDEs; one that a linker threw out starts at 0, which no code does. */
static bool index_make(struct fb_file_frame *frame, uint64_t bias)
{
    struct fb_cfi_fde fde;
    struct fb_file_fde *fdes;

    size_t at;

    while (fb_cfi_next_at(&frame->cfi, &at, &fde)) {
        if (fde.start == bias)
            continue;
        if (!fb_pages_reserve(&frame->index, (frame->count + 1) * sizeof *fdes))
            return false;
        fdes = frame->index.data;
        fdes[frame->count++] = (struct fb_file_fde){.start = fde.start, .end = fde.end, .at = at};
    }
    frame->fdes = frame->index.data;
    sort(frame->index.data, frame->count);
    return frame->count > 0;
}

enum fb_file_found fb_file_frame_read(const char *path, const struct fb_image *image,
                                      const ElfW(Phdr) * phdrs, size_t count, const char *section,
                                      struct fb_file_frame *ret_frame)
{
    enum fb_file_found found = FB_FILE_NONE;
    struct file file;

    if (!file_open(path, &file))
        return FB_FILE_NONE;
    if (same_headers(&file, phdrs, count) && same_build_id(&file, image, phdrs, count))
        found = section_read(&file, image, section, ret_frame);
    close(file.fd);
    if (found == FB_FILE_READ && !index_make(ret_frame, image->bias)) {
        fb_file_frame_free(ret_frame);
        return FB_FILE_NONE;
    }
    return found;
}

uint32_t fb_file_frame_first(const struct fb_file_frame *frame, uint64_t low)
{
    uint32_t first = 0;
    uint32_t end = frame->count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (frame->fdes[middle].start <= low)
            first = middle + 1;
        else
            end = middle;
    }
    return first > 0 ? first - 1 : 0;
}

void fb_file_frame_free(struct fb_file_frame *frame)
{
    fb_pages_free(&frame->bytes);
    fb_pages_free(&frame->index);
    *frame = (struct fb_file_frame){.count = 0};
}

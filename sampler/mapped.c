/* mapped.c - from executable mappings to ELF headers.  See mapped.h. */
#include "sampler/mapped.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct search {
    const struct fb_loader_list *list;
    const struct fb_self_read *reader;
    struct fb_mapped *out;
    struct fb_map head; /* the last mapping of a file's start */
};

static bool in_segments(uint64_t address, uint64_t bias, const ElfW(Phdr) * phdrs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (phdrs[i].p_type == PT_LOAD && address >= bias + phdrs[i].p_vaddr &&
            address - bias - phdrs[i].p_vaddr < phdrs[i].p_memsz)
            return true;
    return false;
}

/* Known already?  A mapping starts at a page, which may be below its segment. */
static bool is_known(const struct search *s, const struct fb_map *map)
{
    const struct fb_loader_item *items = fb_loader_list_items(s->list);
    uint64_t last = map->end - 1;

    for (uint32_t i = 0; i < s->list->count; i++) {
        const ElfW(Phdr) *phdrs = fb_loader_list_phdrs(s->list, &items[i]);

        if (in_segments(map->start, items[i].bias, phdrs, items[i].phdr_count) ||
            in_segments(map->start + 4095, items[i].bias, phdrs, items[i].phdr_count) ||
            in_segments(last, items[i].bias, phdrs, items[i].phdr_count))
            return true;
    }
    for (uint32_t i = 0; i < s->out->count; i++)
        if (in_segments(map->start + 4095, s->out->images[i].bias, s->out->images[i].phdrs,
                        s->out->images[i].phdr_count))
            return true;
    return false;
}

static bool memory_read(const struct search *s, uint64_t base, uint64_t at, void *to, size_t size)
{
    return fb_self_read(s->reader, base + at, to, size) == size;
}

static bool file_read(int fd, uint64_t at, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static bool header_fits(const ElfW(Ehdr) * header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(ElfW(Phdr)) &&
           header->e_phnum > 0 && header->e_phnum <= FB_MAPPED_PHDRS;
}

static bool headers_from_memory(const struct search *s, uint64_t base,
                                struct fb_mapped_image *image)
{
    ElfW(Ehdr) header;

    if (!memory_read(s, base, 0, &header, sizeof header) || !header_fits(&header) ||
        !memory_read(s, base, header.e_phoff, image->phdrs, header.e_phnum * sizeof(ElfW(Phdr))))
        return false;
    image->phdr_count = header.e_phnum;
    return true;
}

static bool headers_from_file(struct fb_mapped_image *image)
{
    int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ElfW(Ehdr) header;
    bool ok;

    if (fd < 0)
        return false;
    ok = file_read(fd, 0, &header, sizeof header) && header_fits(&header) &&
         file_read(fd, header.e_phoff, image->phdrs, header.e_phnum * sizeof(ElfW(Phdr)));
    close(fd);
    image->phdr_count = header.e_phnum;
    return ok;
}

/* The segment that a mapping of the file at that offset is of gives the bias. */
static bool bias_find(const struct fb_map *map, struct fb_mapped_image *image)
{
    for (uint32_t i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];
        uint64_t page = p->p_offset & ~UINT64_C(4095);

        if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0 || map->offset < page ||
            map->offset >= p->p_offset + p->p_filesz)
            continue;
        image->bias = map->start - map->offset + p->p_offset - p->p_vaddr;
        return true;
    }
    return false;
}

static void path_set(struct fb_mapped_image *image, const char *path)
{
    static const char gone[] = " (deleted)";
    size_t length = strnlen(path, sizeof image->path - 1);

    if (length > sizeof gone &&
        memcmp(path + length - (sizeof gone - 1), gone, sizeof gone - 1) == 0)
        length -= sizeof gone - 1;
    memcpy(image->path, path, length);
    image->path[length] = '\0';
}

static bool on_map(const struct fb_map *map, const char *path, void *ctx)
{
    struct search *s = ctx;
    struct fb_mapped_image *image = &s->out->images[s->out->count];

    if (map->anonymous || path[0] != '/')
        return true;
    if (map->offset == 0)
        s->head = *map;
    if (!map->executable || is_known(s, map))
        return true;
    path_set(image, path);
    if (!(s->head.inode == map->inode && s->head.device == map->device &&
          headers_from_memory(s, s->head.start, image)) &&
        !headers_from_file(image))
        return true;
    if (bias_find(map, image))
        s->out->count++;
    return s->out->count < FB_MAPPED_MAX;
}

void fb_mapped_find(const struct fb_loader_list *list, const struct fb_self_read *reader,
                    struct fb_mapped *ret_mapped)
{
    struct search s = {.list = list, .reader = reader, .out = ret_mapped};

    ret_mapped->count = 0;
    fb_maps_each(on_map, &s);
}

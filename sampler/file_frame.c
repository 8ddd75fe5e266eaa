/* file_frame.c - a section copied, and its records sorted.  See file_frame.h. */
#include "sampler/file_frame.h"

#include <elf.h>
#include <string.h>

#include "sampler/module_file.h"

static bool section_copy(const struct fb_module_file *file, const ElfW(Shdr) * section,
                         struct fb_pages *ret_bytes)
{
    if (section->sh_size == 0 || section->sh_size > FB_FILE_FRAME_MAX ||
        !fb_pages_map(ret_bytes, section->sh_size))
        return false;
    if (fb_module_file_read(file, ret_bytes->data, section->sh_size, section->sh_offset))
        return true;
    fb_pages_free(ret_bytes);
    return false;
}

static enum fb_file_found section_read(const struct fb_module_file *file,
                                       const struct fb_image *image, const char *name,
                                       struct fb_file_frame *ret_frame)
{
    ElfW(Shdr) section;
    struct fb_file_frame frame = {.count = 0};

    if (!fb_module_file_section_find(file, name, &section))
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
    enum fb_file_found found;
    struct fb_module_file file;

    if (!fb_module_file_open(path, image, phdrs, count, &file))
        return FB_FILE_NONE;
    found = section_read(&file, image, section, ret_frame);
    fb_module_file_close(&file);
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

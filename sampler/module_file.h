/* module_file.h - the file of a module, read by its sections.
 *
 *     if (fb_module_file_open(path, &image, phdrs, count, &file))
 *         for (i = 0; i < file.section_count; i++)
 *             if (fb_module_file_section(&file, i, &section)) ... fb_module_file_read(&file, ...)
 *     fb_module_file_close(&file);
 *
 * Context: normal.  The file counts only if it is the one that is mapped: same
 * program headers and, where there is one, same build ID.  It is read with
 * pread() and never mapped: it may be cut short by somebody at any time.  What
 * has no file but all of it in memory (the vDSO) is read from there. */
#ifndef FB_SAMPLER_MODULE_FILE_H
#define FB_SAMPLER_MODULE_FILE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/image.h"
#include "sampler/self_read.h"

struct fb_module_file {
    int fd;                            /* -1: from memory */
    const struct fb_self_read *memory; /* borrowed        */
    uint64_t base;                     /* of the memory   */
    ElfW(Ehdr) header;
    unsigned section_count;
    ElfW(Shdr) names; /* the section of section names */
};

/* phdrs are those in memory. */
bool fb_module_file_open(const char *path, const struct fb_image *image, const ElfW(Phdr) * phdrs,
                         size_t count, struct fb_module_file *ret_file);

/* The image at image->start, as far as it can be read; reader must outlive the file. */
bool fb_module_file_open_memory(const struct fb_self_read *reader, const struct fb_image *image,
                                struct fb_module_file *ret_file);

void fb_module_file_close(struct fb_module_file *file);

/* All of the bytes at that offset of the file, or false. */
bool fb_module_file_read(const struct fb_module_file *file, void *to, size_t size, uint64_t at);

/* The bytes that there are of them. */
size_t fb_module_file_read_some(const struct fb_module_file *file, void *to, size_t size,
                                uint64_t at);

bool fb_module_file_section(const struct fb_module_file *file, unsigned i,
                            ElfW(Shdr) * ret_section);

/* The first of that name (15 letters at most) that has bytes. */
bool fb_module_file_section_find(const struct fb_module_file *file, const char *name,
                                 ElfW(Shdr) * ret_section);

#endif

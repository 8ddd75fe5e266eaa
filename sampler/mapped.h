/* mapped.h - ELF images that are mapped and that the loader does not show.
 *
 *     if (fb_mapped_find(&list, &reader, &mapped))          reads /proc/self/maps
 *         for (i = 0; i < mapped.count; i++) ... add mapped.images[i] to the list ...
 *
 * dl_iterate_phdr() shows the namespace of its caller alone: what dlmopen()
 * loaded is not in it, nor what a program mapped by hand.  Here each executable
 * mapping of a file outside the list is one: its headers are those in memory
 * where the file's start is mapped below it, else those of the file.
 *
 * Context: normal; needs 24 KiB of stack. */
#ifndef FB_SAMPLER_MAPPED_H
#define FB_SAMPLER_MAPPED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/loader_list.h"
#include "sampler/maps.h"
#include "sampler/self_read.h"

enum {
    FB_MAPPED_MAX = 64,
    FB_MAPPED_PHDRS = 24,
};

struct fb_mapped_image {
    uint64_t bias;
    uint32_t phdr_count;
    ElfW(Phdr) phdrs[FB_MAPPED_PHDRS];
    char path[FB_MAPS_PATH];
};

struct fb_mapped {
    uint32_t count;
    struct fb_mapped_image images[FB_MAPPED_MAX];
};

void fb_mapped_find(const struct fb_loader_list *list, const struct fb_self_read *reader,
                    struct fb_mapped *ret_mapped);

#endif

/* file_frame.h - call frame information that is not mapped: .debug_frame, from the module's file.
 *
 *     found = fb_file_frame_read(path, &image, phdrs, count, ".debug_frame", &frame);
 *     for (i = fb_file_frame_first(&frame, low); i < frame.count; i++) ... frame.fdes[i]
 *     fb_file_frame_free(&frame);
 *
 * Context: normal.  The file counts only if it is the one that is mapped: same
 * program headers and, where there is one, same build ID.  A compressed section
 * is not read: that needs a library, and this one needs the C library alone. */
#ifndef FB_SAMPLER_FILE_FRAME_H
#define FB_SAMPLER_FILE_FRAME_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/cfi.h"
#include "sampler/image.h"
#include "sampler/pages.h"

enum { FB_FILE_FRAME_MAX = 64 << 20 }; /* bytes of a section */

enum fb_file_found {
    FB_FILE_NONE,       /* no such file, or no such section in it */
    FB_FILE_COMPRESSED, /* there is one, but it is not read       */
    FB_FILE_READ,
};

struct fb_file_fde {
    uint64_t start; /* runtime addresses */
    uint64_t end;
    size_t at; /* as fb_cfi_at() wants it */
};

struct fb_file_frame {
    struct fb_pages bytes;
    struct fb_pages index;
    struct fb_cfi cfi;
    const struct fb_file_fde *fdes; /* sorted by start */
    uint32_t count;
};

/* section is ".debug_frame" or ".eh_frame"; phdrs are those in memory. *ret_frame is set on
 * FB_FILE_READ alone. */
enum fb_file_found fb_file_frame_read(const char *path, const struct fb_image *image,
                                      const ElfW(Phdr) * phdrs, size_t count, const char *section,
                                      struct fb_file_frame *ret_frame);

/* The first FDE that may reach beyond low. */
uint32_t fb_file_frame_first(const struct fb_file_frame *frame, uint64_t low);

void fb_file_frame_free(struct fb_file_frame *frame);

#endif

/* image.h - the parts of a mapped ELF image that matter to a profiler.
 *
 * Context: normal.  Works on a copy of the program headers; what they point to
 * is read through a struct fb_self_read only. */
#ifndef FB_SAMPLER_IMAGE_H
#define FB_SAMPLER_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/cfi.h"
#include "sampler/pages.h"
#include "sampler/self_read.h"

enum {
    FB_IMAGE_BUILD_ID_MAX = 64,
    FB_IMAGE_EH_FRAME_MAX = 256 << 20, /* bytes read of one .eh_frame at most */
};

struct fb_image {
    uint64_t bias;
    uint64_t start; /* all segments, [start, end) */
    uint64_t end;
    uint64_t text_start; /* the executable ones; equal if there are none */
    uint64_t text_end;
    uint64_t eh_hdr; /* .eh_frame_hdr; 0: none */
    uint64_t eh_hdr_size;
    uint8_t build_id[FB_IMAGE_BUILD_ID_MAX];
    size_t build_id_size;
};

/* From program headers alone; false if nothing is mapped. */
bool fb_image_locate(const ElfW(Phdr) * phdrs, size_t count, uint64_t bias,
                     struct fb_image *ret_image);

/* Fills image->build_id from the note segments, if there is one. */
void fb_image_build_id_read(struct fb_image *image, const ElfW(Phdr) * phdrs, size_t count,
                            const struct fb_self_read *reader);

/* Where .eh_frame starts, as .eh_frame_hdr says, and the room up to the end of its segment; false
 * if there is none. */
bool fb_image_eh_frame_find(const struct fb_image *image, const ElfW(Phdr) * phdrs, size_t count,
                            const struct fb_self_read *reader, uint64_t *ret_address,
                            uint64_t *ret_room);

/* Copies .eh_frame, from where .eh_frame_hdr says, up to its terminator or the end of the segment
 * that holds it, into ret_pages (the caller's to free); sets bytes, size, address, machine of
 * *ret_cfi. False if there is none that can be read. */
bool fb_image_eh_frame_read(const struct fb_image *image, const ElfW(Phdr) * phdrs, size_t count,
                            const struct fb_self_read *reader, struct fb_pages *ret_pages,
                            struct fb_cfi *ret_cfi);

/* Runtime address of a signal trampoline in the text of the vDSO that lacks call frame
 * information; 0 if there is none, and on CPUs where the C library brings its own. */
uint64_t fb_image_trampoline_find(const struct fb_image *image, const struct fb_self_read *reader);

#endif

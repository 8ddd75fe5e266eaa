/* lazy.h - the rows of one module, made block by block when a walk has come by.
 *
 *     lazy = fb_lazy_new(&image, frame_address, frame_room, &reader);   reads 16 bytes
 *     ... fb_lazy_blocks(lazy) goes into a code map; walks set bits in it ...
 *     if (fb_lazy_wanted(lazy))
 *         made = fb_lazy_make(lazy, &reader, &build, still_there, ctx);
 *     fb_lazy_free(lazy);                             when no reader can reach it any more
 *
 * Context: normal, one thread (the helper).
 *
 * The binary search table of .eh_frame_hdr leads to the FDEs of one block of
 * code (1 << FB_BLOCK_SHIFT bytes); these, and the granules of .eh_frame that
 * they lie in, are all that is read (a copy: see sampler/self_read.h) and
 * compiled.  A block, once made, stays until the module goes.
 *
 * Where a block has code without FDEs, the module's file is asked once for what
 * is not mapped (sampler/file_frame.h): fb_lazy_make() says FB_LAZY_WANTS_FILE,
 * and the caller gives what it found, or nothing, by fb_lazy_file_give().
 *
 * Making blocks maps no memory, and calls the kernel for pread() alone where the
 * reader is open and the file is not asked: a host may have forbidden the rest.
 *
 * Cost: address space of .eh_frame_hdr, .eh_frame and 8 bytes a block, and rows; memory for
 * what is touched of them; some 0.7 us per FDE of a block. */
#ifndef FB_SAMPLER_LAZY_H
#define FB_SAMPLER_LAZY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/file_frame.h"
#include "sampler/image.h"
#include "sampler/rows.h"
#include "sampler/self_read.h"
#include "sampler/signal/code_map.h"

struct fb_lazy;

enum { FB_LAZY_RULES_MAX = 2047 }; /* of a block */

enum fb_lazy_made {
    FB_LAZY_NOTHING,
    FB_LAZY_MADE, /* at least one block */
    FB_LAZY_WANTS_FILE,
};

/* Asked before a block is shown to walks: may what was read have been another module's? */
typedef bool (*fb_lazy_check_fn)(void *ctx);

/* NULL: no memory, no code, or a search table of another form than all linkers make.
 * frame_room 0: the module shows no .eh_frame. */
struct fb_lazy *fb_lazy_new(const struct fb_image *image, uint64_t frame_address,
                            uint64_t frame_room, const struct fb_self_read *reader);

struct fb_code_blocks *fb_lazy_blocks(struct fb_lazy *lazy);

bool fb_lazy_wanted(struct fb_lazy *lazy);

/* Makes what is wanted.  What could not be read, or is not still there, is not made and may be
 * wanted again.  build is any, and is used as scratch. */
enum fb_lazy_made fb_lazy_make(struct fb_lazy *lazy, const struct fb_self_read *reader,
                               struct fb_rows_build *build, fb_lazy_check_fn still_there,
                               void *ctx);

/* frame NULL: there is none.  Moves out of it.  Then fb_lazy_make() goes on. */
void fb_lazy_file_give(struct fb_lazy *lazy, struct fb_file_frame *frame);

/* Has it FDEs of its own, mapped or in the file? */
bool fb_lazy_has_frames(const struct fb_lazy *lazy);

/* Memory of the rows made so far, and the number of blocks. */
size_t fb_lazy_bytes(const struct fb_lazy *lazy);
uint32_t fb_lazy_block_count(const struct fb_lazy *lazy);

void fb_lazy_free(struct fb_lazy *lazy);

#endif

/* writer_jit.h - generated code becomes frames with the names that its runtime gave it.
 *
 * Context: the helper thread alone.  See writer.h, jit_files.h.
 *
 *     id = fb_writer_jit_frame(w, address, time_ns, &several);    0: nobody has named it
 *     fb_writer_jit_rest(w);                                       at the end of a flush
 *
 * A frame is a piece of code (and a line of it, where the runtime tells them): its address is where
 * the code starts, its name is the line of the map as it is.  "JS:*f /srv/app.js:1:2" of V8 is of
 * kind js, with the tier that its mark says; others are of kind jit. */
#ifndef FB_SAMPLER_WRITER_JIT_H
#define FB_SAMPLER_WRITER_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/raw_format.h"
#include "sampler/jit_codes.h"
#include "sampler/jit_files.h"

struct fb_writer;

enum { FB_WRITER_JIT_NAME = 1024 }; /* longer ones are cut */

struct fb_writer_jit {
    struct fb_jit_files files;
    struct fb_jit_codes codes;
    bool looked; /* in this flush */
    bool said;   /* that the dump is refused */
};

uint32_t fb_writer_jit_frame(struct fb_writer *w, uint64_t address, uint64_t time_ns,
                             bool *ret_several);

void fb_writer_jit_rest(struct fb_writer *w);

/* Strings are to be given out anew. */
void fb_writer_jit_forget(struct fb_writer *w);

/* What V8's name says of its code; false: it is no JavaScript function. */
bool fb_writer_jit_is_script(const char *name, size_t n, enum fb_frame_tier *ret_tier);

#endif

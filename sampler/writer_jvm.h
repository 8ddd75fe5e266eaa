/* writer_jvm.h - virtual frames (sampler/jvm/signal/frame_word.h) become frames of the bank.
 *
 * Context: the helper thread alone.  See writer.h.
 *
 * A method's frame has no address.  Its name is "java.util.HashMap.put"; the descriptor, the line
 * and how the code was made go to FRAME_FACTS, which is written before FRAMES.  An inlined frame
 * is of kind INLINED and has no tier: its code is that of the frame that it is inlined into.
 * Strings are given out once; a name that was taken down twice (a class that came back) may be
 * written twice, which costs bytes and nothing else. */
#ifndef FB_SAMPLER_WRITER_JVM_H
#define FB_SAMPLER_WRITER_JVM_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/jvm/start.h"
#include "sampler/pages.h"
#include "sampler/sink.h"

struct fb_writer;

enum {
    FB_WRITER_JVM_STRINGS_BYTES = 64 << 10,
    FB_WRITER_JVM_FACTS_BYTES = 32 << 10,
    FB_WRITER_JVM_BYTES = FB_WRITER_JVM_STRINGS_BYTES + FB_WRITER_JVM_FACTS_BYTES,
    FB_WRITER_JVM_SHORT = 8192,
};

struct fb_writer_jvm {
    struct fb_chunk strings; /* not yet written */
    struct fb_chunk facts;
    uint32_t first_string;
    enum fb_jvm_state told; /* the manifest */
    bool lost;              /* strings that were given out are not in the file */
    struct fb_pages known;  /* of struct known, by the id of the name */
};

/* memory: FB_WRITER_JVM_BYTES. */
void fb_writer_jvm_init(struct fb_writer *w, uint8_t *memory);

/* The id of the frame of a virtual word; 0: no memory, or the strings could not be written. */
uint32_t fb_writer_jvm_frame(struct fb_writer *w, uint64_t word);

/* Whether the word is the border between a virtual thread and its carrier, which is below. */
bool fb_writer_jvm_is_border(uint64_t word);

/* Whether a record more may not fit. */
bool fb_writer_jvm_full(const struct fb_writer *w);

/* Before FRAMES.  False: something of it is not in the file. */
bool fb_writer_jvm_write(struct fb_writer *w);

/* At each flush: tells the manifest of a JVM that has come, once, and has memory ready for names.
 */
void fb_writer_jvm_tell(struct fb_writer *w);

/* Strings are to be given out anew. */
void fb_writer_jvm_forget(struct fb_writer *w);

#endif

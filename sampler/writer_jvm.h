/* writer_jvm.h - virtual frames (sampler/jvm/signal/frame_word.h) become frames of the bank.
 *
 * Context: the helper thread alone.  See writer.h.
 *
 * A method's frame has no address.  Its name is "java.util.HashMap.put"; the descriptor, the line
 * and how the code was made go to FRAME_FACTS (writer_names.h).  An inlined frame
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
    FB_WRITER_JVM_SHORT = 8192,
};

struct fb_writer_jvm {
    enum fb_jvm_state told; /* the manifest */
    struct fb_pages known;  /* of struct known, by the id of the name */
};

/* The id of the frame of a virtual word; 0: no memory, or the strings could not be written. */
uint32_t fb_writer_jvm_frame(struct fb_writer *w, uint64_t word);

/* Whether the word is the border between a virtual thread and its carrier, which is below. */
bool fb_writer_jvm_is_border(uint64_t word);

/* At each flush: tells the manifest of a JVM that has come, once, and has memory ready for names;
 * at the last one also of a JVM that was still not there. */
void fb_writer_jvm_tell(struct fb_writer *w, bool last);

/* Strings are to be given out anew. */
void fb_writer_jvm_forget(struct fb_writer *w);

#endif

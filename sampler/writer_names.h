/* writer_names.h - strings of the bank, and what is known of a frame beside its name.
 *
 * Context: the helper thread alone.  See writer.h.
 *
 *     id = fb_writer_string(w, text, n);           good in the bank from the next write on
 *     fb_writer_facts(w, &facts);                  before the frame goes to FRAMES
 *     if (fb_writer_names_full(w)) ... write a batch ...
 *     ok = fb_writer_names_write(w);               STRINGS, then FRAME_FACTS: before FRAMES
 *
 * Nothing is looked up here: who gives out the same text often keeps its id. */
#ifndef FB_SAMPLER_WRITER_NAMES_H
#define FB_SAMPLER_WRITER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/raw_format.h"
#include "sampler/sink.h"

struct fb_writer;

enum {
    FB_WRITER_NAMES_STRINGS_BYTES = 64 << 10,
    FB_WRITER_NAMES_FACTS_BYTES = 32 << 10,
    FB_WRITER_NAMES_BYTES = FB_WRITER_NAMES_STRINGS_BYTES + FB_WRITER_NAMES_FACTS_BYTES,
    FB_WRITER_STRING_MAX = 16 << 10,
};

struct fb_writer_names {
    struct fb_chunk strings; /* not yet written */
    struct fb_chunk facts;
    uint32_t first_string;
    uint32_t next_string;
    bool lost; /* strings that were given out are not in the file */
};

struct fb_frame_facts { /* string ids; 0: not known */
    uint32_t frame;
    enum fb_frame_tier tier;
    uint32_t signature;
    uint32_t file;
    uint32_t line;
};

/* memory: FB_WRITER_NAMES_BYTES. */
void fb_writer_names_init(struct fb_writer *w, uint8_t *memory);

/* Its id; n is at most FB_WRITER_STRING_MAX. */
uint32_t fb_writer_string(struct fb_writer *w, const char *text, size_t n);

/* Nothing is written where nothing is known. */
void fb_writer_facts(struct fb_writer *w, const struct fb_frame_facts *facts);

/* Whether the facts of a record more may not fit. */
bool fb_writer_names_full(const struct fb_writer *w);

/* False: something of it is not in the file. */
bool fb_writer_names_write(struct fb_writer *w);

/* Strings are to be given out anew. */
void fb_writer_names_forget(struct fb_writer *w);

#endif

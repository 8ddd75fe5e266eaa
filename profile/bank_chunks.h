/* bank_chunks.h - the payloads of chunks to and from the model.  Private to profile/.
 *
 * A decoder is fed payloads in the order of the file and keeps the maps from the file's ids to the
 * model's; bank_read.c frames, checks and unpacks the chunks. */
#ifndef FB_PROFILE_BANK_CHUNKS_H
#define FB_PROFILE_BANK_CHUNKS_H

#include "profile/bank.h"

/* File id to model id; UINT32_MAX where a definition was lost. */
struct fb_id_map {
    uint32_t *ids;
    size_t count, room;
};

struct fb_mark_read;

struct fb_frame_facts { /* of the bank, beside a frame's name */
    enum fb_tier tier;
    uint32_t signature, file, line; /* as in struct fb_frame */
};

struct fb_bank_decoder {
    struct fb_profile *p;
    struct fb_bank_damage *damage;
    struct fb_id_map strings, frames, stacks, modules, threads, counters;
    struct fb_id_map frame_facts; /* frame id of the file to index of facts[] */
    struct fb_frame_facts *facts;
    size_t facts_count, facts_room;
    uint64_t raw_bytes; /* of all payloads so far: bounds the ids that can be true */
    uint64_t end_samples, end_weight;
    bool has_end, has_no_times;
    bool out_of_range;          /* a time or a counter was, and became the nearest that is not */
    struct fb_mark_read *marks; /* in the order of the file, until the end */
    size_t marks_count, marks_room;
    struct fb_id_map label_sets;
    size_t last_samples; /* rows of the last SAMPLES chunk, at the end of the samples */
    uint32_t lost_stack; /* stack of [lost definition], 0 until needed */
};

void fb_bank_decoder_init(struct fb_bank_decoder *d, struct fb_profile *p,
                          struct fb_bank_damage *damage);
void fb_bank_decoder_done(struct fb_bank_decoder *d);

/* Takes one payload in.  False if it breaks a rule of its type (what was good before the
 * violation is kept).  Unknown types are counted and skipped. */
bool fb_bank_decoder_put(struct fb_bank_decoder *d, unsigned type, const uint8_t *payload,
                         size_t n);

/* After the last chunk: puts the wall clock under all times and closes the account. */
void fb_bank_decoder_finish(struct fb_bank_decoder *d);

#endif

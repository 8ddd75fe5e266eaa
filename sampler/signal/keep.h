/* keep.h - memory for walks that wait for rows: few large pieces, because few walks do.
 *
 *     record->keep = fb_keep_rest(&rest);              handler: 0 if all are taken
 *     words = fb_keep_words(record->keep, &count);     helper, for fb_walk_resume()
 *     fb_keep_give(record->keep);                      helper
 *
 * Context: signal.  No locks: a bit says who has a piece.  The lowest free piece
 * is the first taken, so that few of them are ever touched.  A piece holds the
 * stack of a deep program (256 KiB: rustc has some 100); a copy costs 0.1 us a
 * KiB. */
#ifndef FB_SAMPLER_SIGNAL_KEEP_H
#define FB_SAMPLER_SIGNAL_KEEP_H

#include <stdint.h>

#include "sampler/signal/walk.h"

enum {
    FB_KEEP_COUNT = 64,
    FB_KEEP_WORDS = 32768,
    FB_KEEP_FEW = 24, /* fewer free ones than that: the helper should take records in */
    FB_KEEP_BYTES = FB_KEEP_COUNT * FB_KEEP_WORDS * 8,
};

/* Normal context, before the first signal, and again in a fork's child. */
void fb_keep_init(void *memory);

/* A number from 1, or 0. */
uint16_t fb_keep_rest(const struct fb_walk_rest *rest);

const uint64_t *fb_keep_words(uint16_t keep, unsigned *ret_count);
void fb_keep_give(uint16_t keep);

unsigned fb_keep_free_count(void);

#endif

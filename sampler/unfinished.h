/* unfinished.h - records whose walk met code without rows: goes on where it stopped.
 *
 *     r = fb_unfinished_finish(r);         each record, before it is used
 *
 * Context: the helper thread alone.  The handler has kept registers and a copy
 * of the stack (sampler/signal/keep.h); here the rows are made
 * and the walk is finished over the copy, so that a sample that comes before its
 * tables is no worse than those behind it.  What stays unfinished (the copy was
 * too short, rows cannot be made) is counted as a partial stack here. */
#ifndef FB_SAMPLER_UNFINISHED_H
#define FB_SAMPLER_UNFINISHED_H

#include <stdint.h>

#include "sampler/signal/pool.h"
#include "sampler/signal/walk.h"

/* Ticks by the stop of their walk, and those finished here, since fb_unfinished_reset(). */
void fb_unfinished_counts(uint64_t ret_stops[FB_WALK_STOP_COUNT], uint64_t *ret_finished);
void fb_unfinished_reset(void);

/* r itself, or a finished copy that is good until the next call. */
const struct fb_record *fb_unfinished_finish(const struct fb_record *r);

#endif

/* unfinished.h - records whose walk met code without rows: goes on where it stopped.
 *
 *     r = fb_unfinished_finish(r);         each record, before it is used
 *
 * Context: the helper thread alone.  The handler has kept registers and a copy
 * of the stack behind the pcs (sampler/signal/walk.h); here the rows are made
 * and the walk is finished over the copy, so that a sample that comes before its
 * tables is no worse than those behind it.  What stays unfinished (the copy was
 * too short, rows cannot be made) is counted as a partial stack here. */
#ifndef FB_SAMPLER_UNFINISHED_H
#define FB_SAMPLER_UNFINISHED_H

#include "sampler/signal/pool.h"

/* r itself, or a finished copy that is good until the next call. */
const struct fb_record *fb_unfinished_finish(const struct fb_record *r);

#endif

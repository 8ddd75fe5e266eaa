/* writer_samples.h - the part of the writer that turns records into samples.  Inside sampler/ only.
 */
#ifndef FB_SAMPLER_WRITER_SAMPLES_H
#define FB_SAMPLER_WRITER_SAMPLES_H

#include "sampler/writer.h"

/* All segments with records: those handed over and those in threads' hands, as a list. */
struct fb_segment *fb_samples_take(struct fb_writer *w);

/* Writes their records and gives the segments back. */
void fb_samples_write(struct fb_writer *w, struct fb_segment *segments);

/* At the end of the process or program: ticks that were due to living threads and that the kernel's
 * own tick has not brought yet. */
void fb_samples_keep_last(struct fb_writer *w);

/* Gives them back unwritten; their ticks are counted under FB_LOSS_WRITE. */
void fb_samples_lose(struct fb_writer *w, struct fb_segment *segments);

/* The samples of threads that wait and needed no signal (clock_wall.c); behind fb_samples_write().
 */
void fb_samples_parked(struct fb_writer *w);

#endif

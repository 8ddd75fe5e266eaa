/* writer_control.h - the part of the writer that changes the clock: pauses that somebody asks for,
 * and the rate.  Inside sampler/ only.
 *
 *     fb_writer_control_begin(w);    the bank was made: what a fork's child inherited is said
 *     fb_writer_control_look(w);     first in a flush: was something asked?
 *     fb_writer_events_write(w);     before samples, so that who asked need not wait for them
 *     fb_writer_budget_look(w);      behind the row of counters */
#ifndef FB_SAMPLER_WRITER_CONTROL_H
#define FB_SAMPLER_WRITER_CONTROL_H

#include "sampler/writer.h"

void fb_writer_control_begin(struct fb_writer *w);

/* True: the clock began or ended, and this flush's row of counters is to be whole. */
bool fb_writer_control_look(struct fb_writer *w);

void fb_writer_events_write(struct fb_writer *w);
void fb_writer_budget_look(struct fb_writer *w);

#endif

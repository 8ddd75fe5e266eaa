/* side.h - counters that were sampled beside the run, every ten seconds or so, as text:
 *
 *     client:  epoch pod usage_usec throttled_usec nr_throttled        of the generator's pods
 *     node:    epoch cpuN user system softirq irq idle                 s since boot, a line a CPU
 *
 *     if (fb_side_sniff(head, n))
 *         r = fb_side_read(source, &side, err);
 *     fb_side_apply(side, steps);        client_cpu_s, client_throttled_s / node_busy, node_softirq
 *     fb_side_free(side);
 *
 * All columns but the first two are cumulative.  Between two lines a counter is taken to grow
 * evenly.  What a file covers less than half of stays unknown; a counter that fell is unknown over
 * that span. */
#ifndef FB_STEPS_SIDE_H
#define FB_STEPS_SIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"

struct fb_side;
struct fb_steps;

bool fb_side_sniff(const char *head, size_t n);
enum fb_status fb_side_read(struct fb_source *in, struct fb_side **ret_side, struct fb_err *err);
/* After the times of the steps are final.  A client's times are the generator's, so that a clock
 * offset that the steps have is taken off again for it. */
void fb_side_apply(const struct fb_side *side, struct fb_steps *steps);
void fb_side_free(struct fb_side *side);

#endif

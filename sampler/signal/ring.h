/* ring.h - the kernel's part of a stack: the records that a perf event left in its ring.
 *
 * Context: signal.  The ring is one page of the kernel's (struct
 * perf_event_mmap_page) and one of records behind it; the kernel writes while
 * the event's thread runs, and this thread's handler alone reads.
 *
 *     struct fb_ring_cursor at;
 *     n = fb_ring_begin(ring, page, &at);          records since the last end
 *     while (n-- > keep) fb_ring_skip(&at);
 *     depth = fb_ring_next(&at, pcs, max);         0: the tick came in user code
 *     fb_ring_end(&at);
 *
 * A record is one tick; its addresses are innermost first.  A ring that ran
 * full (while the signal was blocked) has the oldest ones. */
#ifndef FB_SAMPLER_SIGNAL_RING_H
#define FB_SAMPLER_SIGNAL_RING_H

#include <stdint.h>

struct fb_ring_cursor {
    void *ring;
    const uint64_t *data;
    uint32_t mask; /* of word offsets into data */
    uint64_t at;   /* in words, from the start of time */
    uint64_t head;
};

/* How many samples are waiting; page: bytes of a page, of which the data are one. */
unsigned fb_ring_begin(void *ring, uint32_t page, struct fb_ring_cursor *ret_at);

void fb_ring_skip(struct fb_ring_cursor *at);

/* Fills ret_pcs[0 .. depth), depth <= max, with the kernel's addresses of the next sample. */
unsigned fb_ring_next(struct fb_ring_cursor *at, uint64_t *ret_pcs, unsigned max);

/* All that was there at the beginning is read. */
void fb_ring_end(const struct fb_ring_cursor *at);

#endif

/* pool.h - sample memory: one shared pool of segments that change owners whole.
 *
 * Context: signal.  No locks: a segment belongs to exactly one owner at a time,
 * and ownership moves by one atomic operation.
 *
 *     free list --fb_pool_take()--> handler of one thread --> its fb_task.segment
 *     fb_task.segment --atomic exchange--> handler (to append) or writer (to drain)
 *     full segment --fb_pool_push_full()--> full list --fb_pool_take_full()--> writer
 *     writer --fb_pool_give()--> free list
 *
 * The lists are stacks whose head carries a tag, so that a segment that went
 * and came back cannot be mistaken for one that never left (ABA).  The last
 * segment given is the first taken: the touched part of the pool stays small.
 *
 * Memory order: every change of owner is a sequentially consistent compare-and-swap or exchange, so
 * that it releases what the old owner wrote and acquires it for the new one; `next` is atomic
 * because a taker that will lose its race may read it while the winner already writes.
 *
 * Size: FB_SEGMENT_COUNT segments of FB_SEGMENT_BYTES hold 10 s of 64 threads at
 * 99 Hz and depth 50 (64 x 990 records of 424 bytes = 26.9 MB); memory that no
 * sample reached is never touched. */
#ifndef FB_SAMPLER_SIGNAL_POOL_H
#define FB_SAMPLER_SIGNAL_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FB_SEGMENT_BYTES = 16384,
    FB_SEGMENT_COUNT = 2048,
    FB_SEGMENT_NONE = 0xffffffff,
    FB_SAMPLE_DEPTH_MAX = 512,
};

/* What the thread was doing at the tick. */
enum fb_record_state {
    FB_RECORD_RUNNING = 0,
    FB_RECORD_RUNNABLE,   /* it waited for a CPU                                        */
    FB_RECORD_PARKED,     /* it waited in the system call that the stack ends in        */
    FB_RECORD_THREAD_END, /* without a stack: ticks that were due as the thread ended   */
    FB_RECORD_KERNEL,     /* without a stack: in the kernel, where we may not look      */
    FB_RECORD_STATE_BITS = 3,
};

/* One sample as the handler leaves it; the writer alone reads it.
 *   OFFSET  SIZE  MEANING
 *        0     8  CLOCK_MONOTONIC nanoseconds
 *        8     4  thread id of the bank
 *       12     4  weight in ticks
 *       16     2  depth: how many addresses follow; 0: state says what is known instead
 *       18     1  enum fb_walk_stop
 *       19     1  enum fb_record_state, and of a parked one what clock_wall.c calls its place << 3
 *       20     2  index of the thread's slot
 *       22     2  number of the keep with the rest of the walk (signal/keep.h), 0: none
 *       24   8*n  addresses, innermost first: of kernel code (its top bit is set), then of
 *                 the thread's own; each part is a pc, then return addresses */
struct fb_record {
    uint64_t time_ns;
    uint32_t thread_id;
    uint32_t weight;
    uint16_t depth;
    uint8_t stop;
    uint8_t state;
    uint16_t slot;
    uint16_t keep;
    uint64_t pcs[];
};

enum { FB_RECORD_MAX = sizeof(struct fb_record) + 8 * FB_SAMPLE_DEPTH_MAX };

struct fb_segment {
    _Atomic uint32_t next; /* index in the list that it is on              */
    uint32_t used;         /* bytes of records in data; owner only         */
    uint8_t data[FB_SEGMENT_BYTES - 8];
};

_Static_assert(sizeof(struct fb_record) == 24, "the layout above");
_Static_assert(sizeof(struct fb_segment) == FB_SEGMENT_BYTES, "segments tile the pool");
_Static_assert(FB_RECORD_MAX <= FB_SEGMENT_BYTES - 8, "every record fits an empty segment");

/* Where the record behind this one starts. */
static inline size_t fb_record_size(const struct fb_record *r)
{
    return sizeof *r + 8u * (size_t)r->depth;
}

/* Bytes that fb_pool_init() wants: zeroed, page-aligned, never freed. */
enum { FB_POOL_BYTES = FB_SEGMENT_BYTES * FB_SEGMENT_COUNT };

/* Normal context, before the first signal, and again in a fork's child (where the
 * parent's unread samples are dropped: the parent writes them). */
void fb_pool_init(void *memory);

/* An empty segment, or NULL: none left, or FB_POOL_TRIES lost races. */
struct fb_segment *fb_pool_take(void);
void fb_pool_give(struct fb_segment *segment);

/* Hands a segment with records to the writer. */
void fb_pool_push_full(struct fb_segment *segment);

/* All segments handed over so far, newest first, linked by fb_pool_next(). */
struct fb_segment *fb_pool_take_full(void);
struct fb_segment *fb_pool_next(const struct fb_segment *segment);

/* Makes next (or NULL) follow a segment that is on no list: the writer's own order. */
void fb_pool_link(struct fb_segment *segment, const struct fb_segment *next);

#endif

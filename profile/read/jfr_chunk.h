/* jfr_chunk.h - the framing of a recording: chunks, and the events in them.
 *
 *     while ((r = fb_jfr_chunk_next(&chunk, source, err)) == FB_OK && chunk.bytes.len > 0) {
 *         struct fb_wire_in in = chunk.bytes;
 *         while (fb_jfr_event_next(&in, &event))
 *             ... event.type, event.payload ...
 *     }
 *     fb_jfr_chunk_done(&chunk);
 *
 *   OFFSET  SIZE  MEANING (big-endian)
 *        0     4  "FLR\0"
 *        4     4  version: major 2, minor
 *        8     8  size of the chunk with this header; 0 while it is written
 *       16    16  where the checkpoints and the metadata are (not needed: all events are walked)
 *       32    16  start and duration in wall-clock nanoseconds
 *       48    16  start in ticks, ticks a second
 *       64     1  count of the flushes of a chunk that is still written, 0 of a finished one
 *       65     3  flags: 1 numbers are LEB128
 *
 * An event is its size (with the size), its type and its payload, the first two LEB128.  What
 * follows a chunk's end and is no header belongs to it: events after the last flush of a recorder
 * that was killed.  Private to profile/read/jfr*.c. */
#ifndef FB_PROFILE_READ_JFR_CHUNK_H
#define FB_PROFILE_READ_JFR_CHUNK_H

#include "base/buf.h"
#include "base/err.h"
#include "base/source.h"
#include "base/wire.h"

enum { FB_JFR_HEADER_SIZE = 68, FB_JFR_METADATA = 0, FB_JFR_CHECKPOINT = 1 };

struct fb_jfr_chunk {
    struct fb_buf buf;
    struct fb_wire_in bytes; /* of the events */
    uint64_t number;         /* 1, 2 ... */
    int64_t start_ns;
    uint64_t start_ticks, ticks_per_second;
    bool is_whole;       /* as long as its header says                        */
    bool is_finished;    /* nothing was to follow when the header was written */
    uint64_t torn_bytes; /* at its end, of no whole event */
};

struct fb_jfr_event {
    uint64_t type;
    struct fb_wire_in payload;
};

enum fb_status fb_jfr_chunk_next(struct fb_jfr_chunk *chunk, struct fb_source *source,
                                 struct fb_err *err);
void fb_jfr_chunk_done(struct fb_jfr_chunk *chunk);

/* False at the end; in->bad where an event's size cannot be. */
bool fb_jfr_event_next(struct fb_wire_in *in, struct fb_jfr_event *ret);

/* Wall-clock time of ticks, and the nanoseconds of so many ticks. */
int64_t fb_jfr_time(const struct fb_jfr_chunk *chunk, uint64_t ticks);
int64_t fb_jfr_span(const struct fb_jfr_chunk *chunk, uint64_t ticks);

#endif

/* sink.h - the file: made late, named by a pattern, written one whole chunk at a time.
 *
 * Context: the helper thread alone (its own descriptor table, see helper.c).
 *
 *     fb_sink_init(&sink, config);                    in every process, forked ones too
 *     fb_sink_open(&sink, &manifest);                 when there is something to write
 *     fb_chunk_begin(&chunk, memory, size);
 *     fb_wire_put_...(&chunk.body, ...); chunk.count++;
 *     ok = fb_sink_write(&sink, &chunk, FB_CHUNK_FRAMES, prefix, n);
 *
 * A chunk is one write() to an O_APPEND descriptor under an flock of the file,
 * so that another process can add a mark.  What was written in part (full disk)
 * is cut off again, so that the file stays whole.  The name is never one that
 * exists: "-2", "-3" ... goes before its suffix.  An unwritable folder falls
 * back to $TMPDIR, then /tmp, said once. */
#ifndef FB_SAMPLER_SINK_H
#define FB_SAMPLER_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/wire.h"
#include "profile/raw_format.h"
#include "sampler/config.h"

enum {
    FB_CHUNK_PREFIX_MAX = 40, /* bytes in front of the items: ids, times, the count */
};

struct fb_chunk {
    uint8_t *memory;
    size_t size;
    struct fb_wire_out body; /* the items                        */
    uint64_t count;          /* how many; the caller's to count */
};

struct fb_sink {
    const struct fb_config *config;
    int fd; /* -1: not made, or it could not be */
    bool refused;
    bool said;
    bool quiet; /* nothing but write() (writer.h) */
    uint64_t run_id;
    uint64_t writer_id;
    uint32_t sequence;
    uint64_t bytes;        /* written so far */
    uint64_t looked_size;  /* the file's at the last look for what others appended */
    uint64_t looked_bytes; /* and ours */
    struct iovec first;    /* the manifest, framed, while the file is made */
    bool first_is_in;
    dev_t device;
    ino_t inode;
    char path[FB_CONFIG_OUT_MAX + 64];
    uint32_t crc_table[256];
};

void fb_sink_init(struct fb_sink *sink, const struct fb_config *config, uint64_t run_id);

/* Makes the file with its header and the manifest in it, and empties that chunk.  False: it cannot
 * be made (said once, not tried again). */
bool fb_sink_open(struct fb_sink *sink, struct fb_chunk *manifest);

/* True: others appended something to bytes [*ret_from, *ret_to) since the last call; our own chunks
 * are among them.  The descriptor can be read, unless the file's permissions forbid it. */
bool fb_sink_foreign(struct fb_sink *sink, uint64_t *ret_from, uint64_t *ret_to);

/* Removes the file again: a process that left without a sample. */
void fb_sink_discard(struct fb_sink *sink);

/* An empty chunk in the caller's memory. */
void fb_chunk_begin(struct fb_chunk *chunk, void *memory, size_t size);

/* Writes prefix[0 .. n) and the items as one chunk and empties it.  False: it is not in the file,
 * and the chunk is as it was. */
bool fb_sink_write(struct fb_sink *sink, struct fb_chunk *chunk, enum fb_chunk_type type,
                   const uint8_t *prefix, size_t n);

/* The same with the items' count behind prefix: what most chunks want. */
bool fb_sink_write_list(struct fb_sink *sink, struct fb_chunk *chunk, enum fb_chunk_type type,
                        const struct fb_wire_out *prefix);

#endif

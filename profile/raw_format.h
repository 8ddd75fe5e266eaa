/* raw_format.h - the bank file, byte by byte: constants and chunk framing.
 *
 * Header-only: the one thing that the preload library and the reader share.
 * docs/bank-format.md is the specification; this file and that page change in
 * one commit.  All integers are little-endian; "varint" and "signed" are those
 * of base/wire.h (LEB128, zigzag), "blob" is a varint length and its bytes.
 *
 * FILE HEADER, 32 bytes
 *   OFFSET  SIZE  MEANING
 *        0     8  magic 89 46 42 41 4e 4b 0d 0a   ("\x89" "FBANK" CR LF)
 *        8     2  major version: a reader refuses a newer one
 *       10     2  minor version: newer ones add chunk types only
 *       12     4  CRC-32 of the other 28 bytes of this header
 *       16     8  run id, the same in all banks of one run (random, not 0)
 *       24     8  writer id, one per bank (random, not 0)
 *
 * CHUNK HEADER, 32 bytes, at a multiple of 8
 *        0     4  sync word fb c7 0d a7
 *        4     2  type (enum fb_chunk_type); unknown types are skipped
 *        6     2  flags (FB_CHUNK_PACKED, FB_CHUNK_FOREIGN)
 *        8     8  run id of the file header
 *       16     4  sequence number: 0, 1, 2 ... of this writer; FOREIGN chunks have 0
 *       20     4  raw length: bytes of the payload, unpacked
 *       24     4  stored length: bytes that follow; == raw length unless packed
 *       28     4  CRC-32 of header bytes 0..27 and the stored payload
 *       32        stored payload, then zeros up to a multiple of 8
 *
 * Ids are defined before they are used; nothing is ever back-patched.  A chunk
 * is written with one write() (O_APPEND, under an flock of the file), so that
 * another process can add a mark.  A reader that meets damage searches the next
 * sync word whose run id and checksum are right and names the loss. */
#ifndef FB_PROFILE_RAW_FORMAT_H
#define FB_PROFILE_RAW_FORMAT_H

#include "base/crc32.h"
#include "base/wire.h"

#define FB_BANK_MAGIC                                                                              \
    "\x89"                                                                                         \
    "FBANK\r\n"
#define FB_CHUNK_SYNC 0xa70dc7fbu

enum {
    FB_BANK_MAJOR = 1,
    FB_BANK_MINOR = 2,
    FB_BANK_HEADER_SIZE = 32,
    FB_CHUNK_HEADER_SIZE = 32,
    FB_CHUNK_ALIGN = 8,
    FB_CHUNK_RAW_MAX = 1 << 26, /* 64 MiB: larger raw lengths are damage */
};

enum {
    FB_CHUNK_PACKED = 1,  /* the stored payload is one zstd frame                        */
    FB_CHUNK_FOREIGN = 2, /* appended by another process than the writer (a mark, labels) */
};

/* Payloads.  "count" is a varint; every list is `count` items of the given fields.
 * Times are CLOCK_MONOTONIC nanoseconds of the arm's machine unless said otherwise. */
enum fb_chunk_type {
    /* count, {blob key, blob value}: later values of a key replace earlier ones.
     * Keys are listed in docs/bank-format.md; values are UTF-8 text. */
    FB_CHUNK_MANIFEST = 1,
    /* count, {varint id, signed time_ns, varint start, varint end, varint bias, blob build_id,
     * blob path}: module `id` is mapped at [start, end) from time on; ELF virtual address =
     * runtime address - bias.  end == 0: the module `id` was unloaded at that time. */
    FB_CHUNK_MODULES = 2,
    /* count, {varint id, varint tid, signed time_ns, blob name}: the name of thread `id` from
     * that time on; a second item with the same id is a rename.  Ids start at 1; 0 in a sample is
     * an unknown thread. */
    FB_CHUNK_THREADS = 3,
    /* varint first id, count, {blob text}: string ids are consecutive; id 0 is "" always. */
    FB_CHUNK_STRINGS = 4,
    /* varint first id, count, {u8 kind, varint module id + 1 or 0, varint address,
     * varint name string id}: address is an ELF virtual address where a module is named, else a
     * runtime address; 0 with a name for frames that have none.  Frame ids start at 1.
     * The sampler writes the pc itself for the innermost frame, for frames that a signal
     * interrupted and for signal trampolines, and return address - 1 (inside the call) else. */
    FB_CHUNK_FRAMES = 5,
    /* varint first id, count, {varint own id - parent id, varint frame id}: nodes of a prefix
     * tree; parent 0 is the root (the empty stack), so node ids start at 1 and a parent is
     * always smaller than its child.  The outermost frame is the child of node 0. */
    FB_CHUNK_STACKS = 6,
    /* signed base_time_ns, varint grain_ns, count, then four columns of count varints each:
     * signed time (in grains after the previous sample; the first after base), thread id,
     * stack id, weight in ticks (1 + overrun; the manifest's interval_ns each). */
    FB_CHUNK_SAMPLES = 7,
    /* count, {varint id, blob name, blob unit, u8 kind (enum fb_counter_kind)} */
    FB_CHUNK_COUNTER_DEFS = 8,
    /* signed base_time_ns, varint rows, varint columns, columns x {varint counter id, rows x
     * signed value delta to the column's previous row}, after the column "rows x signed time in
     * microseconds after the previous row", which comes first.  A chunk's first row is a delta to
     * 0. A counter that was not read at a row has no column in its chunk. */
    FB_CHUNK_COUNTERS = 9,
    /* count, {signed monotonic_ns or 0, signed wall_ns, blob name, u8 flags
     * (enum fb_mark_flags), varint offered x 1000} */
    FB_CHUNK_MARKS = 10,
    /* signed time_ns, count, {u8 cause (enum fb_loss_cause), varint total since start} */
    FB_CHUNK_LOSSES = 11,
    /* count, {varint frame id, varint name string id, varint file string id, varint line}: the
     * best name found for a raw frame; a later one replaces an earlier one. */
    FB_CHUNK_SYMBOLS = 12,
    /* signed time_ns, varint samples written, varint sum of their weights: the writer ended in
     * order.  Its absence is a run that was killed. */
    FB_CHUNK_END = 13,
    /* count, {signed monotonic_ns or 0, signed wall_ns or 0, u8 kind (enum fb_event_kind), varint
     * value}: what happened to the sampler itself.  Since minor version 1. */
    FB_CHUNK_EVENTS = 14,
    /* count, {varint frame id, u8 tier (enum fb_frame_tier), varint signature string id, varint
     * file string id, varint line}: what is known of a frame beside its name, where anything is. It
     * comes before the FRAMES that defines the frame, because frames that differ in it alone are
     * different ones.  Since minor version 2. */
    FB_CHUNK_FRAME_FACTS = 15,
    /* varint first id, count, {varint n, n x {varint key, varint text, signed number, varint
     * unit}}: sets of labels of samples, strings by their ids; text 0: the number counts.  Set ids
     * start at
     * 1.  Since minor version 2; the sampler writes none. */
    FB_CHUNK_LABEL_SETS = 16,
    /* count, {varint label set id or 0}: of the samples of the SAMPLES before, in their order. */
    FB_CHUNK_SAMPLE_LABELS = 17,
};

enum fb_frame_kind {
    FB_FRAME_NATIVE = 0,
    FB_FRAME_KERNEL = 1,
    FB_FRAME_JAVA = 2,
    FB_FRAME_JS = 3,
    FB_FRAME_JIT = 4,  /* generated code without a better name */
    FB_FRAME_STUB = 5, /* PLT entries, trampolines             */
    FB_FRAME_INLINED = 6,
    FB_FRAME_MARK = 7, /* not code: [truncated], [lost], thread roots */
    FB_FRAME_KIND_COUNT
};

/* How a runtime made the code of a frame.  An inlined frame has none of its own: it is a part of
 * the frame that it was inlined into. */
enum fb_frame_tier {
    FB_FRAME_TIER_UNKNOWN = 0,
    FB_FRAME_TIER_INTERPRETED = 1,
    FB_FRAME_TIER_C1 = 2, /* a quick compiler: HotSpot's levels 1 to 3 */
    FB_FRAME_TIER_C2 = 3, /* an optimising one: level 4               */
    FB_FRAME_TIER_COUNT
};

enum fb_counter_kind {
    FB_COUNTER_CUMULATIVE = 0, /* only grows: differences count  */
    FB_COUNTER_GAUGE = 1,      /* a level: the value itself counts */
};

enum fb_event_kind {
    FB_EVENT_ASK_PAUSE = 1,  /* FOREIGN: somebody asks the sampler to take no samples */
    FB_EVENT_ASK_RESUME = 2, /* FOREIGN: and to take them again                       */
    FB_EVENT_PAUSED = 3,     /* no ticks from this time on ...                        */
    FB_EVENT_RESUMED = 4,    /* ... to this                                           */
    FB_EVENT_INTERVAL = 5,   /* value: ns that a tick stands for from now on          */
};

enum fb_mark_flags {
    FB_MARK_WARMUP = 1,
    FB_MARK_END = 2, /* ends the step `name`; without it a step ends at the next mark */
};

/* Why a tick of the clock is not a sample in the file. */
enum fb_loss_cause {
    FB_LOSS_NO_SEGMENT = 0,  /* the pool of sample memory was empty               */
    FB_LOSS_NO_TIMER = 1,    /* threads that got no timer (EAGAIN); unit: threads */
    FB_LOSS_SMALL_STACK = 2, /* on an alternate stack too small to run on         */
    FB_LOSS_WRITE = 3,       /* the bank could not be written (full disk)         */
    FB_LOSS_UNKNOWN_THREAD = 4,
    FB_LOSS_SIGNAL_BLOCKED = 5, /* threads that block the signal; unit: threads    */
    FB_LOSS_TRUNCATED = 6,      /* kept, but the stack is cut at the depth limit     */
    FB_LOSS_PARTIAL = 7,        /* kept, but the unwinder stopped before the root    */
    FB_LOSS_FORKED = 8,         /* in flight across a fork                           */
    FB_LOSS_TABLE_FULL = 9,     /* a table of the writer was full                    */
    FB_LOSS_CAUSE_COUNT
};

/* The checksum of a file header. */
static inline uint32_t fb_bank_header_crc(const uint8_t at[FB_BANK_HEADER_SIZE])
{
    uint32_t table[256], crc;

    fb_crc32_init(table);
    crc = fb_crc32(table, 0, at, 12);
    return fb_crc32(table, crc, at + 16, FB_BANK_HEADER_SIZE - 16);
}

/* Writes the 32 bytes of a file header to at. */
static inline void fb_bank_header_store(uint8_t at[FB_BANK_HEADER_SIZE], uint64_t run_id,
                                        uint64_t writer_id)
{
    memset(at, 0, FB_BANK_HEADER_SIZE);
    memcpy(at, FB_BANK_MAGIC, 8);
    fb_wire_store_le(at + 8, FB_BANK_MAJOR, 2);
    fb_wire_store_le(at + 10, FB_BANK_MINOR, 2);
    fb_wire_store_le(at + 16, run_id, 8);
    fb_wire_store_le(at + 24, writer_id, 8);
    fb_wire_store_le(at + 12, fb_bank_header_crc(at), 4);
}

/* Bytes of zeros after a stored payload of n bytes. */
static inline size_t fb_chunk_padding(size_t n)
{
    return (FB_CHUNK_ALIGN - n % FB_CHUNK_ALIGN) % FB_CHUNK_ALIGN;
}

struct fb_chunk_header {
    uint16_t type;
    uint16_t flags;
    uint64_t run_id;
    uint32_t sequence;
    uint32_t raw_length;
    uint32_t stored_length;
    uint32_t crc;
};

/* Writes the header with its checksum to at; payload has h->stored_length bytes, h->crc is
 * ignored. */
static inline void fb_chunk_header_store(uint8_t at[FB_CHUNK_HEADER_SIZE],
                                         const struct fb_chunk_header *h, const uint8_t *payload,
                                         const uint32_t crc_table[256])
{
    uint32_t crc;

    fb_wire_store_le(at, FB_CHUNK_SYNC, 4);
    fb_wire_store_le(at + 4, h->type, 2);
    fb_wire_store_le(at + 6, h->flags, 2);
    fb_wire_store_le(at + 8, h->run_id, 8);
    fb_wire_store_le(at + 16, h->sequence, 4);
    fb_wire_store_le(at + 20, h->raw_length, 4);
    fb_wire_store_le(at + 24, h->stored_length, 4);
    crc = fb_crc32(crc_table, 0, at, 28);
    crc = fb_crc32(crc_table, crc, payload, h->stored_length);
    fb_wire_store_le(at + 28, crc, 4);
}

/* Reads the fields; false if the sync word is not there or a length is out of bounds. */
static inline bool fb_chunk_header_load(const uint8_t at[FB_CHUNK_HEADER_SIZE],
                                        struct fb_chunk_header *ret_h)
{
    ret_h->type = (uint16_t)fb_wire_load_le(at + 4, 2);
    ret_h->flags = (uint16_t)fb_wire_load_le(at + 6, 2);
    ret_h->run_id = fb_wire_load_le(at + 8, 8);
    ret_h->sequence = (uint32_t)fb_wire_load_le(at + 16, 4);
    ret_h->raw_length = (uint32_t)fb_wire_load_le(at + 20, 4);
    ret_h->stored_length = (uint32_t)fb_wire_load_le(at + 24, 4);
    ret_h->crc = (uint32_t)fb_wire_load_le(at + 28, 4);
    return fb_wire_load_le(at, 4) == FB_CHUNK_SYNC && ret_h->raw_length <= FB_CHUNK_RAW_MAX &&
           ret_h->stored_length <= FB_CHUNK_RAW_MAX;
}

#endif

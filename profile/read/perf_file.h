/* perf_file.h - the parts of a perf.data file, checked: its events and the stream of its records.
 * Private to profile/.
 *
 *     struct fb_perf_file f;
 *     r = fb_perf_file_open(&f, bytes, n, name, err);
 *     while (fb_perf_file_next(&f, &at, &record))
 *         ...                               record.bytes[0 .. size), as perf_event.h of Linux has
 * them fb_perf_file_done(&f);
 *
 * Both the file and the pipe form (perf record -o -) of little-endian machines; compressed records
 * (perf record -z) are unpacked.  A file that ends early is read up to there (is_torn). */
#ifndef FB_PROFILE_READ_PERF_FILE_H
#define FB_PROFILE_READ_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum fb_perf_record_type {
    FB_PERF_MMAP = 1,
    FB_PERF_LOST = 2,
    FB_PERF_COMM = 3,
    FB_PERF_FORK = 7,
    FB_PERF_SAMPLE = 9,
    FB_PERF_MMAP2 = 10,
    FB_PERF_LOST_SAMPLES = 13,
    /* of the tool, not of the kernel */
    FB_PERF_TOOL_ATTR = 64,
    FB_PERF_TOOL_BUILD_ID = 67,
    FB_PERF_TOOL_AUXTRACE = 71, /* its data follow the record */
    FB_PERF_TOOL_FEATURE = 80,
    FB_PERF_TOOL_COMPRESSED = 81,
    FB_PERF_TOOL_COMPRESSED2 = 83,
};

/* Bits of sample_type. */
enum fb_perf_sample_bit {
    FB_PERF_HAS_IP = 1 << 0,
    FB_PERF_HAS_TID = 1 << 1,
    FB_PERF_HAS_TIME = 1 << 2,
    FB_PERF_HAS_ADDR = 1 << 3,
    FB_PERF_HAS_READ = 1 << 4,
    FB_PERF_HAS_CALLCHAIN = 1 << 5,
    FB_PERF_HAS_ID = 1 << 6,
    FB_PERF_HAS_CPU = 1 << 7,
    FB_PERF_HAS_PERIOD = 1 << 8,
    FB_PERF_HAS_STREAM_ID = 1 << 9,
    FB_PERF_HAS_STACK_USER = 1 << 13,
    FB_PERF_HAS_IDENTIFIER = 1 << 16,
};

struct fb_perf_attr {
    uint32_t type;
    uint64_t config, period, sample_type, read_format;
    bool is_freq, has_sample_id; /* records that are no samples end in time, ids ... */
    char *name;                  /* "cycles:u"; never NULL                           */
};

struct fb_perf_id { /* of a counter, to its attr */
    uint64_t id;
    uint32_t attr;
};

struct fb_perf_build_id {
    uint8_t bytes[20];
    uint8_t size;
    const char *path; /* within the file */
    size_t path_len;
};

struct fb_perf_record {
    uint32_t type;
    uint16_t misc;
    const uint8_t *bytes; /* behind its header */
    size_t size;
};

struct fb_perf_file {
    const uint8_t *bytes, *data; /* data: the records */
    size_t n, data_n;
    struct fb_buf unpacked; /* the records where some are compressed */
    struct fb_perf_attr *attrs;
    size_t attrs_count, attrs_room;
    struct fb_perf_id *ids; /* sorted */
    size_t ids_count, ids_room;
    struct fb_perf_build_id *build_ids;
    size_t build_ids_count, build_ids_room;
    char *hostname, *release, *version, *cmdline; /* NULL: not said */
    int64_t
        wall_offset_ns; /* wall clock - the clock of the times; 0 not said (no perf record -k) */
    bool is_pipe, is_torn;
};

bool fb_perf_file_sniff(const void *head, size_t n);

/* Borrows the bytes. */
enum fb_status fb_perf_file_open(struct fb_perf_file *f, const void *bytes, size_t n,
                                 const char *name, struct fb_err *err);
void fb_perf_file_done(struct fb_perf_file *f);

/* The record at *at (0 at first), *at moved behind it; false at the end. */
bool fb_perf_file_next(const struct fb_perf_file *f, size_t *at, struct fb_perf_record *ret_record);

/* The attr of a counter's id; attr 0 for one that is not known. */
uint32_t fb_perf_file_attr_of(const struct fb_perf_file *f, uint64_t id);

/* Little-endian words at any place. */
uint32_t fb_perf_u32(const uint8_t *at);
uint64_t fb_perf_u64(const uint8_t *at);

#endif

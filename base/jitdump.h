/* jitdump.h - the heads of a jit-PID.dump, in which runtimes name the code that they generate.
 *
 * Header-only, of the C library alone.
 *
 *     fb_jitdump_header(bytes, n, &header)               then records from header.size on
 *     fb_jitdump_record(bytes, n, &record)               the next one is record.size bytes further
 *
 * HEADER     0  4  magic "JiTD", in the order of bytes of the machine that wrote it
 *            4  4  version 1;  8  4  bytes of the header;  12  4  e_machine;  20  4  pid
 *           24  8  time;  32  8  flags: 1 times are those of the CPU's counter
 * RECORD     0  4  kind;  4  4  bytes;  8  8  time in ns, CLOCK_MONOTONIC
 *   0 LOAD  16  8  pid, tid;  24  8  vma;  32  8  address;  40  8  size;  48  8  index;  56  name,
 * NUL 1 MOVE  16  8  pid, tid;  24  8  vma;  32  8  old;  40  8  new address;  48  8  size;  56  8
 * index 2 DEBUG_INFO  16  8  address;  24  8  count;  32  {8 address, 4 line, 4 -, file, NUL}: of
 * the LOAD that follows; a file "\xff" is that of the entry before 3 CLOSE Files of the other order
 * of bytes are refused: they are of another machine. */
#ifndef FB_BASE_JITDUMP_H
#define FB_BASE_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum fb_jitdump_kind {
    FB_JITDUMP_LOAD = 0,
    FB_JITDUMP_MOVE = 1,
    FB_JITDUMP_DEBUG_INFO = 2,
    FB_JITDUMP_CLOSE = 3,
};

enum {
    FB_JITDUMP_HEADER_SIZE = 40,
    FB_JITDUMP_RECORD_SIZE = 64, /* bytes of a record that fb_jitdump_record() looks at */
    FB_JITDUMP_PREFIX_SIZE = 16,
    FB_JITDUMP_NAME_AT = 56,    /* in a LOAD        */
    FB_JITDUMP_ENTRIES_AT = 32, /* in a DEBUG_INFO  */
    FB_JITDUMP_ENTRY_SIZE = 16, /* before its file  */
};

#define FB_JITDUMP_MAGIC 0x4a695444u

struct fb_jitdump_head {
    uint32_t size;
    uint32_t pid;
    bool own_clock; /* times are not CLOCK_MONOTONIC */
};

struct fb_jitdump_record {
    uint32_t kind; /* others than those of enum fb_jitdump_kind are to be stepped over */
    uint32_t size;
    uint64_t time_ns;
    uint64_t address;     /* LOAD, MOVE (the new one), DEBUG_INFO */
    uint64_t old_address; /* MOVE                                 */
    uint64_t code_size;   /* LOAD, MOVE                           */
    uint64_t count;       /* DEBUG_INFO                           */
};

static inline uint64_t fb_jitdump_u64(const uint8_t *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return v;
}

static inline uint32_t fb_jitdump_u32(const uint8_t *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return v;
}

static inline bool fb_jitdump_header(const uint8_t *bytes, size_t n, struct fb_jitdump_head *ret)
{
    if (n < FB_JITDUMP_HEADER_SIZE || fb_jitdump_u32(bytes) != FB_JITDUMP_MAGIC ||
        fb_jitdump_u32(bytes + 4) != 1 || fb_jitdump_u32(bytes + 8) < FB_JITDUMP_HEADER_SIZE)
        return false;
    *ret = (struct fb_jitdump_head){.size = fb_jitdump_u32(bytes + 8),
                                    .pid = fb_jitdump_u32(bytes + 20),
                                    .own_clock = (fb_jitdump_u64(bytes + 32) & 1) != 0};
    return true;
}

/* n: the bytes that there are from the record's start on, FB_JITDUMP_RECORD_SIZE suffice.  False:
 * there is no whole head, or it cannot be one. */
static inline bool fb_jitdump_record(const uint8_t *bytes, size_t n, struct fb_jitdump_record *ret)
{
    struct fb_jitdump_record r = {.kind = 0};

    if (n < FB_JITDUMP_PREFIX_SIZE)
        return false;
    r.kind = fb_jitdump_u32(bytes);
    r.size = fb_jitdump_u32(bytes + 4);
    r.time_ns = fb_jitdump_u64(bytes + 8);
    if (r.size < FB_JITDUMP_PREFIX_SIZE)
        return false;
    if (r.kind == FB_JITDUMP_LOAD) {
        if (n <= FB_JITDUMP_NAME_AT || r.size <= FB_JITDUMP_NAME_AT)
            return false;
        r.address = fb_jitdump_u64(bytes + 32);
        r.code_size = fb_jitdump_u64(bytes + 40);
    } else if (r.kind == FB_JITDUMP_MOVE) {
        if (n < FB_JITDUMP_RECORD_SIZE || r.size < FB_JITDUMP_RECORD_SIZE)
            return false;
        r.old_address = fb_jitdump_u64(bytes + 32);
        r.address = fb_jitdump_u64(bytes + 40);
        r.code_size = fb_jitdump_u64(bytes + 48);
    } else if (r.kind == FB_JITDUMP_DEBUG_INFO) {
        if (n < FB_JITDUMP_ENTRIES_AT || r.size < FB_JITDUMP_ENTRIES_AT)
            return false;
        r.address = fb_jitdump_u64(bytes + 16);
        r.count = fb_jitdump_u64(bytes + 24);
    }
    *ret = r;
    return true;
}

#endif

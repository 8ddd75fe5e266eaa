/* layout_known.h - what no table says and the walker must know, each with the releases that it was
 * looked up for.  Everything else is in the tables (layout.c). */
#ifndef FB_SAMPLER_JVM_LAYOUT_KNOWN_H
#define FB_SAMPLER_JVM_LAYOUT_KNOWN_H

enum {
    /* 11 is the first with the list of threads and the kinds of frames that are known here.  Newer
     * ones than 25 are walked if their tables hold all that is asked. */
    FB_JVM_RELEASE_MIN = 11,
    FB_JVM_RELEASE_MAX = 99,

    /* From 20 on the numbers of debug information exclude the byte 0. */
    FB_JVM_RELEASE_NO_ZERO_BYTE = 20,

    /* From 21 on there are virtual threads. */
    FB_JVM_RELEASE_CONTINUATIONS = 21,

    /* From 23 on offsets in blobs are short: _frame_complete_offset, _metadata_offset. */
    FB_JVM_RELEASE_SHORT_OFFSETS = 23,

    /* 11 to 25, by default: pages of 4 KiB of its zones (red, yellow, reserved), each at least one
     * page of the machine's. */
    FB_JVM_GUARD_PAGES = 4,
    FB_JVM_GUARD_ZONES = 3,

    /* 11 to 25: words from fp in an interpreted frame, on all CPUs. */
    FB_JVM_INTERPRETER_SENDER_SP = -1,
    FB_JVM_INTERPRETER_METHOD = -3,

    /* 21 to 25: the Continuation is one of the first words of its ContinuationEntry; which one is
     * told by its class. */
    FB_JVM_ENTRY_WORDS = 4,

    /* 11 to 25: states of a JavaThread. */
    FB_JVM_THREAD_IN_NATIVE = 4,
    FB_JVM_THREAD_IN_JAVA = 8,

    /* From 16 on a flag's type is a number (before, a name): the next enum.  And a JavaThread knows
     * its object by a handle (before, itself). */
    FB_JVM_RELEASE_FLAG_TYPES = 16,
    FB_JVM_RELEASE_HANDLES = 16,

    /* From 23 on the bytes of an array follow its length at once. */
    FB_JVM_RELEASE_DENSE_ARRAYS = 23,

    /* 21 to 25 on x86-64: the first of four bits of a reference of generational ZGC, one of which
     * is set; the address begins behind it. */
    FB_JVM_Z_REMAPPED = 12,

    /* 11 to 25: StubCodeDesc begins with the words next, group, name, begin, end. */
    FB_JVM_STUB_BYTES = 40,

    /* 11 to 25: where debug information starts for a pc without scopes. */
    FB_JVM_SCOPE_NONE = 0,
};

/* Types of flags, 16 to 25. */
enum {
    FB_JVM_FLAG_BOOL = 0,
    FB_JVM_FLAG_INT = 1,
    FB_JVM_FLAG_UINT = 2,
    FB_JVM_FLAG_INTX = 3,
    FB_JVM_FLAG_UINTX = 4,
    FB_JVM_FLAG_UINT64 = 5,
    FB_JVM_FLAG_SIZE = 6,
    FB_JVM_FLAG_DOUBLE = 7,
    FB_JVM_FLAG_STRING = 8,
    FB_JVM_FLAG_STRINGS = 9,
    FB_JVM_FLAG_TYPES
};

/* An entry of the JVM's performance data, format 2.0: 5 to 25. */
enum {
    FB_JVM_PERF_ENTRY_NAME = 4, /* offsets of offsets in the entry */
    FB_JVM_PERF_ENTRY_TYPE = 12,
    FB_JVM_PERF_ENTRY_DATA = 16,
    FB_JVM_PERF_ENTRY_BYTES = 20, /* its length is the first word */
};

/* A field of a class, 11 to 20: six 16-bit words. */
enum {
    FB_JVM_FIELD_WORDS = 6,
    FB_JVM_FIELD_NAME = 1,
    FB_JVM_FIELD_DESCRIPTOR = 2,
    FB_JVM_FIELD_LOW = 4, /* of the offset, above its tag */
    FB_JVM_FIELD_HIGH = 5,
    FB_JVM_FIELD_TAG_BITS = 2,
    FB_JVM_FIELD_HAS_OFFSET = 1,
};

/* The same, 21 to 25, as numbers: name, descriptor, offset, access, flags, and one more for each of
 * these flags (initial value, generic signature, group of contention). */
enum { FB_JVM_FIELD_OPTIONS = 1 << 0 | 1 << 2 | 1 << 4 };

#endif

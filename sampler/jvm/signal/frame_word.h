/* frame_word.h - a frame of the JVM in one word of a record's pcs[].
 *
 * Context: signal (made), helper (read).
 *
 * A word of pcs[] is, by its two upper bits:
 *     00  an address of user code        1x  an address of kernel code
 *     01  a virtual frame, as here: what the JVM's own structures said at the moment of the tick
 *
 *   BITS    MEANING
 *    0-31   name: an id of the table of names (sampler/jvm/names.h), of a method or, for stubs
 *           and marks, of a plain name; 0: it could not be read or the table was full
 *   32-48   bci + 1; 0: not known
 *   49-51   enum fb_jvm_tier
 *   52-55   enum fb_jvm_frame_kind
 *   56-61   0
 *   62-63   01
 *
 * One compiled frame of the machine is as many words as methods were inlined at its pc, innermost
 * first: all but the last are FB_JVM_INLINED. */
#ifndef FB_SAMPLER_JVM_SIGNAL_FRAME_WORD_H
#define FB_SAMPLER_JVM_SIGNAL_FRAME_WORD_H

#include <stdbool.h>
#include <stdint.h>

/* Append, never renumber. */
enum fb_jvm_frame_kind {
    FB_JVM_INTERPRETED = 0,
    FB_JVM_COMPILED = 1,
    FB_JVM_INLINED = 2,
    FB_JVM_NATIVE = 3, /* the compiled wrapper of a native method; bci unknown */
    FB_JVM_STUB = 4,   /* code that the JVM made for itself                    */
    FB_JVM_MARK = 5,   /* no code: what the walker has to say, as "[virtual thread]" */
};

/* The JVM's levels of compilation: 1 to 3 are C1's, 4 is C2's (or JVMCI's). */
enum fb_jvm_tier {
    FB_JVM_TIER_UNKNOWN = 0,
    FB_JVM_TIER_INTERPRETER = 1,
    FB_JVM_TIER_C1 = 2,          /* level 1: without profiling        */
    FB_JVM_TIER_C1_COUNTERS = 3, /* level 2: with counters            */
    FB_JVM_TIER_C1_PROFILE = 4,  /* level 3: with the whole profile   */
    FB_JVM_TIER_C2 = 5,
};

enum { FB_JVM_BCI_UNKNOWN = -1, FB_JVM_BCI_MAX = (1 << 17) - 2 };

#define FB_JVM_WORD_MARK (UINT64_C(1) << 62)

static inline bool fb_jvm_word_is(uint64_t word)
{
    return word >> 62 == 1;
}

/* bci: FB_JVM_BCI_UNKNOWN, or what fits. */
static inline uint64_t fb_jvm_word(enum fb_jvm_frame_kind kind, enum fb_jvm_tier tier, int32_t bci,
                                   uint32_t name)
{
    uint32_t place = bci >= 0 && bci <= FB_JVM_BCI_MAX ? (uint32_t)bci + 1 : 0;

    return FB_JVM_WORD_MARK | (uint64_t)kind << 52 | (uint64_t)tier << 49 | (uint64_t)place << 32 |
           name;
}

static inline enum fb_jvm_frame_kind fb_jvm_word_kind(uint64_t word)
{
    return (enum fb_jvm_frame_kind)(word >> 52 & 15);
}

static inline enum fb_jvm_tier fb_jvm_word_tier(uint64_t word)
{
    return (enum fb_jvm_tier)(word >> 49 & 7);
}

static inline int32_t fb_jvm_word_bci(uint64_t word)
{
    return (int32_t)(word >> 32 & 0x1ffff) - 1;
}

static inline uint32_t fb_jvm_word_name(uint64_t word)
{
    return (uint32_t)word;
}

#endif

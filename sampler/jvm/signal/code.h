/* code.h - what is at a pc of the code cache: its blob, its frame, and the methods there.
 *
 * Context: signal, in a walk in which the guard is usable.
 *
 *     struct fb_jvm_code code;
 *     if (fb_jvm_code_find(pc, interrupted, words, room, &code)) ...
 *         words[0 .. code.word_count) are frame words (frame_word.h), innermost first
 *
 * interrupted: pc is an instruction that is about to run, and the debug information behind it
 * holds; else it is a return address, whose own debug information there is.
 *
 * Answers are kept in a cache that all threads share: slots of FB_JVM_CACHE_WORDS words, written by
 * whoever gets the slot's odd number first, read by comparing the number before and after.  A slot
 * of a compiled method is good as long as the nmethod at its place is in use and has the same
 * compile id, which HotSpot gives out once; other code is never moved or freed.
 *
 * Cost: some 10 ns from the cache, else 0.2 to 1 us. */
#ifndef FB_SAMPLER_JVM_SIGNAL_CODE_H
#define FB_SAMPLER_JVM_SIGNAL_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FB_JVM_INLINE_MAX = 64, /* scopes of one pc */
    FB_JVM_CACHE_SLOTS = 8192,
    FB_JVM_CACHE_WORDS = 26,
    FB_JVM_CACHE_BYTES = FB_JVM_CACHE_SLOTS * 256,
};

enum fb_jvm_code_kind {
    FB_JVM_CODE_METHOD,  /* a compiled method                                          */
    FB_JVM_CODE_WRAPPER, /* the compiled wrapper of a native method                    */
    FB_JVM_CODE_SIZED,   /* the JVM's own code with a frame of known size              */
    FB_JVM_CODE_LEAF,    /* ... without: stubs, adapters, dispatch                     */
    FB_JVM_CODE_BARRIER, /* of continuations: the return to frames that are elsewhere  */
};

struct fb_jvm_code {
    uint64_t blob;
    uint32_t compile_id; /* methods and wrappers */
    int32_t frame_bytes; /* to its caller's sp; 0: none */
    int32_t original_pc; /* deoptimised: where in the frame the true pc is, else -1 */
    uint8_t kind;        /* enum fb_jvm_code_kind */
    uint8_t word_count;
    bool is_vague; /* its blob's name stands for its own, which is not known yet */
};

bool fb_jvm_code_find(uint64_t pc, bool interrupted, uint64_t *words, unsigned room,
                      struct fb_jvm_code *ret_code);

/* The blob that holds pc, or 0. */
uint64_t fb_jvm_blob_find(uint64_t pc);

/* Of a compiled method, or a native one's wrapper. */
bool fb_jvm_blob_is_nmethod(uint64_t blob);

/* Is it where frames return to whose callers are on the heap? */
bool fb_jvm_blob_is_barrier(uint64_t blob);

/* Where its code begins; the bytes from there to where its frame stands, -1: it never does. */
bool fb_jvm_blob_code(uint64_t blob, uint64_t *ret_begin, int32_t *ret_complete);

/* Where a compiled method is entered by those that know it. */
bool fb_jvm_nmethod_entry(uint64_t nmethod, uint64_t *ret_entry);

#endif

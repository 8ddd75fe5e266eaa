/* keep.c - one word of bits.  See keep.h. */
#include "sampler/signal/keep.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sampler/signal/sigsafe.h"

enum { TRIES = 16 }; /* at a bit that others take as well */

static uint64_t *pieces;
static _Atomic uint64_t free_bits;
static unsigned counts[FB_KEEP_COUNT];

_Static_assert(FB_KEEP_COUNT == 64, "a bit each");

void fb_keep_init(void *memory)
{
    pieces = memory;
    atomic_store(&free_bits, memory != NULL ? ~UINT64_C(0) : 0);
}

/* An index, or FB_KEEP_COUNT. */
static unsigned take(void)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t bits = atomic_load(&free_bits);
        unsigned index = bits != 0 ? (unsigned)__builtin_ctzll(bits) : FB_KEEP_COUNT;

        if (bits == 0 || atomic_compare_exchange_weak(&free_bits, &bits, bits & (bits - 1)))
            return index;
    }
    return FB_KEEP_COUNT;
}

uint16_t fb_keep_rest(const struct fb_walk_rest *rest)
{
    unsigned index = take();

    if (index == FB_KEEP_COUNT)
        return 0;
    counts[index] = fb_walk_keep(rest, pieces + (size_t)index * FB_KEEP_WORDS, FB_KEEP_WORDS);
    if (counts[index] > 0)
        return (uint16_t)(index + 1);
    fb_keep_give((uint16_t)(index + 1));
    return 0;
}

const uint64_t *fb_keep_words(uint16_t keep, unsigned *ret_count)
{
    *ret_count = counts[keep - 1];
    return pieces + (size_t)(keep - 1) * FB_KEEP_WORDS;
}

void fb_keep_give(uint16_t keep)
{
    atomic_fetch_or(&free_bits, UINT64_C(1) << (keep - 1));
}

unsigned fb_keep_free_count(void)
{
    unsigned count = 0;

    for (uint64_t bits = atomic_load(&free_bits); bits != 0; bits &= bits - 1)
        count++; /* not __builtin_popcountll(), which is a call of libgcc */
    return count;
}

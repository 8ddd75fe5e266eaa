/* ring.c - see ring.h.  Layout: perf_event_open(2), "MMAP layout". */
#include "sampler/signal/ring.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "sampler/signal/sigsafe.h"

/* A word is 8 bytes: records are whole words.  A record begins with type (32 bits), misc, size
 * (16 each); a sample goes on with the number of its addresses. */
static uint64_t word(const struct fb_ring_cursor *at, uint64_t offset)
{
    return at->data[(at->at + offset) & at->mask];
}

static bool is_sample(uint64_t header)
{
    return (uint32_t)header == PERF_RECORD_SAMPLE;
}

/* False: the end, or nothing that can be a record. */
static bool record_words(const struct fb_ring_cursor *at, uint64_t *ret_words)
{
    if (at->at >= at->head)
        return false;
    *ret_words = (word(at, 0) >> 48) / 8;
    return *ret_words > 0 && *ret_words <= at->head - at->at;
}

/* Steps over what is no sample (losses, throttling); at most one page of records. */
static bool sample_find(struct fb_ring_cursor *at)
{
    uint64_t words;

    for (uint32_t i = 0; i <= at->mask && record_words(at, &words); i++) {
        if (is_sample(word(at, 0)))
            return true;
        at->at += words;
    }
    return false;
}

unsigned fb_ring_begin(void *ring, uint32_t page, struct fb_ring_cursor *ret_at)
{
    const struct perf_event_mmap_page *control = ring;
    struct fb_ring_cursor at = {.ring = ring,
                                .data = (const uint64_t *)(const void *)((const char *)ring + page),
                                .mask = page / 8 - 1};
    unsigned count = 0;

    at.head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE) / 8;
    at.at = control->data_tail / 8;
    *ret_at = at;
    while (count <= at.mask && sample_find(&at)) {
        fb_ring_skip(&at);
        count++;
    }
    return count;
}

void fb_ring_skip(struct fb_ring_cursor *at)
{
    uint64_t words;

    if (sample_find(at) && record_words(at, &words))
        at->at += words;
}

unsigned fb_ring_next(struct fb_ring_cursor *at, uint64_t *ret_pcs, unsigned max)
{
    uint64_t words;
    uint64_t count;
    unsigned depth = 0;

    if (!sample_find(at) || !record_words(at, &words))
        return 0;
    count = words > 1 ? word(at, 1) : 0;
    if (count > words - 2)
        count = 0;
    for (uint64_t i = 0; i < count && depth < max; i++) {
        uint64_t pc = word(at, 2 + i);

        /* Not a context mark: those are the 4,095 highest numbers. */
        if (pc < (uint64_t)PERF_CONTEXT_MAX)
            ret_pcs[depth++] = pc;
    }
    at->at += words;
    return depth;
}

void fb_ring_end(const struct fb_ring_cursor *at)
{
    struct perf_event_mmap_page *control = at->ring;

    __atomic_store_n(&control->data_tail, at->head * 8, __ATOMIC_RELEASE);
}

/* memory.c - see memory.h. */
#include "sampler/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NOT_DUMPED = 1 << 20,
    REGIONS = 64,
    PAGES_AT_ONCE = 4096,
};

/* start is set last and taken away first: a region is its owner's until then. */
static struct region {
    _Atomic uintptr_t start; /* 0: free, 1: being filled */
    _Atomic size_t size;
} regions[REGIONS];

static _Atomic size_t whole_bytes; /* of regions that are not in the table */

void fb_memory_note(const void *p, size_t size)
{
    for (int i = 0; i < REGIONS && size >= FB_MEMORY_SPARSE; i++) {
        uintptr_t expected = 0;

        if (!atomic_compare_exchange_strong(&regions[i].start, &expected, 1))
            continue;
        atomic_store(&regions[i].size, size);
        atomic_store(&regions[i].start, (uintptr_t)p);
        return;
    }
    atomic_fetch_add(&whole_bytes, size);
}

void fb_memory_forget(const void *p, size_t size)
{
    for (int i = 0; i < REGIONS && size >= FB_MEMORY_SPARSE; i++) {
        uintptr_t expected = (uintptr_t)p;

        if (atomic_compare_exchange_strong(&regions[i].start, &expected, 0))
            return;
    }
    atomic_fetch_sub(&whole_bytes, size);
}

void *fb_memory_map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    /* A core of limited size is for the host's memory. */
    if (size >= NOT_DUMPED)
        madvise(p, size, MADV_DONTDUMP);
    fb_memory_note(p, size);
    return p;
}

void fb_memory_unmap(void *p, size_t size)
{
    if (p == NULL)
        return;
    fb_memory_forget(p, size);
    munmap(p, size);
}

static size_t resident(uintptr_t start, size_t size)
{
    static unsigned char present[PAGES_AT_ONCE];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = 0;

    for (size_t at = 0; at < size; at += PAGES_AT_ONCE * page) {
        size_t n = size - at < PAGES_AT_ONCE * page ? size - at : PAGES_AT_ONCE * page;

        /* Gone meanwhile: another thread's business. */
        if (mincore((void *)(start + at), n, present) != 0) // NOLINT: an address of ours
            return pages * page;
        for (size_t i = 0; i < (n + page - 1) / page; i++)
            pages += present[i] & 1;
    }
    return pages * page;
}

size_t fb_memory_touched(void)
{
    size_t bytes = atomic_load(&whole_bytes);

    for (int i = 0; i < REGIONS; i++) {
        uintptr_t start = atomic_load(&regions[i].start);

        if (start > 1)
            bytes += resident(start, atomic_load(&regions[i].size));
    }
    return bytes;
}

/* memory.h - the sampler's own memory: pages from the kernel, never the host's heap. */
#ifndef FB_SAMPLER_MEMORY_H
#define FB_SAMPLER_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

enum { FB_MEMORY_NOT_DUMPED = 1 << 20 };

/* Zeroed pages that cost nothing until they are touched; NULL if there are none. */
static inline void *fb_memory_map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    /* A core of limited size is for the host's memory. */
    if (size >= FB_MEMORY_NOT_DUMPED)
        madvise(p, size, MADV_DONTDUMP);
    return p;
}

static inline void fb_memory_unmap(void *p, size_t size)
{
    if (p != NULL)
        munmap(p, size);
}

#endif

/* pages.h - memory straight from the kernel.
 *
 * Context: normal.  The helper thread must never wait for the host's malloc
 * lock, so what it keeps is mapped.  A struct fb_pages is zero at first, grows
 * (and may move) with fb_pages_reserve(), and ends with fb_pages_free(). */
#ifndef FB_SAMPLER_PAGES_H
#define FB_SAMPLER_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "sampler/memory.h"

struct fb_pages {
    void *data;
    size_t size; /* bytes mapped */
};

static inline void fb_pages_free(struct fb_pages *pages)
{
    fb_memory_unmap(pages->data, pages->size);
    *pages = (struct fb_pages){0};
}

/* At least `size` bytes, zero where they are new; false (and unchanged) without memory. */
static inline bool fb_pages_reserve(struct fb_pages *pages, size_t size)
{
    size_t want = pages->size < 65536 ? 65536 : pages->size;
    void *data;

    if (size <= pages->size)
        return true;
    while (want < size) {
        if (want > ((size_t)1 << 40))
            return false;
        want *= 2;
    }
    if (pages->data == NULL) {
        data = fb_memory_map(want);
    } else {
        fb_memory_forget(pages->data, pages->size);
        data = mremap(pages->data, pages->size, want, MREMAP_MAYMOVE);
        if (data == MAP_FAILED)
            fb_memory_note(pages->data, pages->size);
        else
            fb_memory_note(data, want);
    }
    if (data == NULL || data == MAP_FAILED)
        return false;
    *pages = (struct fb_pages){.data = data, .size = want};
    return true;
}

/* Exactly `size` bytes of zeros, rounded up to pages by the kernel. */
static inline bool fb_pages_map(struct fb_pages *ret_pages, size_t size)
{
    void *data = fb_memory_map(size);

    if (data == NULL)
        return false;
    *ret_pages = (struct fb_pages){.data = data, .size = size};
    return true;
}

#endif

/* memory.h - the sampler's own memory: pages from the kernel, never the host's heap, and how much
 * of them is in use.
 *
 *     p = fb_memory_map(size);              zeroed; costs nothing until it is touched
 *     fb_memory_note(p, size);              the same for pages that were mapped elsewhere
 *     fb_memory_forget(p, size); ... unmap  in this order: the address may be somebody's at once
 *     fb_memory_unmap(p, size);
 *     bytes = fb_memory_touched();          the helper thread alone; some microseconds
 *
 * Any thread may map and unmap.  Regions from FB_MEMORY_SPARSE bytes on are asked for their
 * resident pages one by one, if the table has room for them; the others count whole, so that the
 * answer is never too small. */
#ifndef FB_SAMPLER_MEMORY_H
#define FB_SAMPLER_MEMORY_H

#include <stddef.h>

enum { FB_MEMORY_SPARSE = 128 << 10 };

/* NULL: there is no memory. */
void *fb_memory_map(size_t size);

/* p may be NULL. */
void fb_memory_unmap(void *p, size_t size);

void fb_memory_note(const void *p, size_t size);
void fb_memory_forget(const void *p, size_t size);

/* Bytes of all regions that have pages. */
size_t fb_memory_touched(void);

#endif

/* vec.h - room for one more in a growing array.
 *
 * A growing array is three fields of its owner, `T *items; size_t count; size_t room;`:
 *
 *     fb_vec_reserve(&p->items, &p->room, p->count + 1, sizeof *p->items);
 *     p->items[p->count++] = item;
 *
 * Memory that cannot be had ends the process with a sentence and status 3 (fb_out_of_memory):
 * an offline tool has nothing better to do, and callers stay readable.  Sizes that come from a
 * file must be checked against the bytes that are left in it BEFORE they get here.  The sampler
 * does not use this file. */
#ifndef FB_BASE_VEC_H
#define FB_BASE_VEC_H

#include <stddef.h>

/* Makes *items (a pointer to an array of element_size) hold at least `need` elements; doubles. */
void fb_vec_reserve(void *items, size_t *room, size_t need, size_t element_size);

/* malloc, zeroed; never NULL, also for 0 bytes.  Free with free(). */
void *fb_alloc(size_t bytes);
void *fb_alloc_array(size_t count, size_t element_size);
char *fb_strdup(const char *text);
char *fb_strndup(const char *text, size_t n);
/* printf into a new string; yours. */
char *fb_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif

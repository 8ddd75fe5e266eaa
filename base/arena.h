/* arena.h - memory that is freed all at once.
 *
 * A loaded profile's strings live in one arena.  Zero-initialise, use, fb_arena_done(). */
#ifndef FB_BASE_ARENA_H
#define FB_BASE_ARENA_H

#include <stddef.h>

struct fb_arena {
    struct fb_arena_block *blocks;
};

/* `bytes` of uninitialised memory, aligned to 8; never NULL; lives until fb_arena_done(). */
void *fb_arena_alloc(struct fb_arena *arena, size_t bytes);

/* A NUL-terminated copy of n bytes. */
char *fb_arena_copy(struct fb_arena *arena, const void *bytes, size_t n);

void fb_arena_done(struct fb_arena *arena);

#endif

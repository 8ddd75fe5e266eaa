#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 8 };

struct fb_arena_block {
    struct fb_arena_block *next;
    size_t used, room;
    char bytes[];
};

void *fb_arena_alloc(struct fb_arena *arena, size_t bytes)
{
    struct fb_arena_block *block = arena->blocks;
    size_t wanted = (bytes + ALIGN - 1) / ALIGN * ALIGN;

    if (!block || wanted > block->room - block->used) {
        size_t room = wanted > BLOCK_BYTES ? wanted : BLOCK_BYTES;

        block = fb_alloc(sizeof *block + room);
        block->room = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    block->used += wanted;
    return block->bytes + block->used - wanted;
}

char *fb_arena_copy(struct fb_arena *arena, const void *bytes, size_t n)
{
    char *copy = fb_arena_alloc(arena, n + 1);

    if (n > 0)
        memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}

void fb_arena_done(struct fb_arena *arena)
{
    while (arena->blocks) {
        struct fb_arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
}

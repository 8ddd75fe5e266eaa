/* pool.c - the two stacks of segments.  See pool.h for who owns what. */
#include "sampler/signal/pool.h"

#include "sampler/signal/sigsafe.h"

enum { POOL_TRIES = 1000 };

static struct fb_segment *segments;
static _Atomic uint32_t fresh;     /* segments [fresh, COUNT) were never used        */
static _Atomic uint64_t free_head; /* tag << 32 | index                              */
static _Atomic uint64_t full_head;

static uint64_t head_make(uint64_t old, uint32_t index)
{
    return (((old >> 32) + 1) << 32) | index;
}

static uint32_t index_of(const struct fb_segment *segment)
{
    return (uint32_t)(segment - segments);
}

void fb_pool_init(void *memory)
{
    segments = memory;
    atomic_store(&fresh, 0);
    atomic_store(&free_head, FB_SEGMENT_NONE);
    atomic_store(&full_head, FB_SEGMENT_NONE);
}

static struct fb_segment *fresh_take(void)
{
    uint32_t index = atomic_load(&fresh);

    for (int i = 0; i < POOL_TRIES && index < FB_SEGMENT_COUNT; i++)
        if (atomic_compare_exchange_weak(&fresh, &index, index + 1))
            return &segments[index];
    return NULL;
}

struct fb_segment *fb_pool_take(void)
{
    uint64_t head = atomic_load(&free_head);
    struct fb_segment *segment = NULL;

    for (int i = 0; i < POOL_TRIES && (uint32_t)head != FB_SEGMENT_NONE; i++) {
        struct fb_segment *top = &segments[(uint32_t)head];
        uint32_t next = atomic_load(&top->next);

        if (atomic_compare_exchange_weak(&free_head, &head, head_make(head, next))) {
            segment = top;
            break;
        }
    }
    if (segment == NULL)
        segment = fresh_take();
    if (segment != NULL)
        segment->used = 0;
    return segment;
}

static void push(_Atomic uint64_t *list, struct fb_segment *segment)
{
    uint64_t head = atomic_load(list);

    /* Unbounded in theory only: every failure means that another thread succeeded. */
    do
        atomic_store(&segment->next, (uint32_t)head);
    while (!atomic_compare_exchange_weak(list, &head, head_make(head, index_of(segment))));
}

void fb_pool_give(struct fb_segment *segment)
{
    push(&free_head, segment);
}

void fb_pool_push_full(struct fb_segment *segment)
{
    push(&full_head, segment);
}

struct fb_segment *fb_pool_take_full(void)
{
    uint64_t head = atomic_load(&full_head);

    while ((uint32_t)head != FB_SEGMENT_NONE)
        if (atomic_compare_exchange_weak(&full_head, &head, head_make(head, FB_SEGMENT_NONE)))
            return &segments[(uint32_t)head];
    return NULL;
}

struct fb_segment *fb_pool_next(const struct fb_segment *segment)
{
    uint32_t next = atomic_load(&segment->next);

    return next == FB_SEGMENT_NONE ? NULL : &segments[next];
}

void fb_pool_link(struct fb_segment *segment, const struct fb_segment *next)
{
    atomic_store(&segment->next, next != NULL ? index_of(next) : FB_SEGMENT_NONE);
}

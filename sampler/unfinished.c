/* unfinished.c - make rows, walk on, again and again.  See unfinished.h. */
#include "sampler/unfinished.h"

#include <stdatomic.h>
#include <string.h>

#include "sampler/modules.h"
#include "sampler/signal/handler.h"
#include "sampler/signal/keep.h"

/* Each round makes at least one block of code that the stack is in. */
enum { ROUNDS_MAX = FB_SAMPLE_DEPTH_MAX };

static struct fb_walk_cache cache;
static _Alignas(8) uint8_t whole[FB_RECORD_MAX];

static uint64_t stops[FB_WALK_STOP_COUNT];
static uint64_t finished;

void fb_unfinished_counts(uint64_t ret_stops[FB_WALK_STOP_COUNT], uint64_t *ret_finished)
{
    memcpy(ret_stops, stops, sizeof stops);
    *ret_finished = finished;
}

void fb_unfinished_reset(void)
{
    memset(stops, 0, sizeof stops);
    finished = 0;
}

/* r->stop is FB_WALK_NO_TABLE. */
static const struct fb_record *go_on(const struct fb_record *r)
{
    struct fb_record *out = (struct fb_record *)(void *)whole;
    enum fb_walk_stop stop = FB_WALK_NO_TABLE;
    unsigned depth = r->depth;
    unsigned kept;
    const uint64_t *words = fb_keep_words(r->keep, &kept);

    memcpy(out, r, sizeof *r + 8u * r->depth);
    fb_modules_tables_make(); /* what this walk has asked for already */
    for (int i = 0; i < ROUNDS_MAX && stop == FB_WALK_NO_TABLE; i++) {
        depth = fb_walk_resume(words, kept, &cache, out->pcs, r->depth, FB_SAMPLE_DEPTH_MAX, &stop);
        if (stop == FB_WALK_NO_TABLE && !fb_modules_tables_make())
            break;
    }
    fb_keep_give(r->keep);
    out->depth = (uint16_t)depth;
    out->stop = (uint8_t)stop;
    if (stop == FB_WALK_DEPTH)
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_TRUNCATED], r->weight);
    else if (stop != FB_WALK_ROOT)
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_PARTIAL], r->weight);
    return out;
}

const struct fb_record *fb_unfinished_finish(const struct fb_record *r)
{
    if (r->stop == FB_WALK_NO_TABLE && r->keep != 0) {
        r = go_on(r);
        finished += r->stop == FB_WALK_NO_TABLE ? 0 : r->weight;
    }
    if (r->depth > 0 && r->stop < FB_WALK_STOP_COUNT)
        stops[r->stop] += r->weight;
    return r;
}

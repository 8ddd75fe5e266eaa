/* unfinished.c - make rows, walk on, again and again.  See unfinished.h. */
#include "sampler/unfinished.h"

#include <stdatomic.h>
#include <string.h>

#include "sampler/modules.h"
#include "sampler/signal/handler.h"
#include "sampler/signal/walk.h"

/* Each round makes at least one block of code that the stack is in. */
enum { ROUNDS_MAX = FB_SAMPLE_DEPTH_MAX };

static struct fb_walk_cache cache;
static _Alignas(8) uint8_t whole[FB_RECORD_MAX];

const struct fb_record *fb_unfinished_finish(const struct fb_record *r)
{
    struct fb_record *out = (struct fb_record *)(void *)whole;
    enum fb_walk_stop stop = FB_WALK_NO_TABLE;
    unsigned depth = r->depth;

    if (r->stop != FB_WALK_NO_TABLE || r->kept == 0)
        return r;
    memcpy(out, r, sizeof *r + 8u * r->depth);
    fb_modules_tables_make(); /* what this walk has asked for already */
    for (int i = 0; i < ROUNDS_MAX && stop == FB_WALK_NO_TABLE; i++) {
        depth = fb_walk_resume(r->pcs + r->depth, r->kept, &cache, out->pcs, r->depth,
                               FB_SAMPLE_DEPTH_MAX, &stop);
        if (stop == FB_WALK_NO_TABLE && !fb_modules_tables_make())
            break;
    }
    out->depth = (uint16_t)depth;
    out->stop = (uint8_t)stop;
    if (stop == FB_WALK_DEPTH)
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_TRUNCATED], r->weight);
    else if (stop != FB_WALK_ROOT)
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_PARTIAL], r->weight);
    return out;
}

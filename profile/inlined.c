/* The tree of stacks is made anew from its root: a parent comes before its children. */
#include "profile/inlined.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* How the old stack `i` is made in the new tree. */
struct rewrite {
    struct fb_profile *p;
    struct fb_stack *old;
    size_t old_count;
    uint32_t *to;   /* by old stack: the new one                                    */
    uint32_t *base; /* by old stack: the frame that has the code                    */
};

static void begin(struct rewrite *w, struct fb_profile *p)
{
    *w = (struct rewrite){.p = p, .old = p->stacks, .old_count = p->stacks_count};
    w->to = fb_alloc_array(w->old_count, sizeof *w->to);
    w->base = fb_alloc_array(w->old_count, sizeof *w->base);
    p->stacks = NULL;
    p->stacks_count = p->stacks_room = 0;
    p->stacks_repeat = false;
    fb_index_done(&p->stack_index);
    p->stack_index = (struct fb_index){0};
    fb_vec_reserve(&p->stacks, &p->stacks_room, w->old_count, sizeof *p->stacks);
    p->stacks[p->stacks_count++] = (struct fb_stack){0};
}

static void end(struct rewrite *w)
{
    for (size_t i = 0; i < w->p->samples.count; i++)
        w->p->samples.stack[i] = w->to[w->p->samples.stack[i]];
    free(w->old);
    free(w->to);
    free(w->base);
}

static uint32_t put(struct rewrite *w, uint32_t parent, uint32_t frame)
{
    return fb_profile_stack_put(w->p, (fb_stack_id){parent}, (fb_frame_id){frame}).n;
}

static bool is_inlined_into(const struct fb_frame *f, const struct fb_frame *base)
{
    return f->kind == FB_FRAME_INLINED && f->address != 0 && f->module == base->module &&
           f->address == base->address && base->kind != FB_FRAME_MARK;
}

/* Inlined frames of banks that were read have their places in the table; without stacks of theirs
 * they would be written again each time. */
static void drop_unused_frames(struct fb_profile *p)
{
    uint32_t *to = fb_alloc_array(p->frames_count, sizeof *to);
    size_t kept = 0;

    for (size_t i = 1; i < p->stacks_count; i++)
        to[p->stacks[i].frame.n] = 1;
    for (size_t i = 0; i < p->frames_count; i++) {
        if (i > 0 && to[i] == 0 && p->frames[i].kind == FB_FRAME_INLINED)
            continue;
        to[i] = (uint32_t)kept;
        p->frames[kept++] = p->frames[i];
    }
    if (kept < p->frames_count) {
        struct fb_frame *frames = p->frames;

        for (size_t i = 1; i < p->stacks_count; i++)
            p->stacks[i].frame.n = to[p->stacks[i].frame.n];
        p->frames = NULL;
        p->frames_count = p->frames_room = 0;
        fb_index_done(&p->frame_index);
        p->frame_index = (struct fb_index){0};
        fb_vec_reserve(&p->frames, &p->frames_room, kept, sizeof *p->frames);
        p->frames[p->frames_count++] = frames[0];
        for (size_t i = 1; i < kept; i++)
            (void)fb_profile_frame_append(p, &frames[i]);
        free(frames);
        p->stacks_repeat = true; /* the index of stacks goes by the old ids */
        fb_index_done(&p->stack_index);
        p->stack_index = (struct fb_index){0};
    }
    free(to);
}

static const struct fb_inlined_chain *chain_of(const struct fb_inlined_chains *chains,
                                               uint32_t frame)
{
    static const struct fb_inlined_chain unknown;

    return frame < chains->frames_count ? &chains->of_frame[frame] : &unknown;
}

void fb_profile_inlined_set(struct fb_profile *p, const struct fb_inlined_chains *chains)
{
    struct rewrite w;

    begin(&w, p);
    for (size_t i = 1; i < w.old_count; i++) {
        uint32_t parent = w.old[i].parent.n, frame = w.old[i].frame.n;
        const struct fb_inlined_chain *chain = chain_of(chains, frame);
        bool inlined =
            parent != 0 && is_inlined_into(&p->frames[frame], &p->frames[w.base[parent]]);

        w.base[i] = inlined ? w.base[parent] : frame;
        w.to[i] = w.to[parent];
        if (inlined && chain_of(chains, w.base[i])->known)
            continue;
        w.to[i] = put(&w, w.to[i], frame);
        for (uint32_t k = 0; !inlined && k < chain->count; k++)
            w.to[i] = put(&w, w.to[i], chains->ids[chain->first + k].n);
    }
    end(&w);
    drop_unused_frames(p);
}

void fb_profile_inlined_drop(struct fb_profile *p)
{
    struct rewrite w;

    begin(&w, p);
    for (size_t i = 1; i < w.old_count; i++) {
        uint32_t parent = w.old[i].parent.n, frame = w.old[i].frame.n;

        w.to[i] = w.to[parent];
        if (parent == 0 || p->frames[frame].kind != FB_FRAME_INLINED)
            w.to[i] = put(&w, w.to[i], frame);
    }
    end(&w);
    drop_unused_frames(p);
}

bool fb_profile_has_native_inlined(const struct fb_profile *p)
{
    for (size_t i = 1; i < p->frames_count; i++)
        if (p->frames[i].kind == FB_FRAME_INLINED && p->frames[i].address != 0)
            return true;
    return false;
}

bool fb_profile_has_addresses(const struct fb_profile *p)
{
    for (size_t i = 1; i < p->frames_count; i++)
        if (p->frames[i].kind == FB_FRAME_NATIVE && p->frames[i].address != 0)
            return true;
    return false;
}

/* out_tree.h - a profile as the tables that formats with frame and stack tables are made of.
 *
 * Frames are told apart by function (canonical name, kind, tier, module), file and line: what a
 * frame table of another tool can hold.  Stacks are a prefix tree over those frames.
 *
 *     struct fb_out_tree t;
 *     fb_out_tree_init(&t, p, canonical);
 *     ... t.frames[id], t.stacks.nodes[n] (its `function` is a frame's id), t.stack_of[stack] ...
 *     fb_out_tree_done(&t);
 *
 * Private to profile/. */
#ifndef FB_PROFILE_WRITE_OUT_TREE_H
#define FB_PROFILE_WRITE_OUT_TREE_H

#include "profile/calltree.h"
#include "profile/formats.h"

struct fb_out_frame {
    uint32_t function; /* of fns */
    uint32_t file;     /* string of the profile */
    uint32_t line;
    uint32_t module;  /* of the profile */
    uint64_t address; /* of the first frame met */
};

struct fb_out_tree {
    const struct fb_profile *p;
    struct fb_functions fns;
    struct fb_out_frame *frames; /* [0] is none */
    size_t frames_count, frames_room;
    struct fb_calltree stacks; /* node 0: the empty stack */
    uint32_t *stack_of;        /* by stack id of the profile */
    struct fb_index index;     /* private */
};

void fb_out_tree_init(struct fb_out_tree *t, const struct fb_profile *p, fb_canonical_fn canonical);
void fb_out_tree_done(struct fb_out_tree *t);

static inline const struct fb_function *fb_out_function(const struct fb_out_tree *t, uint32_t frame)
{
    return &t->fns.items[t->frames[frame].function];
}

/* The name as a JSON string. */
void fb_out_put_name(const struct fb_out_tree *t, uint32_t frame, struct fb_buf *out);
/* A string of the profile as a JSON string. */
void fb_out_put_text(const struct fb_profile *p, uint32_t string, struct fb_buf *out);

/* Rows of samples, ordered by thread, and within a thread by time (the order of the file where
 * they have none); free() it. */
uint32_t *fb_out_rows_by_thread(const struct fb_profile *p);

/* "worker-1 tid=7 pid=3": a thread by its latest name and its ids, as far as known; "" for the
 * unknown thread. */
void fb_out_put_thread(const struct fb_profile *p, uint32_t thread, struct fb_buf *out);

#endif

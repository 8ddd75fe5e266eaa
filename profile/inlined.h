/* inlined.h - the frames of functions that were inlined, put into stacks and taken out again.
 *
 * A frame whose code is of several functions is the frame of the function that HAS the code, and
 * under it, towards the leaf, one frame of kind `inlined` for each function that was inlined there,
 * with the same module and address.  So nothing is lost by leaving them out, and names can be found
 * again with better files. */
#ifndef FB_PROFILE_INLINED_H
#define FB_PROFILE_INLINED_H

#include "profile/model.h"

struct fb_inlined_chain { /* of one frame: ids[first .. first + count), outermost first */
    uint32_t first, count;
    bool known; /* false: what the frame has already stays */
};

struct fb_inlined_chains {
    struct fb_inlined_chain *of_frame; /* by frame id, `frames_count` of them */
    size_t frames_count;
    fb_frame_id *ids;
    size_t ids_count, ids_room;
};

/* Gives the frames whose chain is known that chain, in every stack, in place of what they had; an
 * empty one takes it away.  Stack ids change; frame ids change where inlined frames are no longer
 * in any stack, which go. */
void fb_profile_inlined_set(struct fb_profile *p, const struct fb_inlined_chains *chains);

/* Leaves all inlined frames out, also those of runtimes: their samples are the function's that has
 * the code.  An inlined frame that is outermost stays. */
void fb_profile_inlined_drop(struct fb_profile *p);

/* Whether some native frame has others inlined into it. */
bool fb_profile_has_native_inlined(const struct fb_profile *p);
/* Whether it has native frames with addresses, in which others could be found. */
bool fb_profile_has_addresses(const struct fb_profile *p);

#endif

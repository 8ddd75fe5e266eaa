/* banked.h - names that the sampler took out of symbol tables while its arm lived.
 *
 *     struct fb_banked banked = {0};
 *     fb_banked_take(p, &banked);           before other names are found: the frames have none
 *     fb_banked_give(p, &banked);           after: what has found none gets its own back, demangled
 *     fb_banked_done(&banked);
 *
 * A bank whose manifest says "names: symbol tables" and that nobody has symbolized has them.  They
 * are what is left where the arm's files are gone; where the files are there, these know more:
 * debug symbols, stubs, inlined functions, lines. */
#ifndef FB_SYMBOLIZE_BANKED_H
#define FB_SYMBOLIZE_BANKED_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct fb_banked {
    uint32_t *name_of_frame; /* string ids, 0 none; NULL: there are no such names */
    size_t count;
};

/* How many frames have one. */
size_t fb_banked_take(struct fb_profile *p, struct fb_banked *ret_banked);
void fb_banked_give(struct fb_profile *p, const struct fb_banked *banked);
void fb_banked_done(struct fb_banked *banked);

static inline bool fb_banked_has(const struct fb_banked *banked, size_t frame)
{
    return frame < banked->count && banked->name_of_frame[frame] != 0;
}

#endif

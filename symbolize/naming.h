/* naming.h - gives the frames of one module their names, lines and inlined functions.
 *
 *     struct fb_naming n = {.p = p, .chains = &chains, .with_inlined = true};
 *     fb_naming_begin(&n, symbols);
 *     if (!fb_naming_frame(&n, frame)) ...                        no symbol covers its address
 *     fb_naming_done(&n);
 *
 * Each name is demangled once a module.  Frames of inlined functions are appended to the profile;
 * which belong to which frame is put into `chains`, for fb_profile_inlined_set(). */
#ifndef FB_SYMBOLIZE_NAMING_H
#define FB_SYMBOLIZE_NAMING_H

#include "profile/profile.h"
#include "symbolize/module.h"

struct fb_naming_known { /* a name of the module, by its address in our memory */
    const char *raw;
    uint32_t name;
};

struct fb_naming {
    struct fb_profile *p;
    struct fb_inlined_chains *chains;
    bool with_inlined;
    struct fb_symbols *symbols; /* private from here on */
    struct fb_naming_known *known;
    size_t known_count, known_room;
    struct fb_index known_index;
    const struct fb_symbol *last;
    uint32_t last_name;
};

void fb_naming_begin(struct fb_naming *n, struct fb_symbols *symbols);
/* Whether the frame has a name now that the module gave it. */
bool fb_naming_frame(struct fb_naming *n, uint32_t frame);
void fb_naming_done(struct fb_naming *n);

#endif

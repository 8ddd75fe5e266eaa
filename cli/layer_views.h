/* layer_views.h - the tables of `layers` and `threads`: shares by a key, of one arm or several.
 *
 *     fb_layer_look_parse(args, &look, err)          before anything is read
 *     fb_view_load(args, look.flags, &view, err)
 *     fb_layer_look_say(args, &look, &view)          the exit status */
#ifndef FB_CLI_LAYER_VIEWS_H
#define FB_CLI_LAYER_VIEWS_H

#include "cli/load.h"

/* Under every table of threads of such a profile. */
#define FB_NOTE_ITIMER                                                                             \
    "A process-wide timer interrupts one thread at a time, and unevenly above one core: shares "   \
    "of threads are no CPU time."

enum fb_look { FB_LOOK_SELF, FB_LOOK_INCLUSIVE, FB_LOOK_BOUNDARY };

struct fb_layer_look {
    enum fb_look look;
    enum fb_by by;
    size_t depth, rows;
    unsigned flags; /* for fb_view_load() */
};

enum fb_status fb_layer_look_parse(const struct fb_args *args, struct fb_layer_look *ret_look,
                                   struct fb_err *err);
int fb_layer_look_say(const struct fb_args *args, const struct fb_layer_look *look,
                      const struct fb_view *view);

/* One arm's weight by node in its window, with the heading of its column. */
struct fb_arm_selves {
    double **self;
    char **titles;
    size_t count;
};
enum fb_status fb_arm_selves_get(const struct fb_args *args, const struct fb_view *view,
                                 struct fb_arm_selves *ret_selves, struct fb_err *err);
void fb_arm_selves_done(struct fb_arm_selves *selves);

/* Notes the share of leaves without a name of each arm, and where they differ by too much. */
void fb_note_unknown(struct fb_table *t, const struct fb_view *view,
                     const struct fb_arm_selves *selves);

#endif

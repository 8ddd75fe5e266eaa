/* movers.c - which frames moved most, and what that was: more, less, new, gone, moved, renamed. */
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "diff/around.h"
#include "diff/frames.h"

/* One pair of JVMs ranks frames: those whose own interval excludes no change. */
static bool is_ranked(const struct fb_diff *diff, const struct fb_diff_row *row)
{
    return diff->options.is_jvm && diff->pairs < 2 &&
           (row->verdict == FB_VERDICT_NONE && (row->d_lo > 0 || row->d_hi < 0));
}

static bool is_one_sided(const struct fb_diff_row *row)
{
    return (row->verdict == FB_VERDICT_ABSENT || row->verdict == FB_VERDICT_NOT_SEEN) &&
           row->control.samples + row->variant.samples >= FB_FRAMES_SAMPLES_MIN;
}

static enum fb_mover_kind kind_of(const struct fb_diff_row *row)
{
    if (row->renamed)
        return FB_MOVER_RENAMED;
    if (row->move != FB_MOVE_NONE)
        return FB_MOVER_MOVED;
    if (!(row->control.samples > 0))
        return FB_MOVER_NEW;
    if (!(row->variant.samples > 0))
        return FB_MOVER_GONE;
    return row->change > 0 ? FB_MOVER_MORE : FB_MOVER_LESS;
}

void fb_mover_rows(struct fb_diff *diff, size_t step)
{
    struct fb_diff_step *out = &diff->steps[step];

    if (out->denial[0] != '\0')
        return;
    out->movers = fb_alloc_array(out->frames_count, sizeof *out->movers);
    for (size_t i = 0; i < out->frames_count; i++) {
        const struct fb_diff_row *row = &out->frames[i];
        bool is_judged = row->verdict == FB_VERDICT_DIFF || is_one_sided(row);

        if (is_judged || is_ranked(diff, row))
            out->movers[out->movers_count++] = (struct fb_diff_mover){i, kind_of(row), is_judged};
    }
}

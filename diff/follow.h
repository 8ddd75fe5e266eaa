/* follow.h - a part whose time changed, and the whole that it is the inside of: did the whole do
 * what the part did, or did the work only change its place in it?
 *
 *     fb_follow_fails(part, whole)     the whole stayed: all of the change is a move within it
 *     fb_follow_opposes(part, whole)   the whole changed, and the rest of it against the part: some
 *                                      of the change is a move within it
 *
 * A part is a layer or a frame by self time, its whole a boundary or the callers, inclusive, by the
 * same quantity (`on_share`).  Shares add up to 1 whatever happens, so that what stays in cost
 * shrinks in share when something else grows: a share is held against all that cannot have
 * changed by the part's own change.  Swapped arms give the same answers. */
#ifndef FB_DIFF_FOLLOW_H
#define FB_DIFF_FOLLOW_H

#include "diff/diff.h"

/* ln(variant / control) of the whole, had the part's change been one of cost. */
double fb_follow_d(const struct fb_diff_row *part, const struct fb_diff_row *whole);

/* The whole's interval excludes that, and it is nearer to no change. */
bool fb_follow_fails(const struct fb_diff_row *part, const struct fb_diff_row *whole);

/* What is the whole's beside the part changed against the part, beyond both intervals.  Asked of a
 * part whose own change is beyond doubt: a part that stays while the rest changes is no move. */
bool fb_follow_opposes(const struct fb_diff_row *part, const struct fb_diff_row *whole);

#endif

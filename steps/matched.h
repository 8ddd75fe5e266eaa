/* matched.h - the steps of several arms, side by side by their offered rate.
 *
 *     struct fb_matched *m = fb_matched_new(arms, count);      judged steps, one list an arm
 *     m->rows[i].steps[a]                                      NULL where the arm has no such step
 *     fb_matched_free(m);
 *
 * Rows rise with the rate.  An arm that held a rate twice (a continued ramp) has two rows of it:
 * steps are shown, never averaged.  Warm-ups are left out; void steps stay, since they are steps.
 */
#ifndef FB_STEPS_MATCHED_H
#define FB_STEPS_MATCHED_H

#include <stdbool.h>
#include <stddef.h>

struct fb_step;
struct fb_steps;

struct fb_matched_row {
    double offered;
    const struct fb_step **steps; /* by arm */
};

struct fb_matched {
    struct fb_matched_row *rows;
    size_t count, room, arms;
};

typedef double (*fb_step_value)(const struct fb_step *s);

struct fb_matched *fb_matched_new(const struct fb_steps *const *arms, size_t count);
void fb_matched_free(struct fb_matched *m);

/* The row at which arms may be compared by one number each: the highest rate that all of them held
 * in a sound step, else the highest that all held; SIZE_MAX for none. */
size_t fb_matched_common(const struct fb_matched *m);
/* The first row of that rate; SIZE_MAX for none. */
size_t fb_matched_find(const struct fb_matched *m, double offered);

/* (value of arm - value of arm 0) / value of arm 0; NAN where one is unknown or 0. */
double fb_matched_change(const struct fb_matched_row *row, size_t arm, fb_step_value value);

struct fb_matched_median {
    double median, least, most; /* NAN for no row */
    size_t rows;
};
/* Over the rows in which both arms are sound (or all rows). */
struct fb_matched_median fb_matched_median_of(const struct fb_matched *m, size_t arm,
                                              fb_step_value value, bool only_sound);

#endif

/* columns.h - a step as cells under names: what a table of steps says, whatever its syntax.
 *
 *     struct fb_columns c = {0};
 *     r = fb_columns_add(&c, name, steps, err);          each name of the header, in order
 *     r = fb_columns_check(&c, err);
 *     s = fb_steps_add(steps);
 *     r = fb_columns_cell(&c, i, text, steps, s, err);   each cell of a row
 *     r = fb_columns_finish(steps, s, err);              what follows from the cells together
 *
 * An empty cell, "n/a", "-", "null" and "nan" are unknown. */
#ifndef FB_STEPS_COLUMNS_H
#define FB_STEPS_COLUMNS_H

#include "steps/list.h"

enum { FB_COLUMNS_MAX = 200 };

struct fb_columns {
    const struct fb_column *items[FB_COLUMNS_MAX]; /* NULL: not known, left out */
    size_t count;
};

/* Whether a table of steps has a column of that name. */
bool fb_column_known(const char *name);

/* A name that is not known is left out, with a warning where `steps` is not NULL; two that say the
 * same thing fail. */
enum fb_status fb_columns_add(struct fb_columns *c, const char *name, struct fb_steps *steps,
                              struct fb_err *err);

/* Fails where no column says what a step is. */
enum fb_status fb_columns_check(const struct fb_columns *c, struct fb_err *err);

enum fb_status fb_columns_cell(const struct fb_columns *c, size_t i, const char *text,
                               struct fb_steps *steps, struct fb_step *s, struct fb_err *err);
enum fb_status fb_columns_finish(struct fb_steps *steps, struct fb_step *s, struct fb_err *err);

#endif

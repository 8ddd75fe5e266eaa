/* columns.h - the tables of Firefox's profiles, whichever way they are written: as an object of
 * columns of equal length, or as {"schema": {column: place}, "data": [[row]]}.  Private to
 * profile/.
 *
 *     static const char *const names[] = {"prefix", "frame", NULL};
 *     struct fb_columns c;
 *     fb_columns_init(&c, names);
 *     fb_columns_take(&c, &in);
 *     double frame = fb_column(&c, 1, row);          NAN: null, missing, or no number
 *     fb_columns_done(&c);
 *
 * Numbers are doubles, as in the format's own programs; true and false are 1 and 0. */
#ifndef FB_PROFILE_READ_COLUMNS_H
#define FB_PROFILE_READ_COLUMNS_H

#include <math.h>

#include "base/json_in.h"

enum { FB_COLUMNS_MOST = 10 };

struct fb_columns {
    const char *const *names; /* ends with NULL */
    struct fb_column {
        double *values;
        size_t count, room;
    } items[FB_COLUMNS_MOST];
    size_t rows; /* of the longest column */
    bool is_set;
};

void fb_columns_init(struct fb_columns *c, const char *const *names);
void fb_columns_done(struct fb_columns *c);

/* The value that comes next, whatever it is; what is no table leaves c empty. */
void fb_columns_take(struct fb_columns *c, struct fb_json_in *in);

static inline double fb_column(const struct fb_columns *c, size_t column, size_t row)
{
    return row < c->items[column].count ? c->items[column].values[row] : NAN;
}

/* The same as an index below `count`; UINT32_MAX where it is none. */
static inline uint32_t fb_column_index(const struct fb_columns *c, size_t column, size_t row,
                                       size_t count)
{
    double v = fb_column(c, column, row);

    return v >= 0 && v < (double)count && v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

#endif

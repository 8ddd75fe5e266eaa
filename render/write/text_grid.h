/* text_grid.h - what a table shows in text, made to fit FB_TABLE_TEXT_WIDTH columns.
 *
 *     fb_text_grid_init(&grid, table);
 *     fb_text_grid_fit(&grid, fb_text_grid_level(table));     or a level of a table like it
 *     ... grid.cells[row * columns_count + column], grid.columns[c].width ...
 *     fb_text_grid_done(&grid);
 *
 * A table that is too wide gives way in this order: the levels of its own columns
 * (fb_table_narrow()), each with names as wide as they are, then with long names on a line of their
 * own; headings in two lines; one blank between columns; the widest text columns wrapped, then
 * clipped.  Numbers are never cut. */
#ifndef FB_RENDER_WRITE_TEXT_GRID_H
#define FB_RENDER_WRITE_TEXT_GRID_H

#include "base/arena.h"
#include "render/table.h"

enum { FB_TEXT_GAP = 2 };

struct fb_text_column {
    bool is_shown;
    size_t width, content; /* of all, of the cells */
    size_t head, tail; /* of numbers before and from the decimal point, of ranges around " to " */
    size_t wrap;       /* texts are wrapped to this; 0 not          */
    bool is_name;      /* longer texts have a line of their own     */
    size_t heading;    /* bytes of the heading's first line         */
};

struct fb_text_cell {
    const char *text; /* "" at least */
    size_t len;
};

struct fb_text_grid {
    const struct fb_table *t;
    struct fb_text_column *columns;
    struct fb_text_cell *cells; /* [row x columns_count] */
    const char **feet;          /* texts of the marks [1], [2] ... */
    size_t feet_count, feet_room;
    size_t width; /* of all columns */
    size_t gap;   /* blanks between columns */
    unsigned level;
    bool has_two_headings;
    struct fb_arena arena;
};

void fb_text_grid_init(struct fb_text_grid *g, const struct fb_table *t);
void fb_text_grid_done(struct fb_text_grid *g);

/* The least level at which the table fits, as told above. */
unsigned fb_text_grid_level(const struct fb_table *t);
void fb_text_grid_fit(struct fb_text_grid *g, unsigned level);

/* Display columns before the decimal point (or the end of the first digits) of a number, or before
 * the " to " of a range; SIZE_MAX where the text is neither. */
size_t fb_text_head(const struct fb_table_column *column, const char *text, size_t len);

/* The group that starts at `first`: [first, end) and its width. */
size_t fb_text_group_end(const struct fb_text_grid *g, size_t first, size_t *ret_width);

#endif

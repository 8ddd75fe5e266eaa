/* cells.h - cells that several tables of profiles have in common, inside this folder. */
#ifndef FB_RENDER_CELLS_H
#define FB_RENDER_CELLS_H

#include "render/render.h"

/* A function's name; a PLT entry has its mark, since it is not the function of that name. */
void fb_cell_function(struct fb_table *t, const struct fb_functions *fns, uint32_t id);
void fb_cell_module(struct fb_table *t, const struct fb_functions *fns, uint32_t id);
/* In percent, one decimal; n/a of nothing. */
void fb_cell_percent(struct fb_table *t, double part, double whole);

/* A share with its interval where one was measured (shares may be NULL); its ends as data; the note
 * that says what they are. */
void fb_cell_interval(struct fb_table *t, double part, double whole,
                      const struct fb_diff_shares *shares, size_t key);
void fb_cell_interval_data(struct fb_table *t, const struct fb_diff_shares *shares, size_t key);
void fb_cell_interval_note(struct fb_table *t, const struct fb_diff_shares *shares);

/* Makes the row that was just filled one for CSV and JSON, since it has no sample, and adds its
 * name to `names`; the note says them all, and frees them.  A preset has layers for much that one
 * program never runs. */
void fb_row_empty(struct fb_table *t, const char *name, struct fb_buf *names);
void fb_row_empty_note(struct fb_table *t, struct fb_buf *names);

#endif

/* diff_cells.h - what the tables of a diff have in common, inside this folder.
 *
 *     t = fb_diff_table_new("Layers by self time", diff, step);
 *     fb_table_column(t, "layer", "layer", FB_ALIGN_LEFT);
 *     fb_diff_share_columns(t, diff->has_ms, step->on_ms);
 *     fb_table_row(t); fb_table_text(t, row->name); fb_diff_share_cells(t, row, decimals, denial);
 *
 * Every figure comes from diff/; here it only gets its words.  In text that is too wide the reasons
 * become numbered notes first (level 1: the verdict takes its limit), then the intervals of ms go,
 * then the points, then the intervals of shares. */
#ifndef FB_RENDER_DIFF_CELLS_H
#define FB_RENDER_DIFF_CELLS_H

#include "render/render.h"

enum { FB_DIFF_NAME_WIDTH = 48 };

/* A table of one step: the title says the arms and which way a change is counted. */
struct fb_table *fb_diff_table_new(const char *what, const struct fb_diff *diff, size_t step);

/* "+1.2", 100 x ratio; no sign of what rounds to 0. */
void fb_diff_percent_put(struct fb_buf *b, double ratio);
/* Decimals that give four digits to `largest`, at least three and at most eight. */
int fb_diff_decimals(double largest);
/* One number of decimals for all ms of a step: that of the whole cost of a request. */
int fb_diff_ms_decimals(const struct fb_diff_step *s);
/* +1: only the variant has it; -1: only the control has it; 0: both or neither. */
int fb_diff_presence(const struct fb_diff_row *r);
enum fb_tone fb_diff_tone(const struct fb_diff_row *r, int side);

/* The change and its interval. */
void fb_diff_change_columns(struct fb_table *t, const char *rule);
void fb_diff_change_cells(struct fb_table *t, const struct fb_diff_row *r, int side);
/* Verdict and why.  What denies the whole step a verdict stands once, under the table. */
void fb_diff_verdict_columns(struct fb_table *t);
void fb_diff_verdict_cells(struct fb_table *t, const struct fb_diff_row *r, int side,
                           const char *denial);
void fb_diff_change_data_columns(struct fb_table *t);
void fb_diff_change_data(struct fb_table *t, const struct fb_diff_row *r);

/* The columns that a table of shares has after its names; decimals < 0: without ms. */
void fb_diff_share_columns(struct fb_table *t, bool has_ms, bool on_ms);
void fb_diff_share_cells(struct fb_table *t, const struct fb_diff_row *r, int decimals,
                         const char *denial);

/* The label of the first run of one arm in the step, "" if there is none. */
const char *fb_diff_label(const struct fb_diff_step *s, bool is_variant);
/* Bytes of the folders that both labels begin with: they tell the arms not apart. */
size_t fb_diff_common_folders(const char *a, const char *b);

/* "<before><text>." as a note; nothing for an empty text. */
void fb_diff_sentence(struct fb_table *t, const char *before, const char *text);

#endif

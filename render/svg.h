/* svg.h - what the two pictures share: safe text, the page around the graph, boxes.
 *
 *     struct fb_svg s = {.out = out, .title = ..., .chips = chips, ...};
 *     fb_svg_begin(&s);                        the head: style, title, legend
 *     for each box:
 *         fb_svg_box_begin(&s, &box);          then attributes and <title> text of one's own
 *         ...
 *         fb_svg_box_end(&s, &box);            the rectangle and its label
 *     fb_svg_graph_end(&s);                    then tables of data, if any
 *     fb_svg_end(&s, notes, count);            notes under the graph, script
 *
 * The file is one document that fetches nothing.  Names of frames are hostile: they appear only as
 * character data and as label text, both escaped here, never in script, style or attributes.
 * Without a script the picture is complete; flame.js makes it move (its contract with this file is
 * at its top). */
#ifndef FB_RENDER_SVG_H
#define FB_RENDER_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "profile/profile.h"
#include "render/palette.h"

enum {
    FB_SVG_WIDTH = 1200, /* px of the picture without a script */
    FB_SVG_MARGIN = 16,
    FB_SVG_ROW = 18,           /* px from row to row                              */
    FB_SVG_HEIGHT_MAX = 30000, /* rows get thinner so that the graph stays under it */
    FB_SVG_BOXES_DEFAULT = 20000,
    FB_SVG_OTHER_MAX = 64,
    FB_SVG_NAME_MAX = 4096, /* bytes */
};

#define FB_SVG_NO_CLASS UINT32_MAX

/* One entry of the legend; a click keeps only the boxes of its class (FB_SVG_NO_CLASS: none). */
struct fb_svg_chip {
    char *label;
    unsigned class_number;
};

struct fb_svg {
    struct fb_buf *out;
    const char *kind; /* "flame" or "diff"                               */
    const char *what; /* what the picture is, in one sentence            */
    const char *title, *subtitle;
    const char *facts;           /* attributes of the root, for the script; escaped   */
    const struct fb_tint *tints; /* by class number                   */
    size_t tints_count;
    const struct fb_svg_chip *chips;
    size_t chips_count;
    uint64_t width; /* of the root, in units of the boxes               */
    uint32_t depth; /* largest                                          */
    bool is_icicle;
    double row, graph_top, height; /* set by fb_svg_begin()             */
};

struct fb_svg_box {
    const char *classes; /* "b l3"                                       */
    uint64_t x, width;   /* x is what the boxes before it make it: not written   */
    uint32_t depth;
    const char *label; /* hostile                                        */
    size_t label_len;
    const char *suffix; /* " +15 %": kept when the label is cut; ours    */
};

void fb_svg_begin(struct fb_svg *s);
/* Whether a box of that width is a px wide or more without a zoom: somebody can point at it. */
bool fb_svg_is_wide(const struct fb_svg *s, uint64_t width);
void fb_svg_box_begin(struct fb_svg *s, const struct fb_svg_box *box);
void fb_svg_box_end(struct fb_svg *s, const struct fb_svg_box *box);
/* After the boxes; tables of data may follow. */
void fb_svg_graph_end(struct fb_svg *s);
/* `notes` are lines of text, possibly with names in them. */
void fb_svg_end(struct fb_svg *s, const char *const *notes, size_t notes_count);

/* Appends text as XML character data: markup escaped, what XML 1.0 forbids or what would deceive
 * the eye replaced by its picture or U+FFFD.  Safe in quoted attributes too. */
void fb_svg_text_put(struct fb_buf *out, const char *text, size_t len);

/* Bytes of a name that are shown, whole characters: a picture of hostile names stays bounded. */
size_t fb_svg_name_len(const char *name, size_t len);
/* The name of a box as it is told, with "…" where it was longer than that. */
void fb_svg_name_put(struct fb_buf *out, const char *name, size_t len);

/* px of the text at 12 px, an upper bound for the usual fonts; the cut text that fits. */
double fb_svg_text_width(const char *text, size_t len);
void fb_svg_cut_text_put(struct fb_buf *out, const char *text, size_t len, double px);

/* ` data-NAME="V"` */
void fb_svg_attribute_put(struct fb_buf *out, const char *name, uint64_t v);

/* ---- functions, said once however many boxes they have ---- */

struct fb_svg_functions { /* zero-initialise */
    uint32_t *numbers;    /* by function: its number + 1 */
    uint32_t *order;      /* functions by their number   */
    size_t numbers_room, order_room, count;
};
/* The number of a function in the table, added if new. */
uint32_t fb_svg_functions_put(struct fb_svg_functions *f, uint32_t function);
/* As <metadata>, a line a function: what kind of code, module, file and line, raw name. */
void fb_svg_functions_write(const struct fb_svg_functions *f, const struct fb_functions *fns,
                            struct fb_buf *out);
void fb_svg_functions_done(struct fb_svg_functions *f);
/* " · java · c2 · module x · file:line", then a line with the raw name where it is another. */
void fb_svg_place_put(struct fb_buf *out, const struct fb_functions *fns, uint32_t function);

/* "1,234,567" */
void fb_svg_count_put(struct fb_buf *out, uint64_t v);
/* "12.34", "0.0021": two decimals, two digits where that would be 0. */
void fb_svg_percent_put(struct fb_buf *out, double ratio);

/* "other (12 frames, 0.34 %)" in text[], returned. */
const char *fb_svg_other_label(uint32_t frames, double share, char text[FB_SVG_OTHER_MAX]);

#endif

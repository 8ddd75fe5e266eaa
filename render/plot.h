/* plot.h - a panel of points over two axes, for pictures of ramps, inside this folder.
 *
 *     struct fb_plot_axis x, y;
 *     fb_plot_axis_linear(&x, most);  fb_plot_axis_log(&y, least, most);
 *     struct fb_plot_panel p = {.out = out, .x = ..., .left = ..., .title = "p99, ms"};
 *     fb_plot_frame(&p);                                  title, grid, labels
 *     fb_plot_point(&p, arm, x, y, is_hollow, tip); fb_plot_line(&p, arm, xs, ys, n);
 *
 * What is outside the axes or not finite is not drawn.  Texts are escaped here. */
#ifndef FB_RENDER_PLOT_H
#define FB_RENDER_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct fb_plot_axis {
    double least, most, step; /* step: between labels of a linear axis */
    bool is_log;
};

enum { FB_PLOT_SERIES = 8 }; /* colours and marks repeat beyond */

struct fb_plot_panel {
    struct fb_buf *out;
    struct fb_plot_axis x, y;
    double left, top, width, height; /* px of the area between the axes */
    const char *title, *x_title;
};

/* From 0 to the next round number. */
void fb_plot_axis_linear(struct fb_plot_axis *axis, double most);
/* Whole decades around least and most, both over 0. */
void fb_plot_axis_log(struct fb_plot_axis *axis, double least, double most);

void fb_plot_frame(const struct fb_plot_panel *p);
void fb_plot_line(const struct fb_plot_panel *p, size_t series, const double *xs, const double *ys,
                  size_t n);
/* A dashed line of the class `name` between two points. */
void fb_plot_guide(const struct fb_plot_panel *p, const char *name, double x0, double y0, double x1,
                   double y1);
/* tip is shown on hover, and read by people who cannot see the picture. */
void fb_plot_point(const struct fb_plot_panel *p, size_t series, double x, double y, bool is_hollow,
                   const char *tip);
/* The mark of a series at a place of the page, for legends. */
void fb_plot_mark(struct fb_buf *out, size_t series, double x_px, double y_px, bool is_hollow);

/* Head of the document with the style of all of the above; ends with fb_plot_end(). */
void fb_plot_begin(struct fb_buf *out, double width, double height, const char *title,
                   const char *description);
void fb_plot_end(struct fb_buf *out);
void fb_plot_text(struct fb_buf *out, const char *classes, double x_px, double y_px,
                  const char *text);

/* "1,500", "0.25": a number for a label. */
void fb_plot_number_put(struct fb_buf *out, double value);

#endif

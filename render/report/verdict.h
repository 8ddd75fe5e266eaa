/* verdict.h - the answer in sentences, each made from the cells of a table. */
#ifndef FB_RENDER_REPORT_VERDICT_H
#define FB_RENDER_REPORT_VERDICT_H

#include "render/report/html.h"

/* The first table of that kind and step; NULL. */
const struct fb_table *fb_report_find(const struct fb_report_input *in, enum fb_report_kind kind,
                                      size_t step);

/* "CPU per request rose by 9.2 %": a headline, as plain text (hostile where a name is in it). */
void fb_report_headline_put(const struct fb_report_input *in, struct fb_buf *out);

/* Paragraphs of HTML: cost, layers, latency and what limits the answer. */
void fb_report_verdict_put(const struct fb_report_input *in, struct fb_buf *out);

#endif

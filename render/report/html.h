/* html.h - text, numbers and data of the report as HTML, inside this folder.
 *
 * Everything that was in a file goes through fb_html_text(): markup is escaped, what would deceive
 * the eye is replaced by its picture or U+FFFD, and what is longer than FB_HTML_TEXT_MAX is cut
 * with a "…" (the embedded data has all of it). */
#ifndef FB_RENDER_REPORT_HTML_H
#define FB_RENDER_REPORT_HTML_H

#include "render/report/report.h"
#include "render/table.h"

enum { FB_HTML_TEXT_MAX = 240 }; /* bytes of a name in a table */

/* Also for quoted attributes. */
void fb_html_text(struct fb_buf *out, const char *text);
void fb_html_text_n(struct fb_buf *out, const char *text, size_t len);
/* The same with true minus signs before digits. */
void fb_html_number(struct fb_buf *out, const char *text, size_t len);

void fb_html_base64(struct fb_buf *out, const void *bytes, size_t n);
/* The SHA-256 of the bytes as Content-Security-Policy has it: base64 of the digest. */
void fb_html_sha256(struct fb_buf *out, const void *bytes, size_t n);

/* <script type="application/octet-stream" id="...">: bytes packed with gzip, as base64. */
void fb_html_data(struct fb_buf *out, const char *id, const void *bytes, size_t n);

/* A table with bars for shares and a dot with its interval for changes, where its columns have
 * them; its notes under it.  A row whose name is a layer's gets the layer's colour.  The axis of
 * changes is one of ratios: twice as much is as far to the right as half is to the left. */
void fb_html_table(struct fb_buf *out, const struct fb_table *t, const struct fb_layers *layers,
                   const char *classes);
/* The notes alone, as paragraphs. */
void fb_html_notes(struct fb_buf *out, const struct fb_table *t);

/* The cell of a row under the column `key`, or NULL. */
const struct fb_table_cell *fb_html_cell(const struct fb_table *t, size_t row, const char *key);

/* The two pictures of bars.c, as inline SVG with classes of the style. */
/* A bar from 0 to v of `most` with its interval; layer SIZE_MAX: no colour of its own. */
void fb_html_bar(struct fb_buf *out, double v, double lo, double hi, double most, size_t layer);
/* A dot with its interval on an axis from -most to +most. */
void fb_html_dot(struct fb_buf *out, double v, double lo, double hi, double most,
                 enum fb_tone tone);

#endif

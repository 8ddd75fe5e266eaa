/* shell.h - what is around a page of this folder: its head, its policy, its style and its script.
 *
 *     fb_shell_style(tints, count, &style);
 *     fb_shell_script(&script);
 *     fb_shell_begin(out, title, &style, &script);
 *     ... what stands in <main>, "</main>", blocks of data ...
 *     fb_shell_end(out, &script);
 *
 * A Content-Security-Policy lets this one style and this one script be, by their hashes, and
 * nothing else; the page fetches nothing. */
#ifndef FB_RENDER_REPORT_SHELL_H
#define FB_RENDER_REPORT_SHELL_H

#include "render/palette.h"
#include "render/report/html.h"

/* The style, with a class "L<i>" of each tint (layers, or what else colours stand for) and one
 * "D<i>" of each change, light and dark. */
void fb_shell_style(const struct fb_tint *tints, size_t count, struct fb_buf *out);
void fb_shell_script(struct fb_buf *out);
/* Up to "<main>". */
void fb_shell_begin(struct fb_buf *out, const char *title, const struct fb_buf *style,
                    const struct fb_buf *script);
/* From the script on. */
void fb_shell_end(struct fb_buf *out, const struct fb_buf *script);

#endif

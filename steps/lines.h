/* lines.h - a source as lines, numbered from 1, with bounded memory.
 *
 *     struct fb_lines in;
 *     fb_lines_init(&in, source, err);
 *     while (fb_lines_next(&in, &line, &n))
 *         ...                                    without its end, a CR cut; in.number is its number
 *     r = fb_lines_done(&in);                    FB_OK, or what stopped it (err is filled)
 *
 * A line is borrowed until the next call; line[n] may be written to, so that a caller can end it.
 */
#ifndef FB_STEPS_LINES_H
#define FB_STEPS_LINES_H

#include "base/source.h"

struct fb_lines {
    struct fb_source *source;
    struct fb_block block;
    size_t at, number;
    enum fb_status status;
    struct fb_err *err;
};

void fb_lines_init(struct fb_lines *in, struct fb_source *source, struct fb_err *err);
bool fb_lines_next(struct fb_lines *in, char **ret_line, size_t *ret_len);
enum fb_status fb_lines_done(struct fb_lines *in);

/* Each line of the source, NUL-terminated; stops at the first that is not FB_OK. */
typedef enum fb_status (*fb_line_fn)(void *context, const char *line, size_t number,
                                     struct fb_err *err);
enum fb_status fb_lines_each(struct fb_source *source, fb_line_fn line, void *context,
                             struct fb_err *err);

#endif

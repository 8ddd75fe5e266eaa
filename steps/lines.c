#include "steps/lines.h"

#include <string.h>

enum { BLOCK_BYTES = 256 * 1024 };

void fb_lines_init(struct fb_lines *in, struct fb_source *source, struct fb_err *err)
{
    *in = (struct fb_lines){.source = source, .err = err};
}

bool fb_lines_next(struct fb_lines *in, char **ret_line, size_t *ret_len)
{
    char *line, *end;
    size_t n;

    if (in->at == in->block.len) {
        if (in->status == FB_OK)
            in->status =
                fb_source_block(in->source, BLOCK_BYTES, fb_cut_lines, &in->block, in->err);
        in->at = 0;
        if (in->status != FB_OK || in->block.len == 0) {
            in->block.len = 0;
            return false;
        }
    }
    line = in->block.text + in->at;
    n = in->block.len - in->at;
    end = memchr(line, '\n', n);
    if (end)
        n = (size_t)(end - line);
    in->at += n + (end ? 1 : 0);
    in->number++;
    if (n > 0 && line[n - 1] == '\r')
        n--;
    *ret_line = line;
    *ret_len = n;
    return true;
}

enum fb_status fb_lines_done(struct fb_lines *in)
{
    fb_block_done(&in->block);
    return in->status;
}

enum fb_status fb_lines_each(struct fb_source *source, fb_line_fn line_fn, void *context,
                             struct fb_err *err)
{
    struct fb_lines in;
    enum fb_status r = FB_OK, done;
    char *line;
    size_t n;

    fb_lines_init(&in, source, err);
    while (r == FB_OK && fb_lines_next(&in, &line, &n)) {
        line[n] = '\0';
        r = line_fn(context, line, in.number, err);
        if (r != FB_OK)
            (void)fb_within(err, "line %zu", in.number);
    }
    done = fb_lines_done(&in);
    return r != FB_OK ? r : done;
}

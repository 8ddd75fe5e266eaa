#include "steps/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "steps/list.h"

enum { ROW_MAX = 1 << 20 };

void fb_csv_init(struct fb_csv *in, struct fb_source *source, char separator, struct fb_err *err)
{
    *in = (struct fb_csv){.separator = separator, .joined.max = ROW_MAX, .err = err};
    fb_lines_init(&in->lines, source, err);
}

bool fb_csv_line(struct fb_csv *in)
{
    if (in->status != FB_OK || !fb_lines_next(&in->lines, &in->line, &in->len))
        return false;
    in->row_line = in->lines.number;
    return true;
}

/* ---- cells ---- */

static void cell_add(struct fb_csv_row *row, char *text, size_t len)
{
    fb_vec_reserve(&row->cells, &row->room, row->count + 1, sizeof *row->cells);
    row->cells[row->count++] = (struct fb_csv_cell){text, len};
    text[len] = '\0';
}

/* The text of a quoted cell, its doubled quotes made single; returns where it goes on. */
static char *quoted_cell(struct fb_csv_row *row, char *at, char *end)
{
    char *to = at;
    char *from = at + 1;

    for (; from < end; from++) {
        if (*from == '"') {
            if (from + 1 == end || from[1] != '"')
                break;
            from++;
        }
        *to++ = *from;
    }
    from = from < end ? from + 1 : end;
    /* what stands between the quote and the separator belongs to nothing */
    cell_add(row, at, (size_t)(to - at));
    return from;
}

static void split_tabs(struct fb_csv_row *row, char *text, char *end)
{
    for (;;) {
        char *tab = memchr(text, '\t', (size_t)(end - text)), *stop = tab ? tab : end;
        char *next = stop + 1;

        while (text < stop && *text == ' ')
            text++;
        while (stop > text && stop[-1] == ' ')
            stop--;
        cell_add(row, text, (size_t)(stop - text));
        if (!tab)
            return;
        text = next;
    }
}

void fb_csv_split(struct fb_csv_row *row, char *text, size_t len, char separator)
{
    char *end = text + len;

    row->count = 0;
    if (separator == '\t') {
        split_tabs(row, text, end);
        return;
    }
    for (;;) {
        char *from = text, *stop;
        bool quoted = text < end && *text == '"';

        if (quoted)
            from = quoted_cell(row, text, end);
        stop = from < end ? memchr(from, separator, (size_t)(end - from)) : NULL;
        if (!quoted)
            cell_add(row, text, (size_t)((stop ? stop : end) - text));
        if (!stop)
            return;
        text = stop + 1;
    }
}

void fb_csv_row_done(struct fb_csv_row *row)
{
    free(row->cells);
    *row = (struct fb_csv_row){0};
}

/* Whether a quote is open at the end of the line, given whether one was at its start. */
static bool open_after(const char *line, size_t len, bool open)
{
    const char *end = line + len;

    while ((line = memchr(line, '"', (size_t)(end - line))) != NULL) {
        open = !open;
        line++;
    }
    return open;
}

struct fb_csv_row *fb_csv_row(struct fb_csv *in)
{
    bool open = in->separator != '\t' && open_after(in->line, in->len, false);
    size_t len;
    char *line;

    if (!open) {
        fb_csv_split(&in->row, in->line, in->len, in->separator);
        return &in->row;
    }
    in->joined.len = 0;
    in->joined.overflow = false;
    fb_buf_add(&in->joined, in->line, in->len);
    while (open && fb_lines_next(&in->lines, &line, &len)) {
        fb_buf_putc(&in->joined, '\n');
        fb_buf_add(&in->joined, line, len);
        open = open_after(line, len, true);
        if (in->joined.overflow)
            break;
    }
    if (in->joined.overflow)
        in->status = fb_fail(in->err, FB_EFORMAT,
                             "line %zu: a cell in quotes was expected to end within %d bytes",
                             in->row_line, ROW_MAX);
    else if (open)
        in->is_cut = in->lines.status == FB_OK;
    if (open || in->joined.overflow)
        return NULL;
    fb_csv_split(&in->row, in->joined.data, in->joined.len, in->separator);
    return &in->row;
}

void fb_csv_warn_cut(const struct fb_csv *in, struct fb_steps *steps)
{
    if (in->is_cut)
        fb_steps_warn(steps, "line %zu: the file ends inside a cell in quotes: the row is left out",
                      in->row_line);
}

enum fb_status fb_csv_done(struct fb_csv *in)
{
    enum fb_status r = fb_lines_done(&in->lines);

    fb_buf_done(&in->joined);
    fb_csv_row_done(&in->row);
    return in->status != FB_OK ? in->status : r;
}

/* ---- headers ---- */

bool fb_csv_head(const char *head, size_t n, char separator, struct fb_csv_row *row,
                 char **ret_copy)
{
    const char *line;
    size_t at = 0, len;

    if (!fb_text_line(head, n, &at, &line, &len) || len > ROW_MAX)
        return false;
    *ret_copy = fb_alloc(len + 1);
    memcpy(*ret_copy, line, len);
    (*ret_copy)[len] = '\0';
    fb_csv_split(row, *ret_copy, len, separator);
    return true;
}

int fb_csv_find(const struct fb_csv_row *header, const char *name)
{
    for (size_t i = 0; i < header->count; i++)
        if (strcmp(header->cells[i].text, name) == 0)
            return (int)i;
    return -1;
}

/* Steps as a table: a header row of column names, a row a step, cells between tabs; or, as our own
 * `--format csv`, between commas.  Empty lines and lines that begin with '#' are passed over. */
#include <stdlib.h>
#include <string.h>

#include "steps/columns.h"
#include "steps/csv.h"
#include "steps/read/readers.h"

struct table {
    struct fb_columns columns;
    bool has_header;
};

static char separator_of(const char *line, size_t n)
{
    return memchr(line, '\t', n) ? '\t' : ',';
}

/* The header row: two cells or more, one of which is a column's name. */
static bool is_header(const struct fb_csv_row *row)
{
    for (size_t i = 0; row->count > 1 && i < row->count; i++)
        if (fb_column_known(row->cells[i].text))
            return true;
    return false;
}

static bool is_content(const char *line, size_t n)
{
    if (n > 0 && line[0] == '#')
        return false;
    for (size_t i = 0; i < n; i++)
        if (line[i] != ' ' && line[i] != '\t')
            return true;
    return false;
}

static bool sniff(const char *head, size_t n)
{
    size_t at = 0, len;
    const char *line;

    while (fb_text_line(head, n, &at, &line, &len)) {
        struct fb_csv_row row = {0};
        char *copy = NULL;
        bool found;

        if (!is_content(line, len))
            continue;
        found = fb_csv_head(line, len, separator_of(line, len), &row, &copy) && is_header(&row);
        fb_csv_row_done(&row);
        free(copy);
        return found;
    }
    return false;
}

static enum fb_status header_read(struct table *t, const struct fb_csv_row *row,
                                  struct fb_steps *steps, struct fb_err *err)
{
    enum fb_status r = FB_OK;

    t->has_header = true;
    for (size_t i = 0; i < row->count && r == FB_OK; i++)
        r = fb_columns_add(&t->columns, row->cells[i].text, steps, err);
    return r == FB_OK ? fb_columns_check(&t->columns, err) : r;
}

static enum fb_status row_read(struct table *t, const struct fb_csv_row *row, size_t line,
                               struct fb_steps *steps, struct fb_err *err)
{
    struct fb_step *s;
    enum fb_status r = fb_steps_room(steps, err);

    if (r != FB_OK)
        return r;
    s = fb_steps_add(steps);
    s->line = (uint32_t)line;
    if (t->columns.count > 1 && row->count == 1)
        return fb_fail(err, FB_EFORMAT, "one cell; %zu cells between tabs were expected",
                       t->columns.count);
    for (size_t i = 0; i < row->count && r == FB_OK; i++) {
        if (i >= t->columns.count && row->cells[i].len > 0)
            return fb_fail(err, FB_EFORMAT, "more cells than the %zu of the header row",
                           t->columns.count);
        r = fb_columns_cell(&t->columns, i, row->cells[i].text, steps, s, err);
    }
    return r == FB_OK ? fb_columns_finish(steps, s, err) : r;
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct table t = {.has_header = false};
    struct fb_csv in;
    struct fb_csv_row *row;
    enum fb_status r = FB_OK;

    fb_csv_init(&in, source, '\t', err);
    while (r == FB_OK && fb_csv_line(&in)) {
        if (!is_content(in.line, in.len))
            continue;
        if (!t.has_header)
            in.separator = separator_of(in.line, in.len);
        row = fb_csv_row(&in);
        if (!row)
            break;
        r = t.has_header ? row_read(&t, row, in.row_line, steps, err)
                         : header_read(&t, row, steps, err);
        if (r != FB_OK)
            r = fb_within(err, "line %zu", in.row_line);
    }
    fb_csv_warn_cut(&in, steps);
    if (r != FB_OK)
        (void)fb_csv_done(&in);
    else
        r = fb_csv_done(&in);
    if (r == FB_OK && steps->count == 0)
        r = fb_fail(err, FB_EFORMAT, "a header row and no step under it");
    return r;
}

const struct fb_steps_reader fb_steps_reader_tsv = {
    .name = "tsv",
    .what = "a table: column names in its first row, cells between tabs (or commas)",
    .sniff = sniff,
    .read = read_all,
};

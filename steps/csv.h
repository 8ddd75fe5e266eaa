/* csv.h - rows of cells between separators, from a stream of any length.
 *
 *     struct fb_csv in;
 *     fb_csv_init(&in, source, ',', err);
 *     while (fb_csv_line(&in)) {                   the next line: in.line, in.len, to look at
 *         if (is_comment(in.line)) continue;
 *         row = fb_csv_row(&in);                   it and, inside quotes, those behind it
 *         if (!row) break;                         quotes that are not closed: see in.is_cut
 *         ... row->cells[i].text, NUL-terminated, borrowed until the next call
 *     }
 *     r = fb_csv_done(&in);
 *
 * Quotes are those of RFC 4180: a cell that begins with '"' ends at the next single '"', and may
 * hold separators and newlines.  With tabs there are no quotes, and blanks around a cell are cut.
 */
#ifndef FB_STEPS_CSV_H
#define FB_STEPS_CSV_H

#include "base/buf.h"
#include "steps/lines.h"

struct fb_csv_cell {
    char *text;
    size_t len;
};

struct fb_csv_row {
    struct fb_csv_cell *cells;
    size_t count, room;
};

struct fb_csv {
    struct fb_lines lines;
    char separator;
    char *line;
    size_t len;
    size_t row_line; /* the number of the row's first line */
    struct fb_buf joined;
    struct fb_csv_row row;
    bool is_cut; /* the source ends inside quotes: what was before is whole */
    enum fb_status status;
    struct fb_err *err;
};

void fb_csv_init(struct fb_csv *in, struct fb_source *source, char separator, struct fb_err *err);
bool fb_csv_line(struct fb_csv *in);
struct fb_csv_row *fb_csv_row(struct fb_csv *in);
enum fb_status fb_csv_done(struct fb_csv *in);
struct fb_steps;
/* Says so, if the source was cut inside quotes. */
void fb_csv_warn_cut(const struct fb_csv *in, struct fb_steps *steps);

/* One line by itself, for a look at a header: text[len] is written to. */
void fb_csv_split(struct fb_csv_row *row, char *text, size_t len, char separator);
void fb_csv_row_done(struct fb_csv_row *row);

/* The first line of the text as a row that owns its bytes through *ret_copy (free()), for sniffing;
 * false where the text has no whole line. */
bool fb_csv_head(const char *head, size_t n, char separator, struct fb_csv_row *row,
                 char **ret_copy);

/* The column of that name; -1 none. */
int fb_csv_find(const struct fb_csv_row *header, const char *name);

#endif

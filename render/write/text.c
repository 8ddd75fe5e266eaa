/* Tables for terminals: aligned columns, a rule under the headings, notes wrapped under them. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "render/table.h"
#include "render/width.h"

enum { GAP = 2, NOTE_WIDTH_MIN = 72, NOTE_WIDTH_MAX = 100 };

static const char *const color_reset = "\033[0m", *const color_title = "\033[1m",
                         *const color_mute = "\033[2m";
static const char *const color_of_tone[] = {
    [FB_TONE_PLAIN] = NULL,
    [FB_TONE_STRONG] = "\033[1m",
    [FB_TONE_LESS] = "\033[1;34m",
    [FB_TONE_MORE] = "\033[1;38;5;208m",
};

struct page {
    const struct fb_table *t;
    size_t *widths; /* by column; 0 for data columns */
    size_t width;   /* of the whole table            */
    bool color;
    struct fb_buf *out;
};

static size_t cell_width(const struct fb_table_column *c, const char *text, size_t len)
{
    size_t width = fb_width(text, len);

    return c->clip > 0 && width > c->clip ? c->clip : width;
}

static void spaces(struct fb_buf *out, size_t n)
{
    while (n-- > 0)
        fb_buf_putc(out, ' ');
}

static void rule(struct fb_buf *out, size_t n)
{
    while (n-- > 0)
        fb_buf_puts(out, "─");
}

/* Trailing blanks of a line are cut, so that outputs can be compared. */
static void end_line(struct fb_buf *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    fb_buf_putc(out, '\n');
}

/* The columns [first, end) of the group that starts at `first`, and their width. */
static size_t group_end(const struct page *pg, size_t first, size_t *ret_width)
{
    const struct fb_table *t = pg->t;
    size_t end = first;

    *ret_width = 0;
    while (end < t->columns_count && t->columns[end].group == t->columns[first].group) {
        if (!t->columns[end].is_data)
            *ret_width += pg->widths[end] + (*ret_width > 0 ? (size_t)GAP : 0);
        end++;
    }
    return end;
}

static void measure(struct page *pg)
{
    const struct fb_table *t = pg->t;

    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_table_column *col = &t->columns[c];

        if (col->is_data)
            continue;
        pg->widths[c] = fb_width(col->heading, strlen(col->heading));
        for (size_t r = 0; r < t->rows_count; r++) {
            const struct fb_table_cell *cell = t->rows[r].is_data ? NULL : fb_table_cell(t, r, c);
            size_t width = cell ? cell_width(col, cell->text, cell->len) : 0;

            if (width > pg->widths[c])
                pg->widths[c] = width;
        }
    }
    for (size_t c = 0, end; c < t->columns_count; c = end) {
        size_t width, need = 0;

        end = group_end(pg, c, &width);
        if (t->columns[c].group != FB_TABLE_NO_GROUP)
            need = fb_width(t->groups[t->columns[c].group], strlen(t->groups[t->columns[c].group]));
        for (size_t last = end; need > width && last > c; last--)
            if (!t->columns[last - 1].is_data) {
                pg->widths[last - 1] += need - width;
                break;
            }
    }
    for (size_t c = 0; c < t->columns_count; c++)
        if (!t->columns[c].is_data)
            pg->width += pg->widths[c] + (pg->width > 0 ? (size_t)GAP : 0);
}

static void put_groups(const struct page *pg)
{
    const struct fb_table *t = pg->t;
    bool is_first = true;

    if (t->groups_count == 0)
        return;
    for (size_t c = 0, end; c < t->columns_count; c = end) {
        size_t width, used = 0;

        end = group_end(pg, c, &width);
        if (width == 0)
            continue;
        spaces(pg->out, is_first ? 0 : GAP);
        is_first = false;
        if (t->columns[c].group != FB_TABLE_NO_GROUP) {
            const char *name = t->groups[t->columns[c].group];

            used = fb_width_put(pg->out, name, strlen(name), width);
            if (used + 2 < width) {
                spaces(pg->out, 1);
                rule(pg->out, width - used - 1);
                used = width;
            }
        }
        spaces(pg->out, width - used);
    }
    end_line(pg->out);
}

static void put_cell(const struct page *pg, size_t c, const char *text, size_t len,
                     const char *color)
{
    const struct fb_table_column *col = &pg->t->columns[c];
    size_t width = cell_width(col, text, len), pad = pg->widths[c] - width;

    if (col->align == FB_ALIGN_RIGHT)
        spaces(pg->out, pad);
    if (color)
        fb_buf_puts(pg->out, color);
    fb_width_put(pg->out, text, len, width);
    if (color)
        fb_buf_puts(pg->out, color_reset);
    if (col->align == FB_ALIGN_LEFT)
        spaces(pg->out, pad);
}

static void put_row(const struct page *pg, size_t row)
{
    const struct fb_table *t = pg->t;
    const struct fb_table_row *r = &t->rows[row];
    bool is_first = true;

    if (r->has_rule) {
        rule(pg->out, pg->width);
        fb_buf_putc(pg->out, '\n');
    }
    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_table_cell *cell = fb_table_cell(t, row, c);
        const char *color = NULL;

        if (t->columns[c].is_data)
            continue;
        if (pg->color && cell && cell->len > 0)
            color = r->is_muted ? color_mute : color_of_tone[cell->tone];
        spaces(pg->out, is_first ? 0 : GAP);
        is_first = false;
        put_cell(pg, c, cell ? cell->text : "", cell ? cell->len : 0, color);
    }
    end_line(pg->out);
}

static void put_headings(const struct page *pg)
{
    const struct fb_table *t = pg->t;
    bool is_first = true;

    put_groups(pg);
    for (size_t c = 0; c < t->columns_count; c++) {
        if (t->columns[c].is_data)
            continue;
        spaces(pg->out, is_first ? 0 : GAP);
        is_first = false;
        put_cell(pg, c, t->columns[c].heading, strlen(t->columns[c].heading), NULL);
    }
    end_line(pg->out);
    rule(pg->out, pg->width);
    fb_buf_putc(pg->out, '\n');
}

/* Whether what follows the blank is the unit of the number before it, as in "5 %" and "30 s". */
static bool is_before_unit(const char *text, size_t at)
{
    static const char *const units[] = {"%", "s", "ms", "MB"};

    if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9')
        return text[at + 1] == '%';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t len = strlen(units[i]);

        if (strncmp(text + at + 1, units[i], len) == 0 &&
            (text[at + 1 + len] == '\0' || strchr(" ,;.:)\n", text[at + 1 + len])))
            return true;
    }
    return false;
}

/* A blank or a line end; but a number keeps its unit.  text is NUL-terminated. */
static bool ends_word(const char *text, size_t at)
{
    return (text[at] == ' ' && !is_before_unit(text, at)) || text[at] == '\n';
}

/* Words are filled up to `width`; a longer word has a line of its own. */
static void put_note(const struct page *pg, const char *text, size_t width)
{
    size_t used = 0, len = strlen(text), at = 0;

    if (pg->color)
        fb_buf_puts(pg->out, color_mute);
    while (at < len) {
        size_t from, word;

        while (at < len && (text[at] == ' ' || text[at] == '\n'))
            at++;
        for (from = at; at < len && !ends_word(text, at);)
            at++;
        if (at == from)
            break;
        word = fb_width(text + from, at - from);
        if (used > 0 && used + 1 + word > width) {
            fb_buf_putc(pg->out, '\n');
            used = 0;
        }
        if (used > 0) {
            fb_buf_putc(pg->out, ' ');
            used++;
        }
        used += fb_width_put(pg->out, text + from, at - from, word);
    }
    if (pg->color)
        fb_buf_puts(pg->out, color_reset);
    fb_buf_putc(pg->out, '\n');
}

static void put_table(struct page *pg)
{
    const struct fb_table *t = pg->t;
    size_t width;

    measure(pg);
    width = pg->width < NOTE_WIDTH_MIN ? NOTE_WIDTH_MIN : pg->width;
    width = width > NOTE_WIDTH_MAX ? NOTE_WIDTH_MAX : width;
    if (t->title[0] != '\0') {
        if (pg->color)
            fb_buf_puts(pg->out, color_title);
        fb_width_put(pg->out, t->title, strlen(t->title), SIZE_MAX);
        if (pg->color)
            fb_buf_puts(pg->out, color_reset);
        fb_buf_puts(pg->out, "\n\n");
    }
    if (t->rows_count > 0)
        put_headings(pg);
    for (size_t r = 0; r < t->rows_count; r++)
        if (!t->rows[r].is_data)
            put_row(pg, r);
    if (t->notes_count > 0 && t->rows_count > 0)
        fb_buf_putc(pg->out, '\n');
    for (size_t i = 0; i < t->notes_count; i++)
        put_note(pg, t->notes[i], width);
}

void fb_table_write_text(const struct fb_table *const *tables, size_t count, bool color,
                         struct fb_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        struct page pg = {.t = tables[i], .color = color, .out = out};

        pg.widths = fb_alloc_array(tables[i]->columns_count, sizeof *pg.widths);
        if (i > 0)
            fb_buf_putc(out, '\n');
        put_table(&pg);
        free(pg.widths);
    }
}

/* Tables for terminals: aligned columns, a rule under the headings, notes wrapped under them. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "render/width.h"
#include "render/write/text_grid.h"

enum { NOTE_WIDTH_MIN = 72 };

static const char *const color_reset = "\033[0m", *const color_title = "\033[1m",
                         *const color_mute = "\033[2m";
static const char *const color_of_tone[] = {
    [FB_TONE_PLAIN] = NULL,
    [FB_TONE_STRONG] = "\033[1m",
    [FB_TONE_LESS] = "\033[1;34m",
    [FB_TONE_MORE] = "\033[1;38;5;208m",
};

struct page {
    const struct fb_text_grid *g;
    bool color;
    struct fb_buf *out;
};

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

static void put_groups(const struct page *pg)
{
    const struct fb_table *t = pg->g->t;
    bool is_first = true;

    if (t->groups_count == 0)
        return;
    for (size_t c = 0, end; c < t->columns_count; c = end) {
        size_t width, used = 0;

        end = fb_text_group_end(pg->g, c, &width);
        if (width == 0)
            continue;
        spaces(pg->out, is_first ? 0 : pg->g->gap);
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

/* Where the text starts in its column. */
static size_t pad_of(const struct page *pg, size_t c, const char *text, size_t len, size_t width)
{
    const struct fb_table_column *col = &pg->g->t->columns[c];
    const struct fb_text_column *at = &pg->g->columns[c];
    size_t head = fb_text_head(col, text, len);

    if (head != SIZE_MAX && !col->is_range && head + at->tail <= at->width)
        return at->width - at->tail - head;
    if (head != SIZE_MAX && head <= at->head)
        return at->head - head;
    return col->align == FB_ALIGN_RIGHT ? at->width - width : 0;
}

static void put_text(const struct page *pg, size_t c, size_t pad, const char *text, size_t len,
                     const char *color)
{
    size_t all = pg->g->columns[c].width, used;

    spaces(pg->out, pad);
    if (color)
        fb_buf_puts(pg->out, color);
    used = pad + fb_width_put(pg->out, text, len, all - pad);
    if (color)
        fb_buf_puts(pg->out, color_reset);
    spaces(pg->out, all > used ? all - used : 0);
}

/* A range whose upper end is shorter than others' has blanks before it, so that the ends stand
 * under each other. */
static void put_range(const struct page *pg, size_t c, const char *text, size_t len, size_t head,
                      const char *color)
{
    const char *to = strstr(text, " to ");
    size_t tail = fb_width(text, len) - head, most = pg->g->columns[c].tail;
    struct fb_buf b = {0};

    fb_buf_add(&b, text, (size_t)(to - text) + 4);
    spaces(&b, most > tail ? most - tail : 0);
    fb_buf_add(&b, to + 4, len - (size_t)(to - text) - 4);
    put_text(pg, c, pad_of(pg, c, text, len, head + tail), b.data, b.len, color);
    fb_buf_done(&b);
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

/* Bytes of the first line of a text in `width` columns; *ret_next is where the next one begins. */
static size_t line_end(const char *text, size_t len, size_t width, size_t *ret_next)
{
    size_t end = 0;

    if (width == 0 || fb_width(text, len) <= width) {
        *ret_next = len;
        return len;
    }
    for (size_t i = 1; i < len && fb_width(text, i) <= width; i++)
        if (text[i] == ' ' && !is_before_unit(text, i))
            end = i;
    if (end == 0) {
        for (end = 1; end < len && (fb_width(text, end + 1) <= width ||
                                    ((unsigned char)text[end] & 0xc0) == 0x80);)
            end++;
        *ret_next = end;
        return end;
    }
    *ret_next = end + 1;
    return end;
}

static const char *color_of(const struct page *pg, size_t row, size_t c)
{
    const struct fb_table_cell *cell = fb_table_cell(pg->g->t, row, c);

    if (!pg->color || !cell || cell->len == 0)
        return NULL;
    return pg->g->t->rows[row].is_muted ? color_mute : color_of_tone[cell->tone];
}

/* One line of a row; `from` are the bytes of each cell that were put before, and are moved on.
 * Returns whether any cell has more. */
static bool put_row_line(const struct page *pg, size_t row, size_t *from)
{
    const struct fb_table *t = pg->g->t;
    bool is_first = true, is_left = false;

    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_text_cell *cell = &pg->g->cells[row * t->columns_count + c];
        const struct fb_text_column *col = &pg->g->columns[c];
        const char *text = cell->text + from[c];
        size_t len = cell->len - from[c], next, end = line_end(text, len, col->wrap, &next), width,
               head;

        if (!col->is_shown)
            continue;
        spaces(pg->out, is_first ? 0 : pg->g->gap);
        is_first = false;
        width = fb_width(text, end);
        width = width > col->width ? col->width : width;
        head = t->columns[c].is_range ? fb_text_head(&t->columns[c], text, end) : SIZE_MAX;
        if (head != SIZE_MAX)
            put_range(pg, c, text, end, head, color_of(pg, row, c));
        else
            put_text(pg, c, end > 0 ? pad_of(pg, c, text, end, width) : 0, text, end,
                     color_of(pg, row, c));
        from[c] += next;
        is_left = is_left || from[c] < cell->len;
    }
    end_line(pg->out);
    return is_left;
}

/* A name that is longer than its column has a line of its own. */
static void put_name(const struct page *pg, size_t row, size_t *from)
{
    const struct fb_text_cell *cell = &pg->g->cells[row * pg->g->t->columns_count];
    const char *color;

    if (!pg->g->columns[0].is_name || fb_width(cell->text, cell->len) <= pg->g->columns[0].width)
        return;
    color = color_of(pg, row, 0);
    if (color)
        fb_buf_puts(pg->out, color);
    fb_width_put(pg->out, cell->text, cell->len, FB_TABLE_TEXT_WIDTH);
    if (color)
        fb_buf_puts(pg->out, color_reset);
    fb_buf_putc(pg->out, '\n');
    from[0] = cell->len;
}

static void put_row(const struct page *pg, size_t row)
{
    const struct fb_table *t = pg->g->t;
    size_t *from = fb_alloc_array(t->columns_count, sizeof *from);

    if (t->rows[row].has_rule) {
        rule(pg->out, pg->g->width);
        fb_buf_putc(pg->out, '\n');
    }
    put_name(pg, row, from);
    while (put_row_line(pg, row, from))
        ;
    free(from);
}

/* One line of the headings: of headings in two lines, a short one stands in the second. */
static void put_heading_line(const struct page *pg, bool is_second)
{
    const struct fb_table *t = pg->g->t;
    bool is_first = true;

    for (size_t c = 0; c < t->columns_count; c++) {
        const char *text = t->columns[c].heading;
        size_t len = pg->g->columns[c].heading, width;
        bool is_split = text[len] != '\0';

        if (!pg->g->columns[c].is_shown)
            continue;
        if (is_split && is_second) {
            text += len + 1;
            len = strlen(text);
        } else if (is_split != !is_second) {
            len = pg->g->has_two_headings ? 0 : len;
        }
        spaces(pg->out, is_first ? 0 : pg->g->gap);
        is_first = false;
        width = fb_width(text, len);
        put_text(pg, c,
                 t->columns[c].align == FB_ALIGN_RIGHT && width < pg->g->columns[c].width
                     ? pg->g->columns[c].width - width
                     : 0,
                 text, len, NULL);
    }
    end_line(pg->out);
}

static void put_headings(const struct page *pg)
{
    put_groups(pg);
    if (pg->g->has_two_headings)
        put_heading_line(pg, false);
    put_heading_line(pg, true);
    rule(pg->out, pg->g->width);
    fb_buf_putc(pg->out, '\n');
}

/* A blank or a line end; but a number keeps its unit.  text is NUL-terminated. */
static bool ends_word(const char *text, size_t at)
{
    return (text[at] == ' ' && !is_before_unit(text, at)) || text[at] == '\n';
}

/* Words are filled up to `width`, with `indent` before the lines after the first; a longer word is
 * broken. */
static void put_words(struct fb_buf *out, const char *text, size_t width, size_t indent)
{
    size_t used = 0, len = strlen(text), at = 0;
    bool is_start = true; /* of a line */

    while (at < len) {
        size_t from, word;

        while (at < len && (text[at] == ' ' || text[at] == '\n'))
            at++;
        for (from = at; at < len && !ends_word(text, at);)
            at++;
        if (at == from)
            break;
        word = fb_width(text + from, at - from);
        if (!is_start && used + 1 + word > width) {
            fb_buf_putc(out, '\n');
            spaces(out, indent);
            used = indent;
            is_start = true;
        }
        if (!is_start) {
            fb_buf_putc(out, ' ');
            used++;
        }
        is_start = false;
        if (used + word > width) {
            size_t next, end = line_end(text + from, at - from, width - used, &next);

            fb_width_put(out, text + from, end, width - used);
            at = from + next;
            used = width;
            continue;
        }
        used += fb_width_put(out, text + from, at - from, word);
    }
}

static void put_note(const struct page *pg, const char *text, size_t width)
{
    if (pg->color)
        fb_buf_puts(pg->out, color_mute);
    put_words(pg->out, text, width, 0);
    if (pg->color)
        fb_buf_puts(pg->out, color_reset);
    fb_buf_putc(pg->out, '\n');
}

/* The texts of the marks, then the notes. */
static void put_notes(const struct page *pg)
{
    const struct fb_table *t = pg->g->t;
    size_t width = pg->g->width < NOTE_WIDTH_MIN ? NOTE_WIDTH_MIN : pg->g->width;

    width = width > FB_TABLE_TEXT_WIDTH ? FB_TABLE_TEXT_WIDTH : width;
    if (t->notes_count + pg->g->feet_count > 0 && t->rows_count > 0)
        fb_buf_putc(pg->out, '\n');
    for (size_t i = 0; i < pg->g->feet_count; i++) {
        char *text = fb_format("[%zu] %s", i + 1, pg->g->feet[i]);

        put_note(pg, text, width);
        free(text);
    }
    for (size_t i = 0; i < t->notes_count; i++)
        put_note(pg, t->notes[i], width);
}

/* A title that is too long goes on behind a "; ". */
static void put_title(struct fb_buf *out, const char *title)
{
    const char *last = NULL;

    for (const char *at = title; (at = strstr(at, "; ")) != NULL; at++)
        last = at;
    if (!last || fb_width(title, strlen(title)) <= FB_TABLE_TEXT_WIDTH) {
        put_words(out, title, FB_TABLE_TEXT_WIDTH, 2);
    } else {
        char *first = fb_strndup(title, (size_t)(last - title) + 1);

        put_words(out, first, FB_TABLE_TEXT_WIDTH, 2);
        fb_buf_puts(out, "\n  ");
        put_words(out, last + 2, FB_TABLE_TEXT_WIDTH - 2, 2);
        free(first);
    }
}

static void put_table(const struct page *pg)
{
    const struct fb_table *t = pg->g->t;

    if (t->title[0] != '\0') {
        if (pg->color)
            fb_buf_puts(pg->out, color_title);
        put_title(pg->out, t->title);
        if (pg->color)
            fb_buf_puts(pg->out, color_reset);
        fb_buf_puts(pg->out, "\n\n");
    }
    if (t->rows_count > 0)
        put_headings(pg);
    for (size_t r = 0; r < t->rows_count; r++)
        if (!t->rows[r].is_data)
            put_row(pg, r);
    put_notes(pg);
}

/* Tables of one kind, as of the steps of a diff, look alike: they have the same columns. */
struct kind {
    const struct fb_table *first;
    unsigned level; /* at which all of them fit */
};

static bool is_alike(const struct fb_table *a, const struct fb_table *b)
{
    if (a->columns_count != b->columns_count)
        return false;
    for (size_t c = 0; c < a->columns_count; c++)
        if (strcmp(a->columns[c].key, b->columns[c].key) != 0)
            return false;
    return true;
}

/* The kind of the table, which may be a new one: of any number of tables there are few kinds. */
static size_t kind_put(struct kind *kinds, size_t *count, const struct fb_table *t)
{
    unsigned level = fb_text_grid_level(t);
    size_t i = 0;

    while (i < *count && !is_alike(kinds[i].first, t))
        i++;
    if (i == *count)
        kinds[(*count)++] = (struct kind){.first = t, .level = level};
    kinds[i].level = level > kinds[i].level ? level : kinds[i].level;
    return i;
}

void fb_table_write_text(const struct fb_table *const *tables, size_t count, bool color,
                         struct fb_buf *out)
{
    struct kind *kinds = fb_alloc_array(count, sizeof *kinds);
    size_t *kind_of = fb_alloc_array(count, sizeof *kind_of), kinds_count = 0;

    for (size_t i = 0; i < count; i++)
        kind_of[i] = kind_put(kinds, &kinds_count, tables[i]);
    for (size_t i = 0; i < count; i++) {
        struct fb_text_grid grid;
        struct page pg = {.g = &grid, .color = color, .out = out};

        fb_text_grid_init(&grid, tables[i]);
        fb_text_grid_fit(&grid, kinds[kind_of[i]].level);
        if (i > 0)
            fb_buf_putc(out, '\n');
        put_table(&pg);
        fb_text_grid_done(&grid);
    }
    free(kinds);
    free(kind_of);
}

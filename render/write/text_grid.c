#include "render/write/text_grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/width.h"

enum { NAME_MIN = 16, WRAP_MIN = 16, CLIP_MIN = 8 };

void fb_text_grid_init(struct fb_text_grid *g, const struct fb_table *t)
{
    *g = (struct fb_text_grid){.t = t};
    g->columns = fb_alloc_array(t->columns_count, sizeof *g->columns);
    g->cells = fb_alloc_array(t->rows_count * t->columns_count, sizeof *g->cells);
}

void fb_text_grid_done(struct fb_text_grid *g)
{
    free(g->columns);
    free(g->cells);
    free(g->feet);
    fb_arena_done(&g->arena);
}

/* ---- cells ---- */

static bool is_narrowed(const struct fb_text_grid *g, const struct fb_table_column *c)
{
    return c->narrow != FB_NARROW_NOT && g->level >= c->narrow_level;
}

static size_t foot_put(struct fb_text_grid *g, const char *text)
{
    for (size_t i = 0; i < g->feet_count; i++)
        if (strcmp(g->feet[i], text) == 0)
            return i + 1;
    fb_vec_reserve(&g->feet, &g->feet_room, g->feet_count + 1, sizeof *g->feet);
    g->feet[g->feet_count++] = text;
    return g->feet_count;
}

/* Puts the mark of the foot behind the cell. */
static void mark_add(struct fb_text_grid *g, struct fb_text_cell *cell, const char *foot)
{
    struct fb_buf b = {0};

    fb_buf_add(&b, cell->text, cell->len);
    fb_buf_printf(&b, "%s[%zu]", cell->len > 0 ? " " : "", foot_put(g, foot));
    cell->text = fb_arena_copy(&g->arena, b.data, b.len);
    cell->len = b.len;
    fb_buf_done(&b);
}

static void row_fill(struct fb_text_grid *g, size_t row)
{
    const struct fb_table *t = g->t;
    struct fb_text_cell *before = NULL;

    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_table_cell *from = fb_table_cell(t, row, c);
        struct fb_text_cell *to = &g->cells[row * t->columns_count + c];
        bool is_short = from && from->short_text && is_narrowed(g, &t->columns[c]);

        *to = (struct fb_text_cell){"", 0};
        if (!from)
            continue;
        to->text = is_short ? from->short_text : from->text ? from->text : "";
        to->len = is_short ? strlen(from->short_text) : from->len;
        if (t->columns[c].narrow == FB_NARROW_FOOT && is_narrowed(g, &t->columns[c]) &&
            to->len > 0 && before)
            mark_add(g, before, to->text);
        if (g->columns[c].is_shown)
            before = to;
    }
}

static void cells_fill(struct fb_text_grid *g)
{
    g->feet_count = 0;
    for (size_t c = 0; c < g->t->columns_count; c++) {
        const struct fb_table_column *col = &g->t->columns[c];
        bool gives_way = is_narrowed(g, col) && col->narrow != FB_NARROW_SHORT;

        g->columns[c] = (struct fb_text_column){.is_shown = !col->is_data && !gives_way,
                                                .heading = strlen(col->heading)};
    }
    for (size_t r = 0; r < g->t->rows_count; r++)
        if (!g->t->rows[r].is_data)
            row_fill(g, r);
}

/* ---- widths ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t range_head(const char *text, size_t len)
{
    static const char word[] = " to ";

    for (size_t i = 0; i + sizeof word - 1 <= len; i++)
        if (memcmp(text + i, word, sizeof word - 1) == 0)
            return fb_width(text, i);
    return SIZE_MAX;
}

size_t fb_text_head(const struct fb_table_column *column, const char *text, size_t len)
{
    static const char over[] = "over ";
    size_t i = 0;

    if (column->is_range)
        return range_head(text, len);
    if (column->align != FB_ALIGN_RIGHT)
        return SIZE_MAX;
    if (len > sizeof over - 1 && memcmp(text, over, sizeof over - 1) == 0)
        i = sizeof over - 1;
    while (i < len && !is_digit(text[i]) && !is_letter(text[i]))
        i++;
    if (i == len || is_letter(text[i]))
        return SIZE_MAX; /* words, and what is not known */
    while (i < len && is_digit(text[i]))
        i++;
    return fb_width(text, i);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The widest of a column's cells, numbers and ranges aligned. */
static void column_measure(struct fb_text_grid *g, size_t c)
{
    const struct fb_table_column *col = &g->t->columns[c];
    struct fb_text_column *out = &g->columns[c];
    const char *rest = col->heading + out->heading;
    size_t heading = larger(fb_width(col->heading, out->heading),
                            fb_width(rest + (*rest == ' '), strlen(rest) - (*rest == ' ')));
    size_t width = 0;

    out->head = out->tail = 0;
    for (size_t r = 0; r < g->t->rows_count; r++) {
        const struct fb_text_cell *cell = &g->cells[r * g->t->columns_count + c];
        size_t head, own;

        if (g->t->rows[r].is_data)
            continue;
        own = fb_width(cell->text, cell->len);
        own = col->clip > 0 && own > col->clip ? col->clip : own;
        own = out->wrap > 0 && own > out->wrap ? out->wrap : own;
        head = fb_text_head(col, cell->text, cell->len);
        if (head == SIZE_MAX) {
            width = larger(width, own);
            continue;
        }
        out->head = larger(out->head, head);
        out->tail = larger(out->tail, own - head);
    }
    out->content = larger(width, out->head + out->tail);
    out->width = larger(heading, out->content);
    out->is_shown = out->is_shown && out->width > 0;
}

size_t fb_text_group_end(const struct fb_text_grid *g, size_t first, size_t *ret_width)
{
    const struct fb_table *t = g->t;
    size_t end = first;

    *ret_width = 0;
    while (end < t->columns_count && t->columns[end].group == t->columns[first].group) {
        if (g->columns[end].is_shown)
            *ret_width += g->columns[end].width + (*ret_width > 0 ? g->gap : 0);
        end++;
    }
    return end;
}

/* A group's heading is never wider than its columns. */
static void groups_widen(struct fb_text_grid *g)
{
    const struct fb_table *t = g->t;

    for (size_t c = 0, end; c < t->columns_count; c = end) {
        size_t width, need = 0;

        end = fb_text_group_end(g, c, &width);
        if (width > 0 && t->columns[c].group != FB_TABLE_NO_GROUP)
            need = fb_width(t->groups[t->columns[c].group], strlen(t->groups[t->columns[c].group]));
        for (size_t last = end; need > width && last > c; last--)
            if (g->columns[last - 1].is_shown) {
                g->columns[last - 1].width += need - width;
                break;
            }
    }
}

static void total_measure(struct fb_text_grid *g)
{
    g->width = 0;
    for (size_t c = 0; c < g->t->columns_count; c++)
        if (g->columns[c].is_shown)
            g->width += g->columns[c].width + (g->width > 0 ? g->gap : 0);
}

static void measure(struct fb_text_grid *g)
{
    for (size_t c = 0; c < g->t->columns_count; c++)
        if (g->columns[c].is_shown)
            column_measure(g, c);
    groups_widen(g);
    total_measure(g);
}

static bool fits(const struct fb_text_grid *g)
{
    return g->width <= FB_TABLE_TEXT_WIDTH;
}

static size_t excess(const struct fb_text_grid *g)
{
    return g->width - FB_TABLE_TEXT_WIDTH;
}

/* ---- giving way ---- */

/* The first column, where it is of names: those longer than what is left get their own line. */
static bool name_cap(struct fb_text_grid *g)
{
    struct fb_text_column *first = &g->columns[0];

    if (g->t->columns_count == 0 || g->t->columns[0].clip == 0 ||
        first->width < NAME_MIN + excess(g))
        return false;
    first->is_name = true;
    first->width -= excess(g);
    total_measure(g);
    return true;
}

/* "cpu ms/req": the last word of a heading that is wider than its column goes under it. */
static void headings_split(struct fb_text_grid *g)
{
    for (size_t c = 0; c < g->t->columns_count; c++) {
        const char *heading = g->t->columns[c].heading, *last = strrchr(heading, ' ');

        if (g->columns[c].is_shown && last &&
            fb_width(heading, strlen(heading)) > g->columns[c].content) {
            g->columns[c].heading = (size_t)(last - heading);
            g->has_two_headings = true;
        }
    }
    measure(g);
}

/* One blank between columns, if that is enough. */
static bool gap_narrow(struct fb_text_grid *g)
{
    g->gap = 1;
    measure(g);
    if (fits(g))
        return true;
    g->gap = FB_TEXT_GAP;
    measure(g);
    return false;
}

/* How narrow a column of sentences may become: its heading stays whole. */
static size_t wrap_least(const struct fb_text_grid *g, size_t c)
{
    return larger(WRAP_MIN, fb_width(g->t->columns[c].heading, g->columns[c].heading));
}

/* The columns of sentences that may become narrower: the widest and the next; NULL: none. */
static void text_widest(struct fb_text_grid *g, struct fb_text_column **ret_widest,
                        size_t *ret_next, size_t *ret_least)
{
    *ret_widest = NULL;
    *ret_next = *ret_least = 0;
    for (size_t c = 0; c < g->t->columns_count; c++) {
        struct fb_text_column *column = &g->columns[c];

        if (!column->is_shown || g->t->columns[c].align != FB_ALIGN_LEFT ||
            g->t->columns[c].is_range || column->width <= wrap_least(g, c))
            continue;
        if (*ret_widest && column->width <= (*ret_widest)->width) {
            *ret_next = larger(*ret_next, column->width);
            continue;
        }
        *ret_next = *ret_widest ? (*ret_widest)->width : 0;
        *ret_widest = column;
        *ret_least = wrap_least(g, c);
    }
}

/* The widest column of sentences down to the next, those of one width together, until it fits or
 * none is left that is wide. */
static void text_wrap(struct fb_text_grid *g)
{
    while (!fits(g)) {
        struct fb_text_column *widest;
        size_t next, least, to;

        text_widest(g, &widest, &next, &least);
        if (!widest)
            return;
        to = widest->width > excess(g) ? widest->width - excess(g) : 0;
        if (to < next)
            to = next < widest->width ? next : widest->width - (excess(g) + 1) / 2;
        widest->wrap = larger(least, to);
        measure(g);
    }
}

/* Cuts the widest text column again and again. */
static void text_clip(struct fb_text_grid *g)
{
    while (!fits(g)) {
        size_t widest = SIZE_MAX, cut;

        for (size_t c = 0; c < g->t->columns_count; c++)
            if (g->columns[c].is_shown && g->t->columns[c].align == FB_ALIGN_LEFT &&
                g->columns[c].width > CLIP_MIN &&
                (widest == SIZE_MAX || g->columns[c].width > g->columns[widest].width))
                widest = c;
        if (widest == SIZE_MAX)
            return;
        cut = g->columns[widest].width - CLIP_MIN;
        g->columns[widest].width -= cut < excess(g) ? cut : excess(g);
        total_measure(g);
    }
}

static unsigned levels_of(const struct fb_table *t)
{
    unsigned levels = 0;

    for (size_t c = 0; c < t->columns_count; c++)
        if (t->columns[c].narrow != FB_NARROW_NOT && t->columns[c].narrow_level > levels)
            levels = t->columns[c].narrow_level;
    return levels;
}

static void level_fill(struct fb_text_grid *g, unsigned level)
{
    g->level = level;
    g->gap = FB_TEXT_GAP;
    g->has_two_headings = false;
    cells_fill(g);
    measure(g);
}

unsigned fb_text_grid_level(const struct fb_table *t)
{
    unsigned levels = levels_of(t), level = 0;
    struct fb_text_grid g;
    bool is_found = false;

    fb_text_grid_init(&g, t);
    for (int capped = 0; capped < 2 && !is_found; capped++)
        for (level = 0; level <= levels && !is_found; level += !is_found) {
            level_fill(&g, level);
            is_found = fits(&g) || (capped && name_cap(&g));
        }
    fb_text_grid_done(&g);
    return is_found ? level : levels;
}

void fb_text_grid_fit(struct fb_text_grid *g, unsigned level)
{
    level_fill(g, level);
    if (fits(g) || name_cap(g))
        return;
    headings_split(g);
    if (fits(g) || name_cap(g) || gap_narrow(g))
        return;
    text_wrap(g);
    if (!fits(g))
        text_clip(g);
}

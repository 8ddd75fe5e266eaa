/* Tables in GitHub's Markdown. */
#include <string.h>

#include "base/utf8.h"
#include "render/table.h"
#include "render/width.h"

/* Every ASCII character that could begin a markup or end a cell is escaped. */
static void put_text(struct fb_buf *out, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        uint32_t code = fb_width_visible(fb_utf8_next(text, len, &at));

        if (code == '<')
            fb_buf_puts(out, "&lt;");
        else if (code == '&')
            fb_buf_puts(out, "&amp;");
        else {
            if (code < 0x80 && strchr("\\|`*_[]~>#!$", (int)code))
                fb_buf_putc(out, '\\');
            fb_utf8_put(out, code);
        }
    }
}

static void put_headings(const struct fb_table *t, struct fb_buf *out)
{
    fb_buf_putc(out, '|');
    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_table_column *col = &t->columns[c];

        if (col->is_data)
            continue;
        fb_buf_putc(out, ' ');
        if (col->group != FB_TABLE_NO_GROUP) {
            put_text(out, t->groups[col->group], strlen(t->groups[col->group]));
            fb_buf_puts(out, col->heading[0] ? ": " : "");
        }
        put_text(out, col->heading, strlen(col->heading));
        fb_buf_puts(out, " |");
    }
    fb_buf_puts(out, "\n|");
    for (size_t c = 0; c < t->columns_count; c++)
        if (!t->columns[c].is_data)
            fb_buf_puts(out, t->columns[c].align == FB_ALIGN_RIGHT ? " ---: |" : " :--- |");
    fb_buf_putc(out, '\n');
}

static void put_row(const struct fb_table *t, size_t row, struct fb_buf *out)
{
    fb_buf_putc(out, '|');
    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_table_cell *cell = fb_table_cell(t, row, c);
        bool is_strong;

        if (t->columns[c].is_data)
            continue;
        is_strong = cell && cell->len > 0 && cell->tone != FB_TONE_PLAIN;
        fb_buf_puts(out, is_strong ? " **" : " ");
        if (cell)
            put_text(out, cell->text, cell->len);
        fb_buf_puts(out, is_strong ? "** |" : " |");
    }
    fb_buf_putc(out, '\n');
}

void fb_table_write_md(const struct fb_table *const *tables, size_t count, bool color,
                       struct fb_buf *out)
{
    (void)color;
    for (size_t i = 0; i < count; i++) {
        const struct fb_table *t = tables[i];

        if (i > 0)
            fb_buf_putc(out, '\n');
        if (t->title[0] != '\0') {
            fb_buf_puts(out, "### ");
            put_text(out, t->title, strlen(t->title));
            fb_buf_puts(out, "\n\n");
        }
        if (t->rows_count > 0)
            put_headings(t, out);
        for (size_t r = 0; r < t->rows_count; r++)
            if (!t->rows[r].is_data)
                put_row(t, r, out);
        for (size_t n = 0; n < t->notes_count; n++) {
            fb_buf_putc(out, '\n');
            put_text(out, t->notes[n], strlen(t->notes[n]));
            fb_buf_putc(out, '\n');
        }
    }
}

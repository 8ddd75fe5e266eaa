/* Tables as CSV (RFC 4180 with \n): numbers in full precision, an empty field for NAN. */
#include <math.h>
#include <string.h>

#include "render/table.h"

static void put_field(struct fb_buf *out, const char *text, size_t len)
{
    bool quote = false;

    for (size_t i = 0; i < len; i++)
        quote |= text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        fb_buf_add(out, text, len);
        return;
    }
    fb_buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            fb_buf_putc(out, '"');
        fb_buf_putc(out, text[i]);
    }
    fb_buf_putc(out, '"');
}

static void put_table(const struct fb_table *t, bool with_title, struct fb_buf *out)
{
    if (with_title)
        fb_buf_puts(out, "table,");
    for (size_t c = 0; c < t->columns_count; c++) {
        if (c > 0)
            fb_buf_putc(out, ',');
        put_field(out, t->columns[c].key, strlen(t->columns[c].key));
    }
    fb_buf_putc(out, '\n');
    for (size_t r = 0; r < t->rows_count; r++) {
        if (with_title) {
            put_field(out, t->title, strlen(t->title));
            fb_buf_putc(out, ',');
        }
        for (size_t c = 0; c < t->columns_count; c++) {
            const struct fb_table_cell *cell = fb_table_cell(t, r, c);

            if (c > 0)
                fb_buf_putc(out, ',');
            if (cell && !cell->is_number)
                put_field(out, cell->text, cell->len);
            else if (cell && isfinite(cell->value))
                fb_double_put(out, cell->value);
        }
        fb_buf_putc(out, '\n');
    }
}

void fb_table_write_csv(const struct fb_table *const *tables, size_t count, bool color,
                        struct fb_buf *out)
{
    bool any = false;

    (void)color;
    for (size_t i = 0; i < count; i++) {
        if (tables[i]->columns_count == 0) /* notes alone */
            continue;
        if (any)
            fb_buf_putc(out, '\n');
        put_table(tables[i], count > 1, out);
        any = true;
    }
}

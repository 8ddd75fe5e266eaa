/* Tables as one JSON document: rows by column key, numbers in full precision, NAN as null. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "render/table.h"

static void put_string(struct fb_buf *out, const char *text)
{
    fb_json_put_string(out, text, strlen(text));
}

static void put_cell(struct fb_buf *out, const struct fb_table_cell *cell)
{
    if (!cell)
        fb_buf_puts(out, "null");
    else if (!cell->is_number)
        fb_json_put_string(out, cell->text, cell->len);
    else if (isfinite(cell->value))
        fb_double_put(out, cell->value);
    else
        fb_buf_puts(out, "null");
}

static void put_columns(const struct fb_table *t, struct fb_buf *out)
{
    fb_buf_puts(out, ",\n   \"columns\": [");
    for (size_t c = 0; c < t->columns_count; c++) {
        const struct fb_table_column *col = &t->columns[c];

        fb_buf_puts(out, c > 0 ? ",\n    {\"key\": " : "\n    {\"key\": ");
        put_string(out, col->key);
        fb_buf_puts(out, ", \"heading\": ");
        put_string(out, col->heading);
        if (col->group != FB_TABLE_NO_GROUP) {
            fb_buf_puts(out, ", \"group\": ");
            put_string(out, t->groups[col->group]);
        }
        fb_buf_putc(out, '}');
    }
    fb_buf_putc(out, ']');
}

static void put_rows(const struct fb_table *t, struct fb_buf *out)
{
    fb_buf_puts(out, ",\n   \"rows\": [");
    for (size_t r = 0; r < t->rows_count; r++) {
        fb_buf_puts(out, r > 0 ? ",\n    {" : "\n    {");
        for (size_t c = 0; c < t->columns_count; c++) {
            put_string(out, t->columns[c].key);
            fb_buf_puts(out, ": ");
            put_cell(out, fb_table_cell(t, r, c));
            fb_buf_puts(out, ", ");
        }
        fb_buf_puts(out, t->rows[r].is_muted ? "\"muted\": true}" : "\"muted\": false}");
    }
    fb_buf_putc(out, ']');
}

void fb_table_write_json(const struct fb_table *const *tables, size_t count, bool color,
                         struct fb_buf *out)
{
    (void)color;
    fb_buf_puts(out, "{\"tables\": [");
    for (size_t i = 0; i < count; i++) {
        const struct fb_table *t = tables[i];

        fb_buf_puts(out, i > 0 ? ",\n  {\"title\": " : "\n  {\"title\": ");
        put_string(out, t->title);
        put_columns(t, out);
        put_rows(t, out);
        fb_buf_puts(out, ",\n   \"notes\": [");
        for (size_t n = 0; n < t->notes_count; n++) {
            fb_buf_puts(out, n > 0 ? ",\n    " : "\n    ");
            put_string(out, t->notes[n]);
        }
        fb_buf_puts(out, "]}");
    }
    fb_buf_puts(out, "]}\n");
}

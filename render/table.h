/* table.h - what a table is made of, for its builder (table.c) and its writers (write/).
 *
 * A row's cells are cells[row.first] ... in the order of the columns; a row has at most one cell a
 * column, and may have fewer. */
#ifndef FB_RENDER_TABLE_H
#define FB_RENDER_TABLE_H

#include "render/render.h"

enum { FB_TABLE_NO_GROUP = UINT16_MAX };

struct fb_table_column {
    char *key, *heading;
    enum fb_align align;
    bool is_data;   /* CSV and JSON only                        */
    uint16_t group; /* index of groups[] or FB_TABLE_NO_GROUP   */
    size_t clip;    /* display columns in text; 0: no bound     */
    bool is_range, is_amount;
    enum fb_narrow narrow;
    unsigned narrow_level;
};

struct fb_table_cell {
    char *text;
    size_t len;
    char *short_text; /* NULL: none */
    double value;
    bool is_number;
    enum fb_tone tone;
};

struct fb_table_row {
    size_t first, count; /* of cells[] */
    bool is_muted, has_rule;
    bool is_data; /* CSV and JSON only */
};

struct fb_table {
    char *title;
    char **groups;
    size_t groups_count, groups_room;
    bool in_group; /* the columns added now belong to the last group */
    struct fb_table_column *columns;
    size_t columns_count, columns_room;
    struct fb_table_cell *cells;
    size_t cells_count, cells_room;
    struct fb_table_row *rows;
    size_t rows_count, rows_room;
    bool rule_next;
    char **notes;
    size_t notes_count, notes_room;
};

/* The cell of a column, NULL where the row ended early. */
const struct fb_table_cell *fb_table_cell(const struct fb_table *t, size_t row, size_t column);

/* Appends the shortest decimal that reads back as the same double ("0.1"); finite values only. */
void fb_double_put(struct fb_buf *out, double value);

void fb_table_write_text(const struct fb_table *const *tables, size_t count, bool color,
                         struct fb_buf *out);
void fb_table_write_md(const struct fb_table *const *tables, size_t count, bool color,
                       struct fb_buf *out);
void fb_table_write_csv(const struct fb_table *const *tables, size_t count, bool color,
                        struct fb_buf *out);
void fb_table_write_json(const struct fb_table *const *tables, size_t count, bool color,
                         struct fb_buf *out);

#endif

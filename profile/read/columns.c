#include "profile/read/columns.h"

#include <stdlib.h>

#include "base/vec.h"

enum { PLACES_MOST = 32, NO_COLUMN = 255 };

void fb_columns_init(struct fb_columns *c, const char *const *names)
{
    *c = (struct fb_columns){.names = names};
}

void fb_columns_done(struct fb_columns *c)
{
    for (size_t i = 0; i < FB_COLUMNS_MOST; i++)
        free(c->items[i].values);
    *c = (struct fb_columns){0};
}

static uint8_t column_of(const struct fb_columns *c, const struct fb_json_text *name)
{
    for (uint8_t i = 0; c->names[i]; i++) {
        if (fb_json_text_is(name, c->names[i]))
            return i;
    }
    return NO_COLUMN;
}

static double take_value(struct fb_json_in *in)
{
    double v = NAN;

    if (fb_json_in_peek(in) == FB_JSON_NUMBER)
        (void)fb_json_in_double(in, &v);
    else if (fb_json_in_peek(in) == FB_JSON_BOOL)
        v = fb_json_in_bool_or(in, false) ? 1 : 0;
    else
        fb_json_in_skip(in);
    return v;
}

/* Values of rows that are not given are NAN. */
static void put(struct fb_columns *c, size_t column, size_t row, double v)
{
    struct fb_column *k = &c->items[column];

    fb_vec_reserve(&k->values, &k->room, row + 1, sizeof *k->values);
    while (k->count < row)
        k->values[k->count++] = NAN;
    k->values[row] = v;
    k->count = k->count > row ? k->count : row + 1;
    c->rows = c->rows > k->count ? c->rows : k->count;
}

static void take_schema(struct fb_columns *c, struct fb_json_in *in, uint8_t *places)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        uint8_t column = column_of(c, &key);
        int64_t place = fb_json_in_int_or(in, -1);

        if (column != NO_COLUMN && place >= 0 && place < PLACES_MOST)
            places[place] = column;
    }
}

static void take_rows(struct fb_columns *c, struct fb_json_in *in, const uint8_t *places)
{
    size_t row = 0;

    for (fb_json_in_array(in); fb_json_in_item(in); row++) {
        size_t place = 0;

        for (fb_json_in_array(in); fb_json_in_item(in); place++) {
            if (place < PLACES_MOST && places[place] != NO_COLUMN)
                put(c, places[place], row, take_value(in));
            else
                fb_json_in_skip(in);
        }
        c->rows = c->rows > row ? c->rows : row + 1;
    }
}

/* The schema must be known before the rows: where it stands behind them, they are kept aside. */
static void take_data(struct fb_columns *c, struct fb_json_in *in, const uint8_t *places,
                      bool has_schema, struct fb_buf *aside)
{
    if (has_schema)
        take_rows(c, in, places);
    else
        fb_json_in_raw(in, aside);
}

static void take_column(struct fb_columns *c, struct fb_json_in *in, uint8_t column)
{
    size_t row = 0;

    for (fb_json_in_array(in); fb_json_in_item(in); row++)
        put(c, column, row, take_value(in));
}

void fb_columns_take(struct fb_columns *c, struct fb_json_in *in)
{
    uint8_t places[PLACES_MOST];
    struct fb_buf aside = {0};
    bool has_schema = false;
    struct fb_json_text key;

    for (size_t i = 0; i < PLACES_MOST; i++)
        places[i] = NO_COLUMN;
    if (fb_json_in_peek(in) != FB_JSON_OBJECT) {
        fb_json_in_skip(in);
        return;
    }
    c->is_set = true;
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        bool is_list = fb_json_in_peek(in) == FB_JSON_ARRAY;
        uint8_t column = column_of(c, &key);

        if (fb_json_text_is(&key, "schema") && fb_json_in_peek(in) == FB_JSON_OBJECT) {
            take_schema(c, in, places);
            has_schema = true;
        } else if (fb_json_text_is(&key, "data") && is_list && column == NO_COLUMN) {
            take_data(c, in, places, has_schema, &aside);
        } else if (is_list && column != NO_COLUMN) {
            take_column(c, in, column);
        } else {
            fb_json_in_skip(in);
        }
    }
    if (aside.len > 0 && has_schema) {
        struct fb_json_in rows;

        fb_json_in_start(&rows, aside.data, aside.len);
        take_rows(c, &rows, places);
        if (fb_json_in_failed(&rows))
            fb_json_in_wrong(in, "in the rows of this table, %s", rows.err.text);
        fb_json_in_done(&rows);
    }
    fb_buf_done(&aside);
}

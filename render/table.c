#include "render/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

const struct fb_table_writer fb_table_writers[] = {
    {"text", fb_table_write_text},
    {"md", fb_table_write_md},
    {"csv", fb_table_write_csv},
    {"json", fb_table_write_json},
    {NULL, NULL},
};

const struct fb_table_writer *fb_table_writer_find(const char *name)
{
    for (const struct fb_table_writer *w = fb_table_writers; w->name; w++)
        if (strcmp(w->name, name) == 0)
            return w;
    return NULL;
}

struct fb_table *fb_table_new(const char *title)
{
    struct fb_table *t = fb_alloc(sizeof *t);

    t->title = fb_strdup(title);
    return t;
}

void fb_table_free(struct fb_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->groups_count; i++)
        free(t->groups[i]);
    for (size_t i = 0; i < t->columns_count; i++) {
        free(t->columns[i].key);
        free(t->columns[i].heading);
    }
    for (size_t i = 0; i < t->cells_count; i++) {
        free(t->cells[i].text);
        free(t->cells[i].short_text);
    }
    for (size_t i = 0; i < t->notes_count; i++)
        free(t->notes[i]);
    free(t->title);
    free(t->groups);
    free(t->columns);
    free(t->cells);
    free(t->rows);
    free(t->notes);
    free(t);
}

static struct fb_table_column *column_add(struct fb_table *t, const char *key, const char *heading)
{
    struct fb_table_column *c;

    assert(t->rows_count == 0);
    fb_vec_reserve(&t->columns, &t->columns_room, t->columns_count + 1, sizeof *t->columns);
    c = &t->columns[t->columns_count++];
    *c = (struct fb_table_column){.key = fb_strdup(key), .heading = fb_strdup(heading)};
    c->group = t->in_group ? (uint16_t)(t->groups_count - 1) : (uint16_t)FB_TABLE_NO_GROUP;
    return c;
}

void fb_table_column(struct fb_table *t, const char *key, const char *heading, enum fb_align align)
{
    column_add(t, key, heading)->align = align;
}

void fb_table_data_column(struct fb_table *t, const char *key)
{
    column_add(t, key, key)->is_data = true;
}

void fb_table_group(struct fb_table *t, const char *heading)
{
    t->in_group = heading != NULL;
    if (!heading)
        return;
    fb_vec_reserve(&t->groups, &t->groups_room, t->groups_count + 1, sizeof *t->groups);
    t->groups[t->groups_count++] = fb_strdup(heading);
}

void fb_table_clip(struct fb_table *t, size_t width)
{
    assert(t->columns_count > 0);
    t->columns[t->columns_count - 1].clip = width;
}

void fb_table_amount(struct fb_table *t)
{
    assert(t->columns_count > 0);
    t->columns[t->columns_count - 1].is_amount = true;
}

void fb_table_unit(struct fb_table *t, const char *unit)
{
    for (size_t i = 0; i < t->columns_count; i++) {
        struct fb_table_column *c = &t->columns[i];
        bool is_plain = strcmp(c->heading, "weight") == 0;
        char *heading;

        if (!c->is_amount)
            continue;
        heading = is_plain ? fb_strdup(unit) : fb_format("%s %s", c->heading, unit);
        free(c->heading);
        c->heading = heading;
    }
}

void fb_table_range(struct fb_table *t)
{
    assert(t->columns_count > 0);
    t->columns[t->columns_count - 1].is_range = true;
}

void fb_table_narrow(struct fb_table *t, enum fb_narrow how, unsigned level)
{
    assert(t->columns_count > 0 && level > 0);
    t->columns[t->columns_count - 1].narrow = how;
    t->columns[t->columns_count - 1].narrow_level = level;
}

void fb_table_row(struct fb_table *t)
{
    fb_vec_reserve(&t->rows, &t->rows_room, t->rows_count + 1, sizeof *t->rows);
    t->rows[t->rows_count++] =
        (struct fb_table_row){.first = t->cells_count, .has_rule = t->rule_next};
    t->rule_next = false;
}

static struct fb_table_cell *cell_add(struct fb_table *t, char *text, size_t len)
{
    struct fb_table_row *row;

    assert(t->rows_count > 0);
    row = &t->rows[t->rows_count - 1];
    assert(row->count < t->columns_count);
    row->count++;
    fb_vec_reserve(&t->cells, &t->cells_room, t->cells_count + 1, sizeof *t->cells);
    t->cells[t->cells_count] = (struct fb_table_cell){.text = text, .len = len, .value = NAN};
    return &t->cells[t->cells_count++];
}

void fb_table_text_n(struct fb_table *t, const char *text, size_t len)
{
    cell_add(t, fb_strndup(text, len), len);
}

void fb_table_text(struct fb_table *t, const char *text)
{
    fb_table_text_n(t, text, strlen(text));
}

static void number_add(struct fb_table *t, double value, char *text)
{
    struct fb_table_cell *c = cell_add(t, text, strlen(text));

    c->value = value;
    c->is_number = true;
}

void fb_table_number(struct fb_table *t, double value, int decimals)
{
    /* + 0.0 turns -0 into 0; what rounds to -0.0 is shown as 0.0 too. */
    char *text = isnan(value) ? fb_strdup("n/a") : fb_format("%.*f", decimals, value + 0.0);

    if (text[0] == '-' && strspn(text, "-0.") == strlen(text))
        memmove(text, text + 1, strlen(text));
    number_add(t, value, text);
}

void fb_table_textf(struct fb_table *t, double value, const char *fmt, ...)
{
    char small[512], *text;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof small) {
        text = fb_strdup(small);
    } else {
        text = fb_alloc(n < 0 ? 1 : (size_t)n + 1);
        va_start(ap, fmt);
        if (n >= 0)
            (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    number_add(t, value, text);
}

void fb_table_short(struct fb_table *t, const char *text)
{
    assert(t->cells_count > 0 && t->cells[t->cells_count - 1].short_text == NULL);
    t->cells[t->cells_count - 1].short_text = fb_strdup(text);
}

void fb_table_tone(struct fb_table *t, enum fb_tone tone)
{
    assert(t->cells_count > 0);
    t->cells[t->cells_count - 1].tone = tone;
}

void fb_table_mute(struct fb_table *t)
{
    assert(t->rows_count > 0);
    t->rows[t->rows_count - 1].is_muted = true;
}

void fb_table_data_row(struct fb_table *t)
{
    assert(t->rows_count > 0);
    t->rows[t->rows_count - 1].is_data = true;
}

void fb_table_rule(struct fb_table *t)
{
    t->rule_next = true;
}

void fb_table_note(struct fb_table *t, const char *sentence)
{
    fb_vec_reserve(&t->notes, &t->notes_room, t->notes_count + 1, sizeof *t->notes);
    t->notes[t->notes_count++] = fb_strdup(sentence);
}

const struct fb_table_cell *fb_table_cell(const struct fb_table *t, size_t row, size_t column)
{
    const struct fb_table_row *r = &t->rows[row];

    return column < r->count ? &t->cells[r->first + column] : NULL;
}

void fb_double_put(struct fb_buf *out, double value)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value + 0.0);
        if (strtod(text, NULL) == value)
            break;
    }
    fb_buf_puts(out, text);
}

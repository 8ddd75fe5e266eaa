/* Cells of more than one table of profiles. */
#include "render/cells.h"

#include <math.h>
#include <string.h>

/* A PLT entry has the canonical name of its function and is not that function. */
void fb_cell_function(struct fb_table *t, const struct fb_functions *fns, uint32_t id)
{
    const struct fb_string *name = &fns->strings.items[fns->items[id].name];
    const struct fb_string *raw = &fns->strings.items[fns->items[id].raw];
    size_t mark = sizeof "@plt" - 1;
    struct fb_buf text = {0};

    fb_buf_add(&text, name->text, name->len);
    if (fns->items[id].kind == FB_FRAME_STUB && raw->len > mark && name->len + mark <= raw->len &&
        memcmp(raw->text + raw->len - mark, "@plt", mark) == 0)
        fb_buf_puts(&text, "@plt");
    fb_table_text_n(t, text.data, text.len);
    fb_buf_done(&text);
}

void fb_cell_module(struct fb_table *t, const struct fb_functions *fns, uint32_t id)
{
    const struct fb_string *module = &fns->strings.items[fns->items[id].module];

    fb_table_text_n(t, module->text, module->len);
}

void fb_cell_percent(struct fb_table *t, double part, double whole)
{
    fb_table_number(t, whole > 0 ? 100 * part / whole : NAN, 1);
}

/* A share with its interval where one was measured. */
void fb_cell_interval(struct fb_table *t, double part, double whole,
                      const struct fb_diff_shares *shares, size_t key)
{
    double p = 100 * part / whole, half;

    if (!shares || !(whole > 0) || !(part > 0)) {
        fb_cell_percent(t, part, whole);
        return;
    }
    half = 100 * fmax(shares->share[key] - shares->lo[key], shares->hi[key] - shares->share[key]);
    fb_table_textf(t, p, "%.1f ±%.1f%s", p, half, shares->is_assumed ? "*" : "");
}

void fb_cell_interval_data(struct fb_table *t, const struct fb_diff_shares *shares, size_t key)
{
    if (!shares)
        return;
    fb_table_number(t, 100 * shares->lo[key], 3);
    fb_table_number(t, 100 * shares->hi[key], 3);
}

void fb_cell_interval_note(struct fb_table *t, const struct fb_diff_shares *shares)
{
    if (!shares)
        return;
    fb_table_note(t, "± is the larger half of the 95 % interval of the share in this run; another "
                     "run of the same arm differs by more.");
    if (shares->is_assumed)
        fb_table_note(t, "* no times, or too short: the correlation of the samples is assumed.");
}

void fb_row_empty(struct fb_table *t, const char *name, struct fb_buf *names)
{
    fb_table_data_row(t);
    fb_buf_printf(names, "%s%s", names->len > 0 ? ", " : "Without a sample: ", name);
}

void fb_row_empty_note(struct fb_table *t, struct fb_buf *names)
{
    if (names->len > 0) {
        fb_buf_putc(names, '.');
        fb_table_note(t, names->data);
    }
    fb_buf_done(names);
}

/* A difference of differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/render.h"

static void percent_cell(struct fb_table *t, double change)
{
    fb_table_textf(t, 100 * change, "%+.1f", fabs(change) < 0.0005 ? 0.0 : 100 * change);
}

static void step_cell(struct fb_table *t, const struct fb_contrast_row *row)
{
    char *both = strcmp(row->step_a, row->step_b) == 0
                     ? fb_strdup(row->step_a)
                     : fb_format("%s, %s", row->step_a, row->step_b);

    fb_table_text(t, both);
    free(both);
}

static void row_put(struct fb_table *t, const struct fb_contrast_row *row)
{
    char *interval = fb_format("%+.1f to %+.1f", 100 * row->lo, 100 * row->hi);

    fb_table_row(t);
    step_cell(t, row);
    fb_table_text(t, row->name);
    percent_cell(t, row->a);
    percent_cell(t, row->b);
    percent_cell(t, row->d);
    fb_table_text(t, interval);
    fb_table_text(t, fb_verdict_word((enum fb_verdict)row->verdict));
    if (row->verdict == FB_VERDICT_DIFF)
        fb_table_tone(t, FB_TONE_STRONG);
    fb_table_number(t, 100 * row->lo, 3);
    fb_table_number(t, 100 * row->hi, 3);
    free(interval);
}

struct fb_table *fb_render_contrast(const struct fb_contrast *contrast, const char *a,
                                    const char *b)
{
    char *title = fb_format("Contrast: the change in %s against the change in %s", b, a);
    struct fb_table *t = fb_table_new(title);

    fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    fb_table_column(t, "name", "of", FB_ALIGN_LEFT);
    fb_table_group(t, "change %");
    fb_table_column(t, "a_percent", "A", FB_ALIGN_RIGHT);
    fb_table_column(t, "b_percent", "B", FB_ALIGN_RIGHT);
    fb_table_group(t, "B against A");
    fb_table_column(t, "contrast_percent", "%", FB_ALIGN_RIGHT);
    fb_table_column(t, "interval_text", "95 % interval", FB_ALIGN_RIGHT);
    fb_table_group(t, NULL);
    fb_table_column(t, "verdict", "verdict", FB_ALIGN_LEFT);
    fb_table_data_column(t, "contrast_lo_percent");
    fb_table_data_column(t, "contrast_hi_percent");
    for (size_t i = 0; i < contrast->count; i++)
        row_put(t, &contrast->items[i]);
    fb_table_note(t,
                  "DIFF: the change is not the same in both. (1 + B) / (1 + A) - 1, the interval "
                  "from those of both changes, which are of different runs.");
    if (contrast->by_order)
        fb_table_note(t,
                      "No step has the same name in both: the n-th of A goes with the n-th of B.");
    free(title);
    return t;
}

/* The table of what differs between two arms. */
#include <string.h>

#include "render/render.h"

enum { VALUE_WIDTH = 30, NAME_WIDTH = 28 };

static void value_cell(struct fb_table *t, const char *value)
{
    fb_table_text(t, value == NULL ? "absent" : value[0] == '\0' ? "\"\"" : value);
}

static void note_cell(struct fb_table *t, const struct fb_difference *item)
{
    struct fb_buf b = {.max = 4096};

    if (item->is_unsettled)
        fb_buf_puts(&b, "the arm's own runs differ");
    else if (item->implied_by != NULL)
        fb_buf_printf(&b, "follows from %s", item->implied_by);
    else if (item->is_lever)
        fb_buf_puts(&b, "the lever");
    fb_table_text_n(t, b.data != NULL ? b.data : "", b.len);
    fb_buf_done(&b);
}

struct fb_table *fb_render_differs(const struct fb_differs *differs)
{
    struct fb_table *t = fb_table_new("What differs");

    fb_table_column(t, "class", "", FB_ALIGN_LEFT);
    fb_table_column(t, "name", "setting", FB_ALIGN_LEFT);
    fb_table_clip(t, NAME_WIDTH);
    fb_table_column(t, "control", "control", FB_ALIGN_LEFT);
    fb_table_clip(t, VALUE_WIDTH);
    fb_table_column(t, "variant", "variant", FB_ALIGN_LEFT);
    fb_table_clip(t, VALUE_WIDTH);
    fb_table_column(t, "note", "", FB_ALIGN_LEFT);
    for (size_t i = 0; i < differs->count; i++) {
        const struct fb_difference *item = &differs->items[i];

        fb_table_row(t);
        fb_table_text(t, fb_fact_class_text(item->class));
        fb_table_text(t, item->name);
        value_cell(t, item->control);
        value_cell(t, item->variant);
        note_cell(t, item);
        if (item->implied_by != NULL || item->is_unsettled)
            fb_table_mute(t);
    }
    fb_table_note(t, differs->finding);
    return t;
}

/* What was predicted, and what became of it. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "render/render.h"

enum { NAME_WIDTH = 32 };

static void amount_put(struct fb_buf *b, const struct fb_prediction *p, double value)
{
    const struct fb_gate_condition *c = &p->outcomes[0].conditions[0];

    if (c->is_change)
        fb_buf_printf(b, "%+.1f", 100 * value);
    else if (c->quantity == FB_GATE_SHARE)
        fb_buf_printf(b, "%.2f", 100 * value);
    else
        fb_buf_printf(b, "%.4g", value);
}

static const char *unit_of(const struct fb_prediction *p)
{
    const struct fb_gate_condition *c = &p->outcomes[0].conditions[0];

    if (c->is_points)
        return "points";
    return c->is_change || c->quantity == FB_GATE_SHARE ? "%" : "";
}

static void found_cells(struct fb_table *t, const struct fb_prediction_row *row)
{
    const struct fb_prediction_result *r = &row->result;
    struct fb_buf b = {0};

    if (isnan(r->value)) {
        fb_table_text(t, "");
    } else {
        amount_put(&b, row->prediction, r->value);
        fb_table_textf(t, r->value, "%s", b.data);
    }
    b.len = 0;
    if (isnan(r->lo)) {
        fb_table_text(t, "");
    } else {
        amount_put(&b, row->prediction, r->lo);
        fb_buf_puts(&b, " to ");
        amount_put(&b, row->prediction, r->hi);
        fb_table_textf(t, r->lo, "%s", b.data);
    }
    fb_table_text(t, isnan(r->value) ? "" : unit_of(row->prediction));
    fb_buf_done(&b);
}

static void registered_cell(struct fb_table *t, const struct fb_prediction *p)
{
    time_t seconds = (time_t)(p->registered_ns / 1000000000);
    struct tm utc;
    char text[32] = "no";

    if (p->registered_ns != 0 && gmtime_r(&seconds, &utc) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fb_table_text(t, text);
}

static void row_put(struct fb_table *t, const struct fb_prediction_row *row)
{
    const struct fb_prediction_result *r = &row->result;
    struct fb_buf b = {0};

    fb_table_row(t);
    fb_table_text(t, row->prediction->name);
    fb_table_text(t, row->step);
    fb_table_text(t, row->prediction->metric);
    found_cells(t, row);
    fb_table_text(t, fb_prediction_state_text(r->state));
    if (r->state == FB_PREDICTION_FAILED || r->state == FB_PREDICTION_HELD)
        fb_table_tone(t, FB_TONE_STRONG);
    fb_buf_puts(&b, r->outcome[0] != '\0' ? r->outcome : r->reason);
    fb_buf_puts(&b, row->prediction->is_amendment ? " (amendment)" : "");
    fb_table_text_n(t, b.data != NULL ? b.data : "", b.len);
    registered_cell(t, row->prediction);
    fb_table_text(t, row->prediction->hash);
    fb_table_text(t, row->prediction->note != NULL ? row->prediction->note : "");
    if (r->state == FB_PREDICTION_REFUSED)
        fb_table_mute(t);
    fb_buf_done(&b);
}

struct fb_table *fb_render_predictions(const struct fb_prediction_row *rows, size_t count)
{
    struct fb_table *t = fb_table_new("Predictions");

    fb_table_column(t, "prediction", "prediction", FB_ALIGN_LEFT);
    fb_table_clip(t, NAME_WIDTH);
    fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    fb_table_column(t, "metric", "of", FB_ALIGN_LEFT);
    fb_table_clip(t, NAME_WIDTH);
    fb_table_column(t, "value", "found", FB_ALIGN_RIGHT);
    fb_table_column(t, "interval", "95 % interval", FB_ALIGN_RIGHT);
    fb_table_column(t, "unit", "", FB_ALIGN_LEFT);
    fb_table_column(t, "state", "", FB_ALIGN_LEFT);
    fb_table_column(t, "outcome", "", FB_ALIGN_LEFT);
    fb_table_data_column(t, "registered");
    fb_table_data_column(t, "sha256");
    fb_table_data_column(t, "note");
    for (size_t i = 0; i < count; i++)
        row_put(t, &rows[i]);
    fb_table_note(t, "An outcome is decided by the whole 95 % interval; what was registered after "
                     "the step's window began, or never, is refused.");
    return t;
}

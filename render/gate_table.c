/* The outcomes of a gate, for people and for a build server. */
#include <math.h>
#include <string.h>

#include "render/render.h"
#include "render/svg.h"

static const char *outcome_word(enum fb_gate_outcome outcome)
{
    return outcome == FB_GATE_FAIL ? "FAIL" : outcome == FB_GATE_PASS ? "pass" : "not judged";
}

/* A value in the condition's terms: "+5.2 %", "-1.1 points", "0.123". */
static void value_put(struct fb_buf *b, const struct fb_gate_condition *c, double value)
{
    bool is_ratio = c->is_change || c->quantity == FB_GATE_SHARE;

    if (isnan(value))
        fb_buf_puts(b, "n/a");
    else if (is_ratio)
        fb_buf_printf(b, c->is_change ? "%+.1f" : "%.2f", 100 * value);
    else
        fb_buf_printf(b, "%.4g", value);
}

static const char *unit_of(const struct fb_gate_condition *c)
{
    if (c->is_points)
        return "points";
    if (c->is_change || c->quantity == FB_GATE_SHARE)
        return "%";
    return c->quantity == FB_GATE_MS ? "ms" : c->quantity == FB_GATE_CORES ? "cores" : "";
}

static void value_cell(struct fb_table *t, const struct fb_gate_row *row, bool interval)
{
    const struct fb_gate_result *r = &row->result;
    struct fb_buf b = {0};

    if (interval && isnan(r->lo)) {
        fb_table_text(t, "");
        return;
    }
    value_put(&b, row->condition, interval ? r->lo : r->value);
    if (interval) {
        fb_buf_puts(&b, " to ");
        value_put(&b, row->condition, r->hi);
    }
    fb_table_textf(t, interval ? r->lo : r->value, "%s", b.data);
    fb_buf_done(&b);
}

struct fb_table *fb_render_gate(const struct fb_gate_row *rows, size_t count, bool is_strict)
{
    struct fb_table *t = fb_table_new("Gate");

    fb_table_column(t, "condition", "fails if", FB_ALIGN_LEFT);
    fb_table_column(t, "step", "step", FB_ALIGN_LEFT);
    fb_table_column(t, "value", "found", FB_ALIGN_RIGHT);
    fb_table_column(t, "interval", "95 % interval", FB_ALIGN_RIGHT);
    fb_table_column(t, "unit", "", FB_ALIGN_LEFT);
    fb_table_column(t, "outcome", "outcome", FB_ALIGN_LEFT);
    fb_table_column(t, "reason", "", FB_ALIGN_LEFT);
    for (size_t i = 0; i < count; i++) {
        const struct fb_gate_row *row = &rows[i];

        fb_table_row(t);
        fb_table_text(t, row->condition->text);
        fb_table_text(t, row->step);
        value_cell(t, row, false);
        value_cell(t, row, true);
        fb_table_text(t, unit_of(row->condition));
        fb_table_text(t, outcome_word(row->result.outcome));
        if (row->result.outcome == FB_GATE_FAIL)
            fb_table_tone(t, FB_TONE_STRONG);
        fb_table_text(t, row->result.reason);
        if (row->result.outcome == FB_GATE_NOT_JUDGED)
            fb_table_mute(t);
    }
    fb_table_note(t, is_strict ? "Strict: a condition fails unless its interval excludes it."
                               : "A condition fails only where its whole interval is beyond the "
                                 "threshold; --strict asks for it to be excluded.");
    return t;
}

static void text_put(struct fb_buf *out, const char *text)
{
    fb_svg_text_put(out, text, strlen(text));
}

static void case_put(struct fb_buf *out, const struct fb_gate_row *row)
{
    const struct fb_gate_result *r = &row->result;

    fb_buf_puts(out, "    <testcase classname=\"step ");
    text_put(out, row->step);
    fb_buf_puts(out, "\" name=\"");
    text_put(out, row->condition->text);
    fb_buf_puts(out, "\"");
    if (r->outcome == FB_GATE_PASS) {
        fb_buf_puts(out, "/>\n");
        return;
    }
    fb_buf_printf(out, ">\n      <%s message=\"",
                  r->outcome == FB_GATE_FAIL ? "failure" : "skipped");
    value_put(out, row->condition, r->value);
    fb_buf_printf(out, " %s", unit_of(row->condition));
    if (!isnan(r->lo)) {
        fb_buf_puts(out, ", 95 % interval ");
        value_put(out, row->condition, r->lo);
        fb_buf_puts(out, " to ");
        value_put(out, row->condition, r->hi);
    }
    if (r->reason[0] != '\0') {
        fb_buf_puts(out, ": ");
        text_put(out, r->reason);
    }
    fb_buf_puts(out, "\"/>\n    </testcase>\n");
}

void fb_render_junit(const struct fb_gate_row *rows, size_t count, struct fb_buf *out)
{
    size_t failed = 0, skipped = 0;

    for (size_t i = 0; i < count; i++) {
        failed += rows[i].result.outcome == FB_GATE_FAIL;
        skipped += rows[i].result.outcome == FB_GATE_NOT_JUDGED;
    }
    fb_buf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "  <testsuite name=\"flamebank gate\" tests=\"%zu\" failures=\"%zu\" "
                  "skipped=\"%zu\">\n",
                  count, failed, skipped);
    for (size_t i = 0; i < count; i++)
        case_put(out, &rows[i]);
    fb_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

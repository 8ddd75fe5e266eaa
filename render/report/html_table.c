/* A table as HTML.  Bars and dots are drawn from the cells that CSV and JSON show, so that they
 * cannot say anything else than the numbers beside them. */
#include <math.h>
#include <string.h>

#include "render/report/html.h"

/* The axis of changes, in ln of the ratio, ends within these. */
static const double axis_least = 0.05, axis_most = 2.303;

/* What is drawn behind a column. */
enum extra { EXTRA_NONE, EXTRA_BAR_CONTROL, EXTRA_BAR_VARIANT, EXTRA_BAR, EXTRA_DOT };

static const char *const bar_keys[][3] = {
    [EXTRA_BAR_CONTROL] = {"control_share_percent", "control_share_lo_percent",
                           "control_share_hi_percent"},
    [EXTRA_BAR_VARIANT] = {"variant_share_percent", "variant_share_lo_percent",
                           "variant_share_hi_percent"},
    [EXTRA_BAR] = {"share_percent", "share_low_percent", "share_high_percent"},
};

struct writer {
    const struct fb_table *t;
    const struct fb_layers *layers;
    struct fb_buf *out;
    double share_most, change_axis;
    size_t name_column; /* of a layer's name; SIZE_MAX: none */
    bool has_bars;      /* a table of many rows has none */
    bool has_verdict;   /* then why it is so stands in its cell */
};

static bool is_key(const struct fb_table_column *c, const char *key)
{
    return strcmp(c->key, key) == 0;
}

static bool is_shown(const struct writer *w, const struct fb_table_column *c)
{
    return !c->is_data && !(w->has_verdict && is_key(c, "why"));
}

static size_t column_of(const struct fb_table *t, const char *key)
{
    for (size_t c = 0; c < t->columns_count; c++)
        if (is_key(&t->columns[c], key))
            return c;
    return SIZE_MAX;
}

/* ln of the ratio of a change in percent; far to the left for what vanished. */
static double ratio_of(double percent)
{
    return percent > -99.9 ? log1p(percent / 100) : percent <= -99.9 ? -7 : NAN;
}

static double value_of(const struct fb_table *t, size_t row, const char *key)
{
    const struct fb_table_cell *cell = fb_html_cell(t, row, key);

    return cell && cell->is_number ? cell->value : NAN;
}

/* Bars stand behind the last shown column of an arm's group. */
static enum extra extra_behind(const struct writer *w, size_t column)
{
    const struct fb_table *t = w->t;
    const struct fb_table_column *c = &t->columns[column];
    bool is_last = column + 1 >= t->columns_count || t->columns[column + 1].is_data ||
                   t->columns[column + 1].group != c->group;

    if (c->is_data)
        return EXTRA_NONE;
    if (is_key(c, "interval_text") && w->change_axis > 0)
        return EXTRA_DOT;
    if (!w->has_bars || !(w->share_most > 0))
        return EXTRA_NONE;
    if (is_key(c, "share_percent"))
        return EXTRA_BAR;
    if (!is_last || c->group == FB_TABLE_NO_GROUP)
        return EXTRA_NONE;
    if (strncmp(c->key, "control_", 8) == 0)
        return EXTRA_BAR_CONTROL;
    return strncmp(c->key, "variant_", 8) == 0 ? EXTRA_BAR_VARIANT : EXTRA_NONE;
}

static bool is_total(const struct fb_table *t, size_t row)
{
    return t->rows[row].has_rule;
}

static void scales_find(struct writer *w)
{
    static const char *const shares[] = {
        "control_share_percent",    "variant_share_percent", "control_share_hi_percent",
        "variant_share_hi_percent", "share_percent",         "share_high_percent"};
    static const char *const changes[] = {"change_percent", "change_lo_percent",
                                          "change_hi_percent"};

    for (size_t r = 0; r < w->t->rows_count; r++) {
        for (size_t i = 0; !is_total(w->t, r) && i < sizeof shares / sizeof *shares; i++)
            w->share_most = fmax(w->share_most, value_of(w->t, r, shares[i]));
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            w->change_axis = fmax(w->change_axis, fabs(ratio_of(value_of(w->t, r, changes[i]))));
    }
    if (w->change_axis > 0)
        w->change_axis = fmin(fmax(w->change_axis, axis_least), axis_most);
}

static size_t layer_of_row(const struct writer *w, size_t row)
{
    const struct fb_table_cell *cell =
        w->name_column == SIZE_MAX ? NULL : fb_table_cell(w->t, row, w->name_column);

    for (size_t i = 0; cell && w->layers && i < fb_layers_count(w->layers); i++)
        if (strcmp(fb_layers_get(w->layers, i)->name, cell->text) == 0)
            return i;
    return SIZE_MAX;
}

/* key: what is read aloud where there is no heading; class "p" is that of pictures. */
static void heading_put(struct writer *w, const char *heading, const char *key, const char *class)
{
    fb_buf_printf(w->out, "<th scope=\"col\" class=\"%s\">", class);
    if (heading[0] != '\0')
        fb_html_text(w->out, heading);
    else {
        fb_buf_puts(w->out, "<span class=\"sr\">");
        fb_html_text(w->out, key);
        fb_buf_puts(w->out, "</span>");
    }
    fb_buf_puts(w->out, "</th>");
}

/* How many shown columns stand under the group that begins at `column`. */
static size_t span_of(const struct writer *w, size_t column, size_t *ret_next)
{
    const struct fb_table *t = w->t;
    uint16_t group = t->columns[column].group;
    size_t span = 0;

    while (column < t->columns_count && t->columns[column].group == group) {
        span += is_shown(w, &t->columns[column]);
        span += extra_behind(w, column) != EXTRA_NONE;
        column++;
    }
    *ret_next = column;
    return span;
}

static void groups_put(struct writer *w)
{
    const struct fb_table *t = w->t;
    size_t next;

    if (t->groups_count == 0)
        return;
    fb_buf_puts(w->out, "<tr class=\"groups\">");
    for (size_t c = 0; c < t->columns_count; c = next) {
        size_t span = span_of(w, c, &next);

        if (span == 0)
            continue;
        if (t->columns[c].group == FB_TABLE_NO_GROUP) {
            fb_buf_printf(w->out, "<td colspan=\"%zu\"></td>", span);
        } else {
            fb_buf_printf(w->out, "<th scope=\"colgroup\" colspan=\"%zu\">", span);
            fb_html_text(w->out, t->groups[t->columns[c].group]);
            fb_buf_puts(w->out, "</th>");
        }
    }
    fb_buf_puts(w->out, "</tr>\n");
}

static void head_put(struct writer *w)
{
    fb_buf_puts(w->out, "<thead>");
    groups_put(w);
    fb_buf_puts(w->out, "<tr>");
    for (size_t c = 0; c < w->t->columns_count; c++) {
        const struct fb_table_column *column = &w->t->columns[c];

        if (is_shown(w, column))
            heading_put(w, column->heading, column->key, column->align == FB_ALIGN_LEFT ? "l" : "");
        if (extra_behind(w, c) != EXTRA_NONE)
            heading_put(w, "", "picture", "p");
    }
    fb_buf_puts(w->out, "</tr></thead>\n");
}

static void extra_put(struct writer *w, size_t row, enum extra extra, size_t layer)
{
    const struct fb_table *t = w->t;
    const struct fb_table_cell *change;

    fb_buf_puts(w->out, "<td class=\"p\">");
    if (extra == EXTRA_DOT) {
        change = fb_html_cell(t, row, "change_percent");
        fb_html_dot(w->out, ratio_of(value_of(t, row, "change_percent")),
                    ratio_of(value_of(t, row, "change_lo_percent")),
                    ratio_of(value_of(t, row, "change_hi_percent")), w->change_axis,
                    change ? change->tone : FB_TONE_PLAIN);
    } else if (!is_total(t, row)) {
        const char *const *k = bar_keys[extra];

        fb_html_bar(w->out, value_of(t, row, k[0]), value_of(t, row, k[1]), value_of(t, row, k[2]),
                    w->share_most, layer);
    }
    fb_buf_puts(w->out, "</td>");
}

static const char *tone_class(enum fb_tone tone)
{
    switch (tone) {
    case FB_TONE_LESS:
        return " less";
    case FB_TONE_MORE:
        return " more";
    case FB_TONE_STRONG:
        return " strong";
    default:
        return "";
    }
}

/* What is behind the number, its half-width, stands back. */
static void number_put(struct writer *w, const struct fb_table_cell *cell)
{
    const char *half = strstr(cell->text, " ±");
    size_t len = half ? (size_t)(half - cell->text) : cell->len;

    fb_html_number(w->out, cell->text, len);
    if (half) {
        fb_buf_puts(w->out, "<small>");
        fb_html_text(w->out, half);
        fb_buf_puts(w->out, "</small>");
    }
}

static void why_put(struct writer *w, size_t row)
{
    const struct fb_table_cell *why = fb_html_cell(w->t, row, "why");

    if (!why || why->len == 0)
        return;
    fb_buf_puts(w->out, " <small>");
    fb_html_text_n(w->out, why->text, why->len);
    fb_buf_puts(w->out, "</small>");
}

static void cell_put(struct writer *w, size_t row, size_t c, size_t layer)
{
    const struct fb_table_column *column = &w->t->columns[c];
    const struct fb_table_cell *cell = fb_table_cell(w->t, row, c);
    bool is_left = column->align == FB_ALIGN_LEFT, is_first = c == 0;

    fb_buf_puts(w->out, is_first ? "<th scope=\"row\"" : "<td");
    if (is_left || (cell && cell->tone != FB_TONE_PLAIN))
        fb_buf_printf(w->out, " class=\"%s%s%s\"",
                      !is_left                          ? ""
                      : is_key(column, "interval_text") ? "l n"
                                                        : "l",
                      is_key(column, "verdict") ? " v" : "",
                      tone_class(cell ? cell->tone : FB_TONE_PLAIN));
    fb_buf_putc(w->out, '>');
    if (c == w->name_column && layer != SIZE_MAX)
        fb_buf_printf(w->out, "<i class=\"sw L%zu\"></i>", layer);
    if (cell && (cell->is_number || is_key(column, "interval_text")))
        number_put(w, cell);
    else if (cell)
        fb_html_text_n(w->out, cell->text, cell->len);
    if (is_key(column, "verdict"))
        why_put(w, row);
    fb_buf_puts(w->out, is_first ? "</th>" : "</td>");
}

static void row_put(struct writer *w, size_t row)
{
    const struct fb_table_row *r = &w->t->rows[row];
    size_t layer = layer_of_row(w, row);

    if (r->is_muted || r->has_rule)
        fb_buf_printf(w->out, "<tr class=\"%s%s\">", r->is_muted ? "muted" : "",
                      r->has_rule ? " rule" : "");
    else
        fb_buf_puts(w->out, "<tr>");
    for (size_t c = 0; c < w->t->columns_count; c++) {
        enum extra extra = extra_behind(w, c);

        if (is_shown(w, &w->t->columns[c]))
            cell_put(w, row, c, layer);
        if (extra != EXTRA_NONE)
            extra_put(w, row, extra, layer);
    }
    fb_buf_puts(w->out, "</tr>\n");
}

void fb_html_table(struct fb_buf *out, const struct fb_table *t, const struct fb_layers *layers,
                   const char *classes)
{
    struct writer w = {.t = t, .layers = layers, .out = out};

    w.has_verdict = column_of(t, "verdict") != SIZE_MAX;
    w.has_bars = strcmp(classes, "frames") != 0;
    scales_find(&w);
    w.name_column = column_of(t, "layer");
    if (t->columns_count > 0 && t->rows_count > 0) {
        fb_buf_printf(out, "<div class=\"tw %s\" tabindex=\"0\" role=\"region\" aria-label=\"",
                      classes);
        fb_html_text(out, t->title);
        fb_buf_puts(out, "\">\n<table><caption class=\"sr\">");
        fb_html_text(out, t->title);
        fb_buf_puts(out, "</caption>");
        head_put(&w);
        fb_buf_puts(out, "<tbody>\n");
        for (size_t r = 0; r < t->rows_count; r++)
            if (!t->rows[r].is_data)
                row_put(&w, r);
        fb_buf_puts(out, "</tbody></table></div>\n");
    }
    fb_html_notes(out, t);
}

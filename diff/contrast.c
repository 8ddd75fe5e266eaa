/* contrast.c - see contrast.h. */
#include "diff/contrast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "diff/diff.h"

/* t of 21 degrees of freedom: 97.5 % over 95 %, as in verdict.c. */
static const double narrower_90 = 1.7207429028118777 / 2.0796138447276795;

struct judged_row {
    char *step, *name;
    bool is_layer;
    double change, d, half;
};

struct judged_rows {
    struct judged_row *items;
    size_t count, room;
    char **steps; /* by their order, each once */
    size_t steps_count, steps_room;
};

static void rows_done(struct judged_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->items[i].step);
        free(rows->items[i].name);
    }
    for (size_t i = 0; i < rows->steps_count; i++)
        free(rows->steps[i]);
    free(rows->items);
    free(rows->steps);
}

/* The step in a title such as "Metrics, step 900: control ..."; NULL for another table.  Yours. */
static char *step_of(const char *title, const char *what)
{
    static const char before[] = ", step ", after[] = ": control ";
    const char *from, *to;
    size_t n = strlen(what);

    if (strncmp(title, what, n) != 0 || strncmp(title + n, before, sizeof before - 1) != 0)
        return NULL;
    from = title + n + sizeof before - 1;
    to = strstr(from, after);
    return to != NULL ? fb_strndup(from, (size_t)(to - from)) : NULL;
}

static void step_add(struct judged_rows *rows, const char *step)
{
    for (size_t i = 0; i < rows->steps_count; i++)
        if (strcmp(rows->steps[i], step) == 0)
            return;
    fb_vec_reserve(&rows->steps, &rows->steps_room, rows->steps_count + 1, sizeof *rows->steps);
    rows->steps[rows->steps_count++] = fb_strdup(step);
}

/* A row without an interval was not judged. */
static void row_add(struct judged_rows *rows, const struct fb_json *v, const char *step,
                    bool is_layer)
{
    double lo = log1p(fb_json_number(fb_json_get(v, "change_lo_percent"), NAN) / 100);
    double hi = log1p(fb_json_number(fb_json_get(v, "change_hi_percent"), NAN) / 100);
    double change = fb_json_number(fb_json_get(v, "change_percent"), NAN) / 100;
    const char *name = fb_json_string(fb_json_get(v, is_layer ? "layer" : "metric"), NULL);
    const char *verdict = fb_json_string(fb_json_get(v, "verdict"), "");

    if (name == NULL || !isfinite(lo) || !isfinite(hi) || !(hi >= lo) || !(change > -1) ||
        strcmp(verdict, fb_verdict_word(FB_VERDICT_NONE)) == 0)
        return;
    fb_vec_reserve(&rows->items, &rows->room, rows->count + 1, sizeof *rows->items);
    rows->items[rows->count++] = (struct judged_row){
        fb_strdup(step), fb_strdup(name), is_layer, change, log1p(change), (hi - lo) / 2};
    step_add(rows, step);
}

static void table_read(const struct fb_json *table, struct judged_rows *rows)
{
    const char *title = fb_json_string(fb_json_get(table, "title"), "");
    const struct fb_json *list = fb_json_get(table, "rows");
    char *step = step_of(title, "Metrics"), *layers = step_of(title, "Layers by self time");

    for (size_t i = 0; (step != NULL || layers != NULL) && i < fb_json_count(list); i++)
        row_add(rows, fb_json_at(list, i), step != NULL ? step : layers, layers != NULL);
    free(step);
    free(layers);
}

static enum fb_status rows_read(const char *text, size_t len, const char *name,
                                struct judged_rows *rows, struct fb_err *err)
{
    const struct fb_json *tables;
    struct fb_json_doc *doc;
    enum fb_status r = fb_json_parse(text, len, FB_JSON_WHOLE, &doc, NULL, err);

    if (r != FB_OK)
        return fb_within(err, "%s", name);
    tables = fb_json_get(fb_json_root(doc), "tables");
    for (size_t i = 0; i < fb_json_count(tables); i++)
        table_read(fb_json_at(tables, i), rows);
    if (fb_json_kind(tables) != FB_JSON_ARRAY)
        r = fb_fail(err, FB_EFORMAT,
                    "%s: the output of `flamebank diff --format json` was expected", name);
    else if (rows->count == 0)
        r = fb_fail(err, FB_EFORMAT, "%s: no row of this diff carries a verdict", name);
    fb_json_free(doc);
    return r;
}

/* ---- the contrast ---- */

static const struct judged_row *row_find(const struct judged_rows *rows, const char *step,
                                         const struct judged_row *like)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].is_layer == like->is_layer && strcmp(rows->items[i].step, step) == 0 &&
            strcmp(rows->items[i].name, like->name) == 0)
            return &rows->items[i];
    return NULL;
}

static void contrast_add(struct fb_contrast *c, const struct judged_row *a,
                         const struct judged_row *b, double delta)
{
    double d = b->d - a->d, half = hypot(a->half, b->half);
    struct fb_contrast_row *row;

    fb_vec_reserve(&c->items, &c->room, c->count + 1, sizeof *c->items);
    row = &c->items[c->count++];
    *row = (struct fb_contrast_row){.step_a = fb_strdup(a->step),
                                    .step_b = fb_strdup(b->step),
                                    .name = fb_strdup(a->name),
                                    .is_layer = a->is_layer,
                                    .a = a->change,
                                    .b = b->change,
                                    .d = expm1(d),
                                    .lo = expm1(d - half),
                                    .hi = expm1(d + half)};
    row->verdict = fabs(d) > half                          ? FB_VERDICT_DIFF
                   : fabs(d) + half * narrower_90 <= delta ? FB_VERDICT_SAME
                                                           : FB_VERDICT_UNRESOLVED;
}

static bool share_a_step(const struct judged_rows *a, const struct judged_rows *b)
{
    for (size_t i = 0; i < a->steps_count; i++)
        for (size_t j = 0; j < b->steps_count; j++)
            if (strcmp(a->steps[i], b->steps[j]) == 0)
                return true;
    return false;
}

static void steps_contrast(struct fb_contrast *c, const struct judged_rows *a, const char *step_a,
                           const struct judged_rows *b, const char *step_b, double delta)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct judged_row *row = &a->items[i];
        const struct judged_row *other =
            strcmp(row->step, step_a) == 0 ? row_find(b, step_b, row) : NULL;

        if (other != NULL)
            contrast_add(c, row, other, delta);
    }
}

static enum fb_status match(struct fb_contrast *c, const struct judged_rows *a,
                            const struct judged_rows *b, double delta, struct fb_err *err)
{
    c->by_order = !share_a_step(a, b);
    if (c->by_order && a->steps_count != b->steps_count)
        return fb_fail(err, FB_EFORMAT,
                       "no step has the same name in both, and one has %zu steps, the other %zu",
                       a->steps_count, b->steps_count);
    for (size_t i = 0; i < a->steps_count; i++)
        steps_contrast(c, a, a->steps[i], b, c->by_order ? b->steps[i] : a->steps[i], delta);
    if (c->count == 0)
        return fb_fail(err, FB_EFORMAT, "no row is judged in both");
    return FB_OK;
}

enum fb_status fb_contrast_new(const char *a, size_t a_len, const char *a_name, const char *b,
                               size_t b_len, const char *b_name, double delta,
                               struct fb_contrast **ret_contrast, struct fb_err *err)
{
    struct fb_contrast *c = fb_alloc(sizeof *c);
    struct judged_rows rows[2] = {{0}};
    enum fb_status r = rows_read(a, a_len, a_name, &rows[0], err);

    if (r == FB_OK && a_len == b_len && memcmp(a, b, a_len) == 0)
        r = fb_fail(err, FB_EUSAGE,
                    "'%s' and '%s' are one diff: a change does not differ from itself, and two "
                    "diffs were expected",
                    a_name, b_name);
    if (r == FB_OK)
        r = rows_read(b, b_len, b_name, &rows[1], err);
    if (r == FB_OK) {
        r = match(c, &rows[0], &rows[1], delta, err);
        if (r != FB_OK)
            r = fb_within(err, "'%s' and '%s'", a_name, b_name);
    }
    rows_done(&rows[0]);
    rows_done(&rows[1]);
    if (r == FB_OK)
        *ret_contrast = c;
    else
        fb_contrast_free(c);
    return r;
}

void fb_contrast_free(struct fb_contrast *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++) {
        free(c->items[i].step_a);
        free(c->items[i].step_b);
        free(c->items[i].name);
    }
    free(c->items);
    free(c);
}

/* Steps as JSON: what `flamebank steps --format json` writes ("tables" of "rows"), an object with
 * an array "steps", or objects one after the other; a row's members are the columns of a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "steps/columns.h"
#include "steps/read/document.h"
#include "steps/read/readers.h"

static bool sniff(const char *head, size_t n)
{
    static const char *const ours[] = {"tables", NULL}, *const list[] = {"steps", NULL};
    size_t at = 0;

    while (at < n && strchr(" \t\r\n", head[at]) && head[at])
        at++;
    if (at < n && head[at] == '[') { /* an array of rows: its first has columns */
        for (at++; at < n && strchr(" \t\r\n", head[at]) && head[at]; at++)
            ;
        return fb_document_has(head + at, n - at, (const char *[]){"offered", NULL}) ||
               fb_document_has(head + at, n - at, (const char *[]){"start", NULL});
    }
    return fb_document_has(head, n, ours) || fb_document_has(head, n, list) ||
           fb_document_has(head, n, (const char *[]){"offered", NULL});
}

/* A value as the cell of a table; yours. */
static char *cell_of(const struct fb_json *v)
{
    double number = fb_json_number(v, 0);

    switch (fb_json_kind(v)) {
    case FB_JSON_STRING:
        return fb_strdup(fb_json_string(v, ""));
    case FB_JSON_NUMBER:
        return fb_format(number > 1e15 ? "%.0f" : "%.17g", number); /* a time has no exponent */
    case FB_JSON_BOOL:
        return fb_strdup(fb_json_bool(v, false) ? "true" : "false");
    case FB_JSON_NULL:
        return fb_strdup("n/a");
    default:
        return NULL;
    }
}

static enum fb_status row_read(const struct fb_json *row, struct fb_steps *steps,
                               struct fb_err *err)
{
    struct fb_columns columns = {.count = 0};
    struct fb_step *s;
    const char *key;
    enum fb_status r = fb_steps_room(steps, err);

    if (r == FB_OK && fb_json_kind(row) != FB_JSON_OBJECT)
        r = fb_fail(err, FB_EFORMAT, "an object of columns was expected");
    for (size_t i = 0; i < fb_json_count(row) && r == FB_OK; i++) {
        (void)fb_json_member(row, i, &key);
        r = fb_columns_add(&columns, key, NULL, err);
    }
    if (r == FB_OK)
        r = fb_columns_check(&columns, err);
    if (r != FB_OK)
        return r;
    s = fb_steps_add(steps);
    for (size_t i = 0; i < columns.count && r == FB_OK; i++) {
        char *cell = cell_of(fb_json_member(row, i, &key));

        r = cell ? fb_columns_cell(&columns, i, cell, steps, s, err)
                 : fb_fail(err, FB_EFORMAT, "member '%.60s' is neither a text nor a number", key);
        free(cell);
    }
    return r == FB_OK ? fb_columns_finish(steps, s, err) : r;
}

static enum fb_status rows_read(const struct fb_json *rows, struct fb_steps *steps,
                                struct fb_err *err)
{
    for (size_t i = 0; i < fb_json_count(rows); i++) {
        enum fb_status r = row_read(fb_json_at(rows, i), steps, err);

        if (r != FB_OK)
            return fb_within(err, "row %zu", i + 1);
    }
    return FB_OK;
}

static enum fb_status root_read(const struct fb_json *root, struct fb_steps *steps,
                                struct fb_err *err)
{
    const struct fb_json *tables = fb_json_get(root, "tables"), *list = fb_json_get(root, "steps");

    if (fb_json_kind(root) == FB_JSON_ARRAY)
        return rows_read(root, steps, err);
    if (fb_json_kind(list) == FB_JSON_ARRAY)
        return rows_read(list, steps, err);
    if (fb_json_kind(tables) == FB_JSON_ARRAY)
        return rows_read(fb_json_get(fb_json_at(tables, 0), "rows"), steps, err);
    return row_read(root, steps, err);
}

static enum fb_status read_all(struct fb_source *in, struct fb_steps *steps, struct fb_err *err)
{
    const char *text;
    size_t n, at = 0, used;
    enum fb_status r = fb_source_head(in, FB_STEPS_TEXT_MAX + 1, &text, &n, err);

    if (r == FB_OK && n > FB_STEPS_TEXT_MAX)
        r = fb_fail(err, FB_ELIMIT, "more than %d bytes of JSON", FB_STEPS_TEXT_MAX);
    while (r == FB_OK && at < n) {
        struct fb_json_doc *doc;

        r = fb_json_parse(text + at, n - at, FB_JSON_PREFIX, &doc, &used, err);
        if (r != FB_OK)
            break;
        r = root_read(fb_json_root(doc), steps, err);
        fb_json_free(doc);
        at += used;
        while (at < n && strchr(" \t\r\n", text[at]) && text[at])
            at++;
    }
    if (r == FB_OK && steps->count == 0)
        r = fb_fail(err, FB_EFORMAT,
                    "an object or an array of steps was expected, and it is empty");
    return r;
}

const struct fb_steps_reader fb_steps_reader_json = {
    .name = "json",
    .what = "steps as JSON, as `flamebank steps --format json` writes them",
    .sniff = sniff,
    .read = read_all,
};

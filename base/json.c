#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"

/* struct fb_json is never defined: a `const struct fb_json *` is a json_t. */
struct fb_json_doc {
    json_t *root;
};

static const json_t *of(const struct fb_json *v)
{
    return (const json_t *)(const void *)v;
}

static const struct fb_json *to(const json_t *v)
{
    return (const struct fb_json *)(const void *)v;
}

enum fb_status fb_json_parse(const char *text, size_t len, enum fb_json_mode mode,
                             struct fb_json_doc **ret_doc, size_t *ret_used, struct fb_err *err)
{
    size_t flags = JSON_DECODE_ANY;
    json_error_t where;
    json_t *root;

    flags |= mode == FB_JSON_STRICT ? JSON_REJECT_DUPLICATES : JSON_ALLOW_NUL;
    if (mode == FB_JSON_PREFIX)
        flags |= JSON_DISABLE_EOF_CHECK;
    root = json_loadb(text, len, flags, &where);
    if (!root)
        return fb_fail(err, FB_EFORMAT, "line %d, column %d: %s (a JSON value was expected)",
                       where.line, where.column, where.text);
    *ret_doc = fb_alloc(sizeof **ret_doc);
    (*ret_doc)->root = root;
    if (ret_used)
        *ret_used = (size_t)where.position;
    return FB_OK;
}

void fb_json_free(struct fb_json_doc *doc)
{
    if (!doc)
        return;
    json_decref(doc->root);
    free(doc);
}

const struct fb_json *fb_json_root(const struct fb_json_doc *doc)
{
    return to(doc->root);
}

enum fb_json_kind fb_json_kind(const struct fb_json *v)
{
    if (!v)
        return FB_JSON_MISSING;
    switch (json_typeof(of(v))) {
    case JSON_OBJECT:
        return FB_JSON_OBJECT;
    case JSON_ARRAY:
        return FB_JSON_ARRAY;
    case JSON_STRING:
        return FB_JSON_STRING;
    case JSON_INTEGER:
    case JSON_REAL:
        return FB_JSON_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return FB_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return FB_JSON_NULL;
}

const struct fb_json *fb_json_get(const struct fb_json *object, const char *key)
{
    return to(json_object_get(of(object), key));
}

size_t fb_json_count(const struct fb_json *v)
{
    return json_is_array(of(v)) ? json_array_size(of(v)) : json_object_size(of(v));
}

const struct fb_json *fb_json_at(const struct fb_json *array, size_t i)
{
    return to(json_array_get(of(array), i));
}

const struct fb_json *fb_json_member(const struct fb_json *object, size_t i, const char **ret_key)
{
    json_t *o = (json_t *)(size_t)of(object);
    void *it = json_object_iter(o);

    while (it && i-- > 0)
        it = json_object_iter_next(o, it);
    if (!it)
        return NULL;
    *ret_key = json_object_iter_key(it);
    return to(json_object_iter_value(it));
}

double fb_json_number(const struct fb_json *v, double fallback)
{
    return json_is_number(of(v)) ? json_number_value(of(v)) : fallback;
}

bool fb_json_bool(const struct fb_json *v, bool fallback)
{
    return json_is_boolean(of(v)) ? json_is_true(of(v)) : fallback;
}

const char *fb_json_string(const struct fb_json *v, const char *fallback)
{
    return json_is_string(of(v)) ? json_string_value(of(v)) : fallback;
}

void fb_json_put(struct fb_buf *out, const struct fb_json *v, unsigned indent)
{
    size_t flags =
        JSON_ENCODE_ANY | (indent > 0 ? JSON_INDENT(indent) : JSON_COMPACT | JSON_SORT_KEYS);
    char *text = json_dumps(of(v), flags);

    if (text)
        fb_buf_puts(out, text);
    free(text);
}

void fb_json_put_string(struct fb_buf *out, const char *text, size_t len)
{
    size_t at = 0;

    fb_buf_putc(out, '"');
    while (at < len) {
        size_t from = at;
        uint32_t c = fb_utf8_next(text, len, &at);

        if (c == '"' || c == '\\')
            fb_buf_printf(out, "\\%c", (char)c);
        else if (c < 0x20 || c == '<' || c == 0x7f || c == 0x2028 || c == 0x2029 || c == 0xfffd)
            fb_buf_printf(out, "\\u%04x", c);
        else
            fb_buf_add(out, text + from, at - from);
    }
    fb_buf_putc(out, '"');
}

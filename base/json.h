/* json.h - JSON values: the wrapper of jansson.
 *
 * A document is parsed whole; values are borrowed from it and die with it.  Getters never fail:
 * a missing or wrong-typed member gives the fallback, so callers test fb_json_kind() where the
 * difference matters.
 *
 *     r = fb_json_parse(text, len, FB_JSON_WHOLE, &doc, NULL, err);
 *     const struct fb_json *rps = fb_json_get(fb_json_root(doc), "rps");
 *     double v = fb_json_number(rps, NAN);
 *     fb_json_free(doc); */
#ifndef FB_BASE_JSON_H
#define FB_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct fb_json;     /* a value, borrowed */
struct fb_json_doc; /* a parsed document, owned */

enum fb_json_kind {
    FB_JSON_MISSING, /* a NULL value */
    FB_JSON_NULL,
    FB_JSON_BOOL,
    FB_JSON_NUMBER,
    FB_JSON_STRING,
    FB_JSON_ARRAY,
    FB_JSON_OBJECT,
};

enum fb_json_mode {
    FB_JSON_WHOLE,  /* the text is one value and nothing else              */
    FB_JSON_PREFIX, /* one value at the start; *ret_used says where it ended */
    FB_JSON_STRICT, /* whole, and a key given twice or a NUL in a string is an error: for files
                       that people write                                      */
};

/* Errors name line and column.  ret_used may be NULL.  Duplicate keys: the last counts,
 * unless strict. */
enum fb_status fb_json_parse(const char *text, size_t len, enum fb_json_mode mode,
                             struct fb_json_doc **ret_doc, size_t *ret_used, struct fb_err *err);
void fb_json_free(struct fb_json_doc *doc);
const struct fb_json *fb_json_root(const struct fb_json_doc *doc);

enum fb_json_kind fb_json_kind(const struct fb_json *v);
const struct fb_json *fb_json_get(const struct fb_json *object, const char *key);
size_t fb_json_count(const struct fb_json *array_or_object);
const struct fb_json *fb_json_at(const struct fb_json *array, size_t i);
/* Members of an object in the order of the text; *ret_key is borrowed. */
const struct fb_json *fb_json_member(const struct fb_json *object, size_t i, const char **ret_key);
double fb_json_number(const struct fb_json *v, double fallback);
bool fb_json_bool(const struct fb_json *v, bool fallback);
const char *fb_json_string(const struct fb_json *v, const char *fallback);

/* Appends the value as text.  indent 0: on one line, and members sorted by key, so that equal
 * values have equal texts. */
void fb_json_put(struct fb_buf *out, const struct fb_json *v, unsigned indent);

/* Writing: appends text as a quoted JSON string, escaped so that it is also safe inside an HTML
 * script element ('<' and U+2028/2029 as \u....; bytes that are not UTF-8 as U+FFFD). */
void fb_json_put_string(struct fb_buf *out, const char *text, size_t len);

#endif

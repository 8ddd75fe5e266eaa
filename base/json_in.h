/* json_in.h - JSON as it comes: a pull reader that never holds the document.
 *
 * json.h parses small documents whole; this reads files of any size in a window.  The caller walks
 * the text with its own loops, in the order of the text:
 *
 *     struct fb_json_in in;
 *     fb_json_in_start_source(&in, source);             or fb_json_in_start(&in, bytes, n)
 *     fb_json_in_object(&in);
 *     while (fb_json_in_key(&in, &key)) {
 *         if (fb_json_text_is(&key, "names"))
 *             for (fb_json_in_array(&in); fb_json_in_item(&in);)
 *                 fb_json_in_string(&in, &text);
 *         else
 *             fb_json_in_skip(&in);
 *     }
 *     fb_json_in_end(&in);
 *     if (fb_json_in_failed(&in))
 *         return fb_json_in_fail(&in, name, err);
 *     fb_json_in_done(&in);
 *
 * The first violation is kept; after it every function returns false and gives 0 or "", so that
 * loops end by themselves and one test at the end is enough.  A text is borrowed until the next
 * call.  Whole objects, arrays, keys and values must be taken one by one: after a key comes exactly
 * one value (which may be skipped).
 *
 * Bounded: nesting by FB_JSON_IN_DEPTH, a string by FB_JSON_IN_STRING bytes.  Memory is the window,
 * the longest string, and one bit a level of nesting. */
#ifndef FB_BASE_JSON_IN_H
#define FB_BASE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/source.h"

enum { FB_JSON_IN_DEPTH = 1 << 17, FB_JSON_IN_STRING = 64 << 20 };

struct fb_json_text {
    const char *text; /* any bytes; not NUL-terminated */
    size_t len;
};

struct fb_json_in {
    const char *at, *end;     /* the window that is still to be read; private, as all of it */
    uint64_t offset;          /* of `end` in the text    */
    struct fb_source *source; /* NULL: `end` is the end */
    char *window;
    size_t window_room;
    struct fb_buf *copy; /* what fb_json_in_raw() has passed over goes here */
    const char *copy_from;
    uint8_t *nest; /* a bit a level: 1 an object */
    size_t nest_room, depth;
    struct fb_buf text; /* a string with escapes, or across windows */
    struct fb_err err;
    bool first;  /* nothing yet since the bracket was opened    */
    bool failed; /* err says why                                */
    bool cut_ok; /* set by the caller: a text that ends early is cut, not wrong, and a comma before
                    the end is taken */
    bool cut;    /* it was: all ends as if failed, without an error */
};

/* The bytes stay the caller's and must live on. */
void fb_json_in_start(struct fb_json_in *in, const void *bytes, size_t n);
void fb_json_in_start_source(struct fb_json_in *in, struct fb_source *source);
void fb_json_in_done(struct fb_json_in *in);

/* The kind of the value that comes next, not taken; MISSING after a failure or at the end. */
enum fb_json_kind fb_json_in_peek(struct fb_json_in *in);

/* Takes the opening bracket. */
bool fb_json_in_object(struct fb_json_in *in);
bool fb_json_in_array(struct fb_json_in *in);
/* The next key, its value to be taken then; false after the last, whose bracket is taken. */
bool fb_json_in_key(struct fb_json_in *in, struct fb_json_text *ret_key);
/* Whether there is a next item, to be taken then; false after the last. */
bool fb_json_in_item(struct fb_json_in *in);

bool fb_json_in_string(struct fb_json_in *in, struct fb_json_text *ret_text);
/* A fraction or an exponent is rounded to the nearest; out of range of int64_t fails. */
bool fb_json_in_int(struct fb_json_in *in, int64_t *ret_v);
bool fb_json_in_double(struct fb_json_in *in, double *ret_v);
/* fb_json_in_item() and fb_json_in_int() in one, for long arrays. */
bool fb_json_in_next_int(struct fb_json_in *in, int64_t *ret_v);

/* Any value; of another kind than wanted, the value is skipped and the fallback given. */
double fb_json_in_double_or(struct fb_json_in *in, double fallback);
int64_t fb_json_in_int_or(struct fb_json_in *in, int64_t fallback);
bool fb_json_in_bool_or(struct fb_json_in *in, bool fallback);
/* "" for what is no string. */
void fb_json_in_string_or(struct fb_json_in *in, struct fb_json_text *ret_text);

/* Passes over one value of any kind; of what is inside only quotes and brackets are looked at. */
void fb_json_in_skip(struct fb_json_in *in);
/* The same, its bytes appended to out, to be read by another fb_json_in. */
void fb_json_in_raw(struct fb_json_in *in, struct fb_buf *out);

/* Nothing but blanks may follow. */
void fb_json_in_end(struct fb_json_in *in);

static inline bool fb_json_in_failed(const struct fb_json_in *in)
{
    return in->failed;
}

/* How many bytes of the text were taken. */
static inline uint64_t fb_json_in_taken(const struct fb_json_in *in)
{
    return in->offset - (uint64_t)(in->end - in->at);
}

/* The caller's own violation, at the place reached: "byte 17: level 3 was expected ...". */
void fb_json_in_wrong(struct fb_json_in *in, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The sentence of the failure after "<name>: ", and its status. */
enum fb_status fb_json_in_fail(const struct fb_json_in *in, const char *name, struct fb_err *err);

bool fb_json_text_is(const struct fb_json_text *t, const char *word);

#endif

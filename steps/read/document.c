#include "steps/read/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/vec.h"
#include "steps/times.h"

enum { KEYS_MAX = 8, MEMBERS_MAX = 16 << 20 };

/* ---- telling documents apart ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Where the string that begins at text[at] ends (behind its quote); n where it does not. */
static size_t string_end(const char *text, size_t n, size_t at)
{
    for (at++; at < n && text[at] != '"'; at++)
        at += text[at] == '\\' ? 1 : 0;
    return at < n ? at + 1 : n;
}

static void key_seen(const char *key, size_t n, const char *const *keys, bool seen[KEYS_MAX])
{
    for (size_t i = 0; i < KEYS_MAX && keys[i]; i++)
        if (strlen(keys[i]) == n && memcmp(keys[i], key, n) == 0)
            seen[i] = true;
}

static bool all_seen(const char *const *keys, const bool seen[KEYS_MAX])
{
    for (size_t i = 0; i < KEYS_MAX && keys[i]; i++)
        if (!seen[i])
            return false;
    return true;
}

bool fb_document_has(const char *head, size_t n, const char *const *keys)
{
    bool seen[KEYS_MAX] = {false};
    size_t depth = 0, at = 0;

    while (at < n && is_blank(head[at]))
        at++;
    if (at == n || head[at] != '{')
        return false;
    while (at < n && !all_seen(keys, seen)) {
        size_t from = at;

        if (head[at] == '"') {
            at = string_end(head, n, at);
            for (size_t k = at; depth == 1 && k < n; k++) {
                if (head[k] == ':')
                    key_seen(head + from + 1, at - from - 2, keys, seen);
                if (!is_blank(head[k]))
                    break;
            }
            continue;
        }
        depth += head[at] == '{' || head[at] == '[' ? 1 : 0;
        if ((head[at] == '}' || head[at] == ']') && --depth == 0)
            break;
        at++;
    }
    return all_seen(keys, seen);
}

/* ---- documents one after the other ---- */

/* Skips white space from *at on and counts lines up to there. */
static void blanks_skip(const char *text, size_t n, size_t *at, size_t *line)
{
    for (; *at < n && is_blank(text[*at]); ++*at)
        *line += text[*at] == '\n' ? 1 : 0;
}

static size_t newlines(const char *text, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += text[i] == '\n' ? 1 : 0;
    return count;
}

static enum fb_status one_read(const char *text, size_t n, size_t line, fb_document_parse_fn parse,
                               void *context, struct fb_steps *steps, size_t *ret_used,
                               struct fb_err *err)
{
    struct fb_step *s = fb_steps_add(steps);
    enum fb_status r;

    s->line = (uint32_t)line;
    r = parse(context, text, n, steps, s, ret_used, err);
    if (r != FB_OK) {
        fb_steps_drop(steps);
        return r;
    }
    fb_step_window_default(s);
    fb_step_name_default(s, steps->count);
    return FB_OK;
}

enum fb_status fb_documents_each(struct fb_source *in, const char *what, fb_document_parse_fn parse,
                                 void *context, struct fb_steps *steps, struct fb_err *err)
{
    size_t at = 0, line = 1, used, n;
    const char *text;
    enum fb_status r = fb_source_head(in, FB_STEPS_TEXT_MAX + 1, &text, &n, err);

    if (r != FB_OK)
        return r;
    if (n > FB_STEPS_TEXT_MAX)
        return fb_fail(err, FB_ELIMIT, "more than %d bytes; a result of %s is smaller",
                       FB_STEPS_TEXT_MAX, what);
    blanks_skip(text, n, &at, &line);
    while (at < n && text[at] == '{') {
        r = fb_steps_room(steps, err);
        if (r == FB_OK)
            r = one_read(text + at, n - at, line, parse, context, steps, &used, err);
        if (r != FB_OK && steps->count == 0)
            return fb_within(err, "line %zu: a result of %s was expected", line, what);
        if (r == FB_ELIMIT)
            return r;
        if (r != FB_OK) {
            fb_steps_warn(steps, "line %zu: the document is cut short or damaged (%s): left out",
                          line, err->text);
            return FB_OK;
        }
        line += newlines(text + at, used);
        at += used;
        blanks_skip(text, n, &at, &line);
    }
    if (at < n)
        fb_steps_warn(steps, "line %zu: what follows the last document was left out", line);
    return FB_OK;
}

/* ---- documents of which some members are held ---- */

struct keyed {
    const char *const *keys;
    fb_document_fn fill;
    const char *what;
};

static bool is_wanted(const struct fb_json_text *key, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++)
        if (fb_json_text_is(key, keys[i]))
            return true;
    return false;
}

/* The document with the wanted members alone. */
static enum fb_status members_copy(struct fb_json_in *in, const struct keyed *keyed,
                                   struct fb_buf *out, struct fb_err *err)
{
    struct fb_json_text key;
    bool any = false;

    fb_buf_putc(out, '{');
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (!is_wanted(&key, keyed->keys)) {
            fb_json_in_skip(in);
            continue;
        }
        fb_buf_puts(out, any ? "," : "");
        any = true;
        fb_json_put_string(out, key.text, key.len);
        fb_buf_putc(out, ':');
        fb_json_in_raw(in, out);
    }
    fb_buf_putc(out, '}');
    if (fb_json_in_failed(in))
        return fb_fail(err, in->err.status, "%s", in->err.text);
    if (out->overflow)
        return fb_fail(err, FB_ELIMIT, "its members have more than %d bytes", MEMBERS_MAX);
    return FB_OK;
}

static enum fb_status keyed_read(struct fb_json_in *in, const struct keyed *keyed,
                                 struct fb_steps *steps, struct fb_step *s, struct fb_err *err)
{
    struct fb_buf members = {.max = MEMBERS_MAX};
    struct fb_json_doc *doc;
    enum fb_status r = members_copy(in, keyed, &members, err);

    if (r == FB_OK)
        r = fb_json_parse(members.data, members.len, FB_JSON_WHOLE, &doc, NULL, err);
    if (r == FB_OK) {
        r = keyed->fill(fb_json_root(doc), s, steps, err);
        fb_json_free(doc);
    }
    fb_buf_done(&members);
    return r;
}

static enum fb_status keyed_parse(void *context, const char *text, size_t n, struct fb_steps *steps,
                                  struct fb_step *s, size_t *ret_used, struct fb_err *err)
{
    struct fb_json_in in;
    enum fb_status r;

    fb_json_in_start(&in, text, n);
    r = keyed_read(&in, context, steps, s, err);
    *ret_used = (size_t)fb_json_in_taken(&in);
    fb_json_in_done(&in);
    return r;
}

/* A file too big to be held has one document. */
static enum fb_status big_read(struct fb_source *source, const struct keyed *keyed,
                               struct fb_steps *steps, struct fb_err *err)
{
    struct fb_step *s = fb_steps_add(steps);
    struct fb_json_in in;
    enum fb_status r;

    s->line = 1;
    fb_json_in_start_source(&in, source);
    r = keyed_read(&in, keyed, steps, s, err);
    if (r == FB_OK && fb_json_in_peek(&in) != FB_JSON_MISSING)
        fb_steps_warn(steps,
                      "what follows the first document was left out, since the file has "
                      "more than %d bytes",
                      FB_STEPS_TEXT_MAX);
    fb_json_in_done(&in);
    if (r != FB_OK)
        return fb_within(err, "line 1: a result of %s was expected", keyed->what);
    fb_step_window_default(s);
    fb_step_name_default(s, 1);
    return FB_OK;
}

enum fb_status fb_documents_read(struct fb_source *in, const char *what, const char *const *keys,
                                 fb_document_fn fill, struct fb_steps *steps, struct fb_err *err)
{
    struct keyed keyed = {.keys = keys, .fill = fill, .what = what};
    const char *head;
    size_t n;
    enum fb_status r = fb_source_head(in, FB_STEPS_TEXT_MAX + 1, &head, &n, err);

    if (r != FB_OK)
        return r;
    if (n > FB_STEPS_TEXT_MAX)
        return big_read(in, &keyed, steps, err);
    return fb_documents_each(in, what, keyed_parse, &keyed, steps, err);
}

/* ---- values ---- */

double fb_document_number(const struct fb_json *v)
{
    const char *text = fb_json_string(v, NULL);
    double value = text ? fb_text_number(text, strlen(text)) : fb_json_number(v, NAN);

    return isfinite(value) && value >= 0 ? value : NAN;
}

double fb_document_get(const struct fb_json *object, const char *key)
{
    return fb_document_number(fb_json_get(object, key));
}

double fb_document_get2(const struct fb_json *object, const char *outer, const char *inner)
{
    return fb_document_get(fb_json_get(object, outer), inner);
}

int64_t fb_document_time(const struct fb_json *object, const char *key)
{
    const struct fb_json *v = fb_json_get(object, key);
    const char *text = fb_json_string(v, NULL);
    double value = text ? NAN : fb_document_number(v);
    char number[40];
    int64_t ns;

    if (value >= 1 && value < 9e18) {
        (void)snprintf(number, sizeof number, value < 1e11 ? "%.6f" : "%.0f", value);
        text = number;
    }
    return text && fb_time_parse(text, &ns) ? ns : 0;
}

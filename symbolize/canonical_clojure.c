/* Clojure: a function is a class, ns$f$fn__12, with one of five methods.  Whether callers go by
 * invoke or by invokeStatic is a choice of the compiler (direct linking), so they are one function.
 * The munging is undone only here: in a name of Java '_' is '_'. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

/* The class's name is before `method`, the offset of the '.' in front of the method or of the end;
 * `simple` is where its last part begins, `dollar` its first '$'. */
struct parts {
    size_t simple, dollar, method;
};

static bool is_calling(const struct fb_buf *text, size_t at)
{
    static const char *const methods[] = {"invoke", "invokeStatic", "invokePrim", "doInvoke",
                                          "applyTo"};

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(text->data + at, methods[i]) == 0)
            return true;
    return false;
}

/* "__12" behind at least one character of a part: the digits' end, 0 if it is none. */
static size_t number_end(const char *p, size_t at)
{
    size_t n = 0;

    if (p[at] != '_' || p[at + 1] != '_')
        return 0;
    while (fb_text_is_digit(p[at + 2 + n]))
        n++;
    return n > 0 ? at + 2 + n : 0;
}

/* ns.proxy$java.io.Writer$ff19274a.write: the classes' dots are part of the class.  *ret_end: where
 * the method begins. */
static size_t proxy_at(const struct fb_buf *text, size_t *ret_end)
{
    const char *p = strstr(text->data, "proxy$"), *hash = NULL;
    size_t n;

    if (!p || (p > text->data && p[-1] != '.' && p[-1] != '/'))
        return SIZE_MAX;
    for (const char *q = strstr(p, "$ff"); q; q = strstr(q + 1, "$ff"))
        hash = q;
    if (!hash)
        return SIZE_MAX;
    n = strspn(hash + 1, "0123456789abcdef");
    *ret_end = (size_t)(hash - text->data) + 1 + n;
    if (n < 8 || n > 10 || (text->data[*ret_end] && text->data[*ret_end] != '.'))
        return SIZE_MAX;
    return (size_t)(p - text->data);
}

/* Splits ns$f.method; false where it cannot be Clojure's: a namespace begins with a small letter,
 * and a part of digits alone is a class without a name, of Java or Kotlin. */
static bool split(const struct fb_buf *text, struct parts *ret)
{
    const char *p = text->data;
    size_t dollar = fb_text_first(text, '$'), at;

    if (dollar == SIZE_MAX || dollar == 0)
        return false;
    for (at = dollar; at > 0 && fb_text_is_word(p[at - 1]);)
        at--;
    if (at == dollar || (at > 0 && p[at - 1] != '.' && p[at - 1] != '/') ||
        !(fb_text_is_lower(p[at]) || p[at] == '_'))
        return false;
    for (size_t i = 0; i < at; i++)
        if (!fb_text_is_word(p[i]) && p[i] != '.' && p[i] != '/')
            return false;
    *ret = (struct parts){.simple = at, .dollar = dollar};
    for (at = dollar; p[at] == '$';) {
        size_t start = ++at;

        while (fb_text_is_word(p[at]))
            at++;
        if (at == start || fb_text_digits(text, start) == at - start)
            return false;
    }
    ret->method = at;
    return p[at] == 0 || p[at] == '.';
}

/* Whether a part ends with a number of Clojure's: ns$fn__12, ns$eval12. */
static bool is_numbered(const struct fb_buf *text, const struct parts *parts)
{
    const char *p = text->data;

    for (size_t i = parts->dollar + 2; i + 2 < parts->method; i++) {
        size_t end = number_end(p, i);

        if (end > 0 && (p[end] == '$' || end == parts->method))
            return true;
    }
    return false;
}

/* One character of Clojure at p: its length there and what it means. */
static size_t unmunge(const char *p, char *ret_c)
{
    static const struct {
        const char *munged;
        char c;
    } all[] = {{"_QMARK_", '?'},     {"_BANG_", '!'},        {"_STAR_", '*'},    {"_PLUS_", '+'},
               {"_GT_", '>'},        {"_LT_", '<'},          {"_EQ_", '='},      {"_SLASH_", '/'},
               {"_AMPERSAND_", '&'}, {"_SHARP_", '#'},       {"_PERCENT_", '%'}, {"_COLON_", ':'},
               {"_CARET_", '^'},     {"_TILDE_", '~'},       {"_BAR_", '|'},     {"_DOT_", '.'},
               {"_CIRCA_", '@'},     {"_SINGLEQUOTE_", '\''}};

    *ret_c = *p == '_' ? '-' : *p;
    if (*p != '_' || !fb_text_is_upper(p[1]))
        return 1;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strncmp(p, all[i].munged, strlen(all[i].munged)) == 0) {
            *ret_c = all[i].c;
            return strlen(all[i].munged);
        }
    }
    return 1;
}

/* The whole name in place: '/' of the namespace (in front of `simple`) as '.', '$' and the '.' of a
 * method, which is that of a protocol or an interface, as '/'. */
static void unmunge_all(struct fb_buf *text, size_t simple, size_t method)
{
    char *p = text->data;
    size_t to = 0;

    for (size_t at = 0; at < text->len;) {
        char c;
        size_t n = unmunge(p + at, &c);

        if (c == '/' && n == 1 && at < simple)
            c = '.';
        p[to++] = c == '$' || (at == method && n == 1) ? '/' : c;
        at += n;
    }
    fb_text_truncate(text, to);
}

bool fb_rule_clojure(struct fb_buf *text)
{
    struct parts parts;
    size_t end, proxy = proxy_at(text, &end);

    if (proxy != SIZE_MAX) {
        struct fb_edit e = {.text = text};

        for (size_t i = 0; i < proxy; i++)
            if (text->data[i] == '/')
                text->data[i] = '.';
        if (proxy > 0)
            fb_edit_replace(&e, proxy - 1, 1, "/");
        fb_edit_replace(&e, proxy + 5, end - proxy - 5, "");
        if (text->data[end] == '.')
            fb_edit_replace(&e, end, 1, "/");
        return fb_edit_done(&e);
    }
    if (!split(text, &parts))
        return false;
    end = parts.method;
    if (text->data[end] == '.' && is_calling(text, end + 1))
        fb_text_truncate(text, end);
    else if (!is_numbered(text, &parts))
        return false;
    unmunge_all(text, parts.simple, end);
    return true;
}

/* ns/f/fn--12, ns/eval123/fn--124, ns/eval123: what the rule above left of numbers. */
bool fb_rule_clojure_number(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};
    bool is_in_function = false;

    if (!memchr(text->data, '/', text->len))
        return false;
    for (size_t at = 0; at < text->len; at++) {
        size_t n, digits;

        if (text->data[at] == '/') {
            is_in_function = true;
            n = fb_text_is_at(text, at + 1, "eval") ? fb_text_digits(text, at + 5) : 0;
            if (n > 1 && (text->data[at + 5 + n] == 0 || text->data[at + 5 + n] == '/'))
                fb_edit_replace(&e, at + 5, n, "");
            continue;
        }
        if (!is_in_function || !fb_text_is_at(text, at, "--") || text->data[at - 1] == '/')
            continue;
        for (n = 0;
             fb_text_is_at(text, at + n, "--") && (digits = fb_text_digits(text, at + n + 2)) > 0;)
            n += digits + 2;
        if (n > 0 && (text->data[at + n] == 0 || strchr("/.", text->data[at + n])))
            fb_edit_replace(&e, at, n, "");
        at += n > 0 ? n - 1 : 0;
    }
    return fb_edit_done(&e);
}

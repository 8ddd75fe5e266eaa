/* Scala and Kotlin: what their compilers make of functions without a name, of objects, and of names
 * that the JVM does not allow. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

static bool is_end(char c)
{
    return c == 0 || c == '.' || c == '(';
}

/* Where the method begins: behind the last '.', 0 if there is none. */
static size_t method_at(const struct fb_buf *text)
{
    size_t dot = fb_text_last(text, '.');

    return dot == SIZE_MAX ? 0 : dot + 1;
}

/* The end of "name$1" at `at`, *ret_dollar being the last '$'; 0 if it is none. */
static size_t numbered_end(const struct fb_buf *text, size_t at, size_t *ret_dollar)
{
    size_t n = 0, i = at;

    for (; fb_text_is_word(text->data[i]) || text->data[i] == '$'; i++) {
        if (text->data[i] != '$' || i == at)
            continue;
        n = fb_text_digits(text, i + 1);
        *ret_dollar = i;
        if (n > 0 && !fb_text_is_word(text->data[i + 1 + n]))
            return i + 1 + n;
    }
    return 0;
}

/* Foo$$anonfun$bar$1.apply: a class of Scala before 2.12, one more for each within it. */
static bool old_anonfun(struct fb_buf *text)
{
    static const char word[] = "$$anonfun$";
    struct fb_edit e = {.text = text};
    const char *p = strstr(text->data + 1, word);
    bool is_first = true;
    size_t end = 0;

    while (p) {
        size_t at = (size_t)(p - text->data), name = at + sizeof word - 1, dollar;

        end = numbered_end(text, name, &dollar);
        if (end == 0)
            break;
        if (is_first) {
            fb_edit_replace(&e, at, sizeof word - 1, ".");
            fb_edit_replace(&e, dollar, end - dollar, "/$anonfun");
        } else {
            fb_edit_replace(&e, at, end - at, "/$anonfun");
        }
        is_first = false;
        p = strstr(text->data + end, word);
        if (p && p != text->data + end)
            break;
    }
    if (!is_first && end > 0 && fb_text_is_at(text, end, ".apply"))
        fb_edit_replace(&e, end, text->len - end, "");
    return fb_edit_done(&e);
}

/* Foo.$anonfun$bar$1, Foo$.$anonfun$bar$1$adapted */
static bool new_anonfun(struct fb_buf *text)
{
    static const char word[] = "$anonfun$";
    struct fb_edit e = {.text = text};
    size_t at = method_at(text), dollar, end;

    if (!fb_text_is_at(text, at, word))
        return false;
    end = numbered_end(text, at + sizeof word - 1, &dollar);
    if (end == 0)
        return false;
    if (fb_text_is_at(text, end, "$adapted"))
        end += strlen("$adapted");
    if (!is_end(text->data[end]))
        return false;
    fb_edit_replace(&e, at, sizeof word - 1, "");
    fb_edit_replace(&e, dollar, end - dollar, "/$anonfun");
    return fb_edit_done(&e);
}

static size_t dollar_number(const struct fb_buf *text, size_t at)
{
    size_t n = text->data[at] == '$' ? fb_text_digits(text, at + 1) : 0;

    return n > 0 && (is_end(text->data[at + 1 + n]) || text->data[at + 1 + n] == '$') ? n + 1 : 0;
}

bool fb_rule_scala_anonymous(struct fb_buf *text)
{
    bool changed = old_anonfun(text) || new_anonfun(text);

    changed |= fb_text_cut_behind(text, "$$anon", dollar_number);
    return (strstr(text->data, "$$anon.") && fb_text_replace_all(text, "$$anon.", "/$anon.")) ||
           changed;
}

/* Foo$.bar, the method of an object, and foo$extension of a class of values. */
bool fb_rule_scala_object(struct fb_buf *text)
{
    static const char word[] = "$extension";
    size_t at = method_at(text), end;
    const char *p = strstr(text->data + at, word);
    bool changed = false;

    if (p && p > text->data + at) {
        end = (size_t)(p - text->data) + sizeof word - 1;
        end += fb_text_digits(text, end);
        if (is_end(text->data[end])) {
            size_t begin = (size_t)(p - text->data);

            fb_text_cut(text, begin, end - begin);
            changed = true;
        }
    }
    if (at > 3 && text->data[at - 2] == '$' && fb_text_is_word(text->data[at - 3])) {
        fb_text_cut(text, at - 2, 1);
        changed = true;
    }
    return changed;
}

/* The character that Scala encodes at p: its length there, 0 if none; UTF-8 in ret_utf8. */
static size_t scala_escape(const char *p, char ret_utf8[4])
{
    static const struct {
        const char *word, *c;
    } all[] = {{"$plus", "+"},    {"$minus", "-"}, {"$times", "*"},   {"$div", "/"},
               {"$eq", "="},      {"$less", "<"},  {"$greater", ">"}, {"$bang", "!"},
               {"$colon", ":"},   {"$qmark", "?"}, {"$bar", "|"},     {"$amp", "&"},
               {"$percent", "%"}, {"$tilde", "~"}, {"$up", "^"},      {"$hash", "#"},
               {"$bslash", "\\"}, {"$at", "@"}};
    unsigned code = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t n = strlen(all[i].word);

        if (strncmp(p, all[i].word, n) == 0 && (is_end(p[n]) || p[n] == '$')) {
            strcpy(ret_utf8, all[i].c);
            return n;
        }
    }
    if (p[1] != 'u' || strspn(p + 2, "0123456789abcdefABCDEF") < 4)
        return 0;
    for (size_t i = 2; i < 6; i++) {
        char c = p[i];

        code = code * 16 + (unsigned)(fb_text_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (code < 0x21 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000) ||
        code >= 0xfffe)
        return 0;
    memset(ret_utf8, 0, 4);
    if (code < 0x80) {
        ret_utf8[0] = (char)code;
    } else if (code < 0x800) {
        ret_utf8[0] = (char)(0xc0 | code >> 6);
        ret_utf8[1] = (char)(0x80 | (code & 0x3f));
    } else {
        ret_utf8[0] = (char)(0xe0 | code >> 12);
        ret_utf8[1] = (char)(0x80 | (code >> 6 & 0x3f));
        ret_utf8[2] = (char)(0x80 | (code & 0x3f));
    }
    return 6;
}

/* Operators begin a name or follow '_' or each other: my.ns$hash is a class of Clojure or Java. */
bool fb_rule_scala_escape(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};
    const char *behind = text->data;
    char c[4];

    for (const char *p = strchr(text->data, '$'); p;) {
        size_t n = scala_escape(p, c);

        if (n > 0 && strspn(p + 2, "0123456789abcdefABCDEF") < 4 && p != behind && p[-1] != '.' &&
            p[-1] != '_')
            n = 0;
        if (n > 0)
            fb_edit_replace(&e, (size_t)(p - text->data), n, c);
        p += n > 0 ? n : 1;
        behind = n > 0 ? p : behind;
        p = strchr(p, '$');
    }
    return fb_edit_done(&e);
}

/* MainKt$foo$1$2.invoke: a class without a name within a method, or within such a class.  The part
 * in front of the numbers begins with a small letter: Foo$1 is as well Java's. */
static bool kotlin_class(struct fb_buf *text)
{
    size_t method = method_at(text), end, begin, name;
    const char *p = text->data;
    struct fb_edit e = {.text = text};

    if (method < 2)
        return false;
    for (begin = end = method - 1; begin > 1; begin = name - 1) {
        for (name = begin; fb_text_is_word(p[name - 1]) && name > 1;)
            name--;
        if (p[name - 1] != '$' || name == begin)
            return false;
        if (fb_text_digits(text, name) < begin - name)
            break;
    }
    if (begin <= 1 || begin == end || !fb_text_is_lower(p[name]) || name < 2 ||
        !fb_text_is_word(p[name - 2]))
        return false;
    fb_edit_replace(&e, name - 1, 1, ".");
    if (strcmp(p + method, "invokeSuspend") == 0) {
        fb_edit_replace(&e, begin, end - begin, "");
    } else if (strcmp(p + method, "invoke") == 0) {
        fb_edit_replace(&e, begin, text->len - begin, "/\xce\xbb");
    } else {
        fb_edit_replace(&e, begin, end - begin, "/\xce\xbb");
    }
    return fb_edit_done(&e);
}

/* MainKt.foo$lambda$0$lambda$1 */
static size_t kotlin_lambdas(const struct fb_buf *text, size_t at)
{
    size_t end = at, n;

    while (fb_text_is_at(text, end, "$lambda$") && (n = fb_text_digits(text, end + 8)) > 0)
        end += 8 + n;
    return end > at && is_end(text->data[end]) ? end - at : 0;
}

bool fb_rule_kotlin_lambda(struct fb_buf *text)
{
    size_t method = method_at(text), n;
    const char *p = strstr(text->data + method, "$lambda$");

    if (kotlin_class(text))
        return true;
    if (!p || p == text->data + method)
        return false;
    n = kotlin_lambdas(text, (size_t)(p - text->data));
    if (n == 0)
        return false;
    fb_text_replace(text, (size_t)(p - text->data), n, "/\xce\xbb");
    return true;
}

/* "foo-IoAF18A": the hash of the parameters' classes of values. */
static bool cut_kotlin_hash(struct fb_buf *text, size_t method)
{
    const char *p = text->data, *dash = memchr(p + method, '-', text->len - method);
    bool looks_random = false;
    size_t n;

    if (!dash || dash == p + method || memchr(p, '/', text->len))
        return false;
    for (n = 0; fb_text_is_word(dash[1 + n]) || dash[1 + n] == '-'; n++)
        looks_random |= !fb_text_is_lower(dash[1 + n]);
    if (n != 7 || !looks_random || !(is_end(dash[8]) || dash[8] == '$'))
        return false;
    fb_text_cut(text, (size_t)(dash - p), 8);
    return true;
}

bool fb_rule_kotlin(struct fb_buf *text)
{
    size_t method;
    bool changed;

    if (!memchr(text->data, '$', text->len) && !memchr(text->data, '-', text->len))
        return false;
    method = method_at(text);
    changed = method > 0 && cut_kotlin_hash(text, method);
    if (fb_text_ends(text, "$default"))
        changed = fb_text_truncate(text, text->len - strlen("$default"));
    if (method > 0 && strstr(text->data, "$Companion."))
        changed |= fb_text_replace_all(text, "$Companion.", ".Companion.");
    return changed;
}

/* Names of Java that hold a number or an address of one process: two arms of the same program
 * would have no lambda, proxy or hidden class in common.  Packages may be separated by '.' or '/'.
 * What is left stands for all of its kind, as {lambda} does in C++. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

enum { ADDRESS_DIGITS_MIN = 8 }; /* JVMs write 16; fewer may be a name of somebody */

static bool is_separator(char c)
{
    return c == '.' || c == '/' || c == ':';
}

static bool is_end(char c)
{
    return c == 0 || c == '(' || is_separator(c);
}

/* Letters of other alphabets are words as well. */
static bool is_word(char c)
{
    return fb_text_is_word(c) || ((unsigned char)c & 0x80) != 0;
}

/* What follows each `word`, as much as length_of() says. */
static bool cut_behind(struct fb_buf *text, const char *word,
                       size_t (*length_of)(const struct fb_buf *text, size_t at))
{
    bool changed = false;
    size_t from = 0;
    char *found;

    while ((found = strstr(text->data + from, word))) {
        size_t at = (size_t)(found - text->data) + strlen(word), n = length_of(text, at);

        if (n > 0) {
            fb_text_cut(text, at, n);
            changed = true;
        }
        from = at;
    }
    return changed;
}

/* X/0x00007f99b4009000, X+0x..., and X.0x... where all '/' became '.' */
bool fb_rule_java_hidden(struct fb_buf *text)
{
    bool changed = false;

    for (size_t at = 1; at + 3 < text->len; at++) {
        const char *p = text->data + at;
        size_t n;

        if (!strchr("/+.", *p) || p[1] != '0' || p[2] != 'x' || !(is_word(p[-1]) || p[-1] == '$'))
            continue;
        n = fb_text_hex(text, at + 3);
        if (n < ADDRESS_DIGITS_MIN || !is_end(p[3 + n]))
            continue;
        fb_text_cut(text, at, 3 + n);
        changed = true;
    }
    return changed;
}

/* "$14", and JDK 8's "$14/1234567". */
static size_t lambda_number(const struct fb_buf *text, size_t at)
{
    size_t n, hash;

    if (text->data[at] == '$') {
        n = fb_text_digits(text, at + 1);
        if (n == 0)
            return 0;
        at += n + 1;
    } else {
        n = 0;
        if (!is_separator(text->data[at]))
            return 0;
    }
    hash = is_separator(text->data[at]) ? fb_text_digits(text, at + 1) : 0;
    if (hash > 0 && !is_end(text->data[at + 1 + hash]))
        hash = 0;
    return (n > 0 ? n + 1 : 0) + (hash > 0 ? hash + 1 : 0);
}

/* The last "$7" of a method lambda$meth$7, whose name begins behind `at`. */
static bool cut_method_number(struct fb_buf *text, size_t at)
{
    size_t end = at, dollar, n;

    while (!is_end(text->data[end]))
        end++;
    for (dollar = end; dollar > at && text->data[dollar - 1] != '$';)
        dollar--;
    n = end - dollar;
    if (dollar < at + 2 || n == 0 || fb_text_digits(text, dollar) != n)
        return false;
    fb_text_cut(text, dollar - 1, n + 1);
    return true;
}

bool fb_rule_java_lambda(struct fb_buf *text)
{
    static const char method[] = "lambda$";
    bool changed = cut_behind(text, "$$Lambda", lambda_number);
    size_t from = 0;
    char *found;

    while ((found = strstr(text->data + from, method))) {
        size_t at = (size_t)(found - text->data);

        from = at + sizeof method - 1;
        if (at == 0 || is_separator(found[-1]))
            changed |= cut_method_number(text, from);
    }
    return changed;
}

static size_t number(const struct fb_buf *text, size_t at)
{
    size_t n = fb_text_digits(text, at);

    return is_end(text->data[at + n]) ? n : 0;
}

bool fb_rule_java_accessor(struct fb_buf *text)
{
    bool methods = cut_behind(text, "GeneratedMethodAccessor", number);

    /* GeneratedSerializationConstructorAccessor as well */
    return cut_behind(text, "ConstructorAccessor", number) || methods;
}

/* Its package stays: the layers know com.sun.proxy and jdk.proxy2. */
bool fb_rule_java_proxy(struct fb_buf *text)
{
    return cut_behind(text, "$Proxy", number);
}

/* "$1a2b3c4d" or "$$1a2b3c4d", a hash or a counter in front of the method. */
static size_t hash(const struct fb_buf *text, size_t at)
{
    size_t end = at;

    while (text->data[end] == '$')
        end++;
    if (end == at)
        return 0;
    while (fb_text_is_word(text->data[end]))
        end++;
    return is_end(text->data[end]) ? end - at : 0;
}

bool fb_rule_java_generated(struct fb_buf *text)
{
    static const char *const words[] = {"CGLIB", "$HibernateProxy", "$ByteBuddy", "$MockitoMock"};
    bool changed = false;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        changed |= cut_behind(text, words[i], hash);
    return changed;
}

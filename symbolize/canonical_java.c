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

/* X/0x00007f99b4009000, X+0x..., and X.0x... where all '/' became '.' */
bool fb_rule_java_hidden(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, "0x"); p; p = strstr(p + 2, "0x")) {
        size_t at = (size_t)(p - text->data), n;

        if (at < 2 || !strchr("/+.", p[-1]) || !(is_word(p[-2]) || p[-2] == '$'))
            continue;
        n = fb_text_hex(text, at + 2);
        if (n < ADDRESS_DIGITS_MIN || !is_end(p[2 + n]))
            continue;
        fb_edit_replace(&e, at - 1, 3 + n, "");
    }
    return fb_edit_done(&e);
}

/* "$14", and JDK 8's "$14/1234567". */
static size_t lambda_number(const struct fb_buf *text, size_t at)
{
    size_t n = 0, hash;

    if (text->data[at] == '$') {
        n = fb_text_digits(text, at + 1);
        if (n == 0)
            return 0;
        at += n + 1;
    } else if (!is_separator(text->data[at])) {
        return 0;
    }
    hash = is_separator(text->data[at]) ? fb_text_digits(text, at + 1) : 0;
    if (hash > 0 && !is_end(text->data[at + 1 + hash]))
        hash = 0;
    return (n > 0 ? n + 1 : 0) + (hash > 0 ? hash + 1 : 0);
}

/* The last "$7" of a method lambda$meth$7, whose name begins behind `at`. */
static size_t cut_method_number(struct fb_edit *e, size_t at)
{
    const char *p = e->text->data;
    size_t end = at, dollar, n;

    while (!is_end(p[end]))
        end++;
    for (dollar = end; dollar > at && p[dollar - 1] != '$';)
        dollar--;
    n = end - dollar;
    if (dollar >= at + 2 && n > 0 && fb_text_digits(e->text, dollar) == n)
        fb_edit_replace(e, dollar - 1, n + 1, "");
    return end;
}

bool fb_rule_java_lambda(struct fb_buf *text)
{
    static const char method[] = "lambda$";
    bool changed = fb_text_cut_behind(text, "$$Lambda", lambda_number);
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, method); p;) {
        size_t at = (size_t)(p - text->data), end = at + sizeof method - 1;

        if (at == 0 || is_separator(p[-1]))
            end = cut_method_number(&e, end);
        p = strstr(text->data + end, method);
    }
    return fb_edit_done(&e) || changed;
}

static size_t number(const struct fb_buf *text, size_t at)
{
    size_t n = fb_text_digits(text, at);

    return is_end(text->data[at + n]) ? n : 0;
}

/* "012" and JDK 8's "/1234567", which follow the species of a LambdaForm. */
static size_t form_number(const struct fb_buf *text, size_t at)
{
    size_t n = fb_text_digits(text, at), hash;

    if (!is_separator(text->data[at + n]))
        return is_end(text->data[at + n]) ? n : 0;
    hash = fb_text_digits(text, at + n + 1);
    return hash > 0 && is_end(text->data[at + n + 1 + hash]) ? n + 1 + hash : n;
}

bool fb_rule_java_form(struct fb_buf *text)
{
    static const char *const species[] = {"LambdaForm$MH", "LambdaForm$DMH", "LambdaForm$BMH",
                                          "LambdaForm$VH"};
    bool changed = false;

    for (size_t i = 0; i < sizeof species / sizeof species[0]; i++)
        changed |= fb_text_cut_behind(text, species[i], form_number);
    return changed;
}

bool fb_rule_java_accessor(struct fb_buf *text)
{
    bool methods;

    if (!strstr(text->data, "Accessor"))
        return false;
    methods = fb_text_cut_behind(text, "GeneratedMethodAccessor", number);

    /* GeneratedSerializationConstructorAccessor as well */
    return fb_text_cut_behind(text, "ConstructorAccessor", number) || methods;
}

/* JDK 9 moved the classes that are in this package itself, not those below it. */
bool fb_rule_java_reflect(struct fb_buf *text)
{
    size_t at = strncmp(text->data, "Lsun", 4) == 0 ? 1 : 0;
    char separator;

    if (text->data[at] != 's' || !fb_text_is_at(text, at, "sun"))
        return false;
    separator = text->data[at + 3];
    if ((separator != '.' && separator != '/') || !fb_text_is_at(text, at + 4, "reflect") ||
        text->data[at + 11] != separator || !fb_text_is_upper(text->data[at + 12]))
        return false;
    fb_text_replace(text, at, 3, separator == '.' ? "jdk.internal" : "jdk/internal");
    return true;
}

/* The length of "com.sun.proxy." or "jdk.proxy2." before `at`: the number is of the class loaders
 * in their order of appearance.  Proxies of interfaces that are not public are in the package of
 * those, which stays. */
static size_t proxy_package(const struct fb_buf *text, size_t at)
{
    const char *p = text->data;
    size_t end = at, n;

    if (at == 0 || (p[at - 1] != '.' && p[at - 1] != '/'))
        return 0;
    at--;
    while (at > 0 && fb_text_is_digit(p[at - 1]))
        at--;
    if (at < 9 || memcmp(p + at - 5, "proxy", 5) != 0)
        return 0;
    n = memcmp(p + at - 9, "jdk", 3) == 0 ? 9 : 13;
    if (at < n ||
        (n == 13 && (memcmp(p + at - 13, "com", 3) != 0 || memcmp(p + at - 9, "sun", 3) != 0)))
        return 0;
    at -= n;
    if (at > 0 && p[at - 1] == 'L')
        at--;
    return at == 0 || p[at - 1] == ' ' ? end - at : 0;
}

bool fb_rule_java_proxy(struct fb_buf *text)
{
    static const char word[] = "$Proxy";
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, word); p; p = strstr(p + 1, word)) {
        size_t at = (size_t)(p - text->data), package = proxy_package(text, at);
        size_t n = number(text, at + sizeof word - 1);

        if (package > 0 && (n > 0 || is_end(p[sizeof word - 1])))
            fb_edit_replace(&e, at - package, package, "");
        if (n > 0)
            fb_edit_replace(&e, at + sizeof word - 1, n, "");
    }
    return fb_edit_done(&e);
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

/* Javassist's "_jvst1a2_0" and "javassist_12". */
static size_t javassist(const struct fb_buf *text, size_t at)
{
    size_t end = at;

    while (fb_text_is_digit(text->data[end]) || text->data[end] == '_' ||
           (text->data[end] >= 'a' && text->data[end] <= 'f'))
        end++;
    return end > at && is_end(text->data[end]) ? end - at : 0;
}

bool fb_rule_java_generated(struct fb_buf *text)
{
    static const char *const words[] = {"CGLIB",
                                        "ByGuice",
                                        "$HibernateProxy",
                                        "$ByteBuddy",
                                        "$MockitoMock",
                                        "$HibernateInstantiator",
                                        "$HibernateAccessOptimizer"};
    bool changed = false;

    if (!memchr(text->data, '$', text->len))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        changed |= fb_text_cut_behind(text, words[i], hash);
    changed |= fb_text_cut_behind(text, "_$$_jvst", javassist);
    return fb_text_cut_behind(text, "_$$_javassist", javassist) || changed;
}

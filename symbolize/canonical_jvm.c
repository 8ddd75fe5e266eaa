/* How tools spell a Java method, in one spelling: com.shop.Box.price.  In text of other tools
 * nobody says what is Java, so each form is taken only where it cannot be something else. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

static bool is_name(char c)
{
    return fb_text_is_word(c) || c == '$' || c == '-' || ((unsigned char)c & 0x80) != 0;
}

/* The end of a class's path at `at`, packages separated by `separator` only; 0 if it is none. */
static size_t path_end(const struct fb_buf *text, size_t at, char separator)
{
    size_t begin = at;

    for (;; at++) {
        size_t start = at;

        while (is_name(text->data[at]))
            at++;
        if (at == start)
            return 0;
        if (text->data[at] != separator)
            return at > begin ? at : 0;
    }
}

/* Whether the last part of the path that ends at `end` is a class's name: no package of Go, whose
 * names are of small letters, is one. */
static bool is_class(const struct fb_buf *text, size_t end)
{
    size_t at = end;

    while (at > 0 && is_name(text->data[at - 1]))
        at--;
    return fb_text_is_upper(text->data[at]) || memchr(text->data + at, '$', end - at) != NULL;
}

static void dots(struct fb_buf *text, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (text->data[i] == '/')
            text->data[i] = '.';
}

/* "Ljava/lang/String;::hashCode" */
static bool cut_descriptor_class(struct fb_buf *text)
{
    size_t end;

    if (text->data[0] != 'L' || (end = path_end(text, 1, '/')) == 0 ||
        !fb_text_is_at(text, end, ";::"))
        return false;
    dots(text, 1, end);
    fb_text_replace(text, end, 3, ".");
    fb_text_cut(text, 0, 1);
    return true;
}

/* java/lang/String.x, java.lang.String::x, Ljava/lang/String;::x */
bool fb_rule_java_path(struct fb_buf *text)
{
    size_t end;

    if (cut_descriptor_class(text))
        return true;
    if (!memchr(text->data, '/', text->len) && !strstr(text->data, "::"))
        return false;
    end = path_end(text, 0, '/');
    if (end > 0 && memchr(text->data, '/', end) &&
        (text->data[end] == '.' || fb_text_is_at(text, end, "::")) && is_class(text, end)) {
        dots(text, 0, end);
        if (text->data[end] == ':')
            fb_text_replace(text, end, 2, ".");
        return true;
    }
    end = memchr(text->data, '.', text->len) ? path_end(text, 0, '.') : 0;
    if (end == 0 || !memchr(text->data, '.', end) || !fb_text_is_at(text, end, "::") ||
        !is_class(text, end) || strstr(text->data + end + 2, "::"))
        return false;
    fb_text_replace(text, end, 2, ".");
    return true;
}

/* The same for what is known to be Java: a class may have any name. */
bool fb_rule_java_path_known(struct fb_buf *text)
{
    size_t end = memchr(text->data, '/', text->len) ? path_end(text, 0, '/') : 0;

    if (cut_descriptor_class(text))
        return true;
    if (end > 0 && memchr(text->data, '/', end) && text->data[end] == '.') {
        dots(text, 0, end);
        return true;
    }
    return fb_rule_java_path(text);
}

/* The end of a type of a descriptor: I, [J, Ljava/lang/String; or 0. */
static size_t descriptor_end(const struct fb_buf *text, size_t at)
{
    at += strspn(text->data + at, "[");
    if (text->data[at] && strchr("BCDFIJSZV", text->data[at]))
        return at + 1;
    if (text->data[at] != 'L')
        return 0;
    at++;
    while (is_name(text->data[at]) || text->data[at] == '/' || text->data[at] == '.')
        at++;
    return text->data[at] == ';' ? at + 1 : 0;
}

/* "(ILjava/lang/String;)V" to the end of the text */
static bool is_descriptor(const struct fb_buf *text, size_t at)
{
    for (at++; text->data[at] != ')';) {
        at = descriptor_end(text, at);
        if (at == 0)
            return false;
    }
    at = descriptor_end(text, at + 1);
    return at == text->len;
}

/* "(int, java.lang.String[], T...)" to the end of the text: nothing that C++ has and Java lacks. */
static bool is_type_list(const struct fb_buf *text, size_t at)
{
    size_t end = text->len - 1;

    if (text->data[end] != ')')
        return false;
    for (size_t i = at + 1; i < end; i++)
        if (!is_name(text->data[i]) && !strchr("., []", text->data[i]))
            return false;
    return true;
}

/* The name in front of the bracket at `end`, "void com.Box.price" or "com/Box.<init>": where it
 * begins, SIZE_MAX if it is no method of a class. */
static size_t method_begin(const struct fb_buf *text, size_t end)
{
    size_t begin = 0, dot = SIZE_MAX;

    for (size_t i = 0; i < end; i++) {
        char c = text->data[i];

        if (c == ' ') {
            if (i == 0 || dot < begin)
                return SIZE_MAX;
            begin = i + 1;
            dot = SIZE_MAX;
        } else if (c == '.') {
            dot = i;
        } else if (c == '<' || c == '>') {
            if (dot == SIZE_MAX || (!fb_text_is_at(text, dot + 1, "<init>(") &&
                                    !fb_text_is_at(text, dot + 1, "<clinit>(")))
                return SIZE_MAX;
        } else if (!is_name(c) && c != '/' && c != '[' && c != ']') {
            return SIZE_MAX;
        }
    }
    return dot != SIZE_MAX && dot > begin && dot + 1 < end ? begin : SIZE_MAX;
}

bool fb_rule_java_signature(struct fb_buf *text)
{
    size_t open = fb_text_first(text, '('), begin;

    if (open == SIZE_MAX || open < 3)
        return false;
    begin = method_begin(text, open);
    if (begin == SIZE_MAX || !(is_descriptor(text, open) || is_type_list(text, open)))
        return false;
    fb_text_truncate(text, open);
    fb_text_cut(text, 0, begin);
    return true;
}

/* HotSpot's own code: the number of a blob, and where it lies. */
bool fb_rule_java_stub(struct fb_buf *text)
{
    static const char *const blobs[] = {
        "StubRoutines",  "vtable stub",   "itable stub",      "Interpreter",
        "RuntimeStub",   "I2C/C2I",       "call_stub",        "MethodHandlesAdapter",
        "vtable chunks", "AdapterBlob",   "BufferBlob",       "DeoptimizationBlob",
        "ExceptionBlob", "SafepointBlob", "UncommonTrapBlob",
    };
    size_t at, open;

    if (!strchr("SRvIicMABDEU", text->data[0]))
        return false;
    for (at = 0; at < sizeof blobs / sizeof blobs[0]; at++)
        if (fb_text_begins(text, blobs[at]))
            break;
    open = fb_text_last(text, ' ');
    if (at == sizeof blobs / sizeof blobs[0] || open == SIZE_MAX)
        return false;
    at = open + 1;
    if (text->data[at] == '(' || text->data[at] == '[')
        at++;
    if (fb_text_is_at(text, at, "0x"))
        at += 2 + fb_text_hex(text, at + 2);
    else
        at += fb_text_digits(text, at);
    if (at <= open + 1 || !strchr(")],", text->data[at]) || at + 1 < text->len)
        return false;
    return fb_text_truncate(text, open);
}

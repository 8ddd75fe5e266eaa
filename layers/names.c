/* One spelling for class paths: profilers write java/lang/String.length or java.lang.String.length,
 * and a rule for one of them silently missed the other.
 *
 * A name is taken for a class path if it has no byte that class paths lack (blanks, ':', '(' but
 * for a signature), and either a '/' with no '.' before it (that would be an import path:
 * github.com/x/y.F), or dots alone, two at least: package, class, method.  Go's net/http.Get is
 * taken for one too, which does no harm: the '/' of a pattern matches either separator there. */
#include <stdint.h>
#include <string.h>

#include "layers/rules.h"

/* Every name is looked at byte by byte: a set of bits, not isalnum(). */
static bool is_path_byte(unsigned char c)
{
    /* # $ + - . / 0-9 < >, A-Z _ a-z, and all bytes of UTF-8 */
    static const uint64_t set[4] = {UINT64_C(0x53ffe81800000000), UINT64_C(0x07fffffe87fffffe),
                                    UINT64_MAX, UINT64_MAX};

    return set[c / 64] >> c % 64 & 1;
}

/* A '/' that is no separator of packages: "Foo$$Lambda$79/0x00007ff79d445a48.apply". */
static bool is_hidden_class(const char *slash, const char *end)
{
    return end - slash > 2 && slash[1] == '0' && slash[2] == 'x';
}

/* `end` is where a signature begins. */
static bool is_class_path(const char *text, size_t end, const char *slash)
{
    const char *dot = memchr(text, '.', end);

    if (slash == text)
        return false;
    if (slash && dot && dot < slash && !is_hidden_class(slash, text + end))
        return false;
    if (!slash && (!dot || !memchr(dot + 1, '.', (size_t)(text + end - dot - 1))))
        return false;
    for (size_t i = 0; i < end; i++)
        if (!is_path_byte((unsigned char)text[i]))
            return false;
    return true;
}

struct fb_name_view fb_name_view(const char *text, size_t len, struct fb_buf *scratch)
{
    struct fb_name_view view = {text, len > FB_LAYERS_NAME_MAX ? FB_LAYERS_NAME_MAX : len, false};
    const char *paren = memchr(text, '(', view.len), *slash;
    size_t end = paren ? (size_t)(paren - text) : view.len; /* a signature keeps its slashes */

    slash = memchr(text, '/', end);
    view.is_dotted = is_class_path(text, end, slash);
    if (!view.is_dotted || !slash)
        return view;
    scratch->len = 0;
    fb_buf_add(scratch, text, view.len);
    for (size_t i = 0; i < end; i++)
        if (scratch->data[i] == '/')
            scratch->data[i] = '.';
    view.text = scratch->data;
    return view;
}

char *fb_pattern_dotted(const char *pattern)
{
    struct fb_buf out = {0};
    bool in_class = false;

    if (!strchr(pattern, '/'))
        return NULL;
    for (const char *c = pattern; *c; c++) {
        if (*c == '\\' && c[1] != '\0' && c[1] != '/') {
            fb_buf_add(&out, c++, 2);
            continue;
        }
        if (*c == '\\' && c[1] == '/')
            c++;
        if (*c == '/') {
            fb_buf_puts(&out, in_class ? "./" : "[./]");
            continue;
        }
        if (*c == '[' && !in_class) {
            in_class = true;
            fb_buf_putc(&out, *c);
            if (c[1] == '^')
                fb_buf_putc(&out, *++c);
            if (c[1] == ']') /* a literal one */
                fb_buf_putc(&out, *++c);
            continue;
        }
        if (in_class && c[0] == '[' && c[1] == ':' && strstr(c, ":]")) { /* [:alpha:] */
            size_t n = (size_t)(strstr(c, ":]") - c) + 2;

            fb_buf_add(&out, c, n);
            c += n - 1;
            continue;
        }
        if (*c == ']')
            in_class = false;
        fb_buf_putc(&out, *c);
    }
    return fb_buf_take(&out);
}

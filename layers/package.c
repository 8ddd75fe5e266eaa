/* Where a function belongs, by its name: Java packages, C++ and Rust namespaces, Go import paths.
 */
#include <ctype.h>
#include <string.h>

#include "layers/rules.h"

/* Keeps the first `depth` segments of text, which are parted by `separator`. */
static void put_segments(struct fb_buf *out, const char *text, size_t len, const char *separator,
                         size_t depth)
{
    size_t n = strlen(separator), at = 0;

    for (size_t i = 0; i < depth && at < len; i++) {
        const char *next = memmem(text + at, len - at, separator, n);

        if (!next || i + 1 == depth) {
            at = next ? (size_t)(next - text) : len;
            break;
        }
        at = (size_t)(next - text) + n;
    }
    fb_buf_add(out, text, at);
}

/* "a::b<c>::f(int)": the namespaces and classes in front of the function, without arguments and
 * without the type that a template returns. */
static bool put_namespace(struct fb_buf *out, const char *text, size_t len, size_t depth)
{
    struct fb_buf flat = {0};
    size_t nested = 0;
    char *last;
    bool found;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '<' || c == '(')
            nested++;
        else if ((c == '>' || c == ')') && nested > 0)
            nested--;
        else if (nested == 0 && c == ' ')
            flat.len = 0;
        else if (nested == 0)
            fb_buf_putc(&flat, c);
    }
    if (flat.len > 0) /* len may have gone back behind bytes that are no text any more */
        flat.data[flat.len] = '\0';
    last = flat.len > 0 ? memmem(flat.data, flat.len, "::", 2) : NULL;
    for (char *next = last; next; next = strstr(next + 2, "::"))
        last = next;
    found = last != NULL && last != flat.data;
    if (found)
        put_segments(out, flat.data, (size_t)(last - flat.data), "::", depth);
    fb_buf_done(&flat);
    return found;
}

/* "java.lang.String.length", "clojure.core$map.invoke", "runtime.mallocgc": all but the class and
 * the method; of two words the first, if it is written small as packages are. */
static bool put_java(struct fb_buf *out, const char *text, size_t len, size_t depth)
{
    size_t end = len, dots = 0;
    const char *paren = memchr(text, '(', len);

    end = paren ? (size_t)(paren - text) : len;
    for (size_t i = 0; i < end; i++) {
        unsigned char c = (unsigned char)text[i];

        if (!isalnum(c) && c < 0x80 && !strchr("_$.+-<>#", c))
            return false;
        dots += c == '.';
    }
    if (dots == 0 || !islower((unsigned char)text[0]) || memmem(text, end, ".so", 3))
        return false;
    for (size_t cut = dots > 1 ? 2 : 1; cut > 0; cut--) {
        end = (size_t)((const char *)memrchr(text, '.', end) - text);
        /* "Foo$$Lambda$79.0x00007ff79d445a48.apply": the address is of the class's name */
        if (cut == 1 && memmem(text + end, len - end, ".0x", 3) == text + end &&
            memrchr(text, '.', end))
            cut++;
    }
    put_segments(out, text, end, ".", depth);
    return true;
}

/* "github.com/x/y.(*T).F": the path up to the dot behind its last slash. */
static bool put_import(struct fb_buf *out, const char *text, size_t len, size_t depth)
{
    const char *slash = memrchr(text, '/', len), *dot;

    if (!slash || text[0] == '/' || memchr(text, ' ', len))
        return false;
    dot = memchr(slash, '.', len - (size_t)(slash - text));
    if (!dot)
        return false;
    put_segments(out, text, (size_t)(dot - text), "/", depth);
    return true;
}

void fb_package_name(const struct fb_functions *fns, uint32_t function, size_t depth,
                     struct fb_buf *out)
{
    const struct fb_function *f = &fns->items[function];
    const struct fb_string *name = &fns->strings.items[f->name];
    const struct fb_string *module = &fns->strings.items[f->module];
    struct fb_buf scratch = {0};
    struct fb_name_view view = fb_name_view(name->text, name->len, &scratch);
    bool done = false;

    if (function != 0 && f->kind != FB_FRAME_MARK && f->kind != FB_FRAME_KERNEL)
        done = (memmem(view.text, view.len, "::", 2) &&
                put_namespace(out, view.text, view.len, depth)) ||
               (memmem(name->text, name->len, ".(", 2) && /* a method of Go */
                put_import(out, name->text, name->len, depth)) ||
               put_java(out, view.text, view.len, depth) ||
               (!view.is_dotted && put_import(out, view.text, view.len, depth));
    fb_buf_done(&scratch);
    if (done)
        return;
    if (f->kind == FB_FRAME_KERNEL)
        fb_buf_puts(out, "[kernel]");
    else if (module->len > 0)
        fb_buf_add(out, module->text, module->len);
    else
        fb_buf_puts(out, "(no package)");
}

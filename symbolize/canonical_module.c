/* Converters of JFR write a native frame as class and method, and a module in the place of the
 * class: "libjvm.so.G1CMTask::do_marking_step", "vdso.__vdso_clock_gettime", an empty class for
 * HotSpot's stubs (".itable stub"), and the file for code without a name
 * ("./lib/x86_64-linux-gnu/libc-2.31.so").  With the module in front no rule for names would see
 * what it is for, and a symbol would have another name under each profiler. */
#include <ctype.h>
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '~';
}

/* The length of "libx.so." or "libx.so.1.2." in front of a name, or 0. */
static size_t library_prefix(const struct fb_buf *text)
{
    size_t n;

    if (!fb_text_begins(text, "lib") && !fb_text_begins(text, "ld-"))
        return 0;
    for (n = 0; fb_text_is_word(text->data[n]) || (text->data[n] && strchr("+-.", text->data[n]));
         n++)
        if (strncmp(text->data + n, ".so.", 4) == 0)
            break;
    if (strncmp(text->data + n, ".so.", 4) != 0)
        return 0;
    n += 4;
    while (isdigit((unsigned char)text->data[n])) {
        n += fb_text_digits(text, n);
        if (text->data[n] != '.')
            return 0;
        n++;
    }
    return begins_name(text->data[n]) ? n : 0;
}

/* ".itable stub", ".jbyte_disjoint_arraycopy": not ".cold" or ".text", which are words. */
static bool is_stub_without_class(const struct fb_buf *text)
{
    return text->data[0] == '.' && begins_name(text->data[1]) &&
           strspn(text->data + 1, "abcdefghijklmnopqrstuvwxyz") < text->len - 1;
}

bool fb_rule_jfr_module(struct fb_buf *text)
{
    size_t n = library_prefix(text);
    const char *slash;

    if (n == 0 && fb_text_begins(text, "vdso._"))
        n = 5;
    if (n == 0 && is_stub_without_class(text))
        n = 1;
    if (n > 0) {
        fb_text_cut(text, 0, n);
        return true;
    }
    slash = strrchr(text->data, '/');
    if (!fb_text_begins(text, "./") || !strstr(slash, ".so"))
        return false;
    fb_text_replace(text, 0, (size_t)(slash - text->data) + 1, "[unknown] ");
    return true;
}

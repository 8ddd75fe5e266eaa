/* Go: the numbers of functions without a name, which change with every edit in front of them, and
 * what the linker and the module system add. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

/* Whether it can be Go's: the package, behind the last '/', begins with a small letter, and a
 * function follows. */
static size_t package_end(const struct fb_buf *text)
{
    const char *p = text->data, *slash;
    size_t at = strcspn(p, "([{ "), i;

    if (at < text->len && p[at] == ' ')
        return 0;
    slash = memrchr(p, '/', at);
    i = at = slash ? (size_t)(slash - p) + 1 : 0;
    while (fb_text_is_word(p[i]) || p[i] == '-' || p[i] == '%')
        i++;
    return i > at && p[i] == '.' && !fb_text_is_upper(p[at]) ? i : 0;
}

/* The end of a part ".func12", ".gowrap1", ".deferwrap2", ".12" or "-range1" of a function within
 * one, *ret_keep its length without the number. */
static size_t inner_end(const struct fb_buf *text, size_t at, size_t *ret_keep)
{
    static const char *const words[] = {".func", ".gowrap", ".deferwrap", "-range"};
    size_t n;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        *ret_keep = strlen(words[i]);
        n = fb_text_is_at(text, at, words[i]) ? fb_text_digits(text, at + *ret_keep) : 0;
        if (n > 0 && !fb_text_is_word(text->data[at + *ret_keep + n]))
            return at + *ret_keep + n;
    }
    return 0;
}

/* pkg.F.func1.2 and pkg.glob..func3; pkg.init.0 */
bool fb_rule_go_closure(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};
    size_t package = package_end(text), keep, n;

    if (package == 0)
        return false;
    for (size_t at = package + 1; at < text->len; at++) {
        size_t end =
            text->data[at] == '.' || text->data[at] == '-' ? inner_end(text, at, &keep) : 0;

        if (end == 0)
            continue;
        while (text->data[end] == '.' && (n = fb_text_digits(text, end + 1)) > 0 &&
               !fb_text_is_word(text->data[end + 1 + n]))
            end += 1 + n;
        fb_edit_replace(&e, at + keep, end - at - keep, "");
        at = end - 1;
    }
    if (!e.is_begun && fb_text_is_at(text, package, ".init.")) {
        n = fb_text_digits(text, package + 6);
        if (n > 0 && package + 6 + n == text->len)
            return fb_text_truncate(text, package + 5);
    }
    return fb_edit_done(&e);
}

/* The method's value (*T).M-fm, and the linker's .abi0 */
bool fb_rule_go_suffix(struct fb_buf *text)
{
    static const char *const suffixes[] = {"-fm", ".abi0", ".abiinternal"};

    if (!strchr("m0l", text->data[text->len - 1]))
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t at = text->len - strlen(suffixes[i]);

        if (fb_text_ends(text, suffixes[i]) &&
            (text->data[at - 1] == ')' || text->data[at - 1] == ']' ||
             fb_text_is_word(text->data[at - 1])) &&
            (i > 0 || package_end(text) > 0))
            return fb_text_truncate(text, at);
    }
    return false;
}

/* github.com/x/y@v1.2.3/z.F, and the dots of a path's last part, which are escaped: yaml%2ev3 */
bool fb_rule_go_version(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};

    if (!memchr(text->data, '/', text->len))
        return false;
    for (size_t at = strcspn(text->data, "@%"); at < text->len;
         at += 1 + strcspn(text->data + at + 1, "@%")) {
        size_t end = at + 2;

        if (fb_text_is_at(text, at, "%2e")) {
            fb_edit_replace(&e, at, 3, ".");
            continue;
        }
        if (text->data[at] != '@' || text->data[at + 1] != 'v' ||
            !fb_text_is_digit(text->data[end]))
            continue;
        while (fb_text_is_word(text->data[end]) ||
               (text->data[end] && strchr(".-+", text->data[end])))
            end++;
        if (at > 0 && text->data[end] == '/')
            fb_edit_replace(&e, at, end - at, "");
    }
    return fb_edit_done(&e);
}

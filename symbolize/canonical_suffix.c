/* Rules that cut what profilers, linkers and compilers append to a name. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

bool fb_rule_inlined(struct fb_buf *text)
{
    static const char *const marks[] = {" (inlined)", " [inlined]", "_[i]"};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (fb_text_ends(text, marks[i]))
            return fb_text_truncate(text, text->len - strlen(marks[i]));
    return false;
}

bool fb_rule_kernel_tag(struct fb_buf *text)
{
    return fb_text_ends(text, "_[k]") && fb_text_truncate(text, text->len - 4);
}

/* "+0x12", "+0x12/0x80", and the kernel's " [module]" after it. */
bool fb_rule_offset(struct fb_buf *text)
{
    for (size_t at = text->len; at-- > 1;) {
        size_t n, end;

        if (text->data[at] != '+' || strncmp(text->data + at, "+0x", 3) != 0)
            continue;
        if ((n = fb_text_hex(text, at + 3)) == 0)
            return false;
        end = at + 3 + n;
        if (strncmp(text->data + end, "/0x", 3) == 0 && (n = fb_text_hex(text, end + 3)) > 0)
            end += 3 + n;
        if (strncmp(text->data + end, " [", 2) == 0)
            end = fb_text_closing(text, end + 1, '[', ']');
        return end == text->len && fb_text_truncate(text, at);
    }
    return false;
}

bool fb_rule_plt(struct fb_buf *text)
{
    return fb_text_ends(text, "@plt") && fb_text_truncate(text, text->len - 4);
}

/* "f@GLIBC_2.2.5", "f@@LIB_1.0": the version is a name of letters, digits, '_' and '.'. */
bool fb_rule_version(struct fb_buf *text)
{
    const char *first = strchr(text->data, '@'), *at;

    if (!first || first == text->data)
        return false;
    at = first[1] == '@' ? first + 1 : first;
    if (!at[1] || (at[1] >= '0' && at[1] <= '9'))
        return false;
    for (const char *p = at + 1; *p; p++)
        if (!fb_text_is_word(*p) && *p != '.')
            return false;
    return fb_text_truncate(text, (size_t)(first - text->data));
}

/* Whether the word is a clone's.  A suffix of another than `plain` has a number behind it. */
static bool is_clone_word(const char *word, size_t n, bool *ret_plain)
{
    static const struct {
        const char *word;
        bool plain;
    } words[] = {
        {"cold", true},    {"part", false},        {"isra", false},      {"constprop", false},
        {"llvm", false},   {"clone", false},       {"localalias", true}, {"lto_priv", false},
        {"__uniq", false}, {"specialized", false},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0) {
            *ret_plain = words[i].plain;
            return true;
        }
    }
    return false;
}

/* Whether the first len bytes can be a compiler's name for a symbol: no dots but those of clones.
 * "com.shop.Box.cold" is a method, whoever wrote it without its kind. */
static bool is_symbol_name(const struct fb_buf *text, size_t len)
{
    const char *p = text->data, *end = p + len;
    bool plain;

    if (p[0] == '_' && (p[1] == 'Z' || p[1] == 'R'))
        return true;
    if (memchr(p, '/', len))
        return false;
    while ((p = memchr(p, '.', (size_t)(end - p)))) {
        size_t n = strcspn(++p, ".");

        if (n > (size_t)(end - p))
            n = (size_t)(end - p);
        if (strspn(p, "0123456789") < n && !is_clone_word(p, n, &plain))
            return false;
    }
    return true;
}

static bool cut_clone_suffix(struct fb_buf *text)
{
    size_t end = text->len;
    bool numbered = false, plain;

    while (end > 0) {
        const char *dot = memrchr(text->data, '.', end);
        size_t at, n;

        if (!dot || dot == text->data)
            return false;
        at = (size_t)(dot - text->data);
        n = end - at - 1;
        if (n > 0 && fb_text_digits(text, at + 1) >= n) {
            numbered = true;
            end = at;
            continue;
        }
        return is_clone_word(dot + 1, n, &plain) && (numbered || plain) &&
               is_symbol_name(text, at) && fb_text_truncate(text, at);
    }
    return false;
}

/* The marks that demanglers make of the suffixes: GNU's " [clone .cold]", LLVM's " (.cold)". */
static bool cut_clone_marks(struct fb_buf *text)
{
    static const struct {
        const char *mark;
        char open, close;
    } marks[] = {{" [clone .", '[', ']'}, {" (.", '(', ')'}};
    bool changed = false;

    for (size_t i = 0; i < 2; i++) {
        char *mark;

        while ((mark = strstr(text->data, marks[i].mark)) && mark != text->data) {
            size_t at = (size_t)(mark - text->data);
            size_t end = fb_text_closing(text, at + 1, marks[i].open, marks[i].close);

            if (end == 0 || !fb_text_is_word(mark[strlen(marks[i].mark)]))
                break;
            fb_text_cut(text, at, end - at);
            changed = true;
        }
    }
    return changed;
}

bool fb_rule_clone(struct fb_buf *text)
{
    bool changed = cut_clone_marks(text);

    while (cut_clone_suffix(text))
        changed = true;
    return changed;
}

bool fb_rule_unknown(struct fb_buf *text)
{
    char *so;
    size_t end;

    if (fb_text_begins(text, "0x") && fb_text_hex(text, 2) == text->len - 2) {
        fb_text_replace(text, 0, text->len, "[unknown]");
        return true;
    }
    if (!fb_text_begins(text, "[unknown] ") || !(so = strstr(text->data, ".so.")))
        return false;
    end = (size_t)(so - text->data) + 3;
    if (strspn(text->data + end, ".0123456789") != text->len - end)
        return false;
    return fb_text_truncate(text, end);
}

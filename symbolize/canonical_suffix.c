/* Rules that cut what profilers, linkers and compilers append to a name. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

bool fb_rule_inlined(struct fb_buf *text)
{
    static const char *const marks[] = {" (inlined)", " [inlined]", "_[i]"};

    if (text->data[text->len - 1] != ')' && text->data[text->len - 1] != ']')
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (fb_text_ends(text, marks[i]))
            return fb_text_truncate(text, text->len - strlen(marks[i]));
    return false;
}

/* async-profiler's marks of how the code of a Java frame was made. */
bool fb_rule_tier(struct fb_buf *text)
{
    static const char *const marks[] = {"_[j]", "_[0]", "_[1]"};

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

/* Where the suffixes of clones begin, len if there are none: ".isra.0.constprop.1.cold". */
static size_t clones_at(const struct fb_buf *text)
{
    size_t end = text->len, at = end;
    bool numbered = false, plain;

    while (end > 1) {
        const char *dot = memrchr(text->data, '.', end);
        size_t n;

        if (!dot || dot == text->data)
            break;
        n = end - (size_t)(dot - text->data) - 1;
        end = (size_t)(dot - text->data);
        if (n > 0 && fb_text_digits(text, end + 1) >= n) {
            numbered = true;
            continue;
        }
        if (!is_clone_word(dot + 1, n, &plain) || !(numbered || plain))
            break;
        at = end;
        numbered = false;
    }
    return at;
}

/* "com.shop.Box.cold" is a method, whoever wrote it without its kind: what a compiler made a clone
 * of is mangled, or has no dots and slashes of its own, but for a number that linkers append. */
static bool cut_clone_suffix(struct fb_buf *text)
{
    size_t at = clones_at(text);
    const char *p = text->data, *dot;

    if (at == text->len)
        return false;
    if (p[0] == '_' && (p[1] == 'Z' || p[1] == 'R' || p[1] == 'D'))
        return fb_text_truncate(text, at);
    if (memchr(p, '/', at))
        return false;
    dot = memchr(p, '.', at);
    if (dot && strspn(dot, ".0123456789") < at - (size_t)(dot - p))
        return false;
    return fb_text_truncate(text, at);
}

/* The marks that demanglers make of the suffixes: GNU's " [clone .cold]", LLVM's " (.cold)". */
static bool cut_marks(struct fb_buf *text, const char *mark, char open, char close)
{
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data + 1, mark); p;) {
        size_t at = (size_t)(p - text->data), end = fb_text_closing(text, at + 1, open, close);

        if (end == 0)
            break;
        if (fb_text_is_word(p[strlen(mark)]))
            fb_edit_replace(&e, at, end - at, "");
        p = strstr(text->data + end, mark);
    }
    return fb_edit_done(&e);
}

bool fb_rule_clone(struct fb_buf *text)
{
    bool changed = cut_marks(text, " [clone .", '[', ']');

    changed |= cut_marks(text, " (.", '(', ')');
    return cut_clone_suffix(text) || changed;
}

/* ".so.1.2.3" of a library, and what says that its file is gone. */
bool fb_rule_unknown(struct fb_buf *text)
{
    const char *so;
    size_t end;

    if (fb_text_begins(text, "0x") && fb_text_hex(text, 2) == text->len - 2) {
        fb_text_replace(text, 0, text->len, "[unknown]");
        return true;
    }
    if (!fb_text_begins(text, "[unknown] "))
        return false;
    if (fb_text_ends(text, " (deleted)"))
        return fb_text_truncate(text, text->len - strlen(" (deleted)"));
    so = strstr(text->data, ".so.");
    if (!so)
        return false;
    end = (size_t)(so - text->data) + 3;
    if (strspn(text->data + end, ".0123456789") != text->len - end)
        return false;
    return fb_text_truncate(text, end);
}

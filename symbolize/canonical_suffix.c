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

/* Whether the word of a dotted suffix is a clone's; `numbered`: digits follow it. */
static bool is_clone_word(const char *word, size_t n, bool numbered)
{
    static const struct {
        const char *word;
        bool number; /* it never stands without one: ".part" alone may be a Go method */
    } words[] = {
        {"cold", false},       {"part", true},   {"isra", true},  {"constprop", true},
        {"lto_priv", true},    {"llvm", true},   {"clone", true}, {"localalias", false},
        {"specialized", true}, {"__uniq", true},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0)
            return numbered || !words[i].number;
    return false;
}

static bool cut_clone_suffix(struct fb_buf *text)
{
    size_t end = text->len;
    bool numbered = false;

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
        return is_clone_word(dot + 1, n, numbered) && fb_text_truncate(text, at);
    }
    return false;
}

bool fb_rule_clone(struct fb_buf *text)
{
    bool changed = false;
    char *mark;

    while ((mark = strstr(text->data, " [clone .")) && mark != text->data) {
        size_t at = (size_t)(mark - text->data), end = fb_text_closing(text, at + 1, '[', ']');

        if (end == 0)
            break;
        fb_text_cut(text, at, end - at);
        changed = true;
    }
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

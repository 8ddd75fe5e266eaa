/* Rules for C++ and Rust names, mangled, demangled and half-demangled. */
#include <stdlib.h>
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"
#include "symbolize/symbolize.h"

bool fb_rule_demangle(struct fb_buf *text)
{
    struct fb_buf plain = {0};
    bool done = fb_name_demangle(text->data, &plain);

    if (done)
        fb_text_replace(text, 0, text->len, plain.data);
    fb_buf_done(&plain);
    return done;
}

static bool replace_all(struct fb_buf *text, const char *what, const char *with)
{
    size_t from = 0, n = strlen(what);
    bool changed = false;
    char *found;

    while (!text->overflow && from <= text->len && (found = strstr(text->data + from, what))) {
        size_t at = (size_t)(found - text->data);

        fb_text_replace(text, at, n, with);
        from = at + strlen(with);
        changed = true;
    }
    return changed;
}

bool fb_rule_cxx_anonymous(struct fb_buf *text)
{
    static const char *const spellings[] = {"_GLOBAL__N_1", "{anonymous}", "`anonymous namespace'",
                                            "<anonymous namespace>"};
    bool changed = false;

    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (!fb_text_begins(text, "_Z"))
            changed |= replace_all(text, spellings[i], "(anonymous namespace)");
    return changed;
}

bool fb_rule_cxx_abi_tag(struct fb_buf *text)
{
    bool changed = false;
    size_t from = 0;
    char *found;

    while ((found = strstr(text->data + from, "[abi:"))) {
        size_t at = (size_t)(found - text->data), end = at + 5;

        while (fb_text_is_word(text->data[end]))
            end++;
        from = at + 1;
        if (at > 0 && end > at + 5 && text->data[end] == ']') {
            fb_text_cut(text, at, end + 1 - at);
            from = at;
            changed = true;
        }
    }
    return changed;
}

bool fb_rule_cxx_inline_namespace(struct fb_buf *text)
{
    static const char *const spaces[] = {"__cxx11::", "__1::", "__ndk1::"};
    bool changed = false;
    size_t from = 0;
    char *found;

    while ((found = strstr(text->data + from, "std::__"))) {
        size_t at = (size_t)(found - text->data);

        from = at + 5;
        for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
            size_t n = strlen(spaces[i]);

            if ((at == 0 || !fb_text_is_word(found[-1])) && strncmp(found + 5, spaces[i], n) == 0) {
                fb_text_cut(text, at + 5, n);
                changed = true;
                break;
            }
        }
    }
    return changed;
}

/* The length of a lambda's name at `at`, 0 if there is none.  GCC: {lambda(int)#2}; LLVM's
 * demangler: 'lambda0'(int); clang's own numbering: $_3. */
static size_t lambda_length(const struct fb_buf *text, size_t at)
{
    const char *p = text->data + at;
    size_t end = 0;

    if (strncmp(p, "{lambda", 7) == 0 && (p[7] == '(' || p[7] == '<' || p[7] == '#')) {
        end = fb_text_closing(text, at, '{', '}');
    } else if (strncmp(p, "'lambda", 7) == 0) {
        end = at + 7 + fb_text_digits(text, at + 7);
        if (text->data[end] != '\'')
            return 0;
        if (text->data[++end] == '(')
            end = fb_text_closing(text, end, '(', ')');
    } else if (strncmp(p, "$_", 2) == 0 && (at == 0 || p[-1] == ':')) {
        size_t n = fb_text_digits(text, at + 2);

        if (n > 0 && !fb_text_is_word(p[2 + n]))
            end = at + 2 + n;
    }
    return end > at ? end - at : 0;
}

bool fb_rule_cxx_lambda(struct fb_buf *text)
{
    bool changed = false;

    for (size_t at = 0; at < text->len && !text->overflow; at++) {
        size_t n;

        if (!strchr("{'$", text->data[at]) || (n = lambda_length(text, at)) == 0)
            continue;
        fb_text_replace(text, at, n, "{lambda}");
        changed = true;
    }
    return changed;
}

/* "{closure#1}": '#' and digits before a closing brace, inside an open one. */
static bool cut_ordinals(struct fb_buf *text)
{
    bool changed = false;
    size_t depth = 0;

    for (size_t at = 0; at < text->len; at++) {
        char c = text->data[at];

        if (c == '{')
            depth++;
        else if (c == '}' && depth > 0)
            depth--;
        else if (c == '#' && depth > 0) {
            size_t n = fb_text_digits(text, at + 1);

            if (n > 0 && text->data[at + 1 + n] == '}') {
                fb_text_cut(text, at, n + 1);
                at--;
                changed = true;
            }
        }
    }
    return changed;
}

bool fb_rule_ordinal(struct fb_buf *text)
{
    bool changed = cut_ordinals(text);
    size_t from = 0;
    char *found;

    while ((found = strstr(text->data + from, "{{"))) {
        size_t at = (size_t)(found - text->data), end = at + 2;

        while (fb_text_is_word(text->data[end]) ||
               (text->data[end] && strchr(".: ", text->data[end])))
            end++;
        from = at + 1;
        if (end > at + 2 && strncmp(text->data + end, "}}", 2) == 0) {
            fb_text_cut(text, end, 1);
            fb_text_cut(text, at, 1);
            changed = true;
        }
    }
    return changed;
}

/* One escape of Rust's legacy mangling at p: its length and the character, or 0. */
static size_t rust_escape(const char *p, char *ret_c)
{
    static const struct {
        const char *escape;
        char c;
    } escapes[] = {{"$LT$", '<'}, {"$GT$", '>'}, {"$RF$", '&'}, {"$BP$", '*'},
                   {"$LP$", '('}, {"$RP$", ')'}, {"$SP$", '@'}, {"$C$", ','}};
    char *end;
    unsigned long code;

    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        if (strncmp(p, escapes[i].escape, strlen(escapes[i].escape)) == 0) {
            *ret_c = escapes[i].c;
            return strlen(escapes[i].escape);
        }
    }
    if (p[0] != '$' || p[1] != 'u' || strspn(p + 2, "0123456789abcdef") != 2)
        return 0;
    code = strtoul(p + 2, &end, 16);
    if (*end != '$' || code < 0x20 || code >= 0x7f)
        return 0;
    *ret_c = (char)code;
    return 5;
}

bool fb_rule_rust_escape(struct fb_buf *text)
{
    char *p = text->data;
    size_t to = 0;
    bool changed = false;

    if (!strchr(p, '$') || fb_text_begins(text, "_Z"))
        return false;
    for (size_t at = 0; at < text->len && !changed; at++) {
        char c;

        changed = p[at] == '$' && rust_escape(p + at, &c) > 0;
    }
    for (size_t at = 0, n; changed && at < text->len; at += n) {
        char c = p[at];

        n = 1;
        if (c == '_' && (at == 0 || p[at - 1] == ':') && rust_escape(p + at + 1, &c) > 0) {
            continue; /* "_$LT$": an identifier cannot start with '$' */
        } else if (c == '$') {
            size_t escape = rust_escape(p + at, &c);

            n = escape > 0 ? escape : 1;
        } else if (c == '.' && p[at + 1] == '.') {
            p[to++] = ':';
            c = ':';
            n = 2;
        }
        p[to++] = c;
    }
    return changed && fb_text_truncate(text, to);
}

bool fb_rule_rust_hash(struct fb_buf *text)
{
    size_t at = text->len - 19;

    if (text->len < 20 || strncmp(text->data + at, "::h", 3) != 0 ||
        strspn(text->data + at + 3, "0123456789abcdef") != 16)
        return false;
    return fb_text_truncate(text, at);
}

bool fb_rule_rust_crate(struct fb_buf *text)
{
    bool changed = false;

    for (size_t at = 1; at < text->len; at++) {
        size_t n;

        if (text->data[at] != '[' || !fb_text_is_word(text->data[at - 1]))
            continue;
        n = fb_text_hex(text, at + 1);
        if (n == 0 || n > 16 || strncmp(text->data + at + 1 + n, "]::", 3) != 0)
            continue;
        fb_text_cut(text, at, n + 2);
        changed = true;
    }
    return changed;
}

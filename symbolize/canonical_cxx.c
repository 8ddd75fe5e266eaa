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

bool fb_rule_cxx_anonymous(struct fb_buf *text)
{
    static const char *const spellings[] = {"_GLOBAL__N_1", "{anonymous}", "`anonymous namespace'",
                                            "<anonymous namespace>"};
    bool changed = false;

    if (!strstr(text->data, "nonymous") && !strstr(text->data, spellings[0]))
        return false;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (!fb_text_begins(text, "_Z"))
            changed |= fb_text_replace_all(text, spellings[i], "(anonymous namespace)");
    return changed;
}

bool fb_rule_cxx_abi_tag(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, "[abi:"); p; p = strstr(p + 1, "[abi:")) {
        size_t at = (size_t)(p - text->data), end = at + 5;

        while (fb_text_is_word(text->data[end]))
            end++;
        if (at > 0 && end > at + 5 && text->data[end] == ']')
            fb_edit_replace(&e, at, end + 1 - at, "");
    }
    return fb_edit_done(&e);
}

bool fb_rule_cxx_inline_namespace(struct fb_buf *text)
{
    static const char *const spaces[] = {"__cxx11::", "__1::", "__ndk1::"};
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, "std::__"); p; p = strstr(p + 5, "std::__")) {
        for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
            size_t n = strlen(spaces[i]);

            if ((p == text->data || !fb_text_is_word(p[-1])) && strncmp(p + 5, spaces[i], n) == 0) {
                fb_edit_replace(&e, (size_t)(p - text->data) + 5, n, "");
                break;
            }
        }
    }
    return fb_edit_done(&e);
}

/* The end of a lambda's name at `at`, 0 if there is none.  GCC: {lambda(int)#2}; LLVM's demangler:
 * 'lambda0'(int); clang's own numbering: $_3.  *ret_open: a bracket of it is not closed. */
static size_t lambda_end(const struct fb_buf *text, size_t at, bool *ret_open)
{
    const char *p = text->data + at;
    size_t end;

    if (strncmp(p, "{lambda", 7) == 0 && (p[7] == '(' || p[7] == '<' || p[7] == '#')) {
        end = fb_text_closing(text, at, '{', '}');
        *ret_open = end == 0;
        return end;
    }
    if (strncmp(p, "'lambda", 7) == 0) {
        end = at + 7 + fb_text_digits(text, at + 7);
        if (text->data[end] != '\'')
            return 0;
        if (text->data[++end] != '(')
            return end;
        end = fb_text_closing(text, end, '(', ')');
        *ret_open = end == 0;
        return end;
    }
    if (strncmp(p, "$_", 2) == 0 && (at == 0 || p[-1] == ':')) {
        size_t n = fb_text_digits(text, at + 2);

        return n > 0 && !fb_text_is_word(p[2 + n]) ? at + 2 + n : 0;
    }
    return 0;
}

/* A bracket that is not closed is looked for once only: the rest of such a name stays. */
bool fb_rule_cxx_lambda(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};
    bool is_open = false;

    for (size_t at = strcspn(text->data, "{'$"); at < text->len && !is_open;
         at += strcspn(text->data + at, "{'$")) {
        size_t end = lambda_end(text, at, &is_open);

        if (end > 0)
            fb_edit_replace(&e, at, end - at, "{lambda}");
        at = end > 0 ? end : at + 1;
    }
    return fb_edit_done(&e);
}

/* "{closure#1}": '#' and digits before a closing brace, inside an open one. */
static bool cut_ordinals(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};
    size_t depth = 0;

    for (size_t at = 0; at < text->len; at++) {
        char c = text->data[at];

        if (c == '{')
            depth++;
        else if (c == '}' && depth > 0)
            depth--;
        else if (c == '#' && depth > 0) {
            size_t n = fb_text_digits(text, at + 1);

            if (n > 0 && text->data[at + 1 + n] == '}')
                fb_edit_replace(&e, at, n + 1, "");
        }
    }
    return fb_edit_done(&e);
}

bool fb_rule_ordinal(struct fb_buf *text)
{
    bool changed = cut_ordinals(text);
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data, "{{"); p; p = strstr(p + 1, "{{")) {
        size_t at = (size_t)(p - text->data), end = at + 2;

        while (fb_text_is_word(text->data[end]) ||
               (text->data[end] && strchr(".: ", text->data[end])))
            end++;
        if (end > at + 2 && strncmp(text->data + end, "}}", 2) == 0) {
            fb_edit_replace(&e, at, 1, "");
            fb_edit_replace(&e, end, 1, "");
            p = text->data + end;
        }
    }
    return fb_edit_done(&e) || changed;
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
    struct fb_edit e = {.text = text};

    for (const char *p = strchr(text->data, '['); p; p = strchr(p + 1, '[')) {
        size_t at = (size_t)(p - text->data), n;

        if (at == 0 || !fb_text_is_word(p[-1]))
            continue;
        n = fb_text_hex(text, at + 1);
        if (n == 0 || n > 16 || !fb_text_is_at(text, at + 1 + n, "]::"))
            continue;
        fb_edit_replace(&e, at, n + 2, "");
    }
    return fb_edit_done(&e);
}

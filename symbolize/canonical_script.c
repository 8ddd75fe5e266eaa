/* JavaScript, Python, Ruby and .NET: the place within a file, where a file stands on one machine,
 * and the tier that the code has at the moment. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

/* "LazyCompile:*f", "Function:~f", "JS:^f": V8's sort of code and its tier. */
bool fb_rule_js_tier(struct fb_buf *text)
{
    static const char *const sorts[] = {"LazyCompile:", "Function:", "JS:", "Script:", "Eval:"};
    size_t at = 0;

    if (!strchr("LFJSE", text->data[0]))
        return false;
    for (size_t i = 0; i < sizeof sorts / sizeof sorts[0] && at == 0; i++)
        if (fb_text_begins(text, sorts[i]))
            at = strlen(sorts[i]);
    if (at == 0)
        return false;
    at += text->data[at] && strchr("*~^+", text->data[at]) ? 1 : 0;
    at += text->data[at] == ' ' ? 1 : 0;
    if (!text->data[at])
        return false;
    fb_text_cut(text, 0, at);
    return true;
}

/* "*f": the tier alone, of what is known to be JavaScript's. */
bool fb_rule_js_tier_known(struct fb_buf *text)
{
    if (!strchr("*~^+", text->data[0]) || text->len < 2 || text->data[1] == ' ' ||
        strchr("*~^+", text->data[1]))
        return false;
    fb_text_cut(text, 0, 1);
    return true;
}

/* The length of ":12" or ":12:34" at the end of the first len bytes. */
static size_t place_length(const struct fb_buf *text, size_t len)
{
    size_t at = len, found = 0;

    for (int i = 0; i < 2; i++) {
        size_t digits = at;

        while (digits > 0 && fb_text_is_digit(text->data[digits - 1]))
            digits--;
        if (digits == at || digits == 0 || text->data[digits - 1] != ':')
            break;
        at = digits - 1;
        found = len - at;
    }
    return found;
}

static bool ends_at(const struct fb_buf *text, size_t len, const char *ending)
{
    size_t n = strlen(ending);

    return len > n && memcmp(text->data + len - n, ending, n) == 0;
}

static bool is_source(const struct fb_buf *text, size_t len)
{
    static const char *const endings[] = {".js",  ".mjs", ".cjs", ".ts", ".mts", ".cts",
                                          ".jsx", ".tsx", ".py",  ".rb", ".wasm"};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_at(text, len, endings[i]))
            return true;
    return false;
}

/* "f /srv/app.js:12:34", "f (/srv/app.py:12)", "f - app.rb:12", "f node:events:508:28" */
bool fb_rule_line(struct fb_buf *text)
{
    size_t len = text->len - (text->data[text->len - 1] == ')' ? 1 : 0);
    size_t n = place_length(text, len), at = len - n;
    const char *blank = memrchr(text->data, ' ', at);

    if (n == 0 || !blank)
        return false;
    if (blank[1] == '(')
        blank++;
    if (!is_source(text, at) && strncmp(blank + 1, "node:", 5) != 0)
        return false;
    fb_text_cut(text, at, n);
    return true;
}

/* "main.3f9a1c.js": at least six digits of a hash between the name and the ending. */
bool fb_rule_js_hash(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};

    for (const char *p = strstr(text->data + 1, "js"); p; p = strstr(p + 1, "js")) {
        size_t end = (size_t)(p - text->data) - 1, at, digits = 0;

        if (text->data[end] == 'm' || text->data[end] == 'c')
            end--;
        if (end < 8 || end >= text->len || text->data[end] != '.' || fb_text_is_word(p[2]))
            continue;
        for (at = end; at > 0 && fb_text_hex(text, at - 1) == end - at + 1; at--)
            digits += fb_text_is_digit(text->data[at - 1]) ? 1 : 0;
        if (end - at < 6 || digits == 0 || at < 2 ||
            (text->data[at - 1] != '.' && text->data[at - 1] != '-') ||
            !fb_text_is_word(text->data[at - 2]))
            continue;
        fb_edit_replace(&e, at - 1, end - at + 1, "");
    }
    return fb_edit_done(&e);
}

/* "/usr/lib/python3.11/json/x.py": where the interpreter stands, and its minor version. */
static bool cut_python_library(struct fb_buf *text, size_t path)
{
    static const char word[] = "/lib/python";
    struct fb_edit e = {.text = text};
    const char *p = strstr(text->data + path, word);
    size_t at, major, minor;

    if (!p || memchr(text->data + path, ' ', (size_t)(p - text->data) - path))
        return false;
    at = (size_t)(p - text->data);
    major = at + sizeof word - 1 + fb_text_digits(text, at + sizeof word - 1);
    minor = text->data[major] == '.' ? 1 + fb_text_digits(text, major + 1) : 0;
    if (major == at + sizeof word - 1 || text->data[major + minor] != '/')
        return false;
    if (at > path)
        fb_edit_replace(&e, path, at - path, "");
    if (minor > 1)
        fb_edit_replace(&e, major, minor, "");
    return fb_edit_done(&e);
}

/* "/srv/venv/lib/python3.11/site-packages/x.py": all in front of "/site-packages". */
bool fb_rule_python_path(struct fb_buf *text)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    const char *path = strchr(text->data, '/');

    if (!path || !strstr(path, ".py"))
        return false;
    for (size_t i = 0; i < 2; i++) {
        const char *p = strstr(path, folders[i]);

        if (p == path || (p && memchr(path, ' ', (size_t)(p - path))))
            return false;
        if (p) {
            fb_text_cut(text, (size_t)(path - text->data), (size_t)(p - path));
            return true;
        }
    }
    return cut_python_library(text, (size_t)(path - text->data));
}

static size_t levels(const struct fb_buf *text, size_t at)
{
    size_t n = fb_text_is_at(text, at, " (") ? fb_text_digits(text, at + 2) : 0;

    return n > 0 && fb_text_is_at(text, at + 2 + n, " levels) in ") ? n + 10 : 0;
}

/* "block (2 levels) in m" */
bool fb_rule_ruby_block(struct fb_buf *text)
{
    return fb_text_cut_behind(text, "block", levels);
}

/* "f[Tier1]", "f [OptimizedTier1]" */
bool fb_rule_dotnet_tier(struct fb_buf *text)
{
    static const char *const tiers[] = {
        "[Tier0]",        "[Tier1]",  "[OptimizedTier1]", "[Tier1OSR]",    "[Optimized]",
        "[MinOptJitted]", "[PreJIT]", "[ReadyToRun]",     "[QuickJitted]", "[OptimizedTier1OSR]",
        "[Instrumented]"};

    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        size_t at = text->len - strlen(tiers[i]);

        if (fb_text_ends(text, tiers[i]))
            return fb_text_truncate(text, at > 1 && text->data[at - 1] == ' ' ? at - 1 : at);
    }
    return false;
}

/* "+<>c__DisplayClass3_0", "/<>c" and the like in front of `at`: the class that holds variables. */
static size_t display_class(const struct fb_buf *text, size_t at)
{
    const char *p = text->data;
    size_t begin;

    for (begin = at; begin > 0 && fb_text_is_word(p[begin - 1]);)
        begin--;
    return begin > 2 && p[begin - 1] == '>' && p[begin - 2] == '<' && p[begin] == 'c' &&
                   strchr(".+/:", p[begin - 3])
               ? at - begin + 2 + 1
               : 0;
}

/* Behind "<Main>": "b__0_1" a lambda, "g__Local|0_1" a local function, "d__5.MoveNext" what is
 * async; the end, what it becomes (its name in [*ret_name, *ret_name_end)). */
static size_t generated_end(const struct fb_buf *text, size_t at, const char **ret_with,
                            size_t *ret_name, size_t *ret_name_end)
{
    const char *p = text->data;
    size_t end = at + 3;

    *ret_name = *ret_name_end = at;
    *ret_with = "/\xce\xbb";
    if (!p[at] || !fb_text_is_at(text, at + 1, "__"))
        return 0;
    if (p[at] == 'b' && fb_text_is_digit(p[end])) {
        end += strspn(p + end, "0123456789_");
    } else if (p[at] == 'd' && fb_text_is_digit(p[end])) {
        end += fb_text_digits(text, end);
        *ret_with = "/async";
        if (p[end] == ':' && p[end + 1] == ':')
            end++;
        if (p[end] && strchr(".+:/", p[end]) && fb_text_is_at(text, end + 1, "MoveNext"))
            end += 9;
    } else if (p[at] == 'g') {
        *ret_name = end;
        while (fb_text_is_word(p[end]))
            end++;
        *ret_name_end = end;
        *ret_with = "/";
        if (p[end] != '|')
            return 0;
        end += 1 + strspn(p + end + 1, "0123456789_");
    } else {
        return 0;
    }
    return fb_text_is_word(p[end]) ? 0 : end;
}

bool fb_rule_dotnet_generated(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};

    for (const char *p = strchr(text->data, '<'); p; p = strchr(p + 1, '<')) {
        size_t at = (size_t)(p - text->data), close = at + 1, end, display, name, name_end;
        const char *with;

        while (fb_text_is_word(text->data[close]))
            close++;
        if (close == at + 1 || text->data[close] != '>')
            continue;
        end = generated_end(text, close + 1, &with, &name, &name_end);
        if (end == 0)
            continue;
        display = at > 1 && !fb_text_is_word(text->data[at - 1]) ? display_class(text, at - 1) : 0;
        if (display > 0 && at - 1 - display >= e.from)
            fb_edit_replace(&e, at - 1 - display, display, "");
        fb_edit_replace(&e, at, 1, "");
        if (name_end > name) { /* a local function */
            fb_edit_replace(&e, close, name - close, with);
            fb_edit_replace(&e, name_end, end - name_end, "");
        } else {
            fb_edit_replace(&e, close, end - close, with);
        }
        p = text->data + end - 1;
    }
    return fb_edit_done(&e);
}

/* GraalVM native-image: Type_method_<SHA-1 of the signature>, and the stubs of its entry points. */
bool fb_rule_native_image(struct fb_buf *text)
{
    bool changed = false;
    const char *bar;

    while (text->len > 42 && text->data[text->len - 41] == '_' &&
           strspn(text->data + text->len - 40, "0123456789abcdef") == 40) {
        fb_text_truncate(text, text->len - 41);
        while (text->len > 1 && text->data[text->len - 1] == '_')
            fb_text_truncate(text, text->len - 1);
        changed = true;
    }
    bar = changed ? strchr(text->data, '_') : NULL;
    if (bar && bar > text->data && bar[1] && !strchr(bar + 1, '_') &&
        fb_text_is_upper(text->data[0]))
        text->data[bar - text->data] = '.';
    return changed;
}

/* One object of tests: {"leaf": ..., "under": [...], "not": {...}} compiled.
 *
 * Strict on purpose: a test that is silently not applied moves cost between the rows of a published
 * table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/rules.h"

static const char *kind_text(const struct fb_json *v)
{
    switch (fb_json_kind(v)) {
    case FB_JSON_MISSING:
        return "nothing";
    case FB_JSON_NULL:
        return "null";
    case FB_JSON_BOOL:
        return "true or false";
    case FB_JSON_NUMBER:
        return "a number";
    case FB_JSON_STRING:
        return "a string";
    case FB_JSON_ARRAY:
        return "a list";
    case FB_JSON_OBJECT:
        break;
    }
    return "an object";
}

/* `what` is the sentence's subject: "'leaf'". */
enum fb_status fb_json_want(const struct fb_json *v, enum fb_json_kind kind, const char *what,
                            const char *expected, struct fb_err *err)
{
    if (fb_json_kind(v) == kind)
        return FB_OK;
    return fb_fail(err, FB_EFORMAT, "%s is %s; %s was expected", what, kind_text(v), expected);
}

enum fb_status fb_json_only_keys(const struct fb_json *object, const char *keys, struct fb_err *err)
{
    const char *key;

    for (size_t i = 0; fb_json_member(object, i, &key); i++) {
        char quoted[64];

        (void)snprintf(quoted, sizeof quoted, " %s ", key);
        if (strchr(key, ' ') || strlen(key) > sizeof quoted - 4 || !strstr(keys, quoted))
            return fb_fail(err, FB_EFORMAT, "unknown key '%.60s'; one of%swas expected", key, keys);
    }
    return FB_OK;
}

/* A test's value is a string or a list of them: v itself, or its i-th item. */
static const struct fb_json *item_at(const struct fb_json *v, size_t i)
{
    return fb_json_kind(v) == FB_JSON_ARRAY ? fb_json_at(v, i) : v;
}

static enum fb_status items_check(const struct fb_json *v, const char *key, size_t *ret_count,
                                  struct fb_err *err)
{
    bool is_list = fb_json_kind(v) == FB_JSON_ARRAY;
    size_t count = is_list ? fb_json_count(v) : 1;

    if (is_list && count == 0)
        return fb_fail(err, FB_EFORMAT, "'%s' is an empty list; it would match nothing", key);
    if (count > FB_LAYERS_PATTERNS_MAX)
        return fb_fail(err, FB_ELIMIT, "'%s' has %zu items; at most %d were expected", key, count,
                       FB_LAYERS_PATTERNS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct fb_json *item = item_at(v, i);

        if (fb_json_kind(item) != FB_JSON_STRING)
            return fb_fail(err, FB_EFORMAT, "'%s' is %s%s; a string or a list of strings expected",
                           key, is_list ? "a list with " : "", kind_text(item));
    }
    *ret_count = count;
    return FB_OK;
}

/* As it stands in the file, but "operator<<" without JSON's escapes for web pages.  Tables make
 * control bytes harmless. */
static void quoted_put(struct fb_buf *out, const char *text)
{
    fb_buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fb_buf_putc(out, '\\');
        fb_buf_putc(out, *text);
    }
    fb_buf_putc(out, '"');
}

static void text_add(struct fb_buf *text, const char *key, const struct fb_json *v, size_t count)
{
    const char *comma =
        text->len > 0 && text->data[text->len - 1] != '(' && text->data[text->len - 1] != ' ' ? ", "
                                                                                              : "";

    fb_buf_printf(text, "%s%s ", comma, key);
    for (size_t i = 0; i < count; i++) {
        fb_buf_puts(text, i ? " | " : "");
        quoted_put(text, fb_json_string(item_at(v, i), ""));
    }
}

enum fb_status fb_pattern_compile(const char *text, struct fb_pattern *ret_pattern,
                                  struct fb_err *err)
{
    char *dotted;
    enum fb_status r = fb_regex_new(text, false, &ret_pattern->plain, err);

    if (r != FB_OK)
        return r;
    dotted = fb_pattern_dotted(text);
    if (dotted)
        r = fb_regex_new(dotted, false, &ret_pattern->dotted, err);
    free(dotted);
    return r;
}

enum fb_status fb_patterns_parse(const struct fb_json *object, const char *key,
                                 struct fb_patterns *ret_patterns, struct fb_buf *text,
                                 struct fb_err *err)
{
    const struct fb_json *v = fb_json_get(object, key);
    size_t count;
    enum fb_status r;

    if (!v)
        return FB_OK;
    r = items_check(v, key, &count, err);
    if (r != FB_OK)
        return r;
    ret_patterns->items = fb_alloc_array(count, sizeof *ret_patterns->items);
    for (size_t i = 0; i < count; i++) {
        const char *pattern = fb_json_string(item_at(v, i), "");

        if (!*pattern)
            return fb_fail(err, FB_EFORMAT, "'%s' is empty; it would match everything", key);
        ret_patterns->count++;
        r = fb_pattern_compile(pattern, &ret_patterns->items[i], err);
        if (r != FB_OK)
            return fb_within(err, "'%s'", key);
    }
    text_add(text, key, v, count);
    return FB_OK;
}

void fb_patterns_done(struct fb_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        fb_regex_free(patterns->items[i].plain);
        fb_regex_free(patterns->items[i].dotted);
    }
    free(patterns->items);
}

/* ---- words ---- */

struct words {
    const char *key;
    int count;
    const char *(*text)(int value);
};

static const char *kind_word(int value)
{
    return fb_frame_kind_text((enum fb_frame_kind)value);
}

static const char *tier_word(int value)
{
    return fb_tier_text((enum fb_tier)value);
}

/* The number of a word; -1 for none. */
static int word_find(const struct words *words, const char *word)
{
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->text(i), word) == 0)
            return i;
    return -1;
}

static enum fb_status words_parse(const struct fb_json *object, const struct words *words,
                                  uint32_t *ret_set, struct fb_buf *text, struct fb_err *err)
{
    const struct fb_json *v = fb_json_get(object, words->key);
    size_t count;
    enum fb_status r;

    if (!v)
        return FB_OK;
    r = items_check(v, words->key, &count, err);
    if (r != FB_OK)
        return r;
    for (size_t i = 0; i < count; i++) {
        const char *word = fb_json_string(item_at(v, i), "");
        int value = word_find(words, word);

        if (value < 0) {
            struct fb_buf all = {0};

            for (int k = 0; k < words->count; k++)
                fb_buf_printf(&all, "%s%s", k ? ", " : "", words->text(k));
            r = fb_fail(err, FB_EFORMAT, "'%s': no %s '%.40s'; one of %s was expected", words->key,
                        words->key, word, all.data);
            fb_buf_done(&all);
            return r;
        }
        *ret_set |= UINT32_C(1) << value;
    }
    text_add(text, words->key, v, count);
    return FB_OK;
}

enum fb_status fb_kinds_parse(const struct fb_json *object, uint32_t *ret_kinds,
                              struct fb_buf *text, struct fb_err *err)
{
    static const struct words kinds = {"kind", FB_FRAME_KIND_COUNT, kind_word};

    return words_parse(object, &kinds, ret_kinds, text, err);
}

/* ---- the object ---- */

static enum fb_status tests_parse(const struct fb_json *v, uint32_t *bits, struct fb_tests *tests,
                                  struct fb_buf *text, struct fb_err *err)
{
    static const char *const keys[FB_PART_COUNT] = {
        [FB_PART_LEAF] = "leaf",   [FB_PART_ANY] = "any",   [FB_PART_MODULE] = "module",
        [FB_PART_UNDER] = "under", [FB_PART_ROOT] = "root", [FB_PART_THREAD] = "thread"};
    static const enum fb_part order[] = {FB_PART_LEAF,  FB_PART_ANY,  FB_PART_MODULE,
                                         FB_PART_UNDER, FB_PART_ROOT, FB_PART_THREAD};
    static const struct words tiers = {"tier", FB_TIER_COUNT, tier_word};
    enum fb_status r = FB_OK;

    for (size_t i = 0; i < FB_PART_COUNT && r == FB_OK; i++) {
        enum fb_part part = order[i];

        if (part == FB_PART_UNDER) {
            r = fb_kinds_parse(v, &tests->kinds, text, err);
            if (r == FB_OK)
                r = words_parse(v, &tiers, &tests->tiers, text, err);
        }
        if (r == FB_OK)
            r = fb_patterns_parse(v, keys[part], &tests->on[part], text, err);
        if (fb_part_is_of_stack(part) && tests->on[part].count > 0)
            tests->bit[part] = (*bits)++;
    }
    return r;
}

static enum fb_status no_test(struct fb_err *err)
{
    return fb_fail(err, FB_EFORMAT,
                   "no test; one of leaf, any, module, kind, tier, under, root, thread, not was "
                   "expected, since without any it would match every stack");
}

static enum fb_status not_parse(const struct fb_json *v, uint32_t *bits, struct fb_rule *rule,
                                struct fb_buf *text, struct fb_err *err)
{
    enum fb_status r = fb_json_want(v, FB_JSON_OBJECT, "'not'", "an object with tests", err);

    if (r == FB_OK)
        r = fb_json_only_keys(v, " leaf any module kind tier under root thread ", err);
    if (r != FB_OK)
        return r;
    rule->has_not = true;
    fb_buf_puts(text, text->len > 0 ? ", not (" : "not (");
    r = tests_parse(v, bits, &rule->is_not, text, err);
    if (r == FB_OK && text->data[text->len - 1] == '(')
        r = no_test(err);
    if (r != FB_OK)
        return fb_within(err, "'not'");
    fb_buf_putc(text, ')');
    return FB_OK;
}

enum fb_status fb_rule_parse(const struct fb_json *v, const char *keys, uint32_t *bits,
                             struct fb_rule *ret_rule, struct fb_buf *text, struct fb_err *err)
{
    const struct fb_json *comment = fb_json_get(v, "comment"), *negated = fb_json_get(v, "not");
    char *all = fb_format("%sleaf any module kind tier under root thread not comment ", keys);
    enum fb_status r = fb_json_only_keys(v, all, err);

    free(all);
    if (r == FB_OK && comment)
        r = fb_json_want(comment, FB_JSON_STRING, "'comment'", "a string", err);
    if (r == FB_OK)
        r = tests_parse(v, bits, &ret_rule->is, text, err);
    if (r == FB_OK && negated)
        r = not_parse(negated, bits, ret_rule, text, err);
    if (r == FB_OK && text->len == 0)
        r = no_test(err);
    return r;
}

void fb_rule_done(struct fb_rule *rule)
{
    for (size_t i = 0; i < FB_PART_COUNT; i++) {
        fb_patterns_done(&rule->is.on[i]);
        fb_patterns_done(&rule->is_not.on[i]);
    }
}

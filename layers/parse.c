/* A rules file: JSON to compiled rules.
 *
 * Strict on purpose: a rule that is silently not applied moves cost between the rows of a published
 * table.  So an unknown key, a test of the wrong type, a layer that nobody declared and a pattern
 * that does not compile are errors, and each names the file, the rule and the key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "layers/color.h"
#include "layers/layers.h"
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

/* Fails unless v is of that kind.  `what` is the sentence's subject: "'leaf'". */
static enum fb_status want(const struct fb_json *v, enum fb_json_kind kind, const char *what,
                           const char *expected, struct fb_err *err)
{
    if (fb_json_kind(v) == kind)
        return FB_OK;
    return fb_fail(err, FB_EFORMAT, "%s is %s; %s was expected", what, kind_text(v), expected);
}

/* Fails at the first key of `object` that is not in keys (blank-separated, blanks at both ends). */
static enum fb_status only_keys(const struct fb_json *object, const char *keys, struct fb_err *err)
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

/* ---- layers ---- */

static bool is_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static size_t layer_find(const struct fb_layers *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->layers[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

static enum fb_status color_check(const char *color, struct fb_err *err)
{
    double contrast;

    if (!fb_color_valid(color))
        return fb_fail(err, FB_EFORMAT,
                       "'color' is '%.40s'; # and six hexadecimal digits were expected", color);
    contrast = fb_color_contrast(color, FB_COLOR_TEXT);
    if (contrast < FB_COLOR_CONTRAST_MIN)
        return fb_fail(err, FB_EFORMAT,
                       "'color' is %s, too dark for text on it (contrast %.1f against %s, at least "
                       "%.1f was expected)",
                       color, contrast, FB_COLOR_TEXT, FB_COLOR_CONTRAST_MIN);
    return FB_OK;
}

static enum fb_status layer_parse(struct fb_layers *l, const struct fb_json *v, struct fb_err *err)
{
    const struct fb_json *name = fb_json_get(v, "name"), *color = fb_json_get(v, "color"),
                         *description = fb_json_get(v, "description");
    const char *text = fb_json_string(name, "");
    struct fb_layer layer;
    enum fb_status r = want(v, FB_JSON_OBJECT, "the item", "an object with a 'name'", err);

    if (r == FB_OK)
        r = only_keys(v, " name color description ", err);
    if (r == FB_OK)
        r = want(name, FB_JSON_STRING, "'name'", "a string", err);
    if (r == FB_OK && color)
        r = want(color, FB_JSON_STRING, "'color'", "a string such as \"#8fbfe6\"", err);
    if (r == FB_OK && description)
        r = want(description, FB_JSON_STRING, "'description'", "a string", err);
    if (r == FB_OK && color)
        r = color_check(fb_json_string(color, ""), err);
    if (r != FB_OK)
        return r;
    if (!*text || strlen(text) > 60 || !is_line(text))
        return fb_fail(err, FB_EFORMAT, "'name' is not a name: 1 to 60 printable bytes expected");
    if (layer_find(l, text) != SIZE_MAX)
        return fb_fail(err, FB_EFORMAT, "layer '%s' is already layer %zu of the list", text,
                       layer_find(l, text) + 1);
    if (!is_line(fb_json_string(description, "")))
        return fb_fail(err, FB_EFORMAT, "'description' has control bytes; one line was expected");
    layer.name = fb_strdup(text);
    layer.color = fb_strdup(fb_json_string(color, fb_color_default(text, l->count)));
    layer.description = fb_strdup(fb_json_string(description, ""));
    l->layers[l->count++] = layer;
    return FB_OK;
}

/* Moves a declared "other" to the end, or adds one. */
static void other_last(struct fb_layers *l)
{
    size_t at = layer_find(l, FB_LAYERS_OTHER);
    struct fb_layer other;

    if (at == SIZE_MAX) {
        other.name = fb_strdup(FB_LAYERS_OTHER);
        other.color = fb_strdup(fb_color_default(FB_LAYERS_OTHER, 0));
        other.description = fb_strdup("what no rule matches");
        at = l->count++;
    } else {
        other = l->layers[at];
    }
    memmove(&l->layers[at], &l->layers[at + 1], (l->count - at - 1) * sizeof *l->layers);
    l->layers[l->count - 1] = other;
}

static enum fb_status layers_parse(struct fb_layers *l, const struct fb_json *list,
                                   struct fb_err *err)
{
    size_t count = fb_json_count(list);
    enum fb_status r = want(list, FB_JSON_ARRAY, "'layers'", "a list of objects", err);

    if (r != FB_OK)
        return r;
    if (count == 0)
        return fb_fail(err, FB_EFORMAT, "'layers' is empty; one layer at least was expected");
    if (count > FB_LAYERS_MAX)
        return fb_fail(err, FB_ELIMIT, "'layers' has %zu items; at most %d were expected", count,
                       FB_LAYERS_MAX);
    l->layers = fb_alloc_array(count + 1, sizeof *l->layers);
    for (size_t i = 0; i < count; i++) {
        r = layer_parse(l, fb_json_at(list, i), err);
        if (r != FB_OK)
            return fb_within(err, "'layers', item %zu", i + 1);
    }
    other_last(l);
    return FB_OK;
}

/* ---- rules ---- */

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

static void text_add(struct fb_buf *text, const char *key, const struct fb_json *v, size_t count)
{
    fb_buf_printf(text, "%s%s ", text->len ? ", " : "", key);
    for (size_t i = 0; i < count; i++) {
        const char *item = fb_json_string(item_at(v, i), "");

        fb_buf_puts(text, i ? " | " : "");
        fb_json_put_string(text, item, strlen(item));
    }
}

static enum fb_status patterns_parse(const struct fb_json *rule, const char *key,
                                     struct fb_patterns *patterns, struct fb_buf *text,
                                     struct fb_err *err)
{
    const struct fb_json *v = fb_json_get(rule, key);
    size_t count;
    enum fb_status r;

    if (!v)
        return FB_OK;
    r = items_check(v, key, &count, err);
    if (r != FB_OK)
        return r;
    patterns->items = fb_alloc_array(count, sizeof(struct fb_regex *));
    for (size_t i = 0; i < count; i++) {
        const char *pattern = fb_json_string(item_at(v, i), "");

        if (!*pattern)
            return fb_fail(err, FB_EFORMAT, "'%s' is empty; it would match everything", key);
        r = fb_regex_new(pattern, false, &patterns->items[i], err);
        if (r != FB_OK)
            return fb_within(err, "'%s'", key);
        patterns->count++;
    }
    text_add(text, key, v, count);
    return FB_OK;
}

static enum fb_status kinds_parse(const struct fb_json *rule, uint32_t *kinds, struct fb_buf *text,
                                  struct fb_err *err)
{
    const struct fb_json *v = fb_json_get(rule, "kind");
    size_t count;
    enum fb_status r;

    if (!v)
        return FB_OK;
    r = items_check(v, "kind", &count, err);
    if (r != FB_OK)
        return r;
    for (size_t i = 0; i < count; i++) {
        const char *word = fb_json_string(item_at(v, i), "");
        enum fb_frame_kind kind;

        if (!fb_frame_kind_parse(word, &kind)) {
            struct fb_buf all = {0};

            for (int k = 0; k < FB_FRAME_KIND_COUNT; k++)
                fb_buf_printf(&all, "%s%s", k ? ", " : "",
                              fb_frame_kind_text((enum fb_frame_kind)k));
            r = fb_fail(err, FB_EFORMAT, "'kind': no kind '%.40s'; one of %s was expected", word,
                        all.data);
            fb_buf_done(&all);
            return r;
        }
        *kinds |= UINT32_C(1) << kind;
    }
    text_add(text, "kind", v, count);
    return FB_OK;
}

static enum fb_status tests_parse(const struct fb_json *v, struct fb_rule_tests *tests,
                                  struct fb_buf *text, struct fb_err *err)
{
    enum fb_status r = patterns_parse(v, "leaf", &tests->leaf, text, err);

    if (r == FB_OK)
        r = patterns_parse(v, "module", &tests->module, text, err);
    if (r == FB_OK)
        r = kinds_parse(v, &tests->kinds, text, err);
    if (r == FB_OK)
        r = patterns_parse(v, "under", &tests->under, text, err);
    if (r == FB_OK && text->len == 0)
        return fb_fail(err, FB_EFORMAT,
                       "no test; one of leaf, module, kind, under was expected, since a rule "
                       "without any would match every stack");
    return r;
}

static enum fb_status rule_parse(struct fb_layers *l, const struct fb_json *v, struct fb_err *err)
{
    size_t at = l->rules_count, layer;
    const struct fb_json *name = fb_json_get(v, "layer"), *comment = fb_json_get(v, "comment");
    struct fb_buf text = {0};
    enum fb_status r = want(v, FB_JSON_OBJECT, "the item", "an object with a 'layer'", err);

    if (r == FB_OK)
        r = only_keys(v, " layer leaf module kind under comment ", err);
    if (r == FB_OK)
        r = want(name, FB_JSON_STRING, "'layer'", "the name of a layer", err);
    if (r == FB_OK && comment)
        r = want(comment, FB_JSON_STRING, "'comment'", "a string", err);
    if (r != FB_OK)
        return r;
    layer = layer_find(l, fb_json_string(name, ""));
    if (layer == SIZE_MAX)
        return fb_fail(err, FB_EFORMAT, "layer '%.60s' is not in the list 'layers'",
                       fb_json_string(name, ""));
    r = tests_parse(v, &l->tests[at], &text, err);
    l->rules[at].layer = (uint16_t)layer;
    l->rules[at].line = at + 1;
    l->rules[at].text = fb_buf_take(&text);
    l->rules_count++;
    if (l->tests[at].under.count > 0)
        l->tests[at].under_index = (uint32_t)l->under_count++;
    return r;
}

static enum fb_status rules_parse(struct fb_layers *l, const struct fb_json *list,
                                  struct fb_err *err)
{
    size_t count = fb_json_count(list);
    enum fb_status r = want(list, FB_JSON_ARRAY, "'rules'", "a list of objects", err);

    if (r != FB_OK)
        return r;
    if (count > FB_LAYERS_RULES_MAX)
        return fb_fail(err, FB_ELIMIT, "'rules' has %zu items; at most %d were expected", count,
                       FB_LAYERS_RULES_MAX);
    l->rules = fb_alloc_array(count, sizeof *l->rules);
    l->tests = fb_alloc_array(count, sizeof *l->tests);
    for (size_t i = 0; i < count; i++) {
        r = rule_parse(l, fb_json_at(list, i), err);
        if (r != FB_OK)
            return fb_within(err, "rule %zu", i + 1);
    }
    return FB_OK;
}

static enum fb_status document_parse(struct fb_layers *l, const struct fb_json *root,
                                     struct fb_err *err)
{
    enum fb_status r =
        want(root, FB_JSON_OBJECT, "the file", "an object with 'layers' and 'rules'", err);

    if (r == FB_OK)
        r = only_keys(root, " description layers rules ", err);
    if (r == FB_OK && fb_json_get(root, "description"))
        r = want(fb_json_get(root, "description"), FB_JSON_STRING, "'description'", "a string",
                 err);
    if (r == FB_OK)
        r = layers_parse(l, fb_json_get(root, "layers"), err);
    if (r == FB_OK)
        r = rules_parse(l, fb_json_get(root, "rules"), err);
    return r;
}

enum fb_status fb_layers_parse(const char *text, size_t len, const char *name,
                               struct fb_layers **ret_layers, struct fb_err *err)
{
    struct fb_json_doc *doc;
    struct fb_layers *l;
    enum fb_status r;

    if (len > FB_LAYERS_TEXT_MAX)
        return fb_fail(err, FB_ELIMIT, "%s: %zu bytes; a rules file has at most %d", name, len,
                       FB_LAYERS_TEXT_MAX);
    r = fb_json_parse(text, len, FB_JSON_STRICT, &doc, NULL, err);
    if (r != FB_OK)
        return fb_within(err, "%s", name);
    l = fb_alloc(sizeof *l);
    l->name = fb_strdup(name);
    r = document_parse(l, fb_json_root(doc), err);
    fb_json_free(doc);
    if (r != FB_OK) {
        fb_layers_free(l);
        return fb_within(err, "%s", name);
    }
    *ret_layers = l;
    return FB_OK;
}

/* A rules file and its includes: JSON to compiled rules.
 *
 * Three passes over the documents in their order of precedence: groups, then layers (a layer of the
 * same name is one layer: what the first file says of it counts, what it leaves out the next may
 * say), then everything that refers to layers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "layers/color.h"
#include "layers/layers.h"
#include "layers/rules.h"

static const char *const rollups[FB_ROLLUP_COUNT] = {
    "syscalls", "runtime", "transport", "codec", "JIT/GC", "application", "other"};

const char *fb_rollup_text(enum fb_rollup rollup)
{
    return rollups[rollup];
}

struct parser {
    struct fb_layers *l;
    const struct fb_source *source;
    size_t *declared;                       /* by layer: 1 + the source that declared it last */
    const char *group_names[FB_LAYERS_MAX]; /* by layer: its group as written; NULL */
    size_t source_index, boundaries_before; /* those of earlier sources */
};

static const struct fb_json *member(const struct parser *p, const char *key)
{
    return fb_json_get(fb_json_root(p->source->doc), key);
}

static bool is_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static enum fb_status want_string(const struct fb_json *object, const char *key, bool required,
                                  const char *expected, struct fb_err *err)
{
    const struct fb_json *v = fb_json_get(object, key);
    char subject[32];

    if (!v && !required)
        return FB_OK;
    (void)snprintf(subject, sizeof subject, "'%s'", key);
    return fb_json_want(v, FB_JSON_STRING, subject, expected, err);
}

/* 'name' and 'description' of an item. */
static enum fb_status name_check(const struct fb_json *v, struct fb_err *err)
{
    const char *name = fb_json_string(fb_json_get(v, "name"), "");
    enum fb_status r = want_string(v, "name", true, "a string", err);

    if (r == FB_OK)
        r = want_string(v, "description", false, "a string", err);
    if (r != FB_OK)
        return r;
    if (!*name || strlen(name) > 60 || !is_line(name))
        return fb_fail(err, FB_EFORMAT, "'name' is not a name: 1 to 60 printable bytes expected");
    if (!is_line(fb_json_string(fb_json_get(v, "description"), "")))
        return fb_fail(err, FB_EFORMAT, "'description' has control bytes; one line was expected");
    return FB_OK;
}

/* Calls item() for each of the list `key`, which may be missing. */
typedef enum fb_status (*item_fn)(struct parser *p, const struct fb_json *v, size_t i,
                                  struct fb_err *err);

static enum fb_status each(struct parser *p, const char *key, const char *item_text, size_t most,
                           item_fn item, struct fb_err *err)
{
    const struct fb_json *list = member(p, key);
    size_t count = fb_json_count(list);
    char subject[32];
    enum fb_status r;

    if (!list)
        return FB_OK;
    (void)snprintf(subject, sizeof subject, "'%s'", key);
    r = fb_json_want(list, FB_JSON_ARRAY, subject, "a list of objects", err);
    if (r == FB_OK && count > most)
        r = fb_fail(err, FB_ELIMIT, "'%s' has %zu items; at most %zu were expected", key, count,
                    most);
    for (size_t i = 0; r == FB_OK && i < count; i++) {
        r = item(p, fb_json_at(list, i), i, err);
        if (r != FB_OK)
            (void)fb_within(err, "%s %zu", item_text, i + 1);
    }
    return r;
}

/* ---- groups ---- */

static uint16_t group_find(const struct fb_layers *l, const char *name)
{
    for (size_t i = 0; i < l->groups_count; i++)
        if (strcmp(l->groups[i].name, name) == 0)
            return (uint16_t)i;
    return FB_NO_GROUP;
}

static enum fb_status group_parse(struct parser *p, const struct fb_json *v, size_t i,
                                  struct fb_err *err)
{
    struct fb_layers *l = p->l;
    enum fb_status r = fb_json_want(v, FB_JSON_OBJECT, "the item", "an object with a 'name'", err);
    const char *name;

    (void)i;
    if (r == FB_OK)
        r = fb_json_only_keys(v, " name description ", err);
    if (r == FB_OK)
        r = name_check(v, err);
    if (r != FB_OK)
        return r;
    name = fb_json_string(fb_json_get(v, "name"), "");
    if (group_find(l, name) != FB_NO_GROUP)
        return FB_OK; /* of an earlier file, or said twice: the first counts */
    if (l->groups_count == FB_LAYERS_MAX)
        return fb_fail(err, FB_ELIMIT, "one group too many; at most %d were expected",
                       FB_LAYERS_MAX);
    fb_vec_reserve(&l->groups, &l->groups_room, l->groups_count + 1, sizeof *l->groups);
    l->groups[l->groups_count++] = (struct fb_layer_group){
        .name = fb_strdup(name),
        .description = fb_strdup(fb_json_string(fb_json_get(v, "description"), "")),
    };
    return FB_OK;
}

/* ---- layers ---- */

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

/* What a layer comes down to if its file does not say: by its name. */
static enum fb_rollup rollup_guess(const char *name)
{
    static const struct {
        const char *name;
        enum fb_rollup rollup;
    } more[] = {{"jit", FB_ROLLUP_JIT_GC},
                {"gc", FB_ROLLUP_JIT_GC},
                {"kernel", FB_ROLLUP_SYSCALLS},
                {"stdlib", FB_ROLLUP_RUNTIME}};

    for (int i = 0; i < FB_ROLLUP_COUNT; i++)
        if (strcasecmp(rollups[i], name) == 0)
            return (enum fb_rollup)i;
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (strcasecmp(more[i].name, name) == 0)
            return more[i].rollup;
    return FB_ROLLUP_OTHER;
}

static enum fb_status rollup_parse(const struct fb_json *v, struct fb_layer *layer,
                                   struct fb_err *err)
{
    const struct fb_json *rollup = fb_json_get(v, "rollup");
    const char *word = fb_json_string(rollup, "");

    if (!rollup || layer->has_rollup)
        return FB_OK;
    for (int i = 0; i < FB_ROLLUP_COUNT; i++) {
        if (strcmp(rollups[i], word) == 0) {
            layer->rollup = (enum fb_rollup)i;
            layer->has_rollup = true;
            return FB_OK;
        }
    }
    return fb_fail(err, FB_EFORMAT,
                   "'rollup': no row '%.40s'; one of syscalls, runtime, transport, codec, JIT/GC, "
                   "application, other was expected",
                   word);
}

static enum fb_status layer_check(const struct fb_json *v, struct fb_err *err)
{
    const struct fb_json *color = fb_json_get(v, "color");
    enum fb_status r = fb_json_want(v, FB_JSON_OBJECT, "the item", "an object with a 'name'", err);

    if (r == FB_OK)
        r = fb_json_only_keys(v, " name color description group rollup ", err);
    if (r == FB_OK)
        r = want_string(v, "name", true, "a string", err);
    if (r == FB_OK)
        r = want_string(v, "color", false, "a string such as \"#8fbfe6\"", err);
    if (r == FB_OK)
        r = want_string(v, "group", false, "the name of a group", err);
    if (r == FB_OK)
        r = want_string(v, "rollup", false, "one of the rows that all presets share", err);
    if (r == FB_OK && color)
        r = color_check(fb_json_string(color, ""), err);
    return r == FB_OK ? name_check(v, err) : r;
}

static enum fb_status layer_parse(struct parser *p, const struct fb_json *v, size_t i,
                                  struct fb_err *err)
{
    struct fb_layers *l = p->l;
    enum fb_status r = layer_check(v, err);
    const char *name, *text;
    struct fb_layer *layer;
    size_t at;

    (void)i;
    if (r != FB_OK)
        return r;
    name = fb_json_string(fb_json_get(v, "name"), "");
    at = layer_find(l, name);
    if (at != SIZE_MAX && p->declared[at] == p->source_index + 1)
        return fb_fail(err, FB_EFORMAT, "layer '%s' is already layer %zu of the list", name,
                       at + 1);
    if (at == SIZE_MAX && l->count == FB_LAYERS_MAX)
        return fb_fail(err, FB_ELIMIT, "one layer too many; at most %d were expected",
                       FB_LAYERS_MAX);
    if (at == SIZE_MAX) {
        at = l->count++;
        l->layers[at] = (struct fb_layer){.name = fb_strdup(name), .group = FB_NO_GROUP};
    }
    layer = &l->layers[at];
    p->declared[at] = p->source_index + 1;
    if (!layer->color && (text = fb_json_string(fb_json_get(v, "color"), NULL)))
        layer->color = fb_strdup(text);
    if (!layer->description && (text = fb_json_string(fb_json_get(v, "description"), NULL)))
        layer->description = fb_strdup(text);
    if (!p->group_names[at])
        p->group_names[at] = fb_json_string(fb_json_get(v, "group"), NULL);
    return rollup_parse(v, layer, err);
}

/* Moves a declared "other" to the end, or adds one. */
static void other_last(struct parser *p)
{
    struct fb_layers *l = p->l;
    size_t at = layer_find(l, FB_LAYERS_OTHER);
    struct fb_layer other = {.group = FB_NO_GROUP};
    const char *group = NULL;

    if (at == SIZE_MAX) {
        other.name = fb_strdup(FB_LAYERS_OTHER);
        other.description = fb_strdup("what no rule matches");
        at = l->count++;
    } else {
        other = l->layers[at];
        group = p->group_names[at];
    }
    memmove(&l->layers[at], &l->layers[at + 1], (l->count - at - 1) * sizeof *l->layers);
    memmove(&p->group_names[at], &p->group_names[at + 1],
            (l->count - at - 1) * sizeof *p->group_names);
    l->layers[l->count - 1] = other;
    p->group_names[l->count - 1] = group;
}

/* What the files left out: colours by name or position, the roll-up by name, groups by name. */
static enum fb_status layers_finish(struct parser *p, struct fb_err *err)
{
    struct fb_layers *l = p->l;

    other_last(p);
    for (size_t i = 0; i < l->count; i++) {
        struct fb_layer *layer = &l->layers[i];
        const char *group = p->group_names[i];

        if (!layer->color)
            layer->color = fb_strdup(fb_color_default(layer->name, i));
        if (!layer->description)
            layer->description = fb_strdup("");
        if (!layer->has_rollup)
            layer->rollup = rollup_guess(layer->name);
        layer->group = group_find(l, group ? group : layer->name);
        if (group && layer->group == FB_NO_GROUP)
            return fb_fail(err, FB_EFORMAT, "layer '%s': group '%.60s' is not in the list 'groups'",
                           layer->name, group);
    }
    return FB_OK;
}

/* ---- rules ---- */

static enum fb_status layer_of(const struct parser *p, const char *name, uint16_t *ret_layer,
                               struct fb_err *err)
{
    size_t layer = layer_find(p->l, name);

    if (layer == SIZE_MAX)
        return fb_fail(err, FB_EFORMAT, "layer '%.60s' is not in the list 'layers'", name);
    *ret_layer = (uint16_t)layer;
    return FB_OK;
}

static enum fb_status charge_parse(const struct fb_json *v, bool *ret_to_caller, struct fb_err *err)
{
    const struct fb_json *charge = fb_json_get(v, "charge");
    const char *word = fb_json_string(charge, "");

    *ret_to_caller = false;
    if (!charge)
        return FB_OK;
    if (strcmp(word, "caller") != 0 && strcmp(word, "self") != 0)
        return fb_fail(err, FB_EFORMAT, "'charge' is '%.40s'; caller or self was expected", word);
    *ret_to_caller = word[0] == 'c';
    return FB_OK;
}

static void threads_note(struct fb_layers *l, const struct fb_rule *rule)
{
    l->needs_threads |=
        rule->is.on[FB_PART_THREAD].count > 0 || rule->is_not.on[FB_PART_THREAD].count > 0;
}

static enum fb_status rule_parse(struct parser *p, const struct fb_json *v, size_t i,
                                 struct fb_err *err)
{
    struct fb_layers *l = p->l;
    struct fb_layer_rule *out = &l->rules[l->rules_count];
    struct fb_rule *rule = &l->tests[l->rules_count];
    const struct fb_json *name = fb_json_get(v, "layer");
    struct fb_buf text = {0};
    enum fb_status r = fb_json_want(v, FB_JSON_OBJECT, "the item", "an object with a 'layer'", err);

    l->rules_count++;
    out->file = p->l->files[p->source_index];
    out->line = i + 1;
    if (r == FB_OK)
        r = want_string(v, "charge", false, "caller or self", err);
    if (r == FB_OK)
        r = charge_parse(v, &rule->to_caller, err);
    if (r == FB_OK)
        r = fb_rule_parse(v, " layer charge ", &l->bits, rule, &text, err);
    if (r == FB_OK)
        r = fb_json_want(name, FB_JSON_STRING, "'layer'", "the name of a layer", err);
    if (r == FB_OK)
        r = layer_of(p, fb_json_string(name, ""), &out->layer, err);
    if (rule->to_caller)
        fb_buf_puts(&text, ", charge caller");
    out->text = fb_buf_take(&text);
    threads_note(l, rule);
    return r;
}

static enum fb_status transparent_parse(struct parser *p, const struct fb_json *v, size_t i,
                                        struct fb_err *err)
{
    struct fb_layers *l = p->l;
    struct fb_layer_rule *out = &l->transparent_rules[l->transparent_count];
    struct fb_rule *rule = &l->transparent[l->transparent_count];
    struct fb_buf text = {0};
    enum fb_status r = fb_json_want(v, FB_JSON_OBJECT, "the item", "an object with tests", err);

    l->transparent_count++;
    *out = (struct fb_layer_rule){
        .layer = FB_NO_LAYER, .file = l->files[p->source_index], .line = i + 1};
    if (r == FB_OK)
        r = fb_rule_parse(v, " ", &l->bits, rule, &text, err);
    rule->to_caller = true;
    out->text = fb_buf_take(&text);
    threads_note(l, rule);
    return r;
}

static size_t boundary_find(const struct fb_layers *l, const char *name)
{
    for (size_t i = 0; i < l->boundaries_count; i++)
        if (strcmp(l->boundaries[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

static enum fb_status boundary_check(const struct parser *p, const struct fb_json *v,
                                     const char *name, const char *layer, struct fb_err *err)
{
    enum fb_status r = fb_json_want(v, FB_JSON_OBJECT, "the item", "an object with 'frames'", err);
    size_t at;

    if (r == FB_OK)
        r = fb_json_only_keys(v, " name layer frames module kind comment ", err);
    if (r == FB_OK)
        r = want_string(v, "layer", false, "the name of a layer", err);
    if (r == FB_OK)
        r = want_string(v, "name", !layer, "a string", err);
    if (r == FB_OK)
        r = want_string(v, "comment", false, "a string", err);
    if (r == FB_OK && (!*name || strlen(name) > 60 || !is_line(name)))
        r = fb_fail(err, FB_EFORMAT, "'name' is not a name: 1 to 60 printable bytes expected");
    if (r != FB_OK)
        return r;
    at = boundary_find(p->l, name);
    if (at != SIZE_MAX && at >= p->boundaries_before)
        r = fb_fail(err, FB_EFORMAT, "boundary '%s' is in the list already", name);
    return r;
}

static enum fb_status boundary_parse(struct parser *p, const struct fb_json *v, size_t i,
                                     struct fb_err *err)
{
    struct fb_layers *l = p->l;
    const char *layer = fb_json_string(fb_json_get(v, "layer"), NULL);
    const char *name = fb_json_string(fb_json_get(v, "name"), layer);
    struct fb_boundary_tests *tests = &l->boundary_tests[l->boundaries_count];
    struct fb_boundary out = {.layer = FB_NO_LAYER};
    struct fb_buf text = {0};
    enum fb_status r = boundary_check(p, v, name, layer, err);

    (void)i;
    if (r == FB_OK && layer)
        r = layer_of(p, layer, &out.layer, err);
    if (r != FB_OK)
        return r;
    if (boundary_find(l, name) != SIZE_MAX)
        return FB_OK; /* an earlier file's: a project says anew where its boundary is */
    if (l->boundaries_count == FB_LAYERS_BOUNDARIES_MAX)
        return fb_fail(err, FB_ELIMIT, "one boundary too many; at most %d were expected",
                       FB_LAYERS_BOUNDARIES_MAX);
    if (!layer && layer_find(l, name) != SIZE_MAX)
        out.layer = (uint16_t)layer_find(l, name);
    out.name = fb_strdup(name);
    l->boundaries[l->boundaries_count++] = out;
    r = fb_patterns_parse(v, "frames", &tests->frames, &text, err);
    if (r == FB_OK)
        r = fb_patterns_parse(v, "module", &tests->module, &text, err);
    if (r == FB_OK)
        r = fb_kinds_parse(v, &tests->kinds, &text, err);
    if (r == FB_OK && text.len == 0)
        r = fb_fail(err, FB_EFORMAT, "no test; one of frames, module, kind was expected");
    l->boundaries[l->boundaries_count - 1].text = fb_buf_take(&text);
    return r;
}

/* ---- the documents ---- */

static enum fb_status root_check(const struct parser *p, struct fb_err *err)
{
    const struct fb_json *root = fb_json_root(p->source->doc);
    bool includes;
    enum fb_status r =
        fb_json_want(root, FB_JSON_OBJECT, "the file", "an object with 'layers' and 'rules'", err);

    if (r == FB_OK)
        r = fb_json_only_keys(root,
                              " description include charge groups layers rules boundaries "
                              "transparent ",
                              err);
    if (r == FB_OK)
        r = want_string(root, "description", false, "a string", err);
    if (r == FB_OK)
        r = want_string(root, "charge", false, "caller or self", err);
    if (r != FB_OK)
        return r;
    includes = fb_json_get(root, "include") != NULL;
    if (!includes || fb_json_get(root, "layers"))
        r = fb_json_want(fb_json_get(root, "layers"), FB_JSON_ARRAY, "'layers'",
                         "a list of objects", err);
    if (r == FB_OK && !includes && fb_json_count(fb_json_get(root, "layers")) == 0)
        r = fb_fail(err, FB_EFORMAT, "'layers' is empty; one layer at least was expected");
    if (r == FB_OK && !includes)
        r = fb_json_want(fb_json_get(root, "rules"), FB_JSON_ARRAY, "'rules'", "a list of objects",
                         err);
    return r;
}

/* The first file that says how to charge decides. */
static enum fb_status charge_default(struct parser *p, bool *said, struct fb_err *err)
{
    if (*said || !member(p, "charge"))
        return FB_OK;
    *said = true;
    return charge_parse(fb_json_root(p->source->doc), &p->l->charge_caller, err);
}

/* Room for all rules, transparent frames and boundaries of all sources, so that pointers to them
 * stay. */
static enum fb_status rules_reserve(struct fb_layers *l, const struct fb_sources *sources,
                                    struct fb_err *err)
{
    size_t rules = 0, transparent = 0;

    for (size_t i = 0; i < sources->count; i++) {
        const struct fb_json *root = fb_json_root(sources->items[i].doc);

        rules += fb_json_count(fb_json_get(root, "rules"));
        transparent += fb_json_count(fb_json_get(root, "transparent"));
    }
    if (rules > FB_LAYERS_RULES_MAX || transparent > FB_LAYERS_RULES_MAX)
        return fb_fail(err, FB_ELIMIT, "%zu rules with those included; at most %d were expected",
                       rules > transparent ? rules : transparent, FB_LAYERS_RULES_MAX);
    l->rules = fb_alloc_array(rules, sizeof *l->rules);
    l->tests = fb_alloc_array(rules, sizeof *l->tests);
    l->transparent = fb_alloc_array(transparent, sizeof *l->transparent);
    l->transparent_rules = fb_alloc_array(transparent, sizeof *l->transparent_rules);
    l->boundaries = fb_alloc_array(FB_LAYERS_BOUNDARIES_MAX + 1, sizeof *l->boundaries);
    l->boundary_tests = fb_alloc_array(FB_LAYERS_BOUNDARIES_MAX + 1, sizeof *l->boundary_tests);
    return FB_OK;
}

enum pass { PASS_ROOT, PASS_LAYERS, PASS_RULES };

static enum fb_status source_pass(struct parser *p, enum pass pass, bool *charge_said,
                                  struct fb_err *err)
{
    enum fb_status r;

    switch (pass) {
    case PASS_ROOT:
        r = root_check(p, err);
        return r == FB_OK ? charge_default(p, charge_said, err) : r;
    case PASS_LAYERS:
        r = each(p, "groups", "'groups', item", FB_LAYERS_MAX, group_parse, err);
        return r == FB_OK ? each(p, "layers", "'layers', item", FB_LAYERS_MAX, layer_parse, err)
                          : r;
    case PASS_RULES:
        break;
    }
    r = each(p, "rules", "rule", FB_LAYERS_RULES_MAX, rule_parse, err);
    if (r == FB_OK)
        r = each(p, "transparent", "'transparent', item", FB_LAYERS_RULES_MAX, transparent_parse,
                 err);
    if (r == FB_OK)
        r = each(p, "boundaries", "'boundaries', item", FB_LAYERS_BOUNDARIES_MAX, boundary_parse,
                 err);
    return r;
}

static enum fb_status sources_parse(struct fb_layers *l, const struct fb_sources *sources,
                                    struct fb_err *err)
{
    size_t declared[FB_LAYERS_MAX + 1] = {0};
    struct parser p = {.l = l, .declared = declared};
    bool charge_said = false;
    enum fb_status r = rules_reserve(l, sources, err);

    if (r != FB_OK)
        return fb_within(err, "%s", l->name);
    l->layers = fb_alloc_array(FB_LAYERS_MAX + 1, sizeof *l->layers);
    for (size_t i = 0; i < sources->count; i++)
        l->files[l->files_count++] = fb_strdup(sources->items[i].name);
    for (int pass = PASS_ROOT; pass <= PASS_RULES; pass++) {
        for (size_t i = 0; i < sources->count; i++) {
            p.source = &sources->items[i];
            p.source_index = i;
            p.boundaries_before = l->boundaries_count;
            r = source_pass(&p, (enum pass)pass, &charge_said, err);
            if (r != FB_OK)
                return fb_within(err, "%s", p.source->name);
        }
        if (pass == PASS_LAYERS)
            r = layers_finish(&p, err);
        if (r != FB_OK)
            return fb_within(err, "%s", l->name);
    }
    return FB_OK;
}

enum fb_status fb_layers_parse(const char *text, size_t len, const char *name,
                               struct fb_layers **ret_layers, struct fb_err *err)
{
    struct fb_sources sources;
    struct fb_layers *l;
    enum fb_status r = fb_sources_load(&sources, text, len, name, err);

    if (r != FB_OK) {
        fb_sources_done(&sources);
        return r;
    }
    l = fb_alloc(sizeof *l);
    l->name = fb_strdup(name);
    r = sources_parse(l, &sources, err);
    fb_sources_done(&sources);
    if (r != FB_OK) {
        fb_layers_free(l);
        return r;
    }
    *ret_layers = l;
    return FB_OK;
}

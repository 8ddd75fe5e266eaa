/* Keys by node. */
#include "layers/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "layers/rules.h"

static const char *const words[FB_BY_COUNT] = {"layer",   "group",  "rollup", "thread",
                                               "package", "module", "tier",   "frame"};

const char *fb_by_text(enum fb_by by)
{
    return words[by];
}

bool fb_by_parse(const char *text, enum fb_by *ret_by)
{
    for (int i = 0; i < FB_BY_COUNT; i++) {
        if (strcmp(words[i], text) == 0) {
            *ret_by = (enum fb_by)i;
            return true;
        }
    }
    return false;
}

/* The key of that name, added if new. */
static uint32_t key_put(struct fb_keys *keys, const char *name, size_t len)
{
    uint64_t hash = fb_hash_bytes(name, len);
    struct fb_index_cursor at = fb_index_seek(&keys->index, hash);
    uint32_t i;

    while (fb_index_step(&keys->index, &at, &i))
        if (strlen(keys->names[i]) == len && memcmp(keys->names[i], name, len) == 0)
            return i;
    fb_vec_reserve(&keys->names, &keys->room, keys->count + 1, sizeof *keys->names);
    fb_index_add(&keys->index, hash, (uint32_t)keys->count);
    keys->names[keys->count] = fb_strndup(name, len);
    return (uint32_t)keys->count++;
}

static uint32_t key_put_z(struct fb_keys *keys, const char *name)
{
    return key_put(keys, name, strlen(name));
}

/* ---- by layer: the order of the rules ---- */

static void by_layer(struct fb_keys *keys, enum fb_by by, const struct fb_layers *layers,
                     const uint16_t *layer_of_node, const struct fb_calltree *tree)
{
    uint32_t *key = fb_alloc_array(layers->count, sizeof *key);

    keys->is_ordered = true;
    for (int i = 0; by == FB_BY_ROLLUP && i < FB_ROLLUP_COUNT; i++)
        (void)key_put_z(keys, fb_rollup_text((enum fb_rollup)i));
    for (size_t i = 0; by == FB_BY_GROUP && i < layers->groups_count; i++)
        (void)key_put_z(keys, layers->groups[i].name);
    for (size_t i = 0; i < layers->count; i++) {
        const struct fb_layer *layer = &layers->layers[i];

        if (by == FB_BY_ROLLUP)
            key[i] = (uint32_t)layer->rollup;
        else if (by == FB_BY_GROUP && layer->group != FB_NO_GROUP)
            key[i] = layer->group;
        else
            key[i] = key_put_z(keys, layer->name);
    }
    for (size_t n = 0; n < tree->count; n++)
        keys->of_node[n] = key[layer_of_node[n]];
    free(key);
}

static void by_tier(struct fb_keys *keys, const struct fb_calltree *tree,
                    const struct fb_functions *fns)
{
    keys->is_ordered = true;
    for (int i = 0; i < FB_TIER_COUNT; i++)
        (void)key_put_z(keys, fb_tier_text((enum fb_tier)((i + 1) % FB_TIER_COUNT)));
    for (size_t n = 0; n < tree->count; n++)
        keys->of_node[n] =
            ((uint32_t)fb_function_tier(&fns->items[tree->nodes[n].function]) + FB_TIER_COUNT - 1) %
            FB_TIER_COUNT;
}

/* ---- by function ---- */

static void function_text(enum fb_by by, size_t depth, const struct fb_functions *fns, uint32_t id,
                          struct fb_buf *out)
{
    const struct fb_function *f = &fns->items[id];
    const struct fb_string *text = &fns->strings.items[by == FB_BY_MODULE ? f->module : f->name];

    if (id == 0)
        fb_buf_puts(out, "(no stack)");
    else if (by == FB_BY_PACKAGE)
        fb_package_name(fns, id, depth, out);
    else if (text->len == 0)
        fb_buf_puts(out, f->kind == FB_FRAME_KERNEL ? "[kernel]" : "(no module)");
    else
        fb_buf_add(out, text->text, text->len);
}

static void by_function(struct fb_keys *keys, enum fb_by by, size_t depth,
                        const struct fb_calltree *tree, const struct fb_functions *fns)
{
    uint32_t *key = fb_alloc_array(fns->count, sizeof *key);
    struct fb_buf text = {0};

    for (uint32_t f = 0; f < fns->count; f++)
        key[f] = UINT32_MAX;
    for (size_t n = 0; n < tree->count; n++) {
        uint32_t f = tree->nodes[n].function;

        if (key[f] == UINT32_MAX) {
            text.len = 0;
            function_text(by, depth, fns, f, &text);
            key[f] = key_put(keys, text.data, text.len);
        }
        keys->of_node[n] = key[f];
    }
    fb_buf_done(&text);
    free(key);
}

static void by_thread(struct fb_keys *keys, const struct fb_calltree *tree,
                      const struct fb_functions *fns)
{
    struct fb_buf text = {0};

    keys->of_node[0] = key_put_z(keys, "(no thread)");
    for (size_t n = 1; n < tree->count; n++) {
        uint32_t parent = tree->nodes[n].parent;

        text.len = 0;
        keys->of_node[n] = keys->of_node[parent];
        if (parent == 0 && fb_function_is_thread(fns, tree->nodes[n].function, &text))
            keys->of_node[n] = key_put(keys, text.data ? text.data : "", text.len);
    }
    fb_buf_done(&text);
}

void fb_keys_make(struct fb_keys *ret_keys, enum fb_by by, size_t depth,
                  const struct fb_layers *layers, const uint16_t *layer_of_node,
                  const struct fb_calltree *tree, const struct fb_functions *fns)
{
    *ret_keys = (struct fb_keys){.of_node = fb_alloc_array(tree->count, sizeof(uint32_t))};
    switch (by) {
    case FB_BY_LAYER:
    case FB_BY_GROUP:
    case FB_BY_ROLLUP:
        by_layer(ret_keys, by, layers, layer_of_node, tree);
        break;
    case FB_BY_TIER:
        by_tier(ret_keys, tree, fns);
        break;
    case FB_BY_THREAD:
        by_thread(ret_keys, tree, fns);
        break;
    case FB_BY_PACKAGE:
    case FB_BY_MODULE:
    case FB_BY_FRAME:
    case FB_BY_COUNT:
        by_function(ret_keys, by, depth, tree, fns);
        break;
    }
}

void fb_keys_done(struct fb_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        free(keys->names[i]);
    free(keys->names);
    free(keys->of_node);
    fb_index_done(&keys->index);
    *keys = (struct fb_keys){0};
}

/* ---- frames by a pattern ---- */

static enum fb_status match_all(const struct fb_pattern *p, const struct fb_functions *fns,
                                uint8_t *matches, struct fb_err *err)
{
    struct fb_buf scratch = {0};
    enum fb_status r = FB_OK;

    for (uint32_t f = 1; f < fns->count && r == FB_OK; f++) {
        const struct fb_string *name = &fns->strings.items[fns->items[f].name];
        struct fb_name_view view = fb_name_view(name->text, name->len, &scratch);
        const struct fb_regex *regex = view.is_dotted && p->dotted ? p->dotted : p->plain;
        enum fb_regex_found found = fb_regex_find(regex, view.text, view.len);

        matches[f] = found == FB_REGEX_YES;
        if (found == FB_REGEX_LIMIT)
            r = fb_fail(err, FB_ELIMIT,
                        "the pattern '%.200s' was given up after too many steps on the frame "
                        "'%.*s'",
                        fb_regex_pattern(p->plain), (int)(view.len > 100 ? 100 : view.len),
                        view.text);
    }
    fb_buf_done(&scratch);
    return r;
}

enum fb_status fb_frames_match(const char *pattern, const struct fb_functions *fns,
                               uint8_t **ret_matches, struct fb_err *err)
{
    struct fb_pattern p = {0};
    uint8_t *matches = fb_alloc_array(fns->count, sizeof *matches);
    enum fb_status r = fb_pattern_compile(pattern, &p, err);

    if (r == FB_OK)
        r = match_all(&p, fns, matches, err);
    fb_regex_free(p.plain);
    fb_regex_free(p.dotted);
    if (r == FB_OK)
        *ret_matches = matches;
    else
        free(matches);
    return r;
}

static bool is_same_name(const struct fb_string *a, const char *b)
{
    struct fb_buf scratch[2] = {{0}, {0}};
    struct fb_name_view x = fb_name_view(a->text, a->len, &scratch[0]);
    struct fb_name_view y = fb_name_view(b, strlen(b), &scratch[1]);
    bool same = x.len == y.len && memcmp(x.text, y.text, x.len) == 0;

    fb_buf_done(&scratch[0]);
    fb_buf_done(&scratch[1]);
    return same;
}

bool fb_frame_is_named(const struct fb_functions *fns, uint32_t function, const char *name)
{
    const struct fb_function *f = &fns->items[function];

    return is_same_name(&fns->strings.items[f->name], name) ||
           is_same_name(&fns->strings.items[f->raw], name);
}

uint8_t *fb_frames_topmost(const struct fb_calltree *tree, const uint8_t *matches)
{
    enum { TOPMOST = 1, BELOW = 2 };
    uint8_t *state = fb_alloc_array(tree->count, sizeof *state);

    for (size_t n = 1; n < tree->count; n++) {
        if (state[tree->nodes[n].parent] != 0)
            state[n] = BELOW;
        else if (matches[tree->nodes[n].function])
            state[n] = TOPMOST;
    }
    for (size_t n = 1; n < tree->count; n++)
        state[n] = state[n] == TOPMOST;
    return state;
}

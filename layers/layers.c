/* Loading by name or path, and the getters. */
#include "layers/layers.h"

#include <stdlib.h>
#include <string.h>

#include "layers/rules.h"

enum fb_status fb_layers_load(const char *preset_or_path, struct fb_layers **ret_layers,
                              struct fb_err *err)
{
    struct fb_buf text = {.max = FB_LAYERS_TEXT_MAX};
    enum fb_status r = fb_rules_read(preset_or_path, &text, err);

    if (r == FB_OK)
        r = fb_layers_parse(text.data ? text.data : "", text.len, preset_or_path, ret_layers, err);
    fb_buf_done(&text);
    return r;
}

/* The texts of layers and rules are owned here though their fields are borrowed to everyone. */
static void text_free(const char *text)
{
    free((void *)(uintptr_t)text);
}

static void rules_free(struct fb_layer_rule *rules, struct fb_rule *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_free(rules[i].text);
        fb_rule_done(&tests[i]);
    }
    free(rules);
    free(tests);
}

void fb_layers_free(struct fb_layers *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->count; i++) {
        text_free(l->layers[i].name);
        text_free(l->layers[i].color);
        text_free(l->layers[i].description);
    }
    for (size_t i = 0; i < l->groups_count; i++) {
        text_free(l->groups[i].name);
        text_free(l->groups[i].description);
    }
    for (size_t i = 0; i < l->boundaries_count; i++) {
        text_free(l->boundaries[i].name);
        text_free(l->boundaries[i].text);
        fb_patterns_done(&l->boundary_tests[i].frames);
        fb_patterns_done(&l->boundary_tests[i].module);
    }
    rules_free(l->rules, l->tests, l->rules_count);
    rules_free(l->transparent_rules, l->transparent, l->transparent_count);
    for (size_t i = 0; i < l->files_count; i++)
        free(l->files[i]);
    free(l->layers);
    free(l->groups);
    free(l->boundaries);
    free(l->boundary_tests);
    free(l->name);
    free(l);
}

const char *fb_layers_name(const struct fb_layers *layers)
{
    return layers->name;
}

size_t fb_layers_count(const struct fb_layers *layers)
{
    return layers->count;
}

const struct fb_layer *fb_layers_get(const struct fb_layers *layers, size_t i)
{
    return &layers->layers[i];
}

size_t fb_layers_groups_count(const struct fb_layers *layers)
{
    return layers->groups_count;
}

const struct fb_layer_group *fb_layers_group(const struct fb_layers *layers, size_t i)
{
    return &layers->groups[i];
}

size_t fb_layers_rules_count(const struct fb_layers *layers)
{
    return layers->rules_count;
}

const struct fb_layer_rule *fb_layers_rule(const struct fb_layers *layers, size_t i)
{
    return &layers->rules[i];
}

size_t fb_layers_boundaries_count(const struct fb_layers *layers)
{
    return layers->boundaries_count;
}

const struct fb_boundary *fb_layers_boundary(const struct fb_layers *layers, size_t i)
{
    return &layers->boundaries[i];
}

bool fb_layers_need_threads(const struct fb_layers *layers)
{
    return layers->needs_threads;
}

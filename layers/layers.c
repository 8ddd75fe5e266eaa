/* Loading by name or path, and the getters. */
#include "layers/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "layers/presets.h"
#include "layers/rules.h"

static bool is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n >= 5 && strcmp(name + n - 5, ".json") == 0);
}

static enum fb_status no_preset(const char *name, struct fb_err *err)
{
    struct fb_buf all = {0};

    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++)
        fb_buf_printf(&all, "%s%s", p == fb_layers_presets ? "" : ", ", p->name);
    fb_fail(err, FB_ENOTFOUND,
            "no layer preset '%.100s' (built in: %s; the path of a rules file has a '/' or ends in "
            ".json)",
            name, all.data);
    fb_buf_done(&all);
    return FB_ENOTFOUND;
}

enum fb_status fb_layers_load(const char *preset_or_path, struct fb_layers **ret_layers,
                              struct fb_err *err)
{
    const struct fb_layers_preset *preset;
    struct fb_buf text = {.max = FB_LAYERS_TEXT_MAX};
    enum fb_status r;

    if (!is_path(preset_or_path)) {
        preset = fb_layers_preset_find(preset_or_path);
        if (!preset)
            return no_preset(preset_or_path, err);
        return fb_layers_parse((const char *)preset->text, *preset->size, preset->name, ret_layers,
                               err);
    }
    r = fb_file_read(preset_or_path, &text, err);
    if (r == FB_OK)
        r = fb_layers_parse(text.data ? text.data : "", text.len, preset_or_path, ret_layers, err);
    fb_buf_done(&text);
    return r;
}

static void patterns_done(struct fb_patterns *p)
{
    for (size_t i = 0; i < p->count; i++)
        fb_regex_free(p->items[i]);
    free(p->items);
}

/* The texts of layers and rules are owned here though their fields are borrowed to everyone. */
static void text_free(const char *text)
{
    free((void *)(uintptr_t)text);
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
    for (size_t i = 0; i < l->rules_count; i++) {
        text_free(l->rules[i].text);
        patterns_done(&l->tests[i].leaf);
        patterns_done(&l->tests[i].module);
        patterns_done(&l->tests[i].under);
    }
    free(l->layers);
    free(l->rules);
    free(l->tests);
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

size_t fb_layers_rules_count(const struct fb_layers *layers)
{
    return layers->rules_count;
}

const struct fb_layer_rule *fb_layers_rule(const struct fb_layers *layers, size_t i)
{
    return &layers->rules[i];
}

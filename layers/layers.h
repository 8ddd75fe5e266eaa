/* layers.h - the public header of this folder: rules that put every stack into exactly one layer.
 *
 *     r = fb_layers_load("native", &layers, err);             a preset's name or a JSON file
 *     uint16_t *layer_of_node = fb_layers_assign(layers, &tree, &fns);
 *     double *sum = fb_layers_sum(layers, &tree, layer_of_node, self);
 *
 * Rules are ordered; the first that matches a stack wins.  A rule tests the leaf frame (`leaf`,
 * `module`, `kind`) and may ask for an ancestor (`under`).  What no rule matches falls into the
 * last layer, "other".  docs/layers.md has the JSON.  Patterns run once per distinct function, not
 * per stack or sample. */
#ifndef FB_LAYERS_LAYERS_H
#define FB_LAYERS_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/profile.h"

struct fb_layer {
    const char *name;        /* "syscalls"                                     */
    const char *color;       /* "#8fbfe6": a light fill, dark text on it       */
    const char *description; /* one line, "" if none                           */
};

struct fb_layer_rule {
    uint16_t layer;   /* index of the layer it puts stacks into                            */
    const char *text; /* the rule as written, in one line, for explanations                */
    size_t line;      /* 1-based number of the rule in its file                            */
};

struct fb_layers; /* compiled rules */

struct fb_layers_preset {
    const char *name;
    const char *what;          /* one line                             */
    const unsigned char *text; /* the JSON, to copy and to start from  */
    const unsigned long *size; /* bytes of it                          */
};

/* What is written on a layer's fill; every colour has a contrast of 4.5 against it at least. */
#define FB_LAYERS_TEXT_COLOR "#1b1b1b"

/* The built-in presets; ends with a NULL name. */
extern const struct fb_layers_preset fb_layers_presets[];

/* A preset's name, or the path of a JSON file (a path has a '/' or ends in ".json").  Errors name
 * the file, the rule and the offset in a bad pattern.  *ret_layers is yours. */
enum fb_status fb_layers_load(const char *preset_or_path, struct fb_layers **ret_layers,
                              struct fb_err *err);
/* From text; `name` is for the messages. */
enum fb_status fb_layers_parse(const char *text, size_t len, const char *name,
                               struct fb_layers **ret_layers, struct fb_err *err);
void fb_layers_free(struct fb_layers *layers);

const char *fb_layers_name(const struct fb_layers *layers); /* preset's name or the path */
/* Layers in the order of the file; the last one is "other". */
size_t fb_layers_count(const struct fb_layers *layers);
const struct fb_layer *fb_layers_get(const struct fb_layers *layers, size_t i);
size_t fb_layers_rules_count(const struct fb_layers *layers);
const struct fb_layer_rule *fb_layers_rule(const struct fb_layers *layers, size_t i);

/* Layer index by node; the root (the empty stack) has the index of "other".  free() it. */
uint16_t *fb_layers_assign(const struct fb_layers *layers, const struct fb_calltree *tree,
                           const struct fb_functions *fns);

/* The rule that decided, by node; UINT16_MAX where none matched ("other").  free() it. */
uint16_t *fb_layers_assign_rules(const struct fb_layers *layers, const struct fb_calltree *tree,
                                 const struct fb_functions *fns);

/* Σ self by layer; fb_layers_count() items; free() it. */
double *fb_layers_sum(const struct fb_layers *layers, const struct fb_calltree *tree,
                      const uint16_t *layer_of_node, const double *self);

#endif

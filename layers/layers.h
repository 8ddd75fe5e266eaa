/* layers.h - the public header of this folder: rules that put every stack into exactly one layer.
 *
 *     r = fb_layers_load("native", &layers, err);             a preset's name or a JSON file
 *     r = fb_layers_apply(layers, &tree, &fns, &options, &applied, err);
 *     double *sum = fb_layers_sum(layers, &tree, applied.layer, self);
 *     fb_layers_applied_done(&applied);
 *
 * Rules are ordered; the first that matches a stack wins.  What no rule matches falls into the last
 * layer, "other".  A rule may be transparent: the stack is charged as if its leaf were the caller.
 * docs/layers.md has the JSON and its meaning.  Patterns run once per distinct function, not per
 * stack or sample. */
#ifndef FB_LAYERS_LAYERS_H
#define FB_LAYERS_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "layers/lint.h"
#include "layers/views.h"
#include "profile/profile.h"

/* The rows that every rules file comes down to, so that arms of different kinds can be compared. */
enum fb_rollup {
    FB_ROLLUP_SYSCALLS,
    FB_ROLLUP_RUNTIME,
    FB_ROLLUP_TRANSPORT,
    FB_ROLLUP_CODEC,
    FB_ROLLUP_JIT_GC,
    FB_ROLLUP_APPLICATION,
    FB_ROLLUP_OTHER,
    FB_ROLLUP_COUNT
};
const char *fb_rollup_text(enum fb_rollup rollup); /* "JIT/GC" */

#define FB_NO_GROUP UINT16_MAX
#define FB_NO_RULE  UINT16_MAX
#define FB_NO_LAYER UINT16_MAX

struct fb_layer {
    const char *name;        /* "syscalls"                                     */
    const char *color;       /* "#8fbfe6": a light fill, dark text on it       */
    const char *description; /* one line, "" if none                           */
    uint16_t group;          /* index of its group, FB_NO_GROUP                */
    enum fb_rollup rollup;
    bool has_rollup; /* given by a file, not guessed from the name     */
};

struct fb_layer_group {
    const char *name;
    const char *description; /* "" if none */
};

struct fb_layer_rule {
    uint16_t layer;   /* index of the layer it puts stacks into                            */
    const char *text; /* the rule as written, in one line, for explanations                */
    const char *file; /* preset or path that it is in; borrowed                            */
    size_t line;      /* 1-based number of the rule in its file                            */
};

/* An entry of the code that inlining does not cross (a handler, a codec's interface): shares are
 * taken inclusively, each stack once, and stand beside those of a leaf layer. */
struct fb_boundary {
    const char *name;
    uint16_t layer;   /* the leaf layer that it stands beside, FB_NO_LAYER */
    const char *text; /* as written */
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
/* From text; `name` is for the messages and, where it is a path, what includes are relative to. */
enum fb_status fb_layers_parse(const char *text, size_t len, const char *name,
                               struct fb_layers **ret_layers, struct fb_err *err);
void fb_layers_free(struct fb_layers *layers);

const char *fb_layers_name(const struct fb_layers *layers); /* preset's name or the path */
/* Layers in the order of the file; the last one is "other". */
size_t fb_layers_count(const struct fb_layers *layers);
const struct fb_layer *fb_layers_get(const struct fb_layers *layers, size_t i);
size_t fb_layers_groups_count(const struct fb_layers *layers);
const struct fb_layer_group *fb_layers_group(const struct fb_layers *layers, size_t i);
size_t fb_layers_rules_count(const struct fb_layers *layers);
const struct fb_layer_rule *fb_layers_rule(const struct fb_layers *layers, size_t i);
/* At most 64. */
size_t fb_layers_boundaries_count(const struct fb_layers *layers);
const struct fb_boundary *fb_layers_boundary(const struct fb_layers *layers, size_t i);
/* Whether a rule tests the thread: give profiles thread roots first (fb_profile_root_threads). */
bool fb_layers_need_threads(const struct fb_layers *layers);

/* ---- which rule decides ---- */

enum fb_charge {
    FB_CHARGE_AS_FILE, /* "charge" of the rules file, self if it has none   */
    FB_CHARGE_SELF,    /* transparent rules are rules like the others       */
    FB_CHARGE_CALLER,
};

struct fb_layers_options {
    enum fb_charge charge;
    bool fold_kernel; /* kernel frames count as the user frame that called them */
    bool layers_only; /* rule and decider stay NULL: 2 bytes a node             */
};

/* By node of the tree; the root (the empty stack) is in "other". */
struct fb_layers_applied {
    uint16_t *layer;
    uint16_t *rule;    /* FB_NO_RULE where none matched ("other")                         */
    uint32_t *decider; /* the node whose frame decided: the node itself, or a caller of it */
    char *warning;     /* a sentence where a pattern was given up or a name cut; else NULL */
};

/* options may be NULL: as the file says, kernel frames kept.  Fails with FB_ELIMIT where patterns
 * are given up again and again for their cost. */
enum fb_status fb_layers_apply(const struct fb_layers *layers, const struct fb_calltree *tree,
                               const struct fb_functions *fns,
                               const struct fb_layers_options *options,
                               struct fb_layers_applied *ret_applied, struct fb_err *err);
void fb_layers_applied_done(struct fb_layers_applied *applied);

/* Every rule that a node's stack passes, decisive or not, as if its leaf could not be charged to a
 * caller: those of node n are rules[start[n]] up to rules[start[n + 1]], in their order. */
struct fb_layers_passing {
    size_t *start;
    uint16_t *rules;
    size_t rules_count;
    char *warning; /* as in fb_layers_applied */
};
enum fb_status fb_layers_passing(const struct fb_layers *layers, const struct fb_calltree *tree,
                                 const struct fb_functions *fns,
                                 struct fb_layers_passing *ret_passing, struct fb_err *err);
void fb_layers_passing_done(struct fb_layers_passing *passing);

/* Puts a stack written by a person into the tree and returns its node: "[worker-#];main;libz.so!
 * deflate;copy_[k]", root first; in brackets a thread; `module!` in front of a name; behind it what
 * it is: _[k] kernel, _[j] c2, _[1] c1, _[0] interpreted, _[i] inlined, _[s] stub, _[m] mark. */
uint32_t fb_layers_stack_put(struct fb_calltree *tree, struct fb_functions *fns, const char *stack,
                             fb_canonical_fn canonical);

/* fb_layers_apply() without options: layers alone, never NULL; free() it. */
uint16_t *fb_layers_assign(const struct fb_layers *layers, const struct fb_calltree *tree,
                           const struct fb_functions *fns);

/* Bit i by node: boundary i is on the stack.  free() it. */
uint64_t *fb_layers_boundaries(const struct fb_layers *layers, const struct fb_calltree *tree,
                               const struct fb_functions *fns);

/* Σ self by layer; fb_layers_count() items; free() it. */
double *fb_layers_sum(const struct fb_layers *layers, const struct fb_calltree *tree,
                      const uint16_t *layer_of_node, const double *self);

#endif

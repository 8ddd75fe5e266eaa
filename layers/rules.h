/* rules.h - the compiled form of a rules file, inside this folder.
 *
 * A rule is four tests, each optional, joined by "and"; a test that holds several patterns is true
 * if any of them matches.  `under` patterns are also listed once over all rules (under_index), so
 * that the matcher keeps one bit for each on every node. */
#ifndef FB_LAYERS_RULES_H
#define FB_LAYERS_RULES_H

#include "base/regex.h"
#include "layers/layers.h"

enum {
    FB_LAYERS_TEXT_MAX = 1 << 20, /* bytes of a rules file            */
    FB_LAYERS_MAX = 64,           /* layers of a file, "other" aside  */
    FB_LAYERS_RULES_MAX = 2000,   /* rules of a file                  */
    FB_LAYERS_PATTERNS_MAX = 64,  /* patterns of one test             */
};

struct fb_patterns { /* any of them matches; count 0: the test is not asked */
    struct fb_regex **items;
    size_t count;
};

struct fb_rule_tests {
    struct fb_patterns leaf, module, under;
    uint32_t kinds;       /* bit set of enum fb_frame_kind; 0: not asked */
    uint32_t under_index; /* bit of this rule's `under`; undefined without one */
};

struct fb_layers {
    char *name;
    struct fb_layer *layers; /* "other" last */
    size_t count;
    struct fb_layer_rule *rules;
    struct fb_rule_tests *tests; /* by rule */
    size_t rules_count;
    size_t under_count; /* rules that have an `under` */
};

#define FB_LAYERS_OTHER "other"

#endif

/* views.h - the rows of a table: each node of the tree has one key (its layer, module, tier ...).
 *
 *     struct fb_keys keys;
 *     fb_keys_make(&keys, FB_BY_PACKAGE, 3, layers, layer_of_node, &tree, &fns);
 *     fb_calltree_by_key(&tree, &fns, keys.of_node, keys.count, self, &own, &total);
 *     ... keys.names[k], own[k] adds up to all samples, total[k] overlaps ...
 *     fb_keys_done(&keys);
 *
 * A key's `own` is the weight of stacks whose leaf has it; its `total` that of stacks with any
 * frame that has it, each stack once however often it recurs. */
#ifndef FB_LAYERS_VIEWS_H
#define FB_LAYERS_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/profile.h"

struct fb_layers;

enum fb_by {
    FB_BY_LAYER,
    FB_BY_GROUP,
    FB_BY_ROLLUP,
    FB_BY_THREAD,
    FB_BY_PACKAGE,
    FB_BY_MODULE,
    FB_BY_TIER,
    FB_BY_FRAME,
    FB_BY_COUNT
};
const char *fb_by_text(enum fb_by by); /* "layer" */
bool fb_by_parse(const char *text, enum fb_by *ret_by);

struct fb_keys {
    uint32_t *of_node; /* by node; the root has a key too */
    char **names;
    size_t count, room;
    bool is_ordered;       /* the order of the rows means something (layers, tiers) */
    struct fb_index index; /* private */
};

/* depth: of packages, in segments ("org.eclipse.jetty" has 3).  layers and layer_of_node may be
 * NULL where `by` does not go by them.  Threads need fb_profile_root_threads() first. */
void fb_keys_make(struct fb_keys *ret_keys, enum fb_by by, size_t depth,
                  const struct fb_layers *layers, const uint16_t *layer_of_node,
                  const struct fb_calltree *tree, const struct fb_functions *fns);
void fb_keys_done(struct fb_keys *keys);

/* Appends the package of a function: "org.eclipse.jetty", "std::vector", "net/http"; its module
 * where the name has none; "(no package)". */
void fb_package_name(const struct fb_functions *fns, uint32_t function, size_t depth,
                     struct fb_buf *out);

/* ---- frames by a pattern ---- */

/* By function: whether the pattern matches its name (class paths in either spelling); free() it.
 * Fails with FB_EFORMAT for a bad pattern, FB_ELIMIT where it costs too much. */
enum fb_status fb_frames_match(const char *pattern, const struct fb_functions *fns,
                               uint8_t **ret_matches, struct fb_err *err);

/* Whether the function has that name: raw or canonical, class paths in either spelling. */
bool fb_frame_is_named(const struct fb_functions *fns, uint32_t function, const char *name);

/* By node: whether it matches and nothing above it does; free() it. */
uint8_t *fb_frames_topmost(const struct fb_calltree *tree, const uint8_t *matches);

#endif

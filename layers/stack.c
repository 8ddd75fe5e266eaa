/* A stack written by a person: "main;libz.so!deflate;copy_[k]". */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "layers/layers.h"

static const struct {
    char letter;
    enum fb_frame_kind kind;
    enum fb_tier tier;
} suffixes[] = {
    {'k', FB_FRAME_KERNEL, FB_TIER_UNKNOWN},  {'j', FB_FRAME_JIT, FB_TIER_C2},
    {'i', FB_FRAME_INLINED, FB_TIER_UNKNOWN}, {'0', FB_FRAME_JAVA, FB_TIER_INTERPRETED},
    {'1', FB_FRAME_JAVA, FB_TIER_C1},         {'s', FB_FRAME_STUB, FB_TIER_UNKNOWN},
    {'m', FB_FRAME_MARK, FB_TIER_UNKNOWN},
};

/* The length of "module" in "module!name"; 0 for none.  operator!= has none. */
static size_t module_len(const char *frame)
{
    size_t n = 0;

    while (isalnum((unsigned char)frame[n]) || (frame[n] && strchr("_.+-[]@", frame[n])))
        n++;
    if (frame[n] != '!' || frame[n + 1] == '\0')
        return 0;
    return n >= 8 && memcmp(frame + n - 8, "operator", 8) == 0 ? 0 : n;
}

static uint32_t frame_put(struct fb_functions *fns, char *frame, bool is_root, bool is_leaf,
                          fb_canonical_fn canonical)
{
    enum fb_frame_kind kind = FB_FRAME_NATIVE;
    enum fb_tier tier = FB_TIER_UNKNOWN;
    size_t len = strlen(frame), module = module_len(frame);
    struct fb_buf name = {0};
    uint32_t id;

    if (is_root && !is_leaf && len > 2 && frame[0] == '[' && frame[len - 1] == ']')
        kind = FB_FRAME_MARK;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && len > 4; i++) {
        if (memcmp(frame + len - 4, "_[", 2) == 0 && frame[len - 2] == suffixes[i].letter &&
            frame[len - 1] == ']') {
            kind = suffixes[i].kind;
            tier = suffixes[i].tier;
            len -= 4;
            break;
        }
    }
    frame[len] = '\0';
    if (module > 0) {
        frame[module] = '\0';
        module++;
    }
    if (canonical)
        canonical(frame + module, len - module, kind, &name);
    id = fb_functions_put_tier(fns, kind, tier, module > 0 ? frame : "",
                               name.len > 0 ? name.data : frame + module);
    fb_buf_done(&name);
    return id;
}

uint32_t fb_layers_stack_put(struct fb_calltree *tree, struct fb_functions *fns, const char *stack,
                             fb_canonical_fn canonical)
{
    char *copy = fb_strdup(stack), *rest = copy, *frame;
    uint32_t node = 0;

    while ((frame = strsep(&rest, ";")) != NULL)
        if (*frame)
            node =
                fb_calltree_child(tree, node, frame_put(fns, frame, node == 0, !rest, canonical));
    free(copy);
    return node;
}

/* Folded lines in the order of their text.  The tree is walked with the children of each node
 * sorted by name, which is the order of the whole lines but for a name that is a prefix of
 * another, so the lines themselves are never compared. */
#include "profile/write/folded.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct walk {
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    uint32_t *first, *next; /* children of a node, in order of name */
    size_t *name_at;        /* by function: its cleaned name in names */
    struct fb_buf names;
};

static const char *suffix_of(const struct fb_function *f)
{
    if (f->tier == FB_TIER_INTERPRETED)
        return "_[0]";
    if (f->tier == FB_TIER_C1)
        return "_[1]";
    if (f->tier == FB_TIER_C2 && f->kind == FB_FRAME_JAVA)
        return "_[j]";
    switch (f->kind) {
    case FB_FRAME_KERNEL:
        return "_[k]";
    case FB_FRAME_JIT:
        return "_[j]";
    case FB_FRAME_INLINED:
        return "_[i]";
    case FB_FRAME_NATIVE:
    case FB_FRAME_JAVA:
    case FB_FRAME_JS:
    case FB_FRAME_STUB:
    case FB_FRAME_MARK:
    case FB_FRAME_KIND_COUNT:
        break;
    }
    return "";
}

/* A name as a folded frame: no ';', no control bytes. */
static void clean_name(struct fb_buf *out, const struct fb_string *name,
                       const struct fb_function *f)
{
    const char *suffix = suffix_of(f);

    for (size_t i = 0; i < name->len; i++) {
        char c = name->text[i];

        fb_buf_putc(out, c == ';' ? ':' : (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
    }
    if (name->len < 4 || f->kind == FB_FRAME_NATIVE ||
        strcmp(name->text + name->len - 4, suffix) != 0)
        fb_buf_puts(out, suffix);
    fb_buf_putc(out, '\0');
}

static int by_name(const void *a, const void *b, void *walk)
{
    const struct walk *w = walk;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int r = strcmp(w->names.data + w->name_at[w->tree->nodes[i].function],
                   w->names.data + w->name_at[w->tree->nodes[k].function]);

    return r ? r : (i < k ? -1 : i > k);
}

/* All nodes sorted by name, then hung below their parents backwards: every list of children comes
 * out sorted, with one sort for the whole tree. */
static void link_children(struct walk *w, const double *total)
{
    uint32_t *order = fb_alloc_array(w->tree->count, sizeof *order);
    size_t n = 0;

    for (uint32_t i = 1; i < w->tree->count; i++) {
        if (total[i] > 0)
            order[n++] = i;
    }
    qsort_r(order, n, sizeof *order, by_name, w);
    while (n-- > 0) {
        uint32_t parent = w->tree->nodes[order[n]].parent;

        w->next[order[n]] = w->first[parent];
        w->first[parent] = order[n];
    }
    free(order);
}

/* Depth first without recursion: `line` holds the path, lens[] its length at each depth. */
static void write_lines(const struct walk *w, const double *self, struct fb_buf *out)
{
    struct fb_buf line = {0};
    size_t *lens = NULL, room = 0, depth = 0;
    uint32_t node = w->first[0];

    while (node != 0) {
        fb_vec_reserve(&lens, &room, depth + 1, sizeof *lens);
        lens[depth] = line.len;
        if (depth > 0)
            fb_buf_putc(&line, ';');
        fb_buf_puts(&line, w->names.data + w->name_at[w->tree->nodes[node].function]);
        if (self[node] > 0) {
            fb_buf_add(out, line.data, line.len);
            fb_buf_putc(out, ' ');
            fb_buf_add_u64(out, (uint64_t)(self[node] + 0.5));
            fb_buf_putc(out, '\n');
        }
        if (w->first[node] != 0) {
            depth++;
            node = w->first[node];
            continue;
        }
        while (w->next[node] == 0 && depth > 0) {
            line.len = lens[depth--];
            node = w->tree->nodes[node].parent;
        }
        line.len = lens[depth];
        node = w->next[node];
    }
    fb_buf_done(&line);
    free(lens);
}

void fb_folded_write(const struct fb_calltree *tree, const struct fb_functions *fns,
                     const double *self, struct fb_buf *out)
{
    struct walk w = {.tree = tree, .fns = fns};
    double *total = fb_calltree_total(tree, self);

    w.first = fb_alloc_array(tree->count, sizeof *w.first);
    w.next = fb_alloc_array(tree->count, sizeof *w.next);
    w.name_at = fb_alloc_array(fns->count, sizeof *w.name_at);
    for (size_t i = 0; i < fns->count; i++) {
        w.name_at[i] = w.names.len;
        clean_name(&w.names, &fns->strings.items[fns->items[i].name], &fns->items[i]);
    }
    if (self[0] > 0)
        fb_buf_printf(out, "[no stack] %.0f\n", self[0]);
    link_children(&w, total);
    write_lines(&w, self, out);
    fb_buf_done(&w.names);
    free(w.first);
    free(w.next);
    free(w.name_at);
    free(total);
}

void fb_folded_write_profile(const struct fb_profile *p, fb_canonical_fn canonical,
                             struct fb_buf *out)
{
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t *function_of_frame, *node_of_stack;
    double *self;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    function_of_frame = fb_functions_add(&fns, p, canonical);
    node_of_stack = fb_calltree_add(&tree, p, function_of_frame);
    self = fb_calltree_self(&tree, p, node_of_stack, INT64_MIN, INT64_MAX);
    fb_folded_write(&tree, &fns, self, out);
    free(self);
    free(node_of_stack);
    free(function_of_frame);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
}

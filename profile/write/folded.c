/* Folded lines in the order of their text.  The tree is walked with the children of each node
 * sorted by name, which is the order of the whole lines but for a name that is a prefix of
 * another, so the lines themselves are never compared.
 *
 * Most nodes have one child, the next node.  Only the others, where a path leaves another, are kept
 * and sorted, so that beside the tree little memory is needed: two bits a node. */
#include "profile/write/folded.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct name {
    size_t at, len; /* in names           */
    uint32_t rank;  /* in the order of text */
};

struct walk {
    const struct fb_calltree *tree;
    const struct fb_functions *fns;
    const struct fb_calltree_weight *weights; /* by node */
    size_t weights_count;
    struct name *name; /* by function: as it is written */
    struct fb_buf names;
    uint8_t *own;          /* a bit a node: it has weight                                        */
    uint8_t *live, *forks; /* it or a node below has; it has children beside the next node       */
    uint32_t *branches;    /* live nodes that do not follow their parent, by parent and name     */
    size_t branches_count;
};

/* A node that is open, and which of its children come next. */
struct level {
    uint32_t next; /* the child that follows it; 0: none, or written */
    size_t branch, branch_end;
    size_t line_len; /* of the path above it */
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

void fb_folded_name(const struct fb_functions *fns, uint32_t function, struct fb_buf *out)
{
    const struct fb_function *f = &fns->items[function];
    const struct fb_string *name = &fns->strings.items[f->name];
    const char *suffix = suffix_of(f);

    for (size_t i = 0; i < name->len; i++) {
        char c = name->text[i];

        fb_buf_putc(out, c == ';' ? ':' : (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
    }
    if (name->len < 4 || f->kind == FB_FRAME_NATIVE ||
        strcmp(name->text + name->len - 4, suffix) != 0)
        fb_buf_puts(out, suffix);
}

static bool bit(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void bit_set(uint8_t *bits, uint32_t i)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
}

static int by_text(const void *a, const void *b, void *walk)
{
    const struct walk *w = walk;

    return strcmp(w->names.data + w->name[*(const uint32_t *)a].at,
                  w->names.data + w->name[*(const uint32_t *)b].at);
}

/* Names as they are written, and their order; equal ones have the same rank. */
static void rank_names(struct walk *w)
{
    uint32_t *order = fb_alloc_array(w->fns->count, sizeof *order);

    w->name = fb_alloc_array(w->fns->count, sizeof *w->name);
    for (uint32_t i = 0; i < w->fns->count; i++) {
        order[i] = i;
        w->name[i].at = w->names.len;
        fb_folded_name(w->fns, i, &w->names);
        fb_buf_putc(&w->names, '\0');
        w->name[i].len = w->names.len - w->name[i].at - 1;
    }
    qsort_r(order, w->fns->count, sizeof *order, by_text, w);
    for (uint32_t i = 1; i < w->fns->count; i++)
        w->name[order[i]].rank =
            w->name[order[i - 1]].rank + (by_text(&order[i - 1], &order[i], w) != 0);
    free(order);
}

static uint32_t rank_of(const struct walk *w, uint32_t node)
{
    return w->name[w->tree->nodes[node].function].rank;
}

static int by_parent(const void *a, const void *b, void *walk)
{
    const struct walk *w = walk;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint32_t x = w->tree->nodes[i].parent, y = w->tree->nodes[k].parent;

    if (x == y) {
        x = rank_of(w, i);
        y = rank_of(w, k);
    }
    return x != y ? (x < y ? -1 : 1) : (i < k ? -1 : i > k);
}

static void find_branches(struct walk *w)
{
    const struct fb_calltree_node *nodes = w->tree->nodes;
    size_t bytes = w->tree->count / 8 + 1, room = 0;

    w->own = fb_alloc(bytes);
    w->live = fb_alloc(bytes);
    w->forks = fb_alloc(bytes);
    for (size_t i = 0; i < w->weights_count; i++)
        bit_set(w->own, w->weights[i].node);
    for (uint32_t i = (uint32_t)w->tree->count; i-- > 1;) {
        if (bit(w->own, i))
            bit_set(w->live, i);
        if (!bit(w->live, i))
            continue;
        bit_set(w->live, nodes[i].parent);
        if (nodes[i].parent == i - 1)
            continue;
        bit_set(w->forks, nodes[i].parent);
        fb_vec_reserve(&w->branches, &room, w->branches_count + 1, sizeof *w->branches);
        w->branches[w->branches_count++] = i;
    }
    if (w->branches_count > 0)
        qsort_r(w->branches, w->branches_count, sizeof *w->branches, by_parent, w);
}

/* The first branch whose parent is at least `parent`. */
static size_t branch_from(const struct walk *w, uint32_t parent)
{
    size_t low = 0, high = w->branches_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (w->tree->nodes[w->branches[middle]].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The weight of a node that has some. */
static double weight_of(const struct walk *w, uint32_t node)
{
    size_t low = 0, high = w->weights_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (w->weights[middle].node <= node)
            low = middle;
        else
            high = middle;
    }
    return w->weights[low].weight;
}

static struct level open_level(const struct walk *w, uint32_t node, size_t line_len)
{
    struct level level = {.line_len = line_len};
    uint32_t next = node + 1;

    if (next < w->tree->count && w->tree->nodes[next].parent == node && bit(w->live, next))
        level.next = next;
    if (bit(w->forks, node)) {
        level.branch = branch_from(w, node);
        level.branch_end = branch_from(w, next);
    }
    return level;
}

/* The next child in the order of names; 0 after the last. */
static uint32_t next_child(const struct walk *w, struct level *level)
{
    uint32_t child = level->next;

    if (level->branch < level->branch_end &&
        (child == 0 || rank_of(w, w->branches[level->branch]) < rank_of(w, child)))
        return w->branches[level->branch++];
    level->next = 0;
    return child;
}

/* Depth first without recursion: `line` holds the path. */
static void write_lines(const struct walk *w, struct fb_buf *out)
{
    struct fb_buf line = {0};
    struct level *levels = NULL;
    size_t room = 0, depth = 1;

    fb_vec_reserve(&levels, &room, 1, sizeof *levels);
    levels[0] = open_level(w, 0, 0);
    while (depth > 0) {
        struct level *level = &levels[depth - 1];
        uint32_t node = next_child(w, level);
        const struct name *name = &w->name[w->tree->nodes[node].function];

        line.len = level->line_len;
        if (node == 0) {
            depth--;
            continue;
        }
        if (depth > 1)
            fb_buf_putc(&line, ';');
        else if (w->names.data[name->at] == '#')
            fb_buf_putc(&line, ' '); /* else it were a comment; readers leave the blank out */
        fb_buf_add(&line, w->names.data + name->at, name->len);
        if (bit(w->own, node)) {
            fb_buf_add(out, line.data, line.len);
            fb_buf_putc(out, ' ');
            fb_buf_add_u64(out, (uint64_t)(weight_of(w, node) + 0.5));
            fb_buf_putc(out, '\n');
            fb_buf_drain(out);
        }
        fb_vec_reserve(&levels, &room, depth + 1, sizeof *levels);
        levels[depth++] = open_level(w, node, line.len);
    }
    fb_buf_done(&line);
    free(levels);
}

void fb_folded_write(const struct fb_calltree *tree, const struct fb_functions *fns,
                     const struct fb_calltree_weight *weights, size_t count, struct fb_buf *out)
{
    struct walk w = {.tree = tree, .fns = fns, .weights = weights, .weights_count = count};

    rank_names(&w);
    find_branches(&w);
    if (count > 0 && weights[0].node == 0)
        fb_buf_printf(out, "[no stack] %.0f\n", weights[0].weight);
    write_lines(&w, out);
    fb_buf_done(&w.names);
    free(w.name);
    free(w.own);
    free(w.live);
    free(w.forks);
    free(w.branches);
}

void fb_folded_write_profile(const struct fb_profile *p, fb_canonical_fn canonical,
                             struct fb_buf *out)
{
    struct fb_functions fns;
    struct fb_calltree tree;
    uint32_t *function_of_frame, *node_of_stack;
    struct fb_calltree_weight *weights;
    size_t count;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    function_of_frame = fb_functions_add(&fns, p, canonical);
    node_of_stack = fb_calltree_add(&tree, p, function_of_frame);
    weights = fb_calltree_weights(&tree, p, node_of_stack, INT64_MIN, INT64_MAX, &count);
    fb_folded_write(&tree, &fns, weights, count, out);
    free(weights);
    free(node_of_stack);
    free(function_of_frame);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
}

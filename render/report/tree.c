#include "render/report/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "render/table.h"

/* Units of width in a share of 1, for the choice of what is embedded. */
#define PARTS 1e12

/* The whole tree is embedded where that takes no more than so many bytes of the file, by an
 * estimate; so the page stays under 3 MB with its tables and samples. */
static const double bytes_most = 2e6;

/* Boxes with intervals of their change, in each picture of two arms: the widest. */
enum { CHANGES_MOST = 3000 };

void fb_report_varint(struct fb_buf *out, uint64_t v)
{
    char bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v > 0);
    fb_buf_add(out, bytes, n);
}

void fb_report_number(struct fb_buf *out, double v)
{
    if (isfinite(v))
        fb_double_put(out, v);
    else
        fb_buf_puts(out, "null");
}

void fb_report_string(struct fb_buf *out, const char *text)
{
    fb_json_put_string(out, text, strlen(text));
}

static size_t sides_of(const struct fb_report_picture *p)
{
    return p->self[1] ? 2 : 1;
}

/* What is in no step has a box too, for the windows of time. */
static void whole_add(const struct fb_report_input *in, double *shares)
{
    for (size_t a = 0; a < in->arms_count; a++) {
        const struct fb_report_arm *arm = &in->arms[a];
        double *self, all = 0;

        if (!arm->profile)
            continue;
        self = fb_calltree_self(in->tree, arm->profile, arm->node_of_stack, INT64_MIN, INT64_MAX);
        for (size_t i = 0; i < in->tree->count; i++)
            all += self[i];
        for (size_t i = 0; all > 0 && i < in->tree->count; i++)
            shares[i] += self[i] / all;
        free(self);
    }
}

static uint64_t *weights_make(const struct fb_report_tree *tree)
{
    size_t count = tree->in->tree->count;
    double *shares = fb_alloc_array(count, sizeof *shares);
    uint64_t *weights = fb_alloc_array(count, sizeof *weights);

    for (size_t k = 0; k < tree->pictures_count; k++) {
        const struct fb_report_picture *p = &tree->pictures[k];

        for (size_t s = 0; s < sides_of(p); s++)
            for (size_t i = 0; p->weight[s] > 0 && i < count; i++)
                shares[i] += p->self[s][i] / p->weight[s];
    }
    whole_add(tree->in, shares);
    for (size_t i = 0; i < count; i++)
        weights[i] = shares[i] > 0 ? 1 + (uint64_t)llround(shares[i] * PARTS) : 0;
    free(shares);
    return weights;
}

static void layout_make(struct fb_report_tree *tree, const uint64_t *weights, size_t nodes_max)
{
    fb_flame_layout_init(&tree->layout, &(struct fb_flame_layout_input){.tree = tree->in->tree,
                                                                        .fns = tree->in->fns,
                                                                        .weights = weights,
                                                                        .boxes_max = nodes_max});
}

/* A node that has no box is in the "other" of the nearest ancestor that has one. */
static void nodes_map(struct fb_report_tree *tree)
{
    const struct fb_calltree *nodes = tree->in->tree;
    uint32_t *other = fb_alloc_array(nodes->count, sizeof *other);
    uint32_t *box = fb_alloc_array(nodes->count, sizeof *box);
    uint8_t *has_own = fb_alloc_array(nodes->count, 1);

    for (size_t i = 0; i < nodes->count; i++)
        box[i] = other[i] = UINT32_MAX;
    for (size_t i = 0; i < tree->layout.count; i++) {
        const struct fb_flame_box *b = &tree->layout.boxes[i];

        if (b->hidden > 0) {
            other[b->node] = (uint32_t)i;
        } else {
            box[b->node] = (uint32_t)i;
            has_own[b->node] = 1;
        }
    }
    for (size_t i = 1; i < nodes->count; i++) {
        uint32_t parent = nodes->nodes[i].parent;

        if (!has_own[i])
            box[i] = has_own[parent] ? other[parent] : box[parent];
    }
    tree->box_of_node = box;
    free(other);
    free(has_own);
}

static void functions_number(struct fb_report_tree *tree)
{
    const struct fb_report_input *in = tree->in;

    tree->number_of = fb_alloc_array(in->fns->count, sizeof *tree->number_of);
    tree->functions = fb_alloc_array(in->fns->count, sizeof *tree->functions);
    for (size_t i = 1; i < tree->layout.count; i++) {
        uint32_t f = in->tree->nodes[tree->layout.boxes[i].node].function;

        if (tree->layout.boxes[i].hidden > 0 || tree->number_of[f] > 0)
            continue;
        tree->functions[tree->functions_count++] = f;
        tree->number_of[f] = (uint32_t)tree->functions_count;
    }
}

/* What the tree will take, packed and as base64: measured on profiles of 2,000 to 1,000,000 nodes,
 * and rather too much than too little. */
static double bytes_of(const struct fb_report_tree *tree)
{
    const struct fb_functions *fns = tree->in->fns;
    double bytes = 2.2 * (double)tree->layout.count;

    for (size_t i = 0; i < tree->functions_count; i++)
        bytes += 2 + 0.2 * (double)fns->strings.items[fns->items[tree->functions[i]].name].len;
    for (size_t k = 0; k < tree->pictures_count; k++)
        for (size_t s = 0; s < sides_of(&tree->pictures[k]); s++) {
            size_t entries = 0;

            for (size_t i = 0; i < tree->in->tree->count; i++)
                entries += tree->pictures[k].self[s][i] > 0;
            bytes += 2.5 * (double)(entries < tree->layout.count ? entries : tree->layout.count);
        }
    return bytes;
}

static void functions_drop(struct fb_report_tree *tree)
{
    free(tree->functions);
    free(tree->number_of);
    tree->functions = tree->number_of = NULL;
    tree->functions_count = 0;
}

void fb_report_tree_init(struct fb_report_tree *tree, const struct fb_report_input *in,
                         const struct fb_report_picture *pictures, size_t count)
{
    size_t nodes_max = in->nodes_max > 0 ? in->nodes_max : in->tree->count + 1;
    uint64_t *weights;
    double bytes;

    *tree = (struct fb_report_tree){.in = in, .pictures = pictures, .pictures_count = count};
    if (count == 0)
        return;
    weights = weights_make(tree);
    layout_make(tree, weights, nodes_max);
    functions_number(tree);
    while (in->nodes_max == 0 && (bytes = bytes_of(tree)) > bytes_most &&
           tree->layout.count > 1000) {
        nodes_max = (size_t)((double)tree->layout.count * 0.9 * bytes_most / bytes);
        fb_flame_layout_done(&tree->layout);
        functions_drop(tree);
        layout_make(tree, weights, nodes_max);
        functions_number(tree);
    }
    free(weights);
    nodes_map(tree);
}

static void boxes_put(const struct fb_report_tree *tree, struct fb_buf *out)
{
    const struct fb_flame_layout *l = &tree->layout;

    fb_report_varint(out, l->count);
    for (size_t i = 1; i < l->count; i++) {
        const struct fb_flame_box *b = &l->boxes[i];
        uint32_t f = tree->in->tree->nodes[b->node].function;

        fb_report_varint(out, l->boxes[i - 1].depth + 1 - b->depth);
        fb_report_varint(out, b->hidden > 0 ? 0 : tree->number_of[f]);
        if (b->hidden > 0)
            fb_report_varint(out, b->hidden);
        fb_report_varint(out, b->hidden > 0 || !tree->in->layer_of_node
                                  ? 0
                                  : 1u + tree->in->layer_of_node[b->node]);
    }
}

/* One side's self weights by box. */
static void side_put(const struct fb_report_tree *tree, const double *self, struct fb_buf *out)
{
    double *sums = fb_alloc_array(tree->layout.count, sizeof *sums);
    size_t entries = 0, last = 0;

    for (size_t i = 0; i < tree->in->tree->count; i++)
        if (self[i] > 0 && tree->box_of_node[i] != UINT32_MAX)
            sums[tree->box_of_node[i]] += self[i];
    for (size_t i = 0; i < tree->layout.count; i++)
        entries += llround(sums[i]) > 0;
    fb_report_varint(out, entries);
    for (size_t i = 0; i < tree->layout.count; i++) {
        if (llround(sums[i]) <= 0)
            continue;
        fb_report_varint(out, i - last);
        fb_report_varint(out, (uint64_t)llround(sums[i]));
        last = i;
    }
    free(sums);
}

static void real_put(const struct fb_report_tree *tree, const uint8_t *is_real, struct fb_buf *out)
{
    size_t entries = 0, last = 0;

    for (size_t i = 0; i < tree->layout.count; i++)
        entries += tree->layout.boxes[i].hidden == 0 && is_real[tree->layout.boxes[i].node];
    fb_report_varint(out, entries);
    for (size_t i = 0; i < tree->layout.count; i++) {
        if (tree->layout.boxes[i].hidden > 0 || !is_real[tree->layout.boxes[i].node])
            continue;
        fb_report_varint(out, i - last);
        last = i;
    }
}

/* The end of an interval, from 0 (vanished) on. */
static uint64_t end_of(float ln_ratio)
{
    return (uint64_t)llround(1000 * fmin(exp(ln_ratio), 1e6));
}

static bool has_change(const struct fb_report_tree *tree, const struct fb_diff_interval *changes,
                       size_t box)
{
    const struct fb_flame_box *b = &tree->layout.boxes[box];

    return b->hidden == 0 && isfinite(changes[b->node].lo) && isfinite(changes[b->node].hi);
}

static int by_width(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : -(x > y);
}

/* The width from which on a box has its interval, so that CHANGES_MOST of them do. */
static uint64_t width_least(const struct fb_report_tree *tree)
{
    size_t count = tree->layout.count;
    uint64_t *widths, least;

    if (count <= CHANGES_MOST)
        return 0;
    widths = fb_alloc_array(count, sizeof *widths);
    for (size_t i = 0; i < count; i++)
        widths[i] = tree->layout.boxes[i].width;
    qsort(widths, count, sizeof *widths, by_width);
    least = widths[CHANGES_MOST - 1];
    free(widths);
    return least;
}

static void changes_put(const struct fb_report_tree *tree, const struct fb_diff_interval *changes,
                        uint64_t least, struct fb_buf *out)
{
    size_t entries = 0, last = 0;

    for (size_t i = 0; changes && i < tree->layout.count; i++)
        entries += tree->layout.boxes[i].width >= least && has_change(tree, changes, i);
    fb_report_varint(out, entries);
    for (size_t i = 0; entries > 0 && i < tree->layout.count; i++) {
        if (tree->layout.boxes[i].width < least || !has_change(tree, changes, i))
            continue;
        fb_report_varint(out, i - last);
        fb_report_varint(out, end_of(changes[tree->layout.boxes[i].node].lo));
        fb_report_varint(out, end_of(changes[tree->layout.boxes[i].node].hi));
        last = i;
    }
}

void fb_report_tree_put(const struct fb_report_tree *tree, struct fb_buf *out)
{
    uint64_t least;

    if (tree->pictures_count == 0)
        return;
    least = width_least(tree);
    boxes_put(tree, out);
    for (size_t k = 0; k < tree->pictures_count; k++) {
        const struct fb_report_picture *p = &tree->pictures[k];

        for (size_t s = 0; s < sides_of(p); s++)
            side_put(tree, p->self[s], out);
        if (p->total_is_real) {
            real_put(tree, p->total_is_real, out);
            real_put(tree, p->self_is_real, out);
            changes_put(tree, p->total_change, least, out);
            changes_put(tree, p->self_change, least, out);
        }
    }
}

static void picture_json(const struct fb_report_picture *p, struct fb_buf *out)
{
    fb_buf_puts(out, "{\"name\":");
    fb_report_string(out, p->name);
    if (p->step != SIZE_MAX)
        fb_buf_printf(out, ",\"step\":%zu", p->step);
    fb_buf_printf(out, ",\"sides\":%zu,\"judged\":%s,\"onMs\":%s,\"ms\":[", sides_of(p),
                  p->is_judged ? "true" : "false", p->on_ms ? "true" : "false");
    fb_report_number(out, p->ms[0]);
    fb_buf_putc(out, ',');
    fb_report_number(out, p->ms[1]);
    fb_buf_puts(out, "]}");
}

/* One member: a list over all functions, by the text that `of` gives. */
static void texts_json(const struct fb_report_tree *tree, const char *key,
                       uint32_t (*of)(const struct fb_function *), struct fb_buf *out)
{
    const struct fb_functions *fns = tree->in->fns;

    fb_buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; i < tree->functions_count; i++) {
        const struct fb_string *s = &fns->strings.items[of(&fns->items[tree->functions[i]])];

        if (i > 0)
            fb_buf_putc(out, ',');
        fb_json_put_string(out, s->text, s->len);
    }
    fb_buf_puts(out, "],");
}

static uint32_t name_of(const struct fb_function *f)
{
    return f->name;
}

static uint32_t module_of(const struct fb_function *f)
{
    return f->module;
}

static uint32_t file_of(const struct fb_function *f)
{
    return f->file;
}

static uint32_t raw_of(const struct fb_function *f)
{
    return f->raw_names > 1 || f->raw != f->name ? f->raw : 0;
}

static void kinds_json(const struct fb_report_tree *tree, struct fb_buf *out)
{
    const struct fb_functions *fns = tree->in->fns;

    fb_buf_puts(out, "\"kind\":[");
    for (size_t i = 0; i < tree->functions_count; i++)
        fb_buf_printf(out, "%s%d", i > 0 ? "," : "", (int)fns->items[tree->functions[i]].kind);
    fb_buf_puts(out, "],\"tier\":[");
    for (size_t i = 0; i < tree->functions_count; i++)
        fb_buf_printf(out, "%s%d", i > 0 ? "," : "", (int)fns->items[tree->functions[i]].tier);
    fb_buf_puts(out, "],\"line\":[");
    for (size_t i = 0; i < tree->functions_count; i++)
        fb_buf_printf(out, "%s%u", i > 0 ? "," : "", fns->items[tree->functions[i]].line);
    fb_buf_puts(out, "],\"kinds\":[");
    for (int k = 0; k < FB_FRAME_KIND_COUNT; k++) {
        fb_buf_puts(out, k > 0 ? "," : "");
        fb_report_string(out, fb_frame_kind_text((enum fb_frame_kind)k));
    }
    fb_buf_puts(out, "]");
}

void fb_report_tree_json(const struct fb_report_tree *tree, struct fb_buf *out)
{
    fb_buf_puts(out, "\"functions\":{");
    texts_json(tree, "name", name_of, out);
    texts_json(tree, "module", module_of, out);
    texts_json(tree, "file", file_of, out);
    texts_json(tree, "raw", raw_of, out);
    kinds_json(tree, out);
    fb_buf_printf(out, "},\"frames\":%zu,\"hidden\":%zu,\"pictures\":[", tree->layout.nodes,
                  tree->layout.hidden_frames);
    for (size_t k = 0; k < tree->pictures_count; k++) {
        fb_buf_puts(out, k > 0 ? "," : "");
        picture_json(&tree->pictures[k], out);
    }
    fb_buf_putc(out, ']');
}

void fb_report_tree_done(struct fb_report_tree *tree)
{
    fb_flame_layout_done(&tree->layout);
    free(tree->box_of_node);
    free(tree->functions);
    free(tree->number_of);
    *tree = (struct fb_report_tree){0};
}

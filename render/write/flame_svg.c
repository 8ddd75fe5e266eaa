/* The flamegraph of one profile: boxes coloured by layer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/flame_layout.h"
#include "render/render.h"
#include "render/svg.h"

/* Weights that are no whole numbers (shares) are drawn in parts of 10^9. */
#define PARTS 1e9

struct picture {
    const struct fb_flame_input *in;
    struct fb_flame_layout layout;
    double scale; /* units of width in one unit of weight */
    size_t layers_count;
    struct fb_svg svg;
};

static double find_scale(const double *self, size_t count)
{
    double sum = 0;
    bool is_whole = true;

    for (size_t i = 0; i < count; i++) {
        sum += self[i];
        is_whole &= fabs(self[i] - nearbyint(self[i])) < 1e-6;
    }
    return is_whole || !(sum > 0) ? 1 : PARTS / sum;
}

static void layout_make(struct picture *p)
{
    size_t n = p->in->tree->count;
    uint64_t *weights = fb_alloc_array(n, sizeof *weights);

    p->scale = find_scale(p->in->self, n);
    for (size_t i = 0; i < n; i++)
        weights[i] = p->in->self[i] > 0 ? (uint64_t)llround(p->in->self[i] * p->scale) : 0;
    fb_flame_layout_init(
        &p->layout, &(struct fb_flame_layout_input){
                        .tree = p->in->tree,
                        .fns = p->in->fns,
                        .weights = weights,
                        .boxes_max = p->in->nodes_max ? p->in->nodes_max : FB_SVG_BOXES_DEFAULT,
                    });
    free(weights);
}

static void amount_put(const struct picture *p, uint64_t width)
{
    struct fb_buf *out = p->svg.out;
    size_t unit = strlen(p->in->unit);
    double share = p->layout.width ? (double)width / (double)p->layout.width : 0;

    if (p->scale == 1)
        fb_svg_count_put(out, width);
    else
        fb_buf_printf(out, "%.6g", (double)width / p->scale);
    fb_buf_putc(out, ' ');
    fb_svg_text_put(out, p->in->unit,
                    unit - (width == 1 && unit > 1 && p->in->unit[unit - 1] == 's'));
    fb_buf_puts(out, ", ");
    fb_svg_percent_put(out, share);
    fb_buf_puts(out, " %");
    if (!isnan(p->in->ms_per_request))
        fb_buf_printf(out, ", %.4g ms per request", share * p->in->ms_per_request);
    if (!isnan(p->in->cores))
        fb_buf_printf(out, ", %.3g cores", share * p->in->cores);
}

/* The lines under the name: what a hover shows. */
static void details_put(const struct picture *p, const struct fb_flame_box *b)
{
    const struct fb_functions *fns = p->in->fns;
    const struct fb_function *f = &fns->items[p->in->tree->nodes[b->node].function];
    struct fb_buf *out = p->svg.out;
    const char *module = fb_strings_get(&fns->strings, f->module);
    const char *file = fb_strings_get(&fns->strings, f->file);
    const char *layer = fb_layers_get(p->in->layers, p->in->layer_of_node[b->node])->name;

    fb_buf_puts(out, b->hidden ? "\ntogether " : "\ntotal ");
    amount_put(p, b->width);
    if (b->hidden) {
        fb_buf_puts(out, "\nToo narrow to be drawn one by one.");
        return;
    }
    fb_buf_puts(out, "\nself ");
    amount_put(p, b->self);
    if (b->depth == 0)
        return;
    fb_buf_puts(out, "\nlayer ");
    fb_svg_text_put(out, layer, strlen(layer));
    if (f->tier != FB_TIER_UNKNOWN ||
        f->kind == FB_FRAME_INLINED) /* boxes of one name differ in it */
        fb_buf_printf(out, " · %s", fb_tier_text(fb_function_tier(f)));
    if (module[0] != '\0') {
        fb_buf_puts(out, " · module ");
        fb_svg_text_put(out, module, strlen(module));
    }
    if (file[0] != '\0') {
        fb_buf_puts(out, " · ");
        fb_svg_text_put(out, file, strlen(file));
        if (f->line > 0)
            fb_buf_printf(out, ":%u", f->line);
    }
}

static void box_put(struct picture *p, const struct fb_flame_box *b)
{
    const struct fb_functions *fns = p->in->fns;
    const struct fb_string *name =
        &fns->strings.items[fns->items[p->in->tree->nodes[b->node].function].name];
    struct fb_svg_box box = {.x = b->x, .width = b->width, .depth = b->depth, .suffix = ""};
    char classes[32], other[FB_SVG_OTHER_MAX];

    (void)snprintf(classes, sizeof classes, "b%s l%zu", b->hidden ? " o" : "",
                   b->hidden || b->depth == 0 ? p->layers_count
                                              : (size_t)p->in->layer_of_node[b->node]);
    box.classes = classes;
    box.label = name->text;
    box.label_len = name->len;
    if (b->depth == 0 || b->hidden) {
        box.label = b->hidden ? fb_svg_other_label(b->hidden, other) : "all";
        box.label_len = strlen(box.label);
    }
    fb_svg_box_begin(&p->svg, &box);
    fb_buf_puts(p->svg.out, " data-f=\"");
    fb_buf_add_u64(p->svg.out, b->self);
    fb_buf_puts(p->svg.out, "\"><title>");
    fb_svg_text_put(p->svg.out, box.label, box.label_len);
    details_put(p, b);
    fb_buf_puts(p->svg.out, "</title>");
    fb_svg_box_end(&p->svg, &box);
}

/* One chip a layer that has any weight, with its share of self time. */
static struct fb_svg_chip *chips_make(const struct picture *p, size_t *ret_count)
{
    const struct fb_flame_input *in = p->in;
    struct fb_svg_chip *chips = fb_alloc_array(p->layers_count, sizeof *chips);
    double *sums = fb_layers_sum(in->layers, in->tree, in->layer_of_node, in->self), all = 0;
    size_t count = 0;

    for (size_t i = 0; i < p->layers_count; i++)
        all += sums[i];
    for (size_t i = 0; i < p->layers_count; i++)
        if (sums[i] > 0)
            chips[count++] = (struct fb_svg_chip){
                fb_format("%s %.1f %%", fb_layers_get(in->layers, i)->name, 100 * sums[i] / all),
                (unsigned)i};
    free(sums);
    *ret_count = count;
    return chips;
}

/* Layer colours; then one more for the root and for hidden frames, which belong to no layer. */
static struct fb_tint *tints_make(const struct picture *p)
{
    struct fb_tint *tints = fb_alloc_array(p->layers_count + 1, sizeof *tints);

    for (size_t i = 0; i < p->layers_count; i++)
        tints[i] = fb_palette_fill(fb_layers_get(p->in->layers, i)->color);
    tints[p->layers_count] = fb_palette_none;
    return tints;
}

static void notes_put(struct picture *p)
{
    char *drawn = fb_format("%zu of %zu frames are drawn; the others, %.2g %% of the width, are in "
                            "%s boxes.",
                            p->layout.nodes - p->layout.hidden_frames, p->layout.nodes,
                            100.0 * (double)p->layout.hidden_width /
                                (double)(p->layout.width ? p->layout.width : 1),
                            "“other”");
    const char *notes[2] = {"On-CPU time of the profiled process only. Width is the share of "
                            "samples; siblings stand in the order of their names, not of time.",
                            drawn};

    if (p->layout.width == 0)
        notes[0] = "No samples.";
    fb_svg_end(&p->svg, notes, p->layout.hidden_frames > 0 ? 2 : 1);
    free(drawn);
}

void fb_render_flame_svg(const struct fb_flame_input *in, struct fb_buf *out)
{
    struct picture p = {.in = in, .layers_count = fb_layers_count(in->layers)};
    struct fb_tint *tints = tints_make(&p);
    struct fb_svg_chip *chips = chips_make(&p, &p.svg.chips_count);

    layout_make(&p);
    p.svg.out = out;
    p.svg.kind = "flame";
    p.svg.what = "A flame graph: each box is a function, as wide as its share of the samples, "
                 "on the function that called it; colours are layers.";
    p.svg.title = in->title;
    p.svg.subtitle = in->subtitle ? in->subtitle : "";
    p.svg.tints = tints;
    p.svg.tints_count = p.layers_count + 1;
    p.svg.chips = chips;
    p.svg.width = p.layout.width;
    p.svg.depth = p.layout.depth;
    p.svg.is_icicle = in->is_icicle;
    fb_svg_begin(&p.svg);
    for (size_t i = 0; i < p.layout.count; i++)
        box_put(&p, &p.layout.boxes[i]);
    notes_put(&p);
    for (size_t i = 0; i < p.svg.chips_count; i++)
        free(chips[i].label);
    free(chips);
    free(tints);
    fb_flame_layout_done(&p.layout);
}

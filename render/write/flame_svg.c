/* The flamegraph of one profile: boxes coloured by layer, or by what their function belongs to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/flame_classes.h"
#include "render/flame_intervals.h"
#include "render/flame_layout.h"
#include "render/render.h"
#include "render/svg.h"

struct picture {
    const struct fb_flame_input *in;
    struct fb_flame_layout layout;
    struct fb_flame_classes classes;
    struct fb_svg_functions functions;
    double scale;    /* units of width in one unit of weight */
    double *lo, *hi; /* by box; NULL: no intervals           */
    const char *self_text;
    struct fb_svg svg;
};

static void layout_make(struct picture *p)
{
    size_t count = 0;
    struct fb_flame_weight *list = fb_alloc_array(p->in->weights_count, sizeof *list);

    p->scale = fb_flame_scale(p->in->weights, p->in->weights_count);
    for (size_t i = 0; i < p->in->weights_count; i++) {
        const struct fb_calltree_weight *w = &p->in->weights[i];
        uint64_t width = w->weight > 0 ? (uint64_t)llround(w->weight * p->scale) : 0;

        if (width > 0)
            list[count++] = (struct fb_flame_weight){w->node, width};
    }
    fb_flame_layout_init(
        &p->layout, &(struct fb_flame_layout_input){
                        .tree = p->in->tree,
                        .fns = p->in->fns,
                        .list = list,
                        .list_count = count,
                        .boxes_max = p->in->nodes_max ? p->in->nodes_max : FB_SVG_BOXES_DEFAULT,
                    });
    free(list);
}

static bool has_interval(const struct picture *p, size_t box)
{
    return p->lo && !isnan(p->lo[box]) && !isnan(p->hi[box]);
}

/* ---- boxes ---- */

static double share_of(const struct picture *p, uint64_t width)
{
    return p->layout.width ? (double)width / (double)p->layout.width : 0;
}

static void weight_put(const struct picture *p, uint64_t width)
{
    struct fb_buf *out = p->svg.out;
    size_t unit = strlen(p->in->unit);

    if (p->scale == 1)
        fb_svg_count_put(out, width);
    else
        fb_buf_printf(out, "%.6g", (double)width / p->scale);
    fb_buf_putc(out, ' ');
    fb_svg_text_put(out, p->in->unit,
                    unit - (width == 1 && unit > 1 && p->in->unit[unit - 1] == 's'));
}

static void amount_put(const struct picture *p, uint64_t width)
{
    weight_put(p, width);
    fb_buf_puts(p->svg.out, ", ");
    fb_svg_percent_put(p->svg.out, share_of(p, width));
    fb_buf_puts(p->svg.out, " %");
}

static void cost_put(const struct picture *p, uint64_t width)
{
    double share = share_of(p, width);

    if (!isnan(p->in->ms_per_request))
        fb_buf_printf(p->svg.out, ", %.4g ms per request", share * p->in->ms_per_request);
    if (!isnan(p->in->cores))
        fb_buf_printf(p->svg.out, ", %.3g cores", share * p->in->cores);
}

/* The lines under the name: what a hover shows without a script.  A box that nobody can hover has
 * the first of them only; the script makes the others of the data. */
static void details_put(const struct picture *p, size_t box)
{
    const struct fb_flame_box *b = &p->layout.boxes[box];
    struct fb_buf *out = p->svg.out;

    fb_buf_puts(out, b->hidden ? "\ntogether " : "\ntotal ");
    if (b->hidden) /* its label has the share */
        weight_put(p, b->width);
    else
        amount_put(p, b->width);
    if (!fb_svg_is_wide(&p->svg, b->width))
        return;
    cost_put(p, b->width);
    if (b->hidden) {
        fb_buf_puts(out, "\nToo narrow to be drawn one by one.");
        return;
    }
    if (has_interval(p, box))
        fb_buf_printf(out, "\n95 %% interval %.2f to %.2f %%", 100 * p->lo[box], 100 * p->hi[box]);
    fb_buf_printf(out, "\n%s ", p->self_text);
    amount_put(p, b->self);
    cost_put(p, b->self);
    if (b->depth == 0)
        return;
    fb_buf_puts(out, "\nlayer ");
    fb_svg_text_put(out, fb_layers_get(p->in->layers, p->in->layer_of_node[b->node])->name,
                    strlen(fb_layers_get(p->in->layers, p->in->layer_of_node[b->node])->name));
    fb_svg_place_put(out, p->in->fns, p->in->tree->nodes[b->node].function);
}

static void box_put(struct picture *p, size_t i)
{
    const struct fb_flame_box *b = &p->layout.boxes[i];
    const struct fb_functions *fns = p->in->fns;
    uint32_t function = p->in->tree->nodes[b->node].function;
    const struct fb_string *name = &fns->strings.items[fns->items[function].name];
    struct fb_svg_box box = {.x = b->x, .width = b->width, .depth = b->depth, .suffix = ""};
    struct fb_buf *out = p->svg.out;
    char classes[32], other[FB_SVG_OTHER_MAX];

    (void)snprintf(classes, sizeof classes, "b%s l%u", b->hidden ? " o" : "",
                   fb_flame_class_of(&p->classes, p->in, b->hidden ? 0 : b->node));
    box.classes = classes;
    box.label = name->text;
    box.label_len = name->len;
    if (b->depth == 0 || b->hidden) {
        box.label = b->hidden ? fb_svg_other_label(b->hidden, share_of(p, b->width), other) : "all";
        box.label_len = strlen(box.label);
    }
    fb_svg_box_begin(&p->svg, &box);
    if (b->self > 0 && !b->hidden)
        fb_svg_attribute_put(out, "f", b->self);
    if (b->depth > 0 && !b->hidden) {
        fb_svg_attribute_put(out, "n", fb_svg_functions_put(&p->functions, function));
        if (p->in->color != FB_FLAME_BY_LAYER)
            fb_svg_attribute_put(out, "l", p->in->layer_of_node[b->node]);
        if (has_interval(p, i))
            fb_buf_printf(out, " data-i=\"%.2f to %.2f\"", 100 * p->lo[i], 100 * p->hi[i]);
    }
    fb_buf_puts(out, "><title>");
    fb_svg_name_put(out, box.label, box.label_len);
    details_put(p, i);
    fb_buf_puts(out, "</title>");
    fb_svg_box_end(&p->svg, &box);
}

/* ---- the page ---- */

static void notes_put(struct picture *p)
{
    char *drawn = fb_format("%zu of %zu frames are drawn; the others, %.2g %% of the width, are in "
                            "%s boxes.",
                            p->layout.nodes - p->layout.hidden_frames, p->layout.nodes,
                            100.0 * (double)p->layout.hidden_width /
                                (double)(p->layout.width ? p->layout.width : 1),
                            "“other”");
    const char *notes[2] = {
        p->in->is_turned
            ? "On-CPU time of the profiled process only. Stacks are turned: each box is called by "
              "those on it; the boxes on “all” are leaves, as wide as their self time."
            : "On-CPU time of the profiled process only. Width is the share of "
              "samples; siblings stand in the order of their names, not of time.",
        drawn};

    if (p->layout.width == 0)
        notes[0] = "No samples.";
    fb_svg_end(&p->svg, notes, p->layout.hidden_frames > 0 ? 2 : 1);
    free(drawn);
}

/* What the script makes details of. */
static char *facts_make(const struct picture *p)
{
    struct fb_buf out = {0};

    fb_buf_puts(&out, " data-unit=\"");
    fb_svg_text_put(&out, p->in->unit, strlen(p->in->unit));
    fb_buf_printf(&out, "\" data-scale=\"%.17g\" data-self=\"%s\"", p->scale, p->self_text);
    if (!isnan(p->in->ms_per_request))
        fb_buf_printf(&out, " data-ms=\"%.17g\"", p->in->ms_per_request);
    if (!isnan(p->in->cores))
        fb_buf_printf(&out, " data-cores=\"%.17g\"", p->in->cores);
    return fb_buf_take(&out);
}

static void tables_put(const struct picture *p)
{
    struct fb_buf *out = p->svg.out;

    fb_buf_puts(out, "<metadata class=\"layers\">");
    for (size_t i = 0; i < fb_layers_count(p->in->layers); i++) {
        const char *name = fb_layers_get(p->in->layers, i)->name;

        fb_svg_text_put(out, name, strlen(name));
        fb_buf_putc(out, '\n');
    }
    fb_buf_puts(out, "</metadata>\n");
    fb_svg_functions_write(&p->functions, p->in->fns, out);
}

void fb_render_flame_svg(const struct fb_flame_input *in, struct fb_buf *out)
{
    struct picture p = {.in = in, .self_text = in->is_turned ? "begins here" : "self"};
    char *facts, *what;

    fb_flame_classes_init(&p.classes, in);
    layout_make(&p);
    fb_flame_classes_legend(&p.classes, in, &p.layout);
    fb_flame_intervals(in, &p.layout, &p.lo, &p.hi);
    facts = facts_make(&p);
    what = fb_format("A flame graph: each box is a function, as wide as its share of the samples, "
                     "on the function that %s; colours are %ss.",
                     in->is_turned ? "it called" : "called it", fb_flame_color_text(in->color));
    p.svg = (struct fb_svg){.out = out,
                            .kind = "flame",
                            .what = what,
                            .title = in->title,
                            .subtitle = in->subtitle ? in->subtitle : "",
                            .facts = facts,
                            .tints = p.classes.tints,
                            .tints_count = p.classes.count,
                            .chips = p.classes.chips,
                            .chips_count = p.classes.chips_count,
                            .width = p.layout.width,
                            .depth = p.layout.depth,
                            .is_icicle = in->is_icicle};
    fb_svg_begin(&p.svg);
    for (size_t i = 0; i < p.layout.count; i++)
        box_put(&p, i);
    fb_svg_graph_end(&p.svg);
    tables_put(&p);
    notes_put(&p);
    fb_svg_functions_done(&p.functions);
    fb_flame_classes_done(&p.classes);
    fb_flame_layout_done(&p.layout);
    free(p.lo);
    free(p.hi);
    free(facts);
    free(what);
}

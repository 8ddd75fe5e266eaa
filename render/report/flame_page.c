/* The flamegraph as a page: the parts of the report that draw, around one picture of a whole tree.
 *
 * Where the SVG has the widest boxes, the page has all of them, draws what can be seen at the zoom
 * of the moment, and searches the rest as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/flame_classes.h"
#include "render/flame_intervals.h"
#include "render/report/shell.h"
#include "render/report/tree.h"

#define PARTS 1e9

struct page {
    const struct fb_flame_input *in;
    const struct fb_diff_nodes *nodes; /* NULL: one profile */
    struct fb_report_input report;     /* what the tree is made from */
    struct fb_report_picture picture;
    double scale[2]; /* units of the picture's weights in one unit of weight, by side */
    struct fb_report_tree tree;
    struct fb_flame_classes classes; /* of one profile */
};

/* ---- amounts ---- */

static void single_fill(struct page *page)
{
    const struct fb_flame_input *in = page->in;
    struct fb_report_picture *p = &page->picture;

    page->scale[0] = page->scale[1] = fb_flame_scale(in->weights, in->weights_count);
    p->self[0] = fb_alloc_array(in->tree->count, sizeof *p->self[0]);
    for (size_t i = 0; i < in->weights_count; i++) {
        double weight = in->weights[i].weight;

        if (weight > 0)
            p->self[0][in->weights[i].node] += weight * page->scale[0];
        p->weight[0] += weight > 0 ? weight * page->scale[0] : 0;
    }
    p->ms[0] = in->ms_per_request;
    p->ms[1] = NAN;
}

/* Shares as whole numbers: samples where they are such, else parts. */
static double *side_make(const struct page *page, const double *shares, double weight,
                         double *ret_whole, double *ret_scale)
{
    size_t count = page->in->tree->count;
    double *out = fb_alloc_array(count, sizeof *out);
    bool is_whole = true;

    for (size_t i = 0; i < count; i++) {
        out[i] = shares[i] * weight;
        is_whole = is_whole && fabs(out[i] - nearbyint(out[i])) < 1e-4;
    }
    *ret_whole = is_whole || !(weight > 0) ? weight : PARTS;
    *ret_scale = weight > 0 ? *ret_whole / weight : 1;
    for (size_t i = 0; !is_whole && i < count; i++)
        out[i] = shares[i] * *ret_whole;
    return out;
}

static void diff_fill(struct page *page)
{
    const struct fb_diff_nodes *n = page->nodes;
    struct fb_report_picture *p = &page->picture;

    p->self[0] =
        side_make(page, n->control_self, n->control_weight, &p->weight[0], &page->scale[0]);
    p->self[1] =
        side_make(page, n->variant_self, n->variant_weight, &p->weight[1], &page->scale[1]);
    p->ms[0] = n->control_ms;
    p->ms[1] = n->variant_ms;
    p->is_judged = n->is_judged;
    p->on_ms = n->on_ms;
    p->total_is_real = n->total_is_real;
    p->self_is_real = n->self_is_real;
    p->total_change = n->total_change;
    p->self_change = n->self_change;
}

/* ---- the model: what the script draws from ---- */

/* Each colour once, as the legend of the SVG has it: [class, label]; class -1: several. */
static void legend_json(struct page *page, struct fb_buf *out)
{
    fb_flame_classes_legend(&page->classes, page->in, &page->tree.layout);
    fb_buf_puts(out, ",\"legend\":[");
    for (size_t i = 0; i < page->classes.chips_count; i++) {
        const struct fb_svg_chip *chip = &page->classes.chips[i];

        fb_buf_printf(out, "%s[%d,", i > 0 ? "," : "",
                      chip->class_number == FB_SVG_NO_CLASS ? -1 : (int)chip->class_number);
        fb_report_string(out, chip->label);
        fb_buf_putc(out, ']');
    }
    fb_buf_putc(out, ']');
}

/* The class of each function, where colours are not layers. */
static void classes_json(const struct page *page, struct fb_buf *out)
{
    if (!page->classes.of_function)
        return;
    fb_buf_puts(out, ",\"classes\":[");
    for (size_t i = 0; i < page->tree.functions_count; i++)
        fb_buf_printf(out, "%s%u", i > 0 ? "," : "",
                      page->classes.of_function[page->tree.functions[i]]);
    fb_buf_putc(out, ']');
}

static void intervals_json(const struct page *page, struct fb_buf *out)
{
    double *lo, *hi;
    bool is_first = true;

    fb_flame_intervals(page->in, &page->tree.layout, &lo, &hi);
    if (!lo)
        return;
    fb_buf_puts(out, ",\"intervals\":{");
    for (size_t i = 0; i < page->tree.layout.count; i++) {
        if (isnan(lo[i]) || isnan(hi[i]))
            continue;
        fb_buf_printf(out, "%s\"%zu\":\"%.2f to %.2f\"", is_first ? "" : ",", i, 100 * lo[i],
                      100 * hi[i]);
        is_first = false;
    }
    fb_buf_putc(out, '}');
    free(lo);
    free(hi);
}

static void layers_json(const struct page *page, struct fb_buf *out)
{
    const struct fb_layers *layers = page->in->layers;

    fb_buf_puts(out, "\"layers\":[");
    for (size_t i = 0; layers && i < fb_layers_count(layers); i++) {
        fb_buf_puts(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        fb_report_string(out, fb_layers_get(layers, i)->name);
        fb_buf_putc(out, '}');
    }
    fb_buf_puts(out, "],");
}

static void model_put(struct page *page, struct fb_buf *out)
{
    const struct fb_flame_input *in = page->in;
    struct fb_buf json = {0}, binary = {0};

    fb_buf_printf(&json, "{\"format\":1,\"diff\":%s,\"arms\":[],\"steps\":[],\"headline\":0,",
                  page->nodes ? "true" : "false");
    fb_buf_puts(&json, "\"unit\":");
    fb_report_string(&json, in->unit ? in->unit : "samples");
    fb_buf_puts(&json, ",\"flame\":{\"self\":");
    fb_report_string(&json, in->is_turned ? "begins here" : "self");
    fb_buf_puts(&json, ",\"color\":");
    fb_report_string(&json, fb_flame_color_text(in->color));
    fb_buf_printf(&json, ",\"rootBelow\":%s,\"scale\":[", in->is_icicle ? "false" : "true");
    fb_report_number(&json, page->scale[0]);
    fb_buf_putc(&json, ',');
    fb_report_number(&json, page->scale[1]);
    fb_buf_puts(&json, "],\"cores\":");
    fb_report_number(&json, page->nodes ? NAN : in->cores);
    if (!page->nodes) {
        legend_json(page, &json);
        classes_json(page, &json);
        intervals_json(page, &json);
    }
    fb_buf_puts(&json, "},");
    layers_json(page, &json);
    fb_report_tree_put(&page->tree, &binary);
    fb_report_tree_json(&page->tree, &json);
    fb_buf_putc(&json, '}');
    fb_html_data(out, "d-model", json.data, json.len);
    fb_html_data(out, "d-numbers", binary.data ? binary.data : "", binary.len);
    fb_buf_done(&json);
    fb_buf_done(&binary);
}

/* ---- the page ---- */

static void body_put(const struct page *page, const char *version, struct fb_buf *out)
{
    const struct fb_flame_input *in = page->in;

    fb_buf_puts(out, "<header><h1>");
    fb_html_text(out, in->title);
    fb_buf_puts(out, "</h1>\n<p class=\"sub\">");
    fb_html_text(out, in->subtitle ? in->subtitle : "");
    fb_buf_puts(
        out, "</p></header>\n<nav id=\"switch\" aria-label=\"step\"></nav>\n"
             "<section id=\"flame\" aria-label=\"flamegraph\"><noscript><p class=\"note\">This "
             "picture is drawn by the page's own script; <code>flamebank flame -o OUT.svg</code> "
             "makes one that needs none.</p></noscript></section>\n");
    fb_buf_puts(out, "<p class=\"note\">");
    fb_buf_puts(out, page->nodes ? "On-CPU time of the profiled processes only."
                                 : "On-CPU time of the profiled process only.");
    fb_buf_puts(out, in->is_turned
                         ? " Stacks are turned: each box is called by those on it; the boxes on "
                           "“all” are leaves, as wide as their self time."
                         : " Siblings stand in the order of their names, not of time.");
    fb_buf_puts(out, "</p>\n<section id=\"data\"><h2>Data</h2></section>\n");
    fb_buf_puts(out, "<footer><p class=\"note\">flamebank ");
    fb_html_text(out, version);
    fb_buf_puts(out, "</p></footer>\n</main>\n");
}

void fb_render_flame_html(const struct fb_flame_input *in, const struct fb_diff_nodes *nodes,
                          const char *version, struct fb_buf *out)
{
    struct page page = {.in = in, .nodes = nodes};
    struct fb_buf style = {0}, script = {0};

    page.report =
        (struct fb_report_input){.tree = in->tree,
                                 .fns = in->fns,
                                 .layers = in->layers,
                                 .layer_of_node = in->layer_of_node,
                                 .unit = in->unit,
                                 .nodes_max = in->nodes_max ? in->nodes_max : in->tree->count + 1};
    page.picture.step = SIZE_MAX;
    page.picture.name = fb_strdup("all of it");
    if (nodes) {
        diff_fill(&page);
    } else {
        fb_flame_classes_init(&page.classes, in);
        single_fill(&page);
    }
    fb_report_tree_init(&page.tree, &page.report, &page.picture, 1);
    fb_shell_style(page.classes.tints, page.classes.count, &style);
    fb_shell_script(&script);
    fb_shell_begin(out, in->title, &style, &script);
    body_put(&page, version, out);
    model_put(&page, out);
    fb_shell_end(out, &script);
    fb_report_tree_done(&page.tree);
    fb_flame_classes_done(&page.classes);
    free(page.picture.name);
    free(page.picture.self[0]);
    free(page.picture.self[1]);
    fb_buf_done(&style);
    fb_buf_done(&script);
}

/* The differential flamegraph over the union tree of both arms.
 *
 * A box is as wide as the mean of its share in the control and in the variant, so that what
 * vanished and what is new both have their place.  Its colour is the change, blue less and orange
 * more; grey where diff/ says that noise explains it, and for boxes of several frames, which no
 * test was made for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/flame_layout.h"
#include "render/render.h"
#include "render/svg.h"

/* Units of width in a share of 1: exact in a double and in JavaScript's numbers. */
#define PARTS 1e12

static const struct {
    const char *label;
    unsigned class_number;
} legend[] = {
    {"gone", FB_CHANGE_GONE},      {"−50 % and below", FB_CHANGE_LESS + 3},
    {"−25 %", FB_CHANGE_LESS + 2}, {"−10 %", FB_CHANGE_LESS + 1},
    {"less", FB_CHANGE_LESS},      {"inside the noise", FB_CHANGE_NOISE},
    {"more", FB_CHANGE_MORE},      {"+10 %", FB_CHANGE_MORE + 1},
    {"+25 %", FB_CHANGE_MORE + 2}, {"+50 % and above", FB_CHANGE_MORE + 3},
    {"new", FB_CHANGE_NEW},        {"several frames, not tested", FB_CHANGE_UNTESTED},
};

enum { LEGEND_COUNT = sizeof legend / sizeof legend[0] };

struct picture {
    const struct fb_flame_input *in;
    const struct fb_diff_nodes *nodes;
    struct fb_flame_layout layout;
    bool has_ms; /* ms per request are known and told      */
    bool on_ms;  /* and they are what is coloured and judged */
    struct fb_svg svg;
};

/* One amount of a box in both arms: shares, and ms per request where they are known. */
struct pair {
    double control, variant, control_ms, variant_ms, change;
};

static struct pair pair_of(const struct picture *p, double control, double variant)
{
    struct pair a = {control, variant, control * p->nodes->control_ms,
                     variant * p->nodes->variant_ms, NAN};
    double before = p->on_ms ? a.control_ms : control;
    double after = p->on_ms ? a.variant_ms : variant;

    if (before > 0)
        a.change = after / before - 1;
    return a;
}

static unsigned class_of(const struct pair *a, bool is_real)
{
    return fb_palette_change(a->control, a->variant, a->change, is_real);
}

/* "+15 %" with a true minus sign; text[] is returned. */
static const char *percent_text(double ratio, int decimals, char text[32])
{
    (void)snprintf(text, 32, "%s%.*f %%", ratio < 0 ? "−" : "+", decimals, 100 * fabs(ratio));
    return text;
}

/* " +15 %", " new"; "" for what is grey. */
static const char *suffix_of(const struct pair *a, unsigned class_number, char text[33])
{
    if (class_number == FB_CHANGE_NOISE || class_number == FB_CHANGE_UNTESTED)
        return "";
    if (class_number == FB_CHANGE_NEW || class_number == FB_CHANGE_GONE)
        return class_number == FB_CHANGE_NEW ? " new" : " gone";
    text[0] = ' ';
    (void)percent_text(a->change, fabs(a->change) < 0.0995 ? 1 : 0, text + 1);
    return text;
}

static void side_put(struct fb_buf *out, const char *arm, double share, double ms, bool has_ms)
{
    fb_buf_printf(out, "%s ", arm);
    fb_svg_percent_put(out, share);
    fb_buf_puts(out, " %");
    if (has_ms)
        fb_buf_printf(out, " (%.4g ms)", ms);
}

static const char *sign_of(double v)
{
    return v < 0 ? "−" : "+";
}

static void pair_put(const struct picture *p, const char *what, const struct pair *a)
{
    struct fb_buf *out = p->svg.out;
    double points = 100 * (a->variant - a->control), ms = a->variant_ms - a->control_ms;
    char text[32];

    fb_buf_printf(out, "\n%s: ", what);
    if (a->control <= 0 && a->variant <= 0) {
        fb_buf_puts(out, "none in either arm");
        return;
    }
    side_put(out, "control", a->control, a->control_ms, p->has_ms);
    side_put(out, " → variant", a->variant, a->variant_ms, p->has_ms);
    if (a->control <= 0)
        fb_buf_puts(out, ": new");
    else if (a->variant <= 0)
        fb_buf_puts(out, ": gone");
    else
        fb_buf_printf(out, ": %s", percent_text(a->change, 1, text));
    fb_buf_printf(out, ", %s%.2f points", sign_of(points), fabs(points));
    if (p->has_ms)
        fb_buf_printf(out, ", %s%.4f ms per request", sign_of(ms), fabs(ms));
}

/* "inclusive −3.1 % to +12.4 %"; false, and nothing, where there was no test. */
static bool change_put(struct fb_buf *out, const char *before, const struct fb_diff_interval *all,
                       uint32_t node)
{
    char lo[32], hi[32];

    if (!all || !isfinite(all[node].lo) || !isfinite(all[node].hi))
        return false;
    fb_buf_printf(out, "%s %s to %s", before, percent_text(expm1(all[node].lo), 1, lo),
                  percent_text(expm1(all[node].hi), 1, hi));
    return true;
}

static void changes_put(const struct picture *p, uint32_t node)
{
    const char *self = p->in->is_turned ? "begins here" : "self";
    struct fb_buf text = {0};

    if (change_put(&text, "inclusive", p->nodes->total_change, node))
        self = p->in->is_turned ? ", begins here" : ", self";
    (void)change_put(&text, self, p->nodes->self_change, node);
    if (text.len > 0) {
        fb_buf_puts(p->svg.out, "\n95 % interval of the change: ");
        fb_buf_add(p->svg.out, text.data, text.len);
    }
    fb_buf_done(&text);
}

static void details_put(const struct picture *p, const struct fb_flame_box *b,
                        const struct pair *total, const struct pair *self)
{
    struct fb_buf *out = p->svg.out;
    const char *layer = fb_layers_get(p->in->layers, p->in->layer_of_node[b->node])->name;

    pair_put(p, b->hidden ? "together" : "inclusive", total);
    if (b->hidden) {
        fb_buf_puts(out, "\nToo narrow to be drawn one by one; not tested against noise.");
        return;
    }
    pair_put(p, p->in->is_turned ? "begins here" : "self", self);
    changes_put(p, b->node);
    if (p->nodes->is_judged)
        fb_buf_printf(out, "\ninclusive %s the noise, self %s it",
                      p->nodes->total_is_real[b->node] ? "outside" : "inside",
                      p->nodes->self_is_real[b->node] ? "outside" : "inside");
    else
        fb_buf_puts(out, "\nnot judged");
    if (b->depth == 0)
        return;
    fb_buf_puts(out, " · layer ");
    fb_svg_text_put(out, layer, strlen(layer));
    fb_svg_place_put(out, p->in->fns, p->in->tree->nodes[b->node].function);
}

/* A side's amount as a whole number, for widths and the search: samples, or parts of 10^9 where an
 * arm's weights are none. */
static uint64_t samples_of(double share, double weight)
{
    double whole = weight >= 1000 && fabs(weight - nearbyint(weight)) < 1e-6 ? weight : 1e9;

    return share > 0 && weight > 0 ? (uint64_t)llround(share * whole) : 0;
}

static void attributes_put(struct fb_buf *out, const char *name, const char *text)
{
    if (text[0] != '\0')
        fb_buf_printf(out, " data-%s=\"%s\"", name, text);
}

/* The label, its suffix, and the whole element. */
static void box_put(struct picture *p, const struct fb_flame_box *b)
{
    const struct fb_functions *fns = p->in->fns;
    const struct fb_diff_nodes *n = p->nodes;
    const struct fb_string *name =
        &fns->strings.items[fns->items[p->in->tree->nodes[b->node].function].name];
    struct fb_svg_box box = {.x = b->x, .width = b->width, .depth = b->depth};
    struct pair total = pair_of(p, b->side[0], b->side[1]);
    struct pair self = pair_of(p, n->control_self[b->node], n->variant_self[b->node]);
    unsigned t = b->hidden ? FB_CHANGE_UNTESTED : class_of(&total, n->total_is_real[b->node]);
    unsigned s = b->hidden ? FB_CHANGE_UNTESTED : class_of(&self, n->self_is_real[b->node]);
    char classes[32], other[FB_SVG_OTHER_MAX], total_text[33], self_text[33];
    struct fb_buf *out = p->svg.out;

    (void)snprintf(classes, sizeof classes, "b%s t%u s%u", b->hidden ? " o" : "", t, s);
    box.classes = classes;
    box.label = b->depth == 0 ? "all" : name->text;
    box.label_len = b->depth == 0 ? 3 : name->len;
    if (b->hidden) {
        box.label = fb_svg_other_label(b->hidden, (double)b->width / PARTS, other);
        box.label_len = strlen(box.label);
    }
    box.suffix = suffix_of(&total, t, total_text);
    fb_svg_box_begin(&p->svg, &box);
    fb_svg_attribute_put(out, "c", samples_of(total.control, n->control_weight));
    fb_svg_attribute_put(out, "v", samples_of(total.variant, n->variant_weight));
    attributes_put(out, "t", box.suffix);
    attributes_put(out, "s", suffix_of(&self, s, self_text));
    fb_buf_puts(out, "><title>");
    fb_svg_name_put(out, box.label, box.label_len);
    details_put(p, b, &total, &self);
    fb_buf_puts(out, "</title>");
    fb_svg_box_end(&p->svg, &box);
}

static void layout_make(struct picture *p)
{
    size_t count = p->in->tree->count;
    uint64_t *weights = fb_alloc_array(count, sizeof *weights);

    for (size_t i = 0; i < count; i++) {
        double mean = (p->nodes->control_self[i] + p->nodes->variant_self[i]) / 2;

        weights[i] = mean > 0 ? (uint64_t)llround(mean * PARTS) : 0;
    }
    fb_flame_layout_init(
        &p->layout, &(struct fb_flame_layout_input){
                        .tree = p->in->tree,
                        .fns = p->in->fns,
                        .weights = weights,
                        .sides = {p->nodes->control_total, p->nodes->variant_total},
                        .boxes_max = p->in->nodes_max ? p->in->nodes_max : FB_SVG_BOXES_DEFAULT,
                    });
    free(weights);
}

/* What is in the `other` boxes, on both sides. */
static char *hidden_note(const struct picture *p)
{
    double control = 0, variant = 0;

    for (size_t i = 0; i < p->layout.count; i++)
        if (p->layout.boxes[i].hidden) {
            control += p->layout.boxes[i].side[0];
            variant += p->layout.boxes[i].side[1];
        }
    return fb_format("%zu of %zu frames are drawn; the others, %.2g %% of the control and %.2g %% "
                     "of the variant, are in “other” boxes.",
                     p->layout.nodes - p->layout.hidden_frames, p->layout.nodes, 100 * control,
                     100 * variant);
}

static void notes_put(struct picture *p)
{
    char *hidden = hidden_note(p);
    const char *notes[] = {
        !p->nodes->is_judged
            ? "Grey: not judged, whatever the change: the step carries no verdict."
            : "Grey: the 95 % interval of the change holds 0, or the change is under the floor of "
              "run to "
              "run noise (the rule of the frame table). Frames in “other” boxes are not tested.",
        p->on_ms ? "Colour: change of CPU ms per request, (variant − control) / control. Width: "
                   "mean of the shares in both arms. On-CPU time of the profiled processes only."
                 : "Colour: change of the share of samples, (variant − control) / control. Width: "
                   "mean of the shares in both arms. On-CPU time of the profiled processes only.",
        p->in->is_turned
            ? "Stacks are turned: each box is called by those on it; the boxes on “all” "
              "are leaves, as wide as their self time."
            : hidden,
        hidden,
    };

    fb_svg_end(&p->svg, notes, 2u + p->in->is_turned + (p->layout.hidden_frames > 0));
    free(hidden);
}

void fb_render_diff_svg(const struct fb_flame_input *in, const struct fb_diff_nodes *nodes,
                        struct fb_buf *out)
{
    struct picture p = {.in = in, .nodes = nodes};
    struct fb_svg_chip chips[LEGEND_COUNT];

    p.has_ms = !isnan(nodes->control_ms) && !isnan(nodes->variant_ms);
    p.on_ms = p.has_ms && nodes->on_ms;
    layout_make(&p);
    for (size_t i = 0; i < LEGEND_COUNT; i++) {
        bool is_unjudged = legend[i].class_number == FB_CHANGE_NOISE && !nodes->is_judged;

        chips[i] = (struct fb_svg_chip){fb_strdup(is_unjudged ? "not judged" : legend[i].label),
                                        legend[i].class_number};
    }
    p.svg.out = out;
    p.svg.kind = "diff";
    p.svg.what = "A differential flame graph: each box is a function, as wide as its mean share in "
                 "both arms; blue costs less in the variant, orange more, grey is noise.";
    p.svg.title = in->title;
    p.svg.subtitle = in->subtitle ? in->subtitle : "";
    p.svg.tints = fb_palette_changes;
    p.svg.tints_count = FB_CHANGE_COUNT;
    p.svg.chips = chips;
    p.svg.chips_count = p.layout.hidden_frames > 0 ? LEGEND_COUNT : LEGEND_COUNT - 1;
    p.svg.width = p.layout.width;
    p.svg.depth = p.layout.depth;
    p.svg.is_icicle = in->is_icicle;
    fb_svg_begin(&p.svg);
    for (size_t i = 0; i < p.layout.count; i++)
        box_put(&p, &p.layout.boxes[i]);
    fb_svg_graph_end(&p.svg);
    notes_put(&p);
    for (size_t i = 0; i < LEGEND_COUNT; i++)
        free(chips[i].label);
    fb_flame_layout_done(&p.layout);
}

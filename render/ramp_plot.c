/* Ramps as a picture: delivered, p99, CPU per request and, of one arm with a profile, its layers by
 * step (else cores), over the offered rate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "render/plot.h"
#include "render/render.h"
#include "render/svg.h"

enum {
    MARGIN = 24,
    PANEL_WIDTH = 500,
    PANEL_HEIGHT = 220,
    PANEL_LEFT = 62, /* room for the labels of the y axis */
    PANEL_STEP = 320,
    PAGE_WIDTH = 1200,
    LEGEND_ROW = 20,
    LAYERS_SHOWN = 10,
};

struct page {
    const struct fb_ramp_plot *in;
    struct fb_buf *out;
    double most_offered, panels_top;
};

typedef double (*value_fn)(const struct fb_step *s);

static double p99_of(const struct fb_step *s)
{
    return s->p99_s * 1e3;
}

static bool is_drawn(const struct fb_step *s)
{
    return !s->warmup && !isnan(s->offered);
}

/* Over all arms; NAN for none. */
static double extreme(const struct fb_ramp_plot *in, value_fn value, bool is_most)
{
    double found = NAN;

    for (size_t a = 0; a < in->arms_count; a++) {
        for (size_t i = 0; i < in->arms[a].steps->count; i++) {
            const struct fb_step *s = &in->arms[a].steps->items[i];
            double v = is_drawn(s) ? value(s) : NAN;

            if (isfinite(v) && v > 0)
                found = is_most ? fmax(found, v) : fmin(found, v);
        }
    }
    return found;
}

static double offered_of(const struct fb_step *s)
{
    return s->offered;
}

/* "control, 3000/s: 2999.8 delivered/s; healthy" */
static void tip_put(struct fb_buf *tip, const char *arm, const struct fb_step *s, double value,
                    const char *what)
{
    tip->len = 0;
    fb_buf_printf(tip, "%s%s%.10g/s: %.4g %s; ", arm, *arm ? ", " : "", s->offered, value, what);
    fb_step_health_text(s->health, tip);
    if (*s->why)
        fb_buf_printf(tip, " (%s)", s->why);
}

static void series_put(const struct fb_plot_panel *p, const struct fb_ramp_plot *in, size_t arm,
                       value_fn value, const char *what)
{
    const struct fb_steps *steps = in->arms[arm].steps;
    double *xs = fb_alloc_array(steps->count, sizeof *xs);
    double *ys = fb_alloc_array(steps->count, sizeof *ys);
    size_t n, *order = fb_ramp_order(steps, &n);
    struct fb_buf tip = {0};

    for (size_t i = 0; i < n; i++) {
        xs[i] = steps->items[order[i]].offered;
        ys[i] = value(&steps->items[order[i]]);
    }
    fb_plot_line(p, arm, xs, ys, n);
    for (size_t i = 0; i < steps->count; i++) {
        const struct fb_step *s = &steps->items[i];

        if (!is_drawn(s))
            continue;
        tip_put(&tip, in->arms_count > 1 ? in->arms[arm].name : "", s, value(s), what);
        fb_plot_point(p, arm, s->offered, value(s), s->health & FB_STEP_SICK, tip.data);
    }
    fb_buf_done(&tip);
    free(order);
    free(xs);
    free(ys);
}

static struct fb_plot_panel panel(const struct page *page, size_t number, const char *title)
{
    struct fb_plot_panel p = {
        .out = page->out,
        .left = MARGIN + PANEL_LEFT + (double)(number % 2) * (PAGE_WIDTH / 2.0),
        .top = page->panels_top + (double)(number / 2) * PANEL_STEP,
        .width = PANEL_WIDTH - 10,
        .height = PANEL_HEIGHT,
        .title = title,
        .x_title = "offered per s",
    };

    fb_plot_axis_linear(&p.x, page->most_offered);
    return p;
}

static void panel_put(const struct page *page, size_t number, const char *title, value_fn value,
                      const char *what, bool is_log)
{
    const struct fb_ramp_plot *in = page->in;
    struct fb_plot_panel p = panel(page, number, title);

    if (is_log)
        fb_plot_axis_log(&p.y, extreme(in, value, false), extreme(in, value, true));
    else
        fb_plot_axis_linear(&p.y, extreme(in, value, true));
    fb_plot_frame(&p);
    if (value == fb_step_delivered_per_s) {
        double end = fmin(p.x.most, p.y.most);

        fb_plot_guide(&p, "offered", 0, 0, end, end);
        for (size_t a = 0; a < in->arms_count; a++)
            if (!isnan(in->arms[a].ramp.plateau))
                fb_plot_guide(&p, "plateau", 0, in->arms[a].ramp.plateau, p.x.most,
                              in->arms[a].ramp.plateau);
    }
    for (size_t a = 0; a < in->arms_count; a++)
        if (in->arms[a].ramp.knee)
            fb_plot_guide(&p, "knee", in->arms[a].ramp.knee->offered, p.y.least,
                          in->arms[a].ramp.knee->offered, p.y.most);
    for (size_t a = 0; a < in->arms_count; a++)
        series_put(&p, in, a, value, what);
    if (isnan(extreme(in, value, true)))
        fb_plot_text(page->out, "sub m", p.left + p.width / 2, p.top + p.height / 2,
                     "not known of any step");
}

/* ---- layers by step ---- */

static double layer_sum(const struct fb_ramp_plot *in, size_t layer)
{
    size_t layers = fb_layers_count(in->layers);
    double sum = 0;

    for (size_t i = 0; i < in->arms[0].steps->count; i++)
        sum += in->shares[i * layers + layer];
    return sum;
}

static void bar_put(const struct page *page, const struct fb_plot_panel *p, size_t step, double x,
                    double width)
{
    const struct fb_ramp_plot *in = page->in;
    const struct fb_step *s = &in->arms[0].steps->items[step];
    size_t layers = fb_layers_count(in->layers);
    double below = 0;

    for (size_t l = 0; l < layers; l++) {
        double share = in->shares[step * layers + l];
        const struct fb_layer *layer = fb_layers_get(in->layers, l);

        if (!(share > 0))
            continue;
        fb_buf_printf(page->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s>"
                      "<title>",
                      x, p->top + (1 - below - share) * p->height, width, share * p->height,
                      fb_palette_fill(layer->color).fill,
                      s->health & FB_STEP_SICK ? " opacity=\"0.55\"" : "");
        fb_svg_text_put(page->out, s->name, strlen(s->name));
        fb_buf_puts(page->out, ": ");
        fb_svg_text_put(page->out, layer->name, strlen(layer->name));
        fb_buf_printf(page->out, " %.1f %%</title></rect>\n", share * 100);
        below += share;
    }
    fb_buf_printf(page->out, "<text class=\"tick m\" x=\"%.1f\" y=\"%.1f\">", x + width / 2,
                  p->top + p->height + 16);
    fb_svg_cut_text_put(page->out, s->name, strlen(s->name), width * 1.15);
    fb_buf_puts(page->out, "</text>\n");
}

static void layers_legend_put(const struct page *page, double top)
{
    const struct fb_ramp_plot *in = page->in;
    double x = MARGIN + PANEL_LEFT + PAGE_WIDTH / 2.0, right = PAGE_WIDTH - MARGIN;

    for (size_t l = 0; l < fb_layers_count(in->layers); l++) {
        const struct fb_layer *layer = fb_layers_get(in->layers, l);
        double width = 17 + fb_svg_text_width(layer->name, strlen(layer->name)) + 14;

        if (layer_sum(in, l) < 0.01 * (double)in->arms[0].steps->count)
            continue;
        if (x + width > right) {
            x = MARGIN + PANEL_LEFT + PAGE_WIDTH / 2.0;
            top += LEGEND_ROW;
        }
        fb_buf_printf(page->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" rx=\"2.5\" "
                      "fill=\"%s\"/>",
                      x, top - 10, fb_palette_fill(layer->color).fill);
        fb_plot_text(page->out, "", x + 17, top, layer->name);
        x += width;
    }
}

static void layers_put(const struct page *page, size_t number)
{
    struct fb_plot_panel p = panel(page, number, "layers, % of samples by step");
    const struct fb_steps *steps = page->in->arms[0].steps;
    double width = p.width / (double)(steps->count ? steps->count : 1);

    p.x_title = "step";
    fb_plot_text(page->out, "h2", p.left, p.top - 12, p.title);
    for (int i = 0; i <= 4; i++) {
        char label[16];
        double y = p.top + p.height * (1 - i / 4.0);

        (void)snprintf(label, sizeof label, "%d", 25 * i);
        fb_plot_text(page->out, "tick r", p.left - 6, y + 4, label);
        fb_buf_printf(page->out,
                      "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                      p.left, p.left + p.width, y, y);
    }
    for (size_t i = 0; i < steps->count; i++)
        bar_put(page, &p, i, p.left + (double)i * width + width * 0.08, width * 0.84);
    layers_legend_put(page, p.top + p.height + 38);
}

/* ---- the page ---- */

static void legend_put(const struct page *page, double top)
{
    double x = MARGIN;

    for (size_t a = 0; a < page->in->arms_count; a++) {
        const char *name = page->in->arms[a].name;

        fb_plot_mark(page->out, a, x + 5, top - 4, false);
        fb_buf_puts(page->out, "</path>");
        fb_plot_text(page->out, "", x + 16, top, name);
        x += 16 + fb_svg_text_width(name, strlen(name)) + 22;
    }
    fb_plot_mark(page->out, 7, x + 5, top - 4, true);
    fb_buf_puts(page->out, "</path>");
    fb_plot_text(page->out, "sub", x + 16, top, "a step that carries no verdict");
}

void fb_render_ramp_plot(const struct fb_ramp_plot *in, struct fb_buf *out)
{
    struct page page = {.in = in, .out = out, .panels_top = 128};
    char words[80], line[200];

    page.most_offered = extreme(in, offered_of, true);
    fb_plot_begin(out, PAGE_WIDTH, page.panels_top + 2 * PANEL_STEP + 20, in->title,
                  "Four panels over the offered rate: delivered per second, p99 latency, CPU per "
                  "request, and layers or cores.");
    fb_plot_text(out, "h1", MARGIN, 34, in->title);
    (void)snprintf(line, sizeof line,
                   "dashed: delivered = offered, plateau, and the knee (the last step with %s)",
                   fb_knee_words(in->knee, words));
    fb_plot_text(out, "sub", MARGIN, 54, line);
    legend_put(&page, 80);
    panel_put(&page, 0, "delivered per s", fb_step_delivered_per_s, "delivered/s", false);
    panel_put(&page, 1, "p99, ms (logarithmic)", p99_of, "ms p99", true);
    panel_put(&page, 2, "CPU per request, ms", fb_step_ms_per_request, "ms CPU per request", false);
    if (in->shares)
        layers_put(&page, 3);
    else
        panel_put(&page, 3, "cores", fb_step_cores, "cores", false);
    fb_plot_end(out);
}

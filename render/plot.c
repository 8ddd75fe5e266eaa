/* See plot.h.  A series has a colour and a mark, so that no colour speaks alone. */
#include "render/plot.h"

#include <math.h>
#include <string.h>

#include "render/svg.h"

static const char style[] =
    "<style>\n"
    ".fb{font-family:system-ui,\"Segoe UI\",\"Helvetica Neue\",Arial,sans-serif;font-size:12px;"
    "font-variant-numeric:tabular-nums}\n"
    ".fb text{fill:#1d2126}.bg{fill:#fdfdfc}.fb .h1{font-size:19px;font-weight:600}"
    ".fb .h2{font-size:13px;font-weight:600}.fb .sub,.fb .tick{fill:#5f6770}"
    ".fb .r{text-anchor:end}.fb .m{text-anchor:middle}\n"
    ".grid{stroke:#e6e8ea;stroke-width:1}.axis{stroke:#9aa2ab;stroke-width:1}"
    ".guide{stroke:#9aa2ab;stroke-dasharray:4 4;fill:none}\n"
    ".ln{fill:none;stroke-width:1.8}.pt{stroke-width:1.8}"
    ".pt.hollow{fill:#fdfdfc;stroke-dasharray:2 1.5}\n"
    ".s0{stroke:#2b6cb0;fill:#2b6cb0}.s1{stroke:#c05621;fill:#c05621}"
    ".s2{stroke:#2f855a;fill:#2f855a}.s3{stroke:#6b46c1;fill:#6b46c1}\n"
    ".s4{stroke:#975a16;fill:#975a16}.s5{stroke:#97266d;fill:#97266d}"
    ".s6{stroke:#2c7a7b;fill:#2c7a7b}.s7{stroke:#4a5568;fill:#4a5568}\n"
    ".ln.s0,.ln.s1,.ln.s2,.ln.s3,.ln.s4,.ln.s5,.ln.s6,.ln.s7{fill:none}\n"
    "@media screen and (prefers-color-scheme:dark){\n"
    ".fb text{fill:#e6e8ea}.bg,.pt.hollow{fill:#15181c}.fb .sub,.fb .tick{fill:#98a1ab}"
    ".grid{stroke:#2c3238}.axis,.guide{stroke:#6b747d}\n"
    ".s0{stroke:#6fb1f0;fill:#6fb1f0}.s1{stroke:#f0955b;fill:#f0955b}"
    ".s2{stroke:#68d391;fill:#68d391}.s3{stroke:#b794f4;fill:#b794f4}\n"
    ".s4{stroke:#ecc94b;fill:#ecc94b}.s5{stroke:#f687b3;fill:#f687b3}"
    ".s6{stroke:#4fd1c5;fill:#4fd1c5}.s7{stroke:#cbd5e0;fill:#cbd5e0}\n"
    "}\n</style>\n";

void fb_plot_axis_linear(struct fb_plot_axis *axis, double most)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    double rough = (most > 0 && isfinite(most) ? most : 1) / 5,
           scale = pow(10, floor(log10(rough)));
    size_t i = 0;

    while (i < 4 && nice[i] * scale < rough * (1 - 1e-9))
        i++;
    axis->is_log = false;
    axis->step = nice[i] * scale;
    axis->least = 0;
    axis->most = ceil(rough * 5 / axis->step - 1e-9) * axis->step;
}

void fb_plot_axis_log(struct fb_plot_axis *axis, double least, double most)
{
    if (!(least > 0) || !isfinite(most) || most < least)
        least = most = 1;
    axis->is_log = true;
    axis->step = 10;
    axis->least = pow(10, floor(log10(least) + 1e-9));
    axis->most = pow(10, ceil(log10(most) - 1e-9));
    if (axis->most <= axis->least)
        axis->most = axis->least * 10;
}

/* 0 to 1 along the axis; NAN outside. */
static double along(const struct fb_plot_axis *axis, double value)
{
    double t = axis->is_log ? log(value / axis->least) / log(axis->most / axis->least)
                            : (value - axis->least) / (axis->most - axis->least);

    return t >= -1e-9 && t <= 1 + 1e-9 ? t : NAN;
}

static double x_px(const struct fb_plot_panel *p, double x)
{
    return p->left + along(&p->x, x) * p->width;
}

static double y_px(const struct fb_plot_panel *p, double y)
{
    return p->top + (1 - along(&p->y, y)) * p->height;
}

void fb_plot_number_put(struct fb_buf *out, double value)
{
    if (value >= 1000 && value == floor(value))
        fb_svg_count_put(out, (uint64_t)value);
    else
        fb_buf_printf(out, "%.4g", value);
}

void fb_plot_text(struct fb_buf *out, const char *classes, double x, double y, const char *text)
{
    fb_buf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", classes, x, y);
    fb_svg_text_put(out, text, strlen(text));
    fb_buf_puts(out, "</text>\n");
}

static void tick_put(const struct fb_plot_panel *p, bool is_x, double value)
{
    double at = is_x ? x_px(p, value) : y_px(p, value);

    if (is_x)
        fb_buf_printf(p->out,
                      "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                      "<text class=\"tick m\" x=\"%.1f\" y=\"%.1f\">",
                      at, at, p->top, p->top + p->height, at, p->top + p->height + 16);
    else
        fb_buf_printf(p->out,
                      "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                      "<text class=\"tick r\" x=\"%.1f\" y=\"%.1f\">",
                      p->left, p->left + p->width, at, at, p->left - 6, at + 4);
    fb_plot_number_put(p->out, value);
    fb_buf_puts(p->out, "</text>\n");
}

static void ticks_put(const struct fb_plot_panel *p, bool is_x)
{
    const struct fb_plot_axis *axis = is_x ? &p->x : &p->y;
    size_t n = axis->is_log ? (size_t)lround(log10(axis->most / axis->least))
                            : (size_t)lround((axis->most - axis->least) / axis->step);

    for (size_t i = 0; i <= n; i++)
        tick_put(p, is_x,
                 axis->is_log ? axis->least * pow(10, (double)i)
                              : axis->least + (double)i * axis->step);
}

void fb_plot_frame(const struct fb_plot_panel *p)
{
    fb_plot_text(p->out, "h2", p->left, p->top - 12, p->title);
    ticks_put(p, true);
    ticks_put(p, false);
    fb_buf_printf(p->out, "<path class=\"axis\" fill=\"none\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n",
                  p->left, p->top, p->top + p->height, p->left + p->width);
    fb_plot_text(p->out, "tick r", p->left + p->width, p->top + p->height + 32, p->x_title);
}

void fb_plot_line(const struct fb_plot_panel *p, size_t series, const double *xs, const double *ys,
                  size_t n)
{
    bool is_open = false;

    fb_buf_printf(p->out, "<path class=\"ln s%zu\" d=\"", series % FB_PLOT_SERIES);
    for (size_t i = 0; i < n; i++) {
        double x = x_px(p, xs[i]), y = y_px(p, ys[i]);

        if (isnan(x) || isnan(y)) {
            is_open = false;
            continue;
        }
        fb_buf_printf(p->out, "%c%.1f %.1f", is_open ? 'L' : 'M', x, y);
        is_open = true;
    }
    fb_buf_puts(p->out, "\"/>\n");
}

void fb_plot_guide(const struct fb_plot_panel *p, const char *name, double x0, double y0, double x1,
                   double y1)
{
    double a = x_px(p, x0), b = y_px(p, y0), c = x_px(p, x1), d = y_px(p, y1);

    if (!isnan(a) && !isnan(b) && !isnan(c) && !isnan(d))
        fb_buf_printf(p->out,
                      "<line class=\"guide %s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                      "y2=\"%.1f\"/>\n",
                      name, a, b, c, d);
}

void fb_plot_mark(struct fb_buf *out, size_t series, double x, double y, bool is_hollow)
{
    static const char *const shapes[] = {
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", /* circle   */
        "m-3.6 -3.6h7.2v7.2h-7.2z",            /* square   */
        "m0 -4.6l4.4 7.8h-8.8z",               /* triangle */
        "m0 -5l5 5l-5 5l-5 -5z",               /* diamond  */
    };

    fb_buf_printf(out, "<path class=\"pt s%zu%s\" d=\"M%.1f %.1f%s\">", series % FB_PLOT_SERIES,
                  is_hollow ? " hollow" : "", x, y, shapes[series % 4]);
}

void fb_plot_point(const struct fb_plot_panel *p, size_t series, double x, double y, bool is_hollow,
                   const char *tip)
{
    double at_x = x_px(p, x), at_y = y_px(p, y);

    if (isnan(at_x) || isnan(at_y))
        return;
    fb_plot_mark(p->out, series, at_x, at_y, is_hollow);
    fb_buf_puts(p->out, "<title>");
    fb_svg_text_put(p->out, tip, strlen(tip));
    fb_buf_puts(p->out, "</title></path>\n");
}

void fb_plot_begin(struct fb_buf *out, double width, double height, const char *title,
                   const char *description)
{
    fb_buf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
                  "xmlns=\"http://www.w3.org/2000/svg\" class=\"fb\" role=\"img\" "
                  "aria-labelledby=\"fb-title fb-desc\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\">\n<title id=\"fb-title\">",
                  width, height, width, height);
    fb_svg_text_put(out, title, strlen(title));
    fb_buf_puts(out, "</title>\n<desc id=\"fb-desc\">");
    fb_svg_text_put(out, description, strlen(description));
    fb_buf_puts(out, "</desc>\n");
    fb_buf_puts(out, style);
    fb_buf_puts(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
}

void fb_plot_end(struct fb_buf *out)
{
    fb_buf_puts(out, "</svg>\n");
}

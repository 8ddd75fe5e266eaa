/* The two small pictures of a row: a bar with its whisker, and a dot with its interval.  Colours
 * are classes of the style, so that both themes and print have theirs. */
#include <math.h>

#include "render/report/html.h"

enum { BAR_WIDTH = 72, DOT_WIDTH = 100, HEIGHT = 14 };

static double clamp(double v, double lo, double hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

void fb_html_bar(struct fb_buf *out, double v, double lo, double hi, double most, size_t layer)
{
    double scale = most > 0 ? (BAR_WIDTH - 2) / most : 0;

    if (!(v >= 0) || !(scale > 0))
        return;
    fb_buf_printf(out, "<svg class=\"bar\" width=\"%d\" height=\"%d\" aria-hidden=\"true\">",
                  BAR_WIDTH, HEIGHT);
    if (layer == SIZE_MAX)
        fb_buf_puts(out, "<rect class=\"plain\"");
    else
        fb_buf_printf(out, "<rect class=\"L%zu\"", layer);
    fb_buf_printf(out, " y=\"2\" width=\"%.1f\" height=\"10\" rx=\"1.5\"/>",
                  clamp(v * scale, 0, BAR_WIDTH));
    if (hi > lo) {
        double a = clamp(lo * scale, 0, BAR_WIDTH - 1), b = clamp(hi * scale, 0, BAR_WIDTH - 1);

        fb_buf_printf(out, "<path class=\"w\" d=\"M%.1f 7H%.1fM%.1f 4v6M%.1f 4v6\"/>", a, b, a, b);
    }
    fb_buf_puts(out, "</svg>");
}

void fb_html_dot(struct fb_buf *out, double v, double lo, double hi, double most, enum fb_tone tone)
{
    const double middle = DOT_WIDTH / 2.0;
    double scale = most > 0 ? (middle - 5) / most : 0, x;
    const char *class = tone == FB_TONE_LESS ? "less" : tone == FB_TONE_MORE ? "more" : "same";

    if (isnan(v) || !(scale > 0))
        return;
    x = middle + clamp(v, -most, most) * scale;
    fb_buf_printf(out,
                  "<svg class=\"dot %s\" width=\"%d\" height=\"%d\" aria-hidden=\"true\"><path "
                  "class=\"z\" d=\"M%.1f 0v14\"/>",
                  class, DOT_WIDTH, HEIGHT, middle);
    if (hi > lo)
        fb_buf_printf(out, "<path class=\"i\" d=\"M%.1f 7H%.1f\"/>",
                      middle + clamp(lo, -most, most) * scale,
                      middle + clamp(hi, -most, most) * scale);
    if (fabs(v) > most) /* beyond the axis: an arrow, no dot */
        fb_buf_printf(out, "<path class=\"d\" d=\"M%.1f 3l%d 4l%d 4z\"/>", x, v > 0 ? 5 : -5,
                      v > 0 ? -5 : 5);
    else
        fb_buf_printf(out, "<circle class=\"d\" cx=\"%.1f\" cy=\"7\" r=\"3.4\"/>", x);
    fb_buf_puts(out, "</svg>");
}

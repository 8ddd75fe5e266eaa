#include "render/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "render/width.h"

extern const unsigned char fb_flame_css[], fb_flame_js[];
extern const unsigned long fb_flame_css_size, fb_flame_js_size;

enum {
    SUBTITLE_ROW = 16,
    CHIP_ROW = 22,
    NOTE_ROW = 17,
    TOOLBAR = 34,
    NOTES_ROOM = 82,
    LABEL_MIN = 22,
    CHIP_MOST = 400
};

/* Advance of ASCII 32-126 in hundredths of the font size, of DejaVu Sans: the widest of the fonts
 * that `system-ui` usually is, so that labels cut by it never leave their box. */
static const unsigned char advance[95] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
};

static double code_width(uint32_t code)
{
    if (code >= 32 && code < 127)
        return 0.12 * advance[code - 32];
    return 12.0 * (fb_width_of_code(code) == 2 ? 1.0 : fb_width_of_code(code) == 1 ? 0.85 : 0.0);
}

static void code_put(struct fb_buf *out, uint32_t code)
{
    switch (code) {
    case '<':
        fb_buf_puts(out, "&lt;");
        break;
    case '>':
        fb_buf_puts(out, "&gt;");
        break;
    case '&':
        fb_buf_puts(out, "&amp;");
        break;
    case '"':
        fb_buf_puts(out, "&quot;");
        break;
    case '\'':
        fb_buf_puts(out, "&#39;");
        break;
    default:
        fb_utf8_put(out, code);
    }
}

void fb_svg_text_put(struct fb_buf *out, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len)
        code_put(out, fb_width_visible(fb_utf8_next(text, len, &at)));
}

size_t fb_svg_name_len(const char *name, size_t len)
{
    size_t shown = len;

    if (len <= FB_SVG_NAME_MAX)
        return len;
    for (shown = FB_SVG_NAME_MAX; shown > 0 && ((unsigned char)name[shown] & 0xc0) == 0x80;)
        shown--;
    return shown > FB_SVG_NAME_MAX - 4 ? shown : FB_SVG_NAME_MAX; /* no UTF-8: anywhere */
}

void fb_svg_name_put(struct fb_buf *out, const char *name, size_t len)
{
    size_t shown = fb_svg_name_len(name, len);

    fb_svg_text_put(out, name, shown);
    if (shown < len)
        fb_buf_puts(out, "…");
}

double fb_svg_text_width(const char *text, size_t len)
{
    double px = 0;
    size_t at = 0;

    while (at < len)
        px += code_width(fb_width_visible(fb_utf8_next(text, len, &at)));
    return px;
}

void fb_svg_cut_text_put(struct fb_buf *out, const char *text, size_t len, double px)
{
    const double ellipsis = 12;
    size_t at = 0, fits = 0;
    double used = 0;

    while (at < len && used <= px) {
        used += code_width(fb_width_visible(fb_utf8_next(text, len, &at)));
        if (used + ellipsis <= px)
            fits = at;
    }
    if (used <= px) {
        fb_svg_text_put(out, text, len);
    } else if (fits > 0) {
        fb_svg_text_put(out, text, fits);
        fb_buf_puts(out, "…");
    }
}

void fb_svg_count_put(struct fb_buf *out, uint64_t v)
{
    char digits[32];
    size_t at = sizeof digits, n = 0;

    do {
        if (n > 0 && n % 3 == 0)
            digits[--at] = ',';
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
        n++;
    } while (v > 0);
    fb_buf_add(out, digits + at, sizeof digits - at);
}

static const char *percent_text(double ratio, char text[32])
{
    double p = 100 * ratio;

    if (p == 0)
        (void)strcpy(text, "0");
    else if (fabs(p) < 0.01)
        (void)snprintf(text, 32, "%.1g", p);
    else
        (void)snprintf(text, 32, "%.2f", p);
    return text;
}

void fb_svg_percent_put(struct fb_buf *out, double ratio)
{
    char text[32];

    fb_buf_puts(out, percent_text(ratio, text));
}

const char *fb_svg_other_label(uint32_t frames, double share, char text[FB_SVG_OTHER_MAX])
{
    char percent[32];

    (void)snprintf(text, FB_SVG_OTHER_MAX, "other (%u frame%s, %s %%)", frames,
                   frames == 1 ? "" : "s", percent_text(share, percent));
    return text;
}

/* px with up to two decimals, without a call of printf: it is most of a picture's bytes. */
static void px_put(struct fb_buf *out, double px)
{
    uint64_t hundredths = px > 0 ? (uint64_t)llround(px * 100) : 0;

    fb_buf_add_u64(out, hundredths / 100);
    hundredths %= 100;
    if (hundredths == 0)
        return;
    fb_buf_putc(out, '.');
    fb_buf_putc(out, (char)('0' + hundredths / 10));
    if (hundredths % 10 > 0)
        fb_buf_putc(out, (char)('0' + hundredths % 10));
}

static void tints_put(const struct fb_svg *s, const char *prefix, bool is_dark)
{
    for (size_t i = 0; i < s->tints_count; i++) {
        const struct fb_tint *t = &s->tints[i];

        fb_buf_printf(s->out, "%s%zu rect,.k%zu rect{fill:%s}", prefix, i, i,
                      is_dark ? t->dark_fill : t->fill);
        fb_buf_printf(s->out, "%s%zu text{fill:%s}\n", prefix, i, is_dark ? t->dark_text : t->text);
    }
}

/* In a diff, `t` classes colour by the inclusive change and `s` classes by self. */
static void style_put(const struct fb_svg *s)
{
    bool is_diff = strcmp(s->kind, "diff") == 0;

    fb_buf_puts(s->out, "<style>\n");
    fb_buf_add(s->out, fb_flame_css, fb_flame_css_size);
    for (int dark = 0; dark < 2; dark++) {
        fb_buf_puts(s->out, dark ? "@media screen and (prefers-color-scheme:dark){\n" : "");
        tints_put(s, is_diff ? ".t" : ".l", dark);
        if (is_diff)
            tints_put(s, ".self .s", dark);
        fb_buf_puts(s->out, dark ? "}\n" : "");
    }
    fb_buf_puts(s->out, "</style>\n");
}

static double chip_width(const struct fb_svg_chip *chip)
{
    return 17 + fmin(fb_svg_text_width(chip->label, strlen(chip->label)), CHIP_MOST) + 18;
}

static void chip_put(struct fb_buf *out, const struct fb_svg_chip *chip, double x, double top)
{
    if (chip->class_number == FB_SVG_NO_CLASS)
        fb_buf_puts(out, "<g class=\"more\">");
    else
        fb_buf_printf(out,
                      "<g class=\"k k%u\" data-c=\"%u\"><rect x=\"%.1f\" y=\"%.1f\" width=\"12\" "
                      "height=\"12\" rx=\"2.5\"/>",
                      chip->class_number, chip->class_number, x, top + 4);
    fb_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 17, top + 14);
    fb_svg_cut_text_put(out, chip->label, strlen(chip->label), CHIP_MOST);
    fb_buf_puts(out, "</text></g>\n");
}

/* The legend in as many rows as it needs; returns its height. */
static double chips_walk(const struct fb_svg *s, double top, bool put)
{
    double x = FB_SVG_MARGIN, y = 0;

    for (size_t i = 0; i < s->chips_count; i++) {
        const struct fb_svg_chip *chip = &s->chips[i];
        double width = chip_width(chip);

        if (x > FB_SVG_MARGIN && x + width > FB_SVG_WIDTH - FB_SVG_MARGIN) {
            x = FB_SVG_MARGIN;
            y += CHIP_ROW;
        }
        if (put)
            chip_put(s->out, chip, x, top + y);
        x += width;
    }
    return y + CHIP_ROW;
}

/* The subtitle in as many lines as it needs (words longer than a line are cut); returns how many.
 */
static size_t subtitle_walk(const struct fb_svg *s, bool put)
{
    const char *text = s->subtitle, *from = text, *fits = text;
    const double inner = FB_SVG_WIDTH - 2 * FB_SVG_MARGIN;
    size_t lines = 0;

    while (*from != '\0') {
        const char *end = from + strcspn(from, " ");

        for (fits = end; *end != '\0'; fits = end) {
            end += 1 + strcspn(end + 1, " ");
            if (fb_svg_text_width(from, (size_t)(end - from)) > inner)
                break;
        }
        if (put) {
            fb_buf_printf(s->out, "<text class=\"sub\" x=\"%d\" y=\"%zu\">", FB_SVG_MARGIN,
                          52 + SUBTITLE_ROW * lines);
            fb_svg_cut_text_put(s->out, from, (size_t)(fits - from), inner);
            fb_buf_puts(s->out, "</text>\n");
        }
        lines++;
        from = *fits == '\0' ? fits : fits + 1;
    }
    return lines;
}

static void head_put(const struct fb_svg *s, double legend_top)
{
    struct fb_buf *out = s->out;
    double inner = FB_SVG_WIDTH - 2 * FB_SVG_MARGIN;

    fb_buf_puts(out, "<title id=\"fb-title\">");
    fb_svg_text_put(out, s->title, strlen(s->title));
    fb_buf_puts(out, "</title>\n<desc id=\"fb-desc\">");
    fb_svg_text_put(out, s->what, strlen(s->what));
    fb_buf_puts(out, "</desc>\n");
    style_put(s);
    fb_buf_puts(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
    fb_buf_printf(out, "<text class=\"h1\" x=\"%d\" y=\"32\">", FB_SVG_MARGIN);
    fb_svg_cut_text_put(out, s->title, strlen(s->title), inner * 12 / 19);
    fb_buf_puts(out, "</text>\n");
    (void)subtitle_walk(s, true);
    fb_buf_puts(out, "<g class=\"legend\">\n");
    (void)chips_walk(s, legend_top, true);
    fb_buf_printf(out, "</g>\n<text class=\"sub hint\" x=\"%d\" y=\"%.1f\">", FB_SVG_MARGIN,
                  s->graph_top - 13);
    fb_buf_puts(out, "Open this file itself in a browser to zoom, search and read the small "
                     "boxes.</text>\n");
}

void fb_svg_begin(struct fb_svg *s)
{
    struct fb_buf *out = s->out;
    double legend_top = 46 + (double)(SUBTITLE_ROW * subtitle_walk(s, false)),
           rows = s->depth + 1.0;

    s->row = rows * FB_SVG_ROW > FB_SVG_HEIGHT_MAX ? FB_SVG_HEIGHT_MAX / rows : FB_SVG_ROW;
    s->graph_top = legend_top + chips_walk(s, legend_top, false) + TOOLBAR;
    s->height = ceil(s->graph_top + rows * s->row + NOTES_ROOM);
    fb_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fb\" role=\"img\" "
                     "aria-labelledby=\"fb-title fb-desc\" ");
    fb_buf_printf(out, "width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" ", FB_SVG_WIDTH,
                  s->height, FB_SVG_WIDTH, s->height);
    fb_buf_printf(out, "data-kind=\"%s\" data-total=\"%llu\" data-top=\"%.1f\" data-row=\"%.4f\" ",
                  s->kind, (unsigned long long)s->width, s->graph_top, s->row);
    fb_buf_printf(out, "data-margin=\"%d\" data-icicle=\"%d\"", FB_SVG_MARGIN, s->is_icicle);
    fb_buf_puts(out, s->facts ? s->facts : "");
    fb_buf_puts(out, ">\n");
    head_put(s, legend_top);
    fb_buf_puts(out, "<g class=\"graph\">\n");
}

static double scale_of(const struct fb_svg *s)
{
    return (FB_SVG_WIDTH - 2 * FB_SVG_MARGIN) / (double)(s->width ? s->width : 1);
}

bool fb_svg_is_wide(const struct fb_svg *s, uint64_t width)
{
    return (double)width * scale_of(s) >= 1;
}

void fb_svg_attribute_put(struct fb_buf *out, const char *name, uint64_t v)
{
    fb_buf_puts(out, " data-");
    fb_buf_puts(out, name);
    fb_buf_puts(out, "=\"");
    fb_buf_add_u64(out, v);
    fb_buf_putc(out, '"');
}

void fb_svg_box_begin(struct fb_svg *s, const struct fb_svg_box *box)
{
    fb_buf_puts(s->out, "<g class=\"");
    fb_buf_puts(s->out, box->classes);
    fb_buf_putc(s->out, '"');
    fb_svg_attribute_put(s->out, "w", box->width);
}

/* What of a name says most where the whole does not fit: "java/io/Writer.flush" without folders. */
static size_t folders_of(const char *name, size_t len)
{
    size_t skip = 0;

    for (size_t i = 0; i + 1 < len && name[i] != '(' && name[i] != '<' && name[i] != ' '; i++)
        if (name[i] == '/')
            skip = i + 1;
    return skip;
}

/* The name, cut so that a suffix still fits; the suffix goes first where both would not. */
static void label_put(struct fb_buf *out, const struct fb_svg_box *box, double px)
{
    size_t skip = 0, len = fb_svg_name_len(box->label, box->label_len);
    double suffix = fb_svg_text_width(box->suffix, strlen(box->suffix));
    double name = fb_svg_text_width(box->label, len);

    if (suffix > 0 && name + suffix > px && px - suffix < 40)
        suffix = 0;
    if (name + suffix > px)
        skip = folders_of(box->label, len);
    fb_svg_cut_text_put(out, box->label + skip, len - skip, px - suffix);
    if (suffix > 0)
        fb_svg_text_put(out, box->suffix, strlen(box->suffix));
}

void fb_svg_box_end(struct fb_svg *s, const struct fb_svg_box *box)
{
    double scale = scale_of(s);
    double width = (double)box->width * scale, gap = width > 4 ? 0.8 : width * 0.2;
    double level = s->is_icicle ? box->depth : (double)s->depth - box->depth;
    double y = s->graph_top + level * s->row, height = s->row > 6 ? s->row - 1 : s->row * 0.85;

    fb_buf_puts(s->out, "<rect x=\"");
    px_put(s->out, FB_SVG_MARGIN + (double)box->x * scale);
    fb_buf_puts(s->out, "\" y=\"");
    px_put(s->out, y);
    fb_buf_puts(s->out, "\" width=\"");
    px_put(s->out, width - gap);
    fb_buf_puts(s->out, "\" height=\"");
    px_put(s->out, height);
    fb_buf_puts(s->out, width > 8 ? "\" rx=\"2\"/>" : "\"/>");
    if (width >= LABEL_MIN && s->row > 12) {
        fb_buf_puts(s->out, "<text x=\"");
        px_put(s->out, FB_SVG_MARGIN + (double)box->x * scale + 4);
        fb_buf_puts(s->out, "\" y=\"");
        px_put(s->out, y + 12.7);
        fb_buf_puts(s->out, "\">");
        label_put(s->out, box, width - gap - 7);
        fb_buf_puts(s->out, "</text>");
    }
    fb_buf_puts(s->out, "</g>\n");
}

void fb_svg_graph_end(struct fb_svg *s)
{
    fb_buf_puts(s->out, "</g>\n");
}

void fb_svg_end(struct fb_svg *s, const char *const *notes, size_t notes_count)
{
    double y = s->height - NOTES_ROOM + 22;

    for (size_t i = 0; i < notes_count; i++) {
        fb_buf_printf(s->out, "<text class=\"note\" x=\"%d\" y=\"%.1f\">", FB_SVG_MARGIN,
                      y + (double)i * NOTE_ROW);
        fb_svg_cut_text_put(s->out, notes[i], strlen(notes[i]), FB_SVG_WIDTH - 2 * FB_SVG_MARGIN);
        fb_buf_puts(s->out, "</text>\n");
    }
    fb_buf_puts(s->out, "<script><![CDATA[\n");
    fb_buf_add(s->out, fb_flame_js, fb_flame_js_size);
    fb_buf_puts(s->out, "]]></script>\n</svg>\n");
}

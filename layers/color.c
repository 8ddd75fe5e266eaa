/* Relative luminance and contrast as WCAG 2.2 defines them (sRGB, piecewise transfer curve). */
#include "layers/color.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Light fills that stay apart under protanopia, deuteranopia and tritanopia; the first column
 * names the layers that users meet again and again. */
static const struct {
    const char *name, *color;
} palette[] = {
    {"syscalls", "#8fbfe6"},  {"runtime", "#f2b55a"}, {"stdlib", "#f1d0a5"},
    {"transport", "#7fcaa4"}, {"codec", "#e59bbd"},   {"application", "#efe07c"},
    {"jit", "#d6c8f0"},       {"gc", "#a894d6"},      {"kernel", "#8594f0"},
    {"protobuf", "#d987ad"},  {"stubs", "#d0d4d8"},   {"other", "#e2e4e7"},
};

/* Rows of the palette that may be given by position: the two greys at its end mean something. */
enum { PALETTE_COUNT = sizeof palette / sizeof *palette, PALETTE_FREE = PALETTE_COUNT - 2 };

bool fb_color_valid(const char *color)
{
    if (strlen(color) != 7 || color[0] != '#')
        return false;
    for (size_t i = 1; i < 7; i++)
        if (!isxdigit((unsigned char)color[i]))
            return false;
    return true;
}

static double luminance(const char *color)
{
    static const double weight[3] = {0.0722, 0.7152, 0.2126}; /* blue, green, red */
    uint32_t rgb = (uint32_t)strtoul(color + 1, NULL, 16);
    double sum = 0;

    for (int i = 0; i < 3; i++, rgb >>= 8) {
        double c = (rgb & 0xff) / 255.0;

        sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double fb_color_contrast(const char *a, const char *b)
{
    double la = luminance(a), lb = luminance(b);

    return la > lb ? (la + 0.05) / (lb + 0.05) : (lb + 0.05) / (la + 0.05);
}

const char *fb_color_default(const char *layer_name, size_t position)
{
    for (size_t i = 0; i < PALETTE_COUNT; i++)
        if (strcmp(palette[i].name, layer_name) == 0)
            return palette[i].color;
    return palette[position % PALETTE_FREE].color;
}

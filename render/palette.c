#include "render/palette.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DARK_TEXT "#1d2126"
#define LIGHT(color)                                                                               \
    {                                                                                              \
        color, DARK_TEXT, color, DARK_TEXT                                                         \
    }

const struct fb_tint fb_palette_none = {"#eceef0", DARK_TEXT, "#2f363d", "#e6e8ea"};

/* The usual layers of look and presets: syscalls blue, generated code violet. */
const struct fb_tint fb_palette_kinds[FB_FRAME_KIND_COUNT] = {
    [FB_FRAME_NATIVE] = LIGHT("#f1d0a5"),  [FB_FRAME_KERNEL] = LIGHT("#7fb2e0"),
    [FB_FRAME_JAVA] = LIGHT("#7fcaa4"),    [FB_FRAME_JS] = LIGHT("#efe07c"),
    [FB_FRAME_JIT] = LIGHT("#d6c8f0"),     [FB_FRAME_STUB] = LIGHT("#a9a39b"),
    [FB_FRAME_INLINED] = LIGHT("#e59bbd"), [FB_FRAME_MARK] = LIGHT("#eef0f1"),
};

/* Slow code is warm, compiled code green. */
const struct fb_tint fb_palette_tiers[FB_TIER_COUNT] = {
    [FB_TIER_UNKNOWN] = LIGHT("#e2e4e7"), [FB_TIER_INTERPRETED] = LIGHT("#ee9a62"),
    [FB_TIER_C1] = LIGHT("#efe07c"),      [FB_TIER_C2] = LIGHT("#7fcaa4"),
    [FB_TIER_JIT] = LIGHT("#d6c8f0"),     [FB_TIER_INLINED] = LIGHT("#e59bbd"),
    [FB_TIER_NATIVE] = LIGHT("#fbe3cd"),  [FB_TIER_KERNEL] = LIGHT("#7fb2e0"),
    [FB_TIER_STUB] = LIGHT("#a9a39b"),
};

const struct fb_tint fb_palette_names[FB_PALETTE_NAMES] = {
    LIGHT("#b6d2e4"), LIGHT("#c0936d"), LIGHT("#b48bf2"), LIGHT("#8ef48e"),
    LIGHT("#8098c1"), LIGHT("#d4bda8"), LIGHT("#d37d96"), LIGHT("#eaa1f2"),
    LIGHT("#9fa8bd"), LIGHT("#bac78b"), LIGHT("#ede1b5"), LIGHT("#93cdc5"),
};

const struct fb_tint fb_palette_changes[FB_CHANGE_COUNT] = {
    [FB_CHANGE_NOISE] = {"#dfe2e6", DARK_TEXT, "#3a4149", "#e6e8ea"},
    [FB_CHANGE_LESS] = {"#d3e4f5", DARK_TEXT, "#27425e", "#e6e8ea"},
    [FB_CHANGE_LESS + 1] = {"#a9cbec", DARK_TEXT, "#32608f", "#ffffff"},
    [FB_CHANGE_LESS + 2] = {"#76abdd", DARK_TEXT, "#5f9fdc", DARK_TEXT},
    [FB_CHANGE_LESS + 3] = {"#2b6cb0", "#ffffff", "#8cc4f7", DARK_TEXT},
    [FB_CHANGE_GONE] = {"#1c4a80", "#ffffff", "#c2e0fb", DARK_TEXT},
    [FB_CHANGE_MORE] = {"#fbe0cc", DARK_TEXT, "#533828", "#e6e8ea"},
    [FB_CHANGE_MORE + 1] = {"#f6bd95", DARK_TEXT, "#7d4a2a", "#ffffff"},
    [FB_CHANGE_MORE + 2] = {"#ee9a62", DARK_TEXT, "#d98550", DARK_TEXT},
    [FB_CHANGE_MORE + 3] = {"#b84f1c", "#ffffff", "#f3a877", DARK_TEXT},
    [FB_CHANGE_NEW] = {"#853409", "#ffffff", "#fbd0b0", DARK_TEXT},
    [FB_CHANGE_UNTESTED] = {"#eef0f2", DARK_TEXT, "#2a3037", "#e6e8ea"},
};

const double fb_palette_levels[3] = {0.10, 0.25, 0.50};

unsigned fb_palette_change(double control, double variant, double change, bool is_real)
{
    unsigned level = 0;

    if (!is_real || (control <= 0 && variant <= 0))
        return FB_CHANGE_NOISE;
    if (control <= 0)
        return FB_CHANGE_NEW;
    if (variant <= 0)
        return FB_CHANGE_GONE;
    for (size_t i = 0; i < sizeof fb_palette_levels / sizeof fb_palette_levels[0]; i++)
        level += fabs(change) >= fb_palette_levels[i];
    return (change < 0 ? FB_CHANGE_LESS : FB_CHANGE_MORE) + level;
}

/* FNV-1a: the same on every machine, since colours are in files that are compared. */
size_t fb_palette_of_name(const char *name, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)((h ^ h >> 32) % FB_PALETTE_NAMES);
}

bool fb_palette_is_color(const char *color)
{
    return color && color[0] == '#' && strlen(color) == 7 &&
           strspn(color + 1, "0123456789abcdefABCDEF") == 6;
}

/* Relative luminance as WCAG 2 defines it. */
static double luminance(const char *color)
{
    static const double share[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;

    for (size_t i = 0; i < 3; i++) {
        char hex[3] = {color[1 + 2 * i], color[2 + 2 * i], '\0'};
        double c = (double)strtoul(hex, NULL, 16) / 255;

        sum += share[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double fb_palette_contrast(const char *a, const char *b)
{
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

    return x > y ? x / y : y / x;
}

const char *fb_palette_text_on(const char *color)
{
    return fb_palette_contrast(color, DARK_TEXT) > fb_palette_contrast(color, "#ffffff")
               ? DARK_TEXT
               : "#ffffff";
}

struct fb_tint fb_palette_fill(const char *color)
{
    if (!fb_palette_is_color(color))
        color = "#e2e4e7";
    return (struct fb_tint){color, fb_palette_text_on(color), color, fb_palette_text_on(color)};
}

/* palette.h - every colour that a picture gives a meaning, in one place.
 *
 *     struct fb_tint t = fb_palette_fill("#8fbfe6");              a layer's own colour
 *     t = fb_palette_names[fb_palette_of_name("libz.so", 7)];     anything that has a name
 *     class = fb_palette_change(control, variant, change, is_real);
 *     t = fb_palette_changes[class];                              of a difference
 *
 * The SVGs and the report take them from here, so that a frame looks the same everywhere.  A
 * colour depends on what it stands for, never on the order in which things came.
 *
 * Text on a fill has a contrast of 4.5 or more in both themes.  What must be told apart (less, more
 * and noise; the kinds; the tiers; the layers of a preset) differs by 5 or more in CIELAB's ΔE to
 * people with normal sight, protanopia, deuteranopia and tritanopia; test_palette.c checks both. No
 * colour says anything that text does not say too, so the pictures can be printed in grey. */
#ifndef FB_RENDER_PALETTE_H
#define FB_RENDER_PALETTE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

/* A pair of colours for each theme, all "#rrggbb". */
struct fb_tint {
    const char *fill, *text, *dark_fill, *dark_text;
};

/* Of boxes that stand for several frames, and of the root. */
extern const struct fb_tint fb_palette_none;

/* A light fill for both themes with the text that is readable on it; what is no "#rrggbb" becomes
 * grey. */
struct fb_tint fb_palette_fill(const char *color);

extern const struct fb_tint fb_palette_kinds[FB_FRAME_KIND_COUNT]; /* by enum fb_frame_kind */
extern const struct fb_tint fb_palette_tiers[FB_TIER_COUNT];       /* by enum fb_tier       */

/* Of modules and packages: by their name, whatever else is in the profile.  A picture gives its
 * heaviest colours of their own: where two of them would share one, the lighter takes the next. */
enum { FB_PALETTE_NAMES = 12 };
extern const struct fb_tint fb_palette_names[FB_PALETTE_NAMES];
size_t fb_palette_of_name(const char *name, size_t len);

/* ---- a difference: blue is less, orange more, the stronger the darker ---- */

enum {
    FB_CHANGE_NOISE,    /* or not judged */
    FB_CHANGE_LESS,     /* four levels from here: any, -10 %, -25 %, -50 % and below */
    FB_CHANGE_GONE = 5, /* in the control alone                                      */
    FB_CHANGE_MORE,     /* four levels from here                                     */
    FB_CHANGE_NEW = 10, /* in the variant alone                                      */
    FB_CHANGE_UNTESTED, /* several frames in one box                                 */
    FB_CHANGE_COUNT
};
extern const struct fb_tint fb_palette_changes[FB_CHANGE_COUNT];
extern const double fb_palette_levels[3]; /* 0.10, 0.25, 0.50 */

/* The class of amounts in both arms; `change` is variant / control - 1 of what is judged. */
unsigned fb_palette_change(double control, double variant, double change, bool is_real);

/* ---- arithmetic of colours ---- */

bool fb_palette_is_color(const char *color); /* "#rrggbb"; NULL is none */
/* Of "#rrggbb": "#1d2126" or "#ffffff", what is easier to read on it. */
const char *fb_palette_text_on(const char *color);
double fb_palette_contrast(const char *a, const char *b); /* WCAG 2, 1 to 21 */

#endif

/* color.h - "#rrggbb" colours and whether dark text can be read on them (WCAG 2 contrast). */
#ifndef FB_LAYERS_COLOR_H
#define FB_LAYERS_COLOR_H

#include <stdbool.h>
#include <stddef.h>

#include "layers/layers.h"

/* The text that is drawn on a layer's fill, and the least contrast that it needs. */
#define FB_COLOR_TEXT         FB_LAYERS_TEXT_COLOR
#define FB_COLOR_CONTRAST_MIN 4.5

/* "#" and six hexadecimal digits, either case, nothing else. */
bool fb_color_valid(const char *color);

/* Contrast ratio of two valid colours, 1 to 21. */
double fb_color_contrast(const char *a, const char *b);

/* The colour that a layer has if its file gives none: by the names of the usual layers, so that a
 * layer looks the same under every rules file, else by its position. */
const char *fb_color_default(const char *layer_name, size_t position);

#endif

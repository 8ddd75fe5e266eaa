/* presets.h - the table of built-in rules files. */
#ifndef FB_LAYERS_PRESETS_H
#define FB_LAYERS_PRESETS_H

#include "layers/layers.h"

/* The preset of that name or NULL. */
const struct fb_layers_preset *fb_layers_preset_find(const char *name);

#endif

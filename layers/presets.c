/* A preset is one file in layers/presets/, one line in CMakeLists.txt and one row here. */
#include "layers/presets.h"

#include <string.h>

extern const unsigned char fb_preset_native[];
extern const unsigned long fb_preset_native_size;

const struct fb_layers_preset fb_layers_presets[] = {
    {"native", "C and C++ servers: system calls, transport, codecs, libc, kernel", fb_preset_native,
     &fb_preset_native_size},
    {NULL, NULL, NULL, NULL},
};

const struct fb_layers_preset *fb_layers_preset_find(const char *name)
{
    for (const struct fb_layers_preset *p = fb_layers_presets; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

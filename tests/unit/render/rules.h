/* rules.h - three layers for the tests of render: codec, syscalls, other. */
#ifndef FB_TESTS_RENDER_RULES_H
#define FB_TESTS_RENDER_RULES_H

#include <string.h>

#include "layers/layers.h"

/* Yours: fb_layers_free(). */
static inline struct fb_layers *rules_load(void)
{
    static const char text[] = "{\"layers\": [{\"name\": \"codec\", \"color\": \"#e59bbd\"},"
                               " {\"name\": \"syscalls\", \"color\": \"#8fbfe6\"},"
                               " {\"name\": \"other\", \"color\": \"#e2e4e7\"}],"
                               " \"rules\": [{\"layer\": \"codec\", \"leaf\": \"deflate\"},"
                               " {\"layer\": \"syscalls\", \"leaf\": \"^write$\"}]}";
    struct fb_layers *layers;
    struct fb_err err;

    if (fb_layers_parse(text, sizeof text - 1, "rules", &layers, &err) != FB_OK)
        fail_msg("%s", err.text);
    return layers;
}

#endif

/* contrast.h - `diff --contrast A.json B.json`. */
#ifndef FB_CLI_CONTRAST_H
#define FB_CLI_CONTRAST_H

#include "cli/options.h"

int fb_contrast_say(const struct fb_args *args);

#endif

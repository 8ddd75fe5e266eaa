/* plot.h - the picture of one or more ramps, as a command's answer. */
#ifndef FB_CLI_PLOT_H
#define FB_CLI_PLOT_H

#include "cli/load.h"

/* Writes the arms that have steps to the file of --plot ("-": stdout) and says where it is; returns
 * an exit status. */
int fb_plot_say(const struct fb_args *args, const struct fb_view *view, const struct fb_knee *knee);

#endif

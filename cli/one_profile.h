/* one_profile.h - the way of every command that shows one profile as one table. */
#ifndef FB_CLI_ONE_PROFILE_H
#define FB_CLI_ONE_PROFILE_H

#include "cli/load.h"

/* The table of a command; `shares` are by layer or by function, as was asked for. */
typedef struct fb_table *(*fb_table_make)(const struct fb_args *args, const struct fb_view *view,
                                          const double *self, const struct fb_diff_shares *shares,
                                          const char *title);

/* Loads the profile, cuts its window, measures the shares, and says the table with the clock under
 * it.  Returns the exit status. */
int fb_say_one_profile(const struct fb_args *args, bool by_layer, fb_table_make make);

#endif

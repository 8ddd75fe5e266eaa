/* banked.h - an arm that is a folder of profiles, one a step, told by their names:
 *
 *     LABEL.rpsN.SERVICE.FROM-UNTIL.json.gz          (or any other profile's ending)
 *
 * N: the offered rate; FROM and UNTIL: the window, epoch seconds or milliseconds.  An argument
 * names the folder, and where it holds several labels or services FOLDER/LABEL, FOLDER/@SERVICE or
 * FOLDER/LABEL@SERVICE. */
#ifndef FB_CLI_BANKED_H
#define FB_CLI_BANKED_H

#include "cli/load.h"

/* Whether the argument is a folder, or names a part of one and is no file. */
bool fb_banked_is(const char *argument);

/* The profiles put together, and their steps. */
enum fb_status fb_banked_load(const struct fb_args *args, const char *argument,
                              struct fb_profile **ret_p, struct fb_steps **ret_steps,
                              struct fb_err *err);

#endif

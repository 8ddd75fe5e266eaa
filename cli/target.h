/* target.h - the program that `record` is to start: found as execvp() would, and fit for a preload.
 */
#ifndef FB_CLI_TARGET_H
#define FB_CLI_TARGET_H

#include "base/err.h"

/* The path of the program; *ret_path is yours.  FB_ENOTFOUND where there is none, FB_EUSAGE where
 * it cannot be executed, FB_EUNSUPPORTED where the sampler cannot enter it: static, set-uid,
 * set-gid, with file capabilities, or of another machine. */
enum fb_status fb_target_find(const char *name, char **ret_path, struct fb_err *err);

#endif

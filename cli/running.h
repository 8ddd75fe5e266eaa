/* running.h - the bank that a running process writes. */
#ifndef FB_CLI_RUNNING_H
#define FB_CLI_RUNNING_H

#include "base/err.h"

/* *ret_path is yours: the bank's name, or one below /proc where it has none here (another mount
 * namespace).  FB_ENOTFOUND: there is no such process, or nothing samples it, or it has no bank
 * yet. */
enum fb_status fb_running_bank(long pid, char **ret_path, struct fb_err *err);

#endif

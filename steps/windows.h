/* windows.h - whether the windows of a list of steps can be what they say. */
#ifndef FB_STEPS_WINDOWS_H
#define FB_STEPS_WINDOWS_H

#include "steps/list.h"

/* Warns of spans that differ (the load, its header, the CPU counters), of steps that overlap, that
 * leave a gap which the others do not, that are out of order or there twice. */
void fb_steps_windows_check(struct fb_steps *steps);

#endif

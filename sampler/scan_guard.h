/* scan_guard.h - keeps forks out of what a scan does in the loader and to its lists.
 *
 *     if (fb_scan_guard_enter()) { ... microseconds ... fb_scan_guard_leave(); }
 *
 * Context: normal.  The fork hooks of sampler/modules.h are the other side. */
#ifndef FB_SAMPLER_SCAN_GUARD_H
#define FB_SAMPLER_SCAN_GUARD_H

#include <stdbool.h>

/* False if threads of the host forked all the time: the scan is for later. */
bool fb_scan_guard_enter(void);
void fb_scan_guard_leave(void);

/* In the child of a fork: nobody is inside any more.  False if somebody was when it forked. */
bool fb_scan_guard_child(void);

#endif

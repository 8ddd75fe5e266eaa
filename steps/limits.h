/* limits.h - the thresholds of the health rules and of the knee, in one table that a user may
 * change.
 *
 *     double limits[FB_LIMIT_COUNT];
 *     fb_limits_default(limits);
 *     r = fb_limits_set(limits, "node=0.9", err);      as typed after --limit
 *
 * Shares are 0 to 1, times seconds.  The table is printed by `flamebank help limits` and stands in
 * docs/steps.md; a test holds the two together. */
#ifndef FB_STEPS_LIMITS_H
#define FB_STEPS_LIMITS_H

#include <stddef.h>

#include "base/err.h"

enum fb_limit {
    FB_LIMIT_SHED,
    FB_LIMIT_SHED_INFERRED,
    FB_LIMIT_OVER,
    FB_LIMIT_EVENT_THROTTLED,
    FB_LIMIT_EVENT_FACTOR,
    FB_LIMIT_GC_FACTOR,
    FB_LIMIT_GC_SHARE,
    FB_LIMIT_CLIENT_THROTTLED,
    FB_LIMIT_SCHEDULE,
    FB_LIMIT_UNACCOUNTED,
    FB_LIMIT_ERRORS,
    FB_LIMIT_NODE,
    FB_LIMIT_YIELD,
    FB_LIMIT_RATE,
    FB_LIMIT_SPEED,
    FB_LIMIT_CPU_SE,
    FB_LIMIT_CPU_LAG1,
    FB_LIMIT_CPU_LAG1_SE,
    FB_LIMIT_INVERSION_P99,
    FB_LIMIT_INVERSION_CPU,
    FB_LIMIT_HEAP,
    FB_LIMIT_RSS,
    FB_LIMIT_SHORT,
    FB_LIMIT_PLATEAU_SHED,
    FB_LIMIT_PLATEAU_SPREAD,
    FB_LIMIT_COUNT
};

struct fb_limit_row {
    const char *name;   /* as typed before '=' */
    const char *marks;  /* the marks that it decides on */
    double value;       /* the default */
    double least, most; /* that are accepted */
    const char *what;   /* one line, with its unit */
};

extern const struct fb_limit_row fb_limits[FB_LIMIT_COUNT]; /* by enum fb_limit */

void fb_limits_default(double ret_limits[FB_LIMIT_COUNT]);

/* FB_EUSAGE for an unknown name or a value out of range; *limits is untouched then. */
enum fb_status fb_limits_set(double limits[FB_LIMIT_COUNT], const char *text, struct fb_err *err);

#endif

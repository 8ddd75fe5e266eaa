/* times.h - times as people and tools write them, to Unix nanoseconds. */
#ifndef FB_STEPS_TIMES_H
#define FB_STEPS_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Epoch seconds (with a fraction), milliseconds, microseconds or nanoseconds, told by their size
 * (below 1e11 seconds, 1e14 milliseconds, 1e17 microseconds), or ISO 8601 with a zone:
 * "2026-09-06T20:27:00.25Z", "2026-09-06 22:27:00+02:00".  False for anything else. */
bool fb_time_parse(const char *text, int64_t *ret_ns);

/* "110.000123s" (also ns, us, ms, m, h) to seconds; false for anything else. */
bool fb_duration_parse(const char *text, double *ret_s);

#endif

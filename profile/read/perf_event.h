/* perf_event.h - what the readers of perf's text and of perf.data share about events.  Private to
 * profile/. */
#ifndef FB_PROFILE_READ_PERF_EVENT_H
#define FB_PROFILE_READ_PERF_EVENT_H

#include "profile/formats.h"

/* Whether an event is the one that was asked for: "cycles" is "cycles:u" as well, unless there is
 * an event of just that name (is_exact): what follows are modifiers. */
bool fb_perf_event_is(const char *name, size_t len, const char *asked, bool is_exact);

/* Says in the profile which event was read and what its weights are: periods (of cpu-clock and
 * task-clock nanoseconds, else amounts of the event), or samples.  period: that of all samples, 0
 * where they differ or have none. */
void fb_perf_event_describe(struct fb_profile *p, const char *name, bool by_period,
                            uint64_t period);

#endif

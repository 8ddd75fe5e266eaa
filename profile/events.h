/* events.h - what happened to the sampler itself: pauses, and rates that it lowered.
 *
 *     for (size_t at = 0; fb_profile_pause_next(p, &at, from, to, &begin, &end);)
 *         ...                                      the pauses within a span, by time
 *     paused = fb_profile_paused_ns(p, from, to);
 *     ok = fb_profile_counter_running(p, "process.cpu_ns", from, to, &growth);
 *
 * A pause that nothing ended lasts to the end of time. */
#ifndef FB_PROFILE_EVENTS_H
#define FB_PROFILE_EVENTS_H

#include "profile/model.h"

void fb_profile_event_add(struct fb_profile *p, const struct fb_sampler_event *event);

/* The next pause that overlaps [from_ns, to_ns), cut to it; *at starts at 0. */
bool fb_profile_pause_next(const struct fb_profile *p, size_t *at, int64_t from_ns, int64_t to_ns,
                           int64_t *ret_begin_ns, int64_t *ret_end_ns);

int64_t fb_profile_paused_ns(const struct fb_profile *p, int64_t from_ns, int64_t to_ns);

/* Growth of a cumulative counter over the parts of a span in which samples were taken; false as
 * fb_profile_counter_delta(). */
bool fb_profile_counter_running(const struct fb_profile *p, const char *name, int64_t from_ns,
                                int64_t to_ns, double *ret_delta);

/* The longest interval that a tick stood for, ns. */
uint64_t fb_profile_slowest(const struct fb_profile *p);

/* The part of the weight that is missed expiries by the sampler's own count; NAN where it has
 * none.  Right at every rate, where samples and weights alone are not. */
double fb_profile_counted_overruns(const struct fb_profile *p);

#endif

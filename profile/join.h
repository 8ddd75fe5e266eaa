/* join.h - profiles put together to one whose parts are told apart by time.
 *
 *     struct fb_profile *all = fb_profile_new();
 *     r = fb_profile_join(all, p, middle_of_its_span_ns, span_ns, err);      each part */
#ifndef FB_PROFILE_JOIN_H
#define FB_PROFILE_JOIN_H

#include "base/err.h"
#include "profile/model.h"

/* Adds the samples of `from`, which has no times of its own, at time_ns, known to grain_ns.  Fails
 * where the two count different things. */
enum fb_status fb_profile_join(struct fb_profile *to, const struct fb_profile *from,
                               int64_t time_ns, int64_t grain_ns, struct fb_err *err);

#endif

/* requests.h - single requests added up to steps, for sources that log each of them.
 *
 *     struct fb_requests q;
 *     fb_requests_init(&q, steps);                       steps->plan cuts the time into steps
 *     r = fb_requests_add(&q, start_ns, latency_s, FB_REQUEST_OK, err);
 *     r = fb_requests_finish(&q, err);                   adds the steps
 *     fb_requests_done(&q);
 *
 * Without a plan all requests are one step.  A request belongs to the step in which it was sent;
 * with a plan, what was sent outside every load window is counted and named in a warning.  Latency
 * is of the requests that were delivered: exact for the first FB_REQUESTS_EXACT of a step, then by
 * a histogram whose buckets are 0.1 % wide.  Memory does not grow with the requests. */
#ifndef FB_STEPS_REQUESTS_H
#define FB_STEPS_REQUESTS_H

#include "steps/list.h"

enum { FB_REQUEST_OK = -1, FB_REQUESTS_EXACT = 4096, FB_REQUESTS_SLOTS = 2000 };

struct fb_requests {
    struct fb_steps *steps;
    const struct fb_plan *plan;
    int64_t origin_ns;               /* of the plan's slots; 0 not known yet */
    struct fb_requests_slot **slots; /* by step; NULL: nothing yet           */
    size_t slots_count, slots_room;
    double outside; /* requests outside every load window   */
};

void fb_requests_init(struct fb_requests *q, struct fb_steps *steps);
void fb_requests_done(struct fb_requests *q);

/* outcome: FB_REQUEST_OK, or a class of errors.  start_ns 0: unknown.  latency_s NAN: unknown. */
enum fb_status fb_requests_add(struct fb_requests *q, int64_t start_ns, double latency_s,
                               int outcome, struct fb_err *err);
/* Requests that the generator should have sent and did not. */
enum fb_status fb_requests_not_sent(struct fb_requests *q, int64_t time_ns, double count,
                                    struct fb_err *err);

enum fb_status fb_requests_finish(struct fb_requests *q, struct fb_err *err);

/* FB_REQUEST_OK or the class of an HTTP status. */
int fb_request_outcome(double status);

#endif

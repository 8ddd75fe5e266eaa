/* trace_spans.h - begin, end and complete events of a trace as stacks over time.  Private to
 * profile/.
 *
 * The spans of one thread nest: a span that begins while another is open is its child.  An end
 * closes the innermost open span of its name, with all that is open within it (their ends were
 * lost); an end without a name closes the innermost; an end of what is not open is counted and
 * passed over; what is open at the end ends with the thread's last event.  Events come in any
 * order. */
#ifndef FB_PROFILE_READ_TRACE_SPANS_H
#define FB_PROFILE_READ_TRACE_SPANS_H

#include "profile/formats.h"

struct fb_span_event {
    int64_t ns, end_ns; /* end_ns of a complete event */
    uint32_t thread;    /* of the profile */
    uint32_t name;      /* string of the profile, 0 none */
    char phase;         /* B, E or X */
};

struct fb_span_events {
    struct fb_span_event *items;
    size_t count, room;
};

/* Adds a sample for each stretch of a thread's time with the same open spans, its weight in
 * nanoseconds; sorts the events.  Stray ends are added to *stray. */
void fb_spans_put(struct fb_span_events *events, struct fb_profile *p, uint64_t *stray);

#endif

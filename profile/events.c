#include "profile/events.h"

#include <math.h>

#include "base/vec.h"

void fb_profile_event_add(struct fb_profile *p, const struct fb_sampler_event *event)
{
    size_t at = p->events_count;

    fb_vec_reserve(&p->events, &p->events_room, p->events_count + 1, sizeof *p->events);
    for (; at > 0 && p->events[at - 1].time_ns > event->time_ns; at--)
        p->events[at] = p->events[at - 1];
    p->events[at] = *event;
    p->events_count++;
}

/* The end of the pause that event i begins. */
static int64_t pause_end(const struct fb_profile *p, size_t i)
{
    for (size_t k = i + 1; k < p->events_count; k++)
        if (p->events[k].kind == FB_EVENT_RESUMED)
            return p->events[k].time_ns;
    return INT64_MAX;
}

bool fb_profile_pause_next(const struct fb_profile *p, size_t *at, int64_t from_ns, int64_t to_ns,
                           int64_t *ret_begin_ns, int64_t *ret_end_ns)
{
    bool running = true;

    for (size_t i = 0; i < p->events_count; i++) {
        bool begins = running && p->events[i].kind == FB_EVENT_PAUSED;
        int64_t begin = p->events[i].time_ns, end;

        running = p->events[i].kind == FB_EVENT_RESUMED || (running && !begins);
        if (!begins || i < *at)
            continue;
        end = pause_end(p, i);
        begin = begin > from_ns ? begin : from_ns;
        end = end < to_ns ? end : to_ns;
        if (begin >= end)
            continue;
        *at = i + 1;
        *ret_begin_ns = begin;
        *ret_end_ns = end;
        return true;
    }
    return false;
}

int64_t fb_profile_paused_ns(const struct fb_profile *p, int64_t from_ns, int64_t to_ns)
{
    int64_t sum = 0, begin, end;

    for (size_t at = 0; fb_profile_pause_next(p, &at, from_ns, to_ns, &begin, &end);)
        sum += end - begin;
    return sum;
}

bool fb_profile_counter_running(const struct fb_profile *p, const char *name, int64_t from_ns,
                                int64_t to_ns, double *ret_delta)
{
    int64_t begin, end;
    double all, part;

    if (!fb_profile_counter_delta(p, name, from_ns, to_ns, &all))
        return false;
    for (size_t at = 0; fb_profile_pause_next(p, &at, from_ns, to_ns, &begin, &end);) {
        if (!fb_profile_counter_delta(p, name, begin, end, &part))
            return false;
        all -= part;
    }
    *ret_delta = all;
    return true;
}

uint64_t fb_profile_slowest(const struct fb_profile *p)
{
    uint64_t slowest = p->interval_ns;

    for (size_t i = 0; i < p->events_count; i++)
        if (p->events[i].kind == FB_EVENT_INTERVAL && p->events[i].value > slowest)
            slowest = p->events[i].value;
    return slowest;
}

static double last_of(const struct fb_profile *p, const char *name)
{
    const struct fb_counter *c = fb_profile_counter_find(p, name);

    for (size_t i = p->counters.rows; c && i > 0; i--)
        if (c->values[i - 1] != FB_COUNTER_ABSENT)
            return (double)c->values[i - 1];
    return NAN;
}

double fb_profile_counted_overruns(const struct fb_profile *p)
{
    double weight = last_of(p, "sampler.weight");

    return weight > 0 ? last_of(p, "sampler.overrun") / weight : NAN;
}

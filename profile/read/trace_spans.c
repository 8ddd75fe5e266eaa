#include "profile/read/trace_spans.h"

#include <stdlib.h>

#include "base/vec.h"

struct open_span {
    uint32_t name;
    fb_stack_id stack;
    int64_t begin_ns;
    int64_t end_ns; /* INT64_MAX: an end event will say */
};

struct thread {
    struct fb_profile *p;
    struct open_span *open;
    size_t depth, room;
    uint32_t id;
    int64_t now_ns, last_ns; /* last_ns: of its last event or end */
};

/* By thread and time.  The sort is not stable, so equal ones go by the order of the file, which the
 * address of the copy says; of complete events that begin together the longer is outside. */
struct sorted {
    struct fb_span_event event;
    size_t order;
};

static int by_time(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->event.thread != y->event.thread)
        return x->event.thread < y->event.thread ? -1 : 1;
    if (x->event.ns != y->event.ns)
        return x->event.ns < y->event.ns ? -1 : 1;
    if (x->event.phase == 'X' && y->event.phase == 'X' && x->event.end_ns != y->event.end_ns)
        return x->event.end_ns > y->event.end_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void go_to(struct thread *t, int64_t ns)
{
    if (t->depth > 0 && ns > t->now_ns)
        fb_profile_sample_add(t->p, t->now_ns, t->id, t->open[t->depth - 1].stack,
                              (uint64_t)(ns - t->now_ns));
    t->now_ns = ns > t->now_ns ? ns : t->now_ns;
}

/* Closes the complete events on top that have ended by then. */
static void close_ended(struct thread *t, int64_t ns)
{
    while (t->depth > 0 && t->open[t->depth - 1].end_ns <= ns) {
        go_to(t, t->open[t->depth - 1].end_ns);
        t->depth--;
    }
}

static void begin(struct thread *t, const struct fb_span_event *e)
{
    fb_stack_id parent = t->depth > 0 ? t->open[t->depth - 1].stack : FB_STACK_ROOT;
    struct fb_frame frame = {.kind = FB_FRAME_NATIVE, .name = e->name};

    if (e->name == 0)
        frame.name = fb_strings_put_z(&t->p->strings, "(unnamed)");
    fb_vec_reserve(&t->open, &t->room, t->depth + 1, sizeof *t->open);
    t->open[t->depth++] = (struct open_span){
        e->name, fb_profile_stack_put(t->p, parent, fb_profile_frame_put(t->p, &frame)), e->ns,
        e->phase == 'X' ? e->end_ns : INT64_MAX};
}

static bool end(struct thread *t, const struct fb_span_event *e)
{
    for (size_t i = t->depth; i > 0; i--) {
        if (t->open[i - 1].end_ns == INT64_MAX &&
            (e->name == 0 || t->open[i - 1].name == e->name)) {
            t->depth = i - 1;
            return true;
        }
    }
    return false;
}

static void put_event(struct thread *t, const struct fb_span_event *e, uint64_t *stray)
{
    int64_t last = e->phase == 'X' ? e->end_ns : e->ns;

    t->last_ns = t->last_ns > last ? t->last_ns : last;
    close_ended(t, e->ns);
    go_to(t, e->ns);
    if (e->phase != 'E')
        begin(t, e);
    else if (!end(t, e))
        ++*stray;
}

static size_t next_end(const struct sorted *events, size_t at, size_t n)
{
    while (at < n && events[at].event.phase != 'E')
        at++;
    return at;
}

/* Whether an end closes the innermost span, one that began before this moment. */
static bool makes_room(const struct thread *t, const struct fb_span_event *end,
                       const struct fb_span_event *begin)
{
    const struct open_span *top = t->depth > 0 ? &t->open[t->depth - 1] : NULL;

    return top && top->end_ns == INT64_MAX && top->begin_ns < end->ns && top->name == end->name &&
           begin->name != end->name;
}

/* Events at one time, in the order of the file; but what ends then makes room first for what
 * begins then, which is not inside it. */
static void put_moment(struct thread *t, const struct sorted *events, size_t n, uint64_t *stray)
{
    size_t ends = next_end(events, 0, n);

    close_ended(t, events[0].event.ns);
    for (size_t i = 0; i < n; i++) {
        const struct fb_span_event *e = &events[i].event;

        if (e->phase == 'E' && i < ends)
            continue; /* has been put */
        while (e->phase != 'E' && ends < n && makes_room(t, &events[ends].event, e)) {
            put_event(t, &events[ends].event, stray);
            ends = next_end(events, ends + 1, n);
        }
        if (i == ends)
            ends = next_end(events, ends + 1, n);
        put_event(t, e, stray);
    }
}

static void put_thread(struct thread *t, const struct sorted *events, size_t n, uint64_t *stray)
{
    t->depth = 0;
    t->id = events[0].event.thread;
    t->now_ns = t->last_ns = events[0].event.ns;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && events[to].event.ns == events[from].event.ns;)
            to++;
        put_moment(t, events + from, to - from, stray);
    }
    close_ended(t, t->last_ns);
    go_to(t, t->last_ns);
}

void fb_spans_put(struct fb_span_events *events, struct fb_profile *p, uint64_t *stray)
{
    struct sorted *all = fb_alloc_array(events->count, sizeof *all);
    struct thread t = {.p = p};

    for (size_t i = 0; i < events->count; i++)
        all[i] = (struct sorted){events->items[i], i};
    qsort(all, events->count, sizeof *all, by_time);
    for (size_t from = 0, to; from < events->count; from = to) {
        for (to = from + 1; to < events->count && all[to].event.thread == all[from].event.thread;)
            to++;
        put_thread(&t, all + from, to - from, stray);
    }
    free(t.open);
    free(all);
}

/* writer_control.c - see writer_control.h. */
#include "sampler/writer_control.h"

#include "sampler/clock.h"
#include "sampler/foreign.h"
#include "sampler/modules.h"
#include "sampler/say.h"

enum { SLOWEST_NS = 1000000000 }; /* a tick a second is the least that says anything */

static void event_add(struct fb_writer *w, enum fb_event_kind kind, uint64_t value)
{
    if (w->event_count < FB_WRITER_EVENTS)
        w->events[w->event_count++] =
            (struct fb_writer_event){.time_ns = fb_clock_now(), .kind = kind, .value = value};
}

void fb_writer_control_begin(struct fb_writer *w)
{
    if (fb_clock_is_paused())
        event_add(w, FB_EVENT_PAUSED, 0);
    if (fb_clock_interval() != w->config->interval_ns)
        event_add(w, FB_EVENT_INTERVAL, fb_clock_interval());
}

bool fb_writer_control_look(struct fb_writer *w)
{
    uint64_t from;
    uint64_t to;
    unsigned ask;

    if (!fb_sink_foreign(&w->sink, &from, &to))
        return false;
    ask = fb_foreign_ask(w->sink.fd, from, to, w->sink.run_id, w->sink.crc_table);
    if (ask == FB_EVENT_ASK_PAUSE) {
        fb_clock_pause();
        event_add(w, FB_EVENT_PAUSED, 0);
    } else if (ask == FB_EVENT_ASK_RESUME) {
        event_add(w, FB_EVENT_RESUMED, 0);
        fb_clock_resume();
    } else {
        return false;
    }
    fb_budget_restart(&w->budget);
    return true;
}

void fb_writer_events_write(struct fb_writer *w)
{
    if (w->event_count == 0)
        return;
    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
    for (unsigned i = 0; i < w->event_count; i++) {
        fb_wire_put_signed(&w->misc.body, (int64_t)w->events[i].time_ns);
        fb_wire_put_signed(&w->misc.body, 0);
        fb_wire_put_u8(&w->misc.body, (uint8_t)w->events[i].kind);
        fb_wire_put_varint(&w->misc.body, w->events[i].value);
        w->misc.count++;
    }
    if (fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_EVENTS, NULL))
        w->event_count = 0;
}

void fb_writer_budget_look(struct fb_writer *w)
{
    const struct fb_counter_row *c = &w->counters;
    struct fb_modules_stats tables;
    uint64_t asked_ns = w->config->interval_ns;
    unsigned scale = (unsigned)(fb_clock_interval() / asked_ns);
    unsigned most = asked_ns < SLOWEST_NS ? (unsigned)(SLOWEST_NS / asked_ns) : 1;
    unsigned now;

    if (fb_clock_is_paused() || !c->fresh[FB_COUNTER_PROCESS_CPU])
        return;
    if (most > FB_CLOCK_SCALE_MAX)
        most = FB_CLOCK_SCALE_MAX;
    /* Rows of new code are made once each; fewer samples would not make them cheaper. */
    fb_modules_stats_get(&tables);
    now = fb_budget_look(&w->budget, scale, most, (uint64_t)c->time_ns,
                         (uint64_t)(c->value[FB_COUNTER_HANDLER] + c->value[FB_COUNTER_WRITER]) -
                             tables.build_ns,
                         (uint64_t)c->value[FB_COUNTER_PROCESS_CPU]);
    if (now == scale)
        return;
    fb_clock_rate_set(asked_ns * now);
    event_add(w, FB_EVENT_INTERVAL, fb_clock_interval());
    if (!w->rate_said)
        fb_say(
            FB_SAY_ALWAYS, w->sink.path,
            "is of a sampler that took over 1 % of the program's CPU time; it takes fewer samples "
            "from now on",
            NULL, 0);
    w->rate_said = true;
}

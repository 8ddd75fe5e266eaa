#include "profile/read/perf_script.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/read/perf_event.h"
#include "profile/read/perf_frame.h"
#include "profile/read/perf_header.h"
#include "profile/types.h"

struct event {
    char *name;
    uint64_t samples;
    bool is_asked;
};

/* How the text is read, the same for all parts. */
struct reading {
    char *event;   /* as asked for, or that of the first sample           */
    bool is_exact; /* there is such an event: others with modifiers are not */
    bool by_period;
};

struct state {
    struct fb_perf_frames frames;
    struct event *events;
    size_t events_count, events_room, last_event;
    uint32_t *plans; /* of the sample at hand, leaf first */
    size_t depth, plans_room;
    struct fb_perf_header header;
    bool has_header, is_asked, has_tail;
    uint32_t tail; /* a frame on the header line; none of one if further lines follow */
    bool has_times, has_period, is_uneven;
    uint64_t period; /* of all samples read, unless they are uneven */
};

/* ---- events ---- */

static struct event *event_of(struct state *state, const struct reading *reading, const char *name,
                              size_t len)
{
    for (size_t i = 0; i < state->events_count; i++) {
        struct event *e = &state->events[(state->last_event + i) % state->events_count];

        if (strlen(e->name) == len && memcmp(e->name, name, len) == 0) {
            state->last_event = (size_t)(e - state->events);
            return e;
        }
    }
    fb_vec_reserve(&state->events, &state->events_room, state->events_count + 1,
                   sizeof *state->events);
    state->last_event = state->events_count;
    state->events[state->events_count] =
        (struct event){.name = fb_strndup(name, len),
                       .is_asked = fb_perf_event_is(name, len, reading->event, reading->is_exact)};
    return &state->events[state->events_count++];
}

/* ---- samples ---- */

static void push(struct state *state, uint32_t plan)
{
    fb_vec_reserve(&state->plans, &state->plans_room, state->depth + 1, sizeof *state->plans);
    state->plans[state->depth++] = plan;
}

static void finish_sample(struct fb_text_part *part)
{
    struct state *state = part->state;
    const struct reading *reading = part->arg;
    const struct fb_perf_header *h = &state->header;
    uint64_t period = h->has_period ? h->period : 1;
    uint32_t thread;
    fb_stack_id stack;

    if (!state->has_header)
        return;
    state->has_header = false;
    if (!state->is_asked)
        return;
    if (state->depth == 0 && state->has_tail)
        push(state, state->tail);
    thread =
        fb_text_thread_put(part, h->pid == UINT32_MAX ? 0 : h->pid, h->tid, h->comm, h->comm_len);
    stack = fb_perf_comm_put(&state->frames, part->p, h->comm, h->comm_len);
    while (state->depth > 0)
        stack = fb_perf_frame_put(&state->frames, part, stack, state->plans[--state->depth]);
    fb_text_sample_add(part, false, h->time_ns, thread, stack,
                       reading->by_period ? (double)period : 1);
    state->has_times = state->has_times || h->has_time;
    if (h->has_period && !state->has_period) {
        state->has_period = true;
        state->period = period;
    }
    state->is_uneven = state->is_uneven || !h->has_period || period != state->period;
}

static bool begins(const char *text, size_t len, const char *start)
{
    size_t n = strlen(start);

    return len >= n && memcmp(text, start, n) == 0;
}

static void start_sample(struct fb_text_part *part, const struct fb_perf_header *header)
{
    struct state *state = part->state;
    const struct reading *reading = part->arg;
    struct event *event;

    finish_sample(part);
    state->has_tail = false;
    state->depth = 0;
    state->header = *header;
    state->has_header = true;
    /* mmap, comm, lost and other events of perf itself, where they are shown */
    if (begins(header->event, header->event_len, "PERF_RECORD_") ||
        begins(header->rest, header->rest_len, "PERF_RECORD_")) {
        state->is_asked = false;
        return;
    }
    event = event_of(state, reading, header->event, header->event_len);
    event->samples++;
    state->is_asked = event->is_asked;
    if (state->is_asked && header->rest_len > 0 && header->rest[header->rest_len - 1] == ')')
        state->has_tail =
            fb_perf_frame_parse(&state->frames, header->rest, header->rest_len, &state->tail);
}

/* An indented line: mostly a frame of the sample at hand.  Directly after a header it may be the
 * next header, whose command's name perf aligns to the right. */
static void take_indented(struct fb_text_part *part, const char *line, size_t len)
{
    struct state *state = part->state;
    struct fb_perf_header header;
    uint32_t plan;

    if (line[0] == ' ' && (!state->has_header || state->depth == 0) &&
        fb_perf_header_parse(line, len, &header)) {
        start_sample(part, &header);
    } else if (!state->has_header) {
        fb_text_skip(part, "a frame was not expected before the line of its sample "
                           "('comm tid time: event:')");
    } else if (!state->is_asked) {
        state->depth = 0;
    } else if (fb_perf_frame_parse(&state->frames, line, len, &plan)) {
        push(state, plan);
    } else if (state->depth > 0) {
        uint32_t *last = &state->plans[state->depth - 1];

        *last = fb_perf_frame_source(&state->frames, *last, line, len);
    } else {
        fb_text_skip(part, "a frame was expected ('address symbol (file)')");
    }
}

static void take_line(struct fb_text_part *part, const char *line, size_t len)
{
    struct state *state = part->state;
    struct fb_perf_header header;

    if (len > 0 && (line[0] == ' ' || line[0] == '\t')) {
        take_indented(part, line, len);
    } else if (len == 0) {
        /* Directly behind a header it ends nothing: the frames may still come. */
        if (state->depth > 0 || state->has_tail || !state->is_asked)
            finish_sample(part);
    } else if (line[0] == '#') {
        finish_sample(part);
    } else if (fb_perf_header_parse(line, len, &header)) {
        start_sample(part, &header);
    } else {
        fb_text_skip(part, "a sample ('comm tid time: event:') was expected");
    }
}

static size_t trim(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\r' || line[len - 1] == '\t'))
        len--;
    return len;
}

static void take(struct fb_text_part *part, const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        const char *line = text + at, *stop = memchr(line, '\n', n - at);
        size_t len = stop ? (size_t)(stop - line) : n - at;

        part->lines++;
        take_line(part, line, trim(line, len));
        at += len + 1;
    }
    finish_sample(part);
}

/* Before the last line that begins a sample, if what is before it is not its header. */
static size_t cut(const char *text, size_t n)
{
    struct fb_perf_header header;
    const char *end = memrchr(text, '\n', n);

    while (end && end > text) {
        const char *before = memrchr(text, '\n', (size_t)(end - text));
        const char *line = before ? before + 1 : text;

        if (before && line[0] != '\t' && line[0] != '#' &&
            fb_perf_header_parse(line, (size_t)(end - line), &header))
            return (size_t)(line - text);
        end = before;
    }
    return 0;
}

static void state_done(void *arg)
{
    struct state *state = arg;

    fb_perf_frames_done(&state->frames);
    for (size_t i = 0; i < state->events_count; i++)
        free(state->events[i].name);
    free(state->events);
    free(state->plans);
}

static const struct fb_text_format format = {
    .state_bytes = sizeof(struct state), .cut = cut, .take = take, .done = state_done};

/* ---- the file ---- */

/* The first header of the text that is no comment; false where another line comes first. */
static bool first_header(const char *text, size_t n, struct fb_perf_header *ret_header,
                         size_t *ret_after)
{
    for (size_t at = 0; at < n;) {
        const char *line = text + at, *stop = memchr(line, '\n', n - at);
        size_t len = stop ? (size_t)(stop - line) : n - at;

        at += len + 1;
        len = trim(line, len);
        if (len == 0 || line[0] == '#')
            continue;
        *ret_after = at;
        return fb_perf_header_parse(line, len, ret_header);
    }
    return false;
}

bool fb_perf_script_sniff(const void *head, size_t n)
{
    const char *text = head;
    struct fb_perf_frames frames = {0};
    struct fb_perf_header header;
    bool is_frame = false;
    size_t after;
    uint32_t plan;

    if (memchr(head, '\0', n) || !first_header(text, n, &header, &after))
        return false;
    if (header.has_time && header.event_len > 0)
        return true;
    while (after < n && (text[after] == '\n' || text[after] == '\r'))
        after++;
    if (after < n && (text[after] == ' ' || text[after] == '\t')) {
        const char *stop = memchr(text + after, '\n', n - after);
        size_t len = stop ? (size_t)(stop - text) - after : n - after;

        is_frame = fb_perf_frame_parse(&frames, text + after, trim(text + after, len), &plan);
    }
    fb_perf_frames_done(&frames);
    return is_frame;
}

/* "# cmdline : /usr/bin/perf record ..." and the like, above the first sample. */
static void take_comments(const char *text, size_t n, struct fb_buf *out)
{
    for (size_t at = 0; at < n && (text[at] == '#' || text[at] == '\n');) {
        const char *stop = memchr(text + at, '\n', n - at);
        size_t len = stop ? (size_t)(stop - text) - at : n - at;

        fb_buf_add(out, text + at, len);
        fb_buf_putc(out, '\n');
        at += len + 1;
    }
}

static void keep_comments(struct fb_profile *p, const char *comments)
{
    static const char *const keys[] = {"hostname", "os release", "perf version",
                                       "arch",     "cmdline",    "captured on"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char *start = fb_format("# %s", keys[i]), *key = fb_format("perf.%s", keys[i]);
        const char *at = strstr(comments, start);

        if (at && (at == comments || at[-1] == '\n')) {
            at += strlen(start);
            at += strspn(at, " \t");
            if (*at == ':') {
                size_t len;
                char *value;

                at += 1 + strspn(at + 1, " \t");
                len = trim(at, strcspn(at, "\n"));
                value = fb_strndup(at, len);
                fb_profile_manifest_set(p, key, value);
                free(value);
            }
        }
        free(start);
        free(key);
    }
}

/* Whether a sample of the head is of an event of just that name. */
static bool has_event(const char *text, size_t n, const char *event)
{
    struct fb_perf_header header;

    for (size_t at = 0; at < n;) {
        const char *line = text + at, *stop = memchr(line, '\n', n - at);
        size_t len = stop ? (size_t)(stop - line) : n - at;

        at += len + 1;
        if (len > 0 && line[0] != '\t' && line[0] != '#' &&
            fb_perf_header_parse(line, trim(line, len), &header) &&
            header.event_len == strlen(event) && memcmp(header.event, event, header.event_len) == 0)
            return true;
    }
    return false;
}

static enum fb_status prepare(struct fb_source *in, const struct fb_read_options *options,
                              struct reading *ret_reading, struct fb_buf *comments,
                              struct fb_err *err)
{
    struct fb_perf_header header = {0};
    const char *head;
    size_t n, after;
    enum fb_status r = fb_source_head(in, FB_SNIFF_BYTES, &head, &n, err);

    if (r != FB_OK)
        return r;
    (void)first_header(head, n, &header, &after);
    take_comments(head, n, comments);
    ret_reading->event = options->type
                             ? fb_strdup(options->type)
                             : fb_strndup(header.event ? header.event : "", header.event_len);
    ret_reading->is_exact = !options->type || has_event(head, n, options->type);
    ret_reading->by_period = options->weight != FB_WEIGHT_SAMPLES;
    return FB_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct fb_value_type *)a)->name, ((const struct fb_value_type *)b)->name);
}

/* The events of all parts, one entry a name, by name; those that were asked for in *ret_asked. */
static size_t list_events(const struct fb_text *text, struct fb_value_type *types,
                          size_t *ret_asked)
{
    size_t n = 0;

    *ret_asked = 0;
    for (size_t i = 0; i < text->parts_count; i++) {
        const struct state *state = text->parts[i].state;

        for (size_t k = 0; k < state->events_count; k++) {
            const struct event *e = &state->events[k];
            size_t at = 0;

            while (at < n && strcmp(types[at].name, e->name) != 0)
                at++;
            if (at == n) {
                types[n++] = (struct fb_value_type){e->name, "", 0};
                *ret_asked += e->is_asked;
            }
            types[at].samples += e->samples;
        }
    }
    qsort(types, n, sizeof *types, by_name);
    return n;
}

static enum fb_status check_events(const struct fb_text *text, struct fb_source *in,
                                   const char *asked, struct fb_err *err)
{
    struct fb_value_type *types;
    size_t room = 1, n, count, chosen;
    enum fb_status r = FB_OK;

    for (size_t i = 0; i < text->parts_count; i++)
        room += ((const struct state *)text->parts[i].state)->events_count;
    types = fb_alloc_array(room, sizeof *types);
    n = list_events(text, types, &count);
    /* None, or "cycles" for both of cycles:u and cycles:k. */
    if (n > 0 && (asked ? count != 1 : n > 1))
        r = fb_types_choose(fb_source_name(in), types, n, count > 1 ? NULL : asked,
                            FB_TYPES_NO_DEFAULT, &chosen, err);
    free(types);
    return r;
}

/* What a weight is an amount of, and the interval where all have the same. */
static void describe(const struct fb_text *text, const struct reading *reading)
{
    struct fb_profile *p = text->p;
    bool is_even = true, has_period = false;
    uint64_t period = 0;
    const char *name = reading->event;

    for (size_t i = 0; i < text->parts_count; i++) {
        const struct state *state = text->parts[i].state;

        p->has_times = p->has_times || state->has_times;
        for (size_t k = 0; k < state->events_count; k++)
            name = state->events[k].is_asked ? state->events[k].name : name;
        is_even = is_even && !state->is_uneven;
        if (!state->has_period)
            continue;
        is_even = is_even && (!has_period || period == state->period);
        has_period = true;
        period = state->period;
    }
    fb_perf_event_describe(p, name, reading->by_period && has_period,
                           has_period && is_even ? period : 0);
    p->ended = true;
    fb_profile_span_update(p);
}

enum fb_status fb_perf_script_read(struct fb_source *in, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                   struct fb_err *err)
{
    struct reading reading = {0};
    struct fb_buf comments = {0};
    struct fb_text text = {0};
    enum fb_status r = prepare(in, options, &reading, &comments, err);

    if (r == FB_OK)
        r = fb_text_read(in, &format, &reading, options->jobs, &text, err);
    if (r == FB_OK) {
        fb_text_report(&text, ret_report);
        describe(&text, &reading);
        keep_comments(text.p, comments.data ? comments.data : "");
        r = check_events(&text, in, options->type, err);
        if (r == FB_OK)
            r = fb_text_check(&text, in, "holds no sample of perf ('comm tid time: event:')", ret_p,
                              err);
        fb_profile_free(text.p);
    }
    fb_text_done(&text);
    fb_buf_done(&comments);
    free(reading.event);
    return r;
}

#include "profile/read/trace_event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/json_kind.h"
#include "profile/read/trace_frames.h"
#include "profile/read/trace_spans.h"
#include "profile/read/v8.h"
#include "profile/types.h"

enum { CPUS_MOST = 4096 };

/* A CPU profile that is put together from the events of one process and id. */
struct cpu {
    int64_t pid;
    uint32_t id; /* string */
    uint32_t thread;
    struct fb_v8 v8;
};

struct file {
    struct fb_profile *p;
    const char *name;
    struct fb_span_events spans;
    struct fb_trace_frames stacks; /* stackFrames, and samples over them */
    struct cpu *cpus;
    size_t cpus_count, cpus_room;
    struct fb_index threads; /* by pid and tid */
    int64_t *tids;           /* pid and tid of thread i at [2 * i] */
    size_t tids_room;
    struct fb_buf args; /* of the event that is being read */
    uint64_t timeless;  /* spans without a time that can be true */
};

struct event {
    uint32_t name, id; /* strings */
    char phase;
    double ts, dur;
    bool has_ts;
    int64_t pid, tid;
};

bool fb_trace_event_sniff(const void *head, size_t n)
{
    return fb_json_profile_kind(head, n) == FB_JSON_PROFILE_TRACE;
}

static uint32_t thread_of(struct file *f, int64_t pid, int64_t tid)
{
    uint64_t hash = fb_hash_pair((uint64_t)pid, (uint64_t)tid);
    struct fb_index_cursor at = fb_index_seek(&f->threads, hash);
    uint32_t id;

    while (fb_index_step(&f->threads, &at, &id)) {
        if (f->tids[2 * id] == pid && f->tids[2 * id + 1] == tid)
            return id;
    }
    id = fb_profile_thread_add(f->p, tid > 0 && tid <= UINT32_MAX ? (uint32_t)tid : 0, 0);
    f->p->threads[id].pid = pid > 0 && pid <= UINT32_MAX ? (uint32_t)pid : 0;
    fb_vec_reserve(&f->tids, &f->tids_room, 2 * (size_t)id + 2, sizeof *f->tids);
    f->tids[2 * id] = pid;
    f->tids[2 * id + 1] = tid;
    fb_index_add(&f->threads, hash, id);
    return id;
}

/* ---- the arguments of metadata and of profiles ---- */

static void take_thread_name(struct file *f, const struct event *e)
{
    uint32_t thread = thread_of(f, e->pid, e->tid);
    struct fb_json_in in;
    struct fb_json_text key, text;

    fb_json_in_start(&in, f->args.data, f->args.len);
    for (fb_json_in_object(&in); fb_json_in_key(&in, &key);) {
        fb_json_in_string_or(&in, &text);
        if (fb_json_text_is(&key, "name"))
            f->p->threads[thread].name = fb_strings_put(&f->p->strings, text.text, text.len);
    }
    fb_json_in_done(&in);
}

/* NULL, and in has failed, where there are too many. */
static struct cpu *cpu_of(struct file *f, const struct event *e, struct fb_json_in *in)
{
    struct cpu *c;

    for (size_t i = f->cpus_count; i > 0; i--) { /* a few; the last is mostly the one */
        if (f->cpus[i - 1].pid == e->pid && f->cpus[i - 1].id == e->id)
            return &f->cpus[i - 1];
    }
    if (f->cpus_count == CPUS_MOST) {
        fb_json_in_wrong(in, "at most %d CPU profiles were expected", CPUS_MOST);
        return NULL;
    }
    fb_vec_reserve(&f->cpus, &f->cpus_room, f->cpus_count + 1, sizeof *f->cpus);
    c = &f->cpus[f->cpus_count++];
    *c = (struct cpu){.pid = e->pid, .id = e->id, .thread = thread_of(f, e->pid, e->tid)};
    fb_v8_init(&c->v8, f->p);
    return c;
}

/* {"data": {...}}; a violation within it is one of the file. */
static void take_cpu(struct file *f, const struct event *e, struct fb_json_in *outer)
{
    struct cpu *c = cpu_of(f, e, outer);
    struct fb_json_in in;
    struct fb_json_text key;

    if (!c)
        return;
    if (strcmp(fb_profile_text(f->p, e->name), "ProfileChunk") != 0)
        c->thread = thread_of(f, e->pid, e->tid); /* chunks come from the sampler's thread */
    fb_json_in_start(&in, f->args.data, f->args.len);
    for (fb_json_in_object(&in); fb_json_in_key(&in, &key);) {
        if (fb_json_text_is(&key, "data") && fb_json_in_peek(&in) == FB_JSON_OBJECT)
            fb_v8_take(&c->v8, &in);
        else
            fb_json_in_skip(&in);
    }
    if (fb_json_in_failed(&in))
        fb_json_in_wrong(outer, "in the arguments of this %s, %s", fb_profile_text(f->p, e->name),
                         in.err.text);
    fb_json_in_done(&in);
}

/* ---- events ---- */

/* A number, or a number written as a string. */
static int64_t take_id(struct fb_json_in *in)
{
    struct fb_json_text text;
    char digits[32];

    if (fb_json_in_peek(in) != FB_JSON_STRING)
        return fb_json_in_int_or(in, 0);
    (void)fb_json_in_string(in, &text);
    if (text.len >= sizeof digits)
        return 0;
    memcpy(digits, text.text, text.len);
    digits[text.len] = '\0';
    return strtoll(digits, NULL, 0);
}

static void take_event_member(struct file *f, struct fb_json_in *in, const struct fb_json_text *key,
                              struct event *e)
{
    struct fb_json_text text;

    if (fb_json_text_is(key, "name")) {
        fb_json_in_string_or(in, &text);
        e->name = fb_strings_put(&f->p->strings, text.text, text.len);
    } else if (fb_json_text_is(key, "ph")) {
        fb_json_in_string_or(in, &text);
        e->phase = text.len == 1 ? text.text[0] : 0;
    } else if (fb_json_text_is(key, "ts")) {
        e->ts = fb_trace_number(in, NAN);
        e->has_ts = e->ts > -4.6e15 && e->ts < 4.6e15;
    } else if (fb_json_text_is(key, "dur")) {
        e->dur = fb_trace_number(in, NAN);
    } else if (fb_json_text_is(key, "tdur")) {
        double dur = fb_trace_number(in, NAN);

        e->dur = isnan(e->dur) ? dur : e->dur;
    } else if (fb_json_text_is(key, "pid")) {
        e->pid = take_id(in);
    } else if (fb_json_text_is(key, "tid")) {
        e->tid = take_id(in);
    } else if (fb_json_text_is(key, "id") && fb_json_in_peek(in) == FB_JSON_STRING) {
        (void)fb_json_in_string(in, &text);
        e->id = fb_strings_put(&f->p->strings, text.text, text.len);
    } else if (fb_json_text_is(key, "id") && fb_json_in_peek(in) == FB_JSON_NUMBER) {
        char digits[32];

        (void)snprintf(digits, sizeof digits, "%lld", (long long)fb_json_in_int_or(in, 0));
        e->id = fb_strings_put_z(&f->p->strings, digits);
    } else if (fb_json_text_is(key, "args") && fb_json_in_peek(in) == FB_JSON_OBJECT) {
        f->args.len = 0;
        fb_json_in_raw(in, &f->args);
    } else {
        fb_json_in_skip(in);
    }
}

static void span_add(struct file *f, const struct event *e)
{
    struct fb_span_event span = {.name = e->name, .phase = e->phase};
    double end = e->phase == 'X' && e->dur > 0 ? e->ts + e->dur : e->ts;

    if (!e->has_ts || !(e->ts > -4.6e15 && end < 4.6e15) || e->dur < 0) {
        f->timeless++;
        return;
    }
    span.ns = (int64_t)nearbyint(e->ts * 1000);
    span.end_ns = (int64_t)nearbyint(end * 1000);
    span.thread = thread_of(f, e->pid, e->tid);
    fb_vec_reserve(&f->spans.items, &f->spans.room, f->spans.count + 1, sizeof *f->spans.items);
    f->spans.items[f->spans.count++] = span;
}

static void take_event(struct file *f, struct fb_json_in *in)
{
    struct event e = {.dur = NAN};
    struct fb_json_text key;
    const char *name;

    f->args.len = 0;
    if (fb_json_in_peek(in) != FB_JSON_OBJECT) {
        fb_json_in_skip(in);
        return;
    }
    for (fb_json_in_object(in); fb_json_in_key(in, &key);)
        take_event_member(f, in, &key, &e);
    if (fb_json_in_failed(in) || in->cut) /* half an event is none */
        return;
    name = fb_profile_text(f->p, e.name);
    if (e.phase == 'B' || e.phase == 'E' || e.phase == 'X')
        span_add(f, &e);
    else if (f->args.len > 0 && e.phase == 'M' && strcmp(name, "thread_name") == 0)
        take_thread_name(f, &e);
    else if (f->args.len > 0 && (e.phase == 'P' || e.phase == 'I') &&
             (strcmp(name, "Profile") == 0 || strcmp(name, "ProfileChunk") == 0 ||
              strcmp(name, "CpuProfile") == 0))
        take_cpu(f, &e, in);
}

static void take_file(struct file *f, struct fb_json_in *in)
{
    struct fb_json_text key;

    in->cut_ok = true;
    if (fb_json_in_peek(in) == FB_JSON_ARRAY) {
        for (fb_json_in_array(in); fb_json_in_item(in);)
            take_event(f, in);
    } else {
        for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
            bool is_list = fb_json_in_peek(in) == FB_JSON_ARRAY;

            if (fb_json_text_is(&key, "traceEvents") && is_list)
                for (fb_json_in_array(in); fb_json_in_item(in);)
                    take_event(f, in);
            else if (fb_json_text_is(&key, "samples") && is_list)
                fb_trace_frames_take_samples(&f->stacks, in);
            else if (fb_json_text_is(&key, "stackFrames") && fb_json_in_peek(in) == FB_JSON_OBJECT)
                fb_trace_frames_take(&f->stacks, in);
            else
                fb_json_in_skip(in);
        }
    }
    fb_json_in_end(in);
}

/* ---- the choice ---- */

enum { TYPE_CPU, TYPE_SAMPLES, TYPE_SPANS, TYPES };

static enum fb_status choose(const struct file *f, const struct fb_read_options *options,
                             struct fb_read_report *report, size_t *ret_type, struct fb_err *err)
{
    static const char *const names[TYPES] = {"cpu", "samples", "spans"};
    static const char *const units[TYPES] = {"nanoseconds", "count", "nanoseconds"};
    uint64_t counts[TYPES] = {0, f->stacks.count, f->spans.count};
    struct fb_value_type types[TYPES]; /* that the file has, the default first */
    size_t type_of[TYPES], n = 0, chosen = 0;
    enum fb_status r;

    for (size_t i = 0; i < f->cpus_count; i++)
        counts[TYPE_CPU] += f->cpus[i].v8.samples_count;
    for (size_t i = 0; i < TYPES; i++) {
        if (counts[i] == 0)
            continue;
        type_of[n] = i;
        types[n++] = (struct fb_value_type){names[i], units[i], counts[i]};
    }
    if (n == 0)
        return fb_fail(err, FB_EFORMAT,
                       "%s: has neither a CPU profile nor samples, begin, end or complete events",
                       f->name);
    r = fb_types_choose(f->name, types, n, options->type, 0, &chosen, err);
    if (r != FB_OK)
        return r;
    fb_types_note(types, n, chosen, report);
    *ret_type = type_of[chosen];
    f->p->type = fb_strings_put_z(&f->p->strings, types[chosen].name);
    return FB_OK;
}

/* A profile that began before the trace has samples in it, and its nodes are not there. */
static enum fb_status put_cpus(struct file *f, const struct fb_read_options *options,
                               struct fb_read_report *report, struct fb_err *err)
{
    uint64_t lost = 0;
    bool has_nodes = false;

    for (size_t i = 0; i < f->cpus_count; i++)
        has_nodes = has_nodes || f->cpus[i].v8.nodes_count > 0;
    for (size_t i = 0; i < f->cpus_count; i++) {
        struct cpu *c = &f->cpus[i];
        enum fb_status r;

        if (c->v8.samples_count == 0)
            continue;
        if (has_nodes && c->v8.nodes_count == 0) {
            lost += c->v8.samples_count;
            continue;
        }
        r = fb_v8_finish(&c->v8, f->name, c->thread, options, report, err);
        if (r != FB_OK)
            return r;
    }
    report->samples_in += lost;
    if (lost > 0)
        fb_report_loss(report, "samples of a profile without its nodes", lost);
    return FB_OK;
}

static enum fb_status put_stacks(struct file *f, struct fb_read_report *report, struct fb_err *err)
{
    uint32_t *stacks = fb_trace_frames_stacks(&f->stacks);
    uint64_t unknown = 0;

    if (!stacks)
        return fb_fail(err, FB_EFORMAT, "%s: a frame of stackFrames is its own ancestor", f->name);
    for (size_t i = 0; i < f->stacks.count; i++) {
        const struct fb_trace_sample *s = &f->stacks.samples[i];

        if (stacks[i] == UINT32_MAX)
            unknown++;
        else
            fb_profile_sample_add(f->p, s->ns, thread_of(f, s->pid, s->tid),
                                  (fb_stack_id){stacks[i]}, s->weight);
    }
    free(stacks);
    f->p->has_times = f->p->ended = true;
    report->samples_in = f->stacks.count;
    if (unknown > 0)
        fb_report_loss(report, "samples of a frame that the file does not have", unknown);
    return FB_OK;
}

static void put_spans(struct file *f, struct fb_read_report *report)
{
    uint64_t stray = 0;

    fb_spans_put(&f->spans, f->p, &stray);
    f->p->has_times = f->p->ended = true;
    f->p->unit = fb_strings_put_z(&f->p->strings, "nanoseconds");
    report->samples_in = f->p->samples.count;
    if (stray > 0) {
        report->samples_in += stray;
        fb_report_loss(report, "ends of spans that had not begun", stray);
    }
    if (f->timeless > 0) {
        report->samples_in += f->timeless;
        fb_report_loss(report, "spans without a time", f->timeless);
    }
}

static enum fb_status file_finish(struct file *f, const struct fb_read_options *options,
                                  bool was_cut, struct fb_read_report *report, struct fb_err *err)
{
    size_t type = 0;
    enum fb_status r = choose(f, options, report, &type, err);

    if (r != FB_OK)
        return r;
    if (type == TYPE_CPU)
        r = put_cpus(f, options, report, err);
    else if (type == TYPE_SAMPLES)
        r = put_stacks(f, report, err);
    else
        put_spans(f, report);
    if (was_cut) {
        size_t n = strlen(report->note);

        (void)snprintf(report->note + n, sizeof report->note - n,
                       "%sthe trace ends early: what was whole is read", n > 0 ? "; " : "");
    }
    fb_profile_span_update(f->p);
    return r;
}

enum fb_status fb_trace_event_read(struct fb_source *source, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *report,
                                   struct fb_err *err)
{
    struct file f = {.p = fb_profile_new(), .name = fb_source_name(source)};
    struct fb_json_in in;
    enum fb_status r;

    fb_json_in_start_source(&in, source);
    f.stacks.p = f.p;
    take_file(&f, &in);
    r = fb_json_in_failed(&in) ? fb_json_in_fail(&in, f.name, err)
                               : file_finish(&f, options, in.cut, report, err);
    fb_json_in_done(&in);
    for (size_t i = 0; i < f.cpus_count; i++)
        fb_v8_done(&f.cpus[i].v8);
    free(f.cpus);
    free(f.spans.items);
    fb_trace_frames_done(&f.stacks);
    free(f.tids);
    fb_index_done(&f.threads);
    fb_buf_done(&f.args);
    if (r == FB_OK)
        *ret_p = f.p;
    else
        fb_profile_free(f.p);
    return r;
}

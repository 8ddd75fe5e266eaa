/* The samples of a pprof file.  Most files repeat whole chains of locations (under other labels),
 * so the bytes of a chain are looked up before they are decoded. */
#include "profile/read/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/pprof_tables.h"
#include "profile/types.h"

enum { CHAIN_LEAST = 4 }; /* shorter ones are decoded as fast as looked up */

struct chain {
    struct fb_pprof_bytes bytes;
    uint32_t stack;
};

struct thread_key {
    uint32_t name, tid, pid;
};

struct reader {
    struct fb_pprof_tables t;
    struct fb_profile *p;
    struct fb_read_report *report;
    size_t type; /* the value that is read */
    struct chain *chains;
    size_t chains_count, chains_room;
    struct fb_index chain_index;
    fb_frame_id *frames; /* of one sample, leaf first */
    size_t frames_count, frames_room;
    uint64_t missing; /* the location that was referred to and is not there */
    bool is_missing;
    struct fb_label *labels; /* of one sample */
    size_t labels_count, labels_room;
    struct thread_key *threads; /* by thread of the profile */
    size_t threads_room;
    struct fb_index thread_index;
    uint64_t timed; /* samples with a time */
};

struct sample {
    struct fb_pprof_bytes
        chain; /* the only field of locations, packed; NULL where they are not so */
    int64_t value;
    size_t values;
    struct thread_key thread;
    int64_t time_ns;
    bool has_time;
};

bool fb_pprof_sniff(const void *head, size_t n)
{
    struct fb_wire_in in = {.data = head, .len = n};
    struct fb_proto_field f;
    size_t whole = 0;
    bool has_type = false; /* a whole message of two numbers: enough of a mark */

    for (; whole < 4 && fb_proto_next(&in, &f); whole++) {
        bool is_message = f.number == PPROF_SAMPLE_TYPE || f.number == PPROF_PERIOD_TYPE ||
                          (f.number >= PPROF_SAMPLE && f.number <= PPROF_FUNCTION);
        struct fb_wire_in inner = {.data = f.data, .len = f.len};
        struct fb_proto_field g;

        if (f.number > PPROF_DOC_URL)
            return false;
        if (f.wire != FB_PROTO_BYTES) {
            if (f.wire != FB_PROTO_VARINT || is_message || f.number == PPROF_STRING)
                return false;
            continue;
        }
        if (!is_message && f.number != PPROF_STRING && f.number != PPROF_COMMENT)
            return false;
        while (is_message && fb_proto_next(&inner, &g)) {
            if (g.number > 10)
                return false;
        }
        if (inner.bad)
            return false;
        has_type = has_type || (f.number == PPROF_SAMPLE_TYPE && f.len > 0);
    }
    return whole >= 4 || has_type || (whole > 0 && !in.bad);
}

/* ---- stacks ---- */

static void add_frame(struct reader *r, fb_frame_id frame)
{
    if (r->frames_count == r->frames_room)
        fb_vec_reserve(&r->frames, &r->frames_room, r->frames_count + 1, sizeof *r->frames);
    r->frames[r->frames_count++] = frame;
}

/* Appends the frames of a location, the innermost first; false where it does not exist. */
static bool add_location(struct reader *r, uint64_t id)
{
    const struct fb_pprof_location *l;

    if (id < r->t.location_ids.dense_count && r->t.only_frame[id].n != 0) {
        add_frame(r, r->t.only_frame[id]);
        return true;
    }
    l = fb_pprof_location(&r->t, id);
    for (uint32_t k = l ? l->frames_count : 0; k-- > 0;)
        add_frame(r, r->t.frames[l->frames_first + k]);
    if (!l)
        r->missing = id;
    return l != NULL;
}

static enum fb_status fail_missing(const struct reader *r, uint64_t sample, struct fb_err *err)
{
    return fb_fail(err, FB_EFORMAT, "%s: sample %llu: location %llu does not exist", r->t.name,
                   (unsigned long long)sample, (unsigned long long)r->missing);
}

/* The frames of a packed list of locations.  Most ids have two bytes, and most locations one frame.
 */
static bool decode_chain(struct reader *r, struct fb_wire_in *in)
{
    size_t dense = r->t.location_ids.dense_count;

    r->frames_count = 0;
    while (in->pos < in->len) {
        size_t left = in->len - in->pos;
        const uint8_t *at = in->data + in->pos, *end = at + left;
        fb_frame_id *to;

        fb_vec_reserve(&r->frames, &r->frames_room, r->frames_count + left, sizeof *r->frames);
        to = r->frames + r->frames_count;
        while (end - at >= 2) {
            bool is_long = at[0] >= 0x80;
            uint32_t id = is_long ? (at[0] & 0x7fu) | (uint32_t)at[1] << 7 : at[0];

            if ((is_long && at[1] >= 0x80) || id >= dense || r->t.only_frame[id].n == 0)
                break;
            *to++ = r->t.only_frame[id];
            at += 1 + is_long;
        }
        r->frames_count = (size_t)(to - r->frames);
        in->pos = (size_t)(at - in->data);
        if (at < end) { /* another one, with its checks */
            uint64_t id = fb_proto_varint(in);

            if (in->bad || !add_location(r, id))
                return false;
        }
    }
    return true;
}

static enum fb_status put_chain(struct reader *r, uint64_t sample, const struct fb_pprof_bytes *b,
                                uint32_t *ret_stack, struct fb_err *err)
{
    uint64_t hash = fb_hash_bytes(b->data, b->len);
    struct fb_index_cursor at = fb_index_seek(&r->chain_index, hash);
    struct fb_wire_in in = {.data = b->data, .len = b->len};
    uint32_t i;

    while (fb_index_step(&r->chain_index, &at, &i)) {
        const struct chain *c = &r->chains[i];

        if (c->bytes.len == b->len && memcmp(c->bytes.data, b->data, b->len) == 0) {
            *ret_stack = c->stack;
            return FB_OK;
        }
    }
    if (!decode_chain(r, &in))
        return in.bad
                   ? fb_fail(err, FB_EFORMAT, "%s: sample %llu: its list of locations is damaged",
                             r->t.name, (unsigned long long)sample)
                   : fail_missing(r, sample, err);
    *ret_stack = fb_profile_stack_put_all(r->p, r->frames, r->frames_count).n;
    if (b->len >= CHAIN_LEAST) {
        fb_vec_reserve(&r->chains, &r->chains_room, r->chains_count + 1, sizeof *r->chains);
        fb_index_add(&r->chain_index, hash, (uint32_t)r->chains_count);
        r->chains[r->chains_count++] = (struct chain){*b, *ret_stack};
    }
    return FB_OK;
}

/* ---- labels ---- */

enum label_role { ROLE_LABEL, ROLE_THREAD_NAME, ROLE_TID, ROLE_PID, ROLE_TIME };

static enum label_role role_of(const char *key, bool is_text)
{
    static const struct {
        const char *key;
        bool is_text;
        enum label_role role;
    } rows[] = {
        {"thread", true, ROLE_THREAD_NAME},
        {"thread_name", true, ROLE_THREAD_NAME},
        {"thread name", true, ROLE_THREAD_NAME},
        {"comm", true, ROLE_THREAD_NAME},
        {"tid", false, ROLE_TID},
        {"thread_id", false, ROLE_TID},
        {"thread id", false, ROLE_TID},
        {"pid", false, ROLE_PID},
        {"end_timestamp_ns", false, ROLE_TIME},
        {"timestamp_ns", false, ROLE_TIME},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is_text == is_text && strcmp(rows[i].key, key) == 0)
            return rows[i].role;
    }
    return ROLE_LABEL;
}

static bool take_label(struct reader *r, struct sample *s, const struct fb_proto_field *field)
{
    struct fb_wire_in in = {.data = field->data, .len = field->len};
    struct fb_label label = {0};
    struct fb_proto_field f;

    while (fb_proto_next(&in, &f)) {
        if (f.number == 1)
            label.key = fb_pprof_string(&r->t, f.value);
        else if (f.number == 2)
            label.text = fb_pprof_string(&r->t, f.value);
        else if (f.number == 3)
            label.number = (int64_t)f.value;
        else if (f.number == 4)
            label.unit = fb_pprof_string(&r->t, f.value);
    }
    switch (role_of(fb_profile_text(r->p, label.key), label.text != 0)) {
    case ROLE_THREAD_NAME:
        s->thread.name = label.text;
        break;
    case ROLE_TID:
        s->thread.tid = (uint32_t)label.number;
        break;
    case ROLE_PID:
        s->thread.pid = (uint32_t)label.number;
        break;
    case ROLE_TIME:
        s->time_ns = label.number;
        s->has_time = true;
        break;
    case ROLE_LABEL:
        fb_vec_reserve(&r->labels, &r->labels_room, r->labels_count + 1, sizeof *r->labels);
        r->labels[r->labels_count++] = label;
        break;
    }
    return !in.bad;
}

static uint32_t put_thread(struct reader *r, const struct thread_key *key)
{
    uint64_t hash = fb_hash_pair((uint64_t)key->tid << 32 | key->pid, key->name);
    struct fb_index_cursor at = fb_index_seek(&r->thread_index, hash);
    uint32_t i;

    if (key->name == 0 && key->tid == 0 && key->pid == 0)
        return FB_NO_THREAD;
    while (fb_index_step(&r->thread_index, &at, &i)) {
        if (r->threads[i].name == key->name && r->threads[i].tid == key->tid &&
            r->threads[i].pid == key->pid)
            return i;
    }
    i = fb_profile_thread_add(r->p, key->tid, key->name);
    r->p->threads[i].pid = key->pid;
    fb_vec_reserve(&r->threads, &r->threads_room, i + 1, sizeof *r->threads);
    r->threads[i] = *key;
    fb_index_add(&r->thread_index, hash, i);
    return i;
}

/* ---- samples ---- */

static bool read_sample(struct reader *r, const struct fb_proto_field *field, struct sample *s)
{
    struct fb_wire_in in = {.data = field->data, .len = field->len};
    size_t location_fields = 0;
    struct fb_proto_field f;

    *s = (struct sample){0};
    r->frames_count = r->labels_count = 0;
    r->is_missing = false;
    while (fb_proto_next(&in, &f)) {
        struct fb_wire_in rest = {0};
        uint64_t number;

        if (f.number == 1 && f.wire == FB_PROTO_BYTES && location_fields++ == 0) {
            s->chain = (struct fb_pprof_bytes){f.data, f.len};
        } else if (f.number == 1) {
            struct fb_wire_in first = {.data = s->chain.data, .len = s->chain.len};

            while (first.data && first.pos < first.len && !first.bad)
                r->is_missing |= !add_location(r, fb_proto_varint(&first));
            s->chain = (struct fb_pprof_bytes){0};
            location_fields++;
            while (fb_proto_numbers(&f, &rest, &number))
                r->is_missing |= !add_location(r, number);
        } else if (f.number == 2) {
            while (fb_proto_numbers(&f, &rest, &number)) {
                if (s->values++ == r->type)
                    s->value = (int64_t)number;
            }
        } else if (f.number == 3 && f.wire == FB_PROTO_BYTES && !take_label(r, s, &f)) {
            return false;
        }
        if (rest.bad)
            return false;
    }
    return !in.bad;
}

static enum fb_status add_sample(struct reader *r, const struct fb_proto_field *field,
                                 struct fb_err *err)
{
    uint64_t number = r->report->samples_in++;
    struct sample s;
    enum fb_status status;
    uint32_t stack = 0;

    if (!read_sample(r, field, &s))
        return fb_fail(err, FB_EFORMAT, "%s: sample %llu is damaged", r->t.name,
                       (unsigned long long)number);
    if (s.values != r->t.types_count)
        return fb_fail(err, FB_EFORMAT, "%s: sample %llu: has %zu values, %zu were expected",
                       r->t.name, (unsigned long long)number, s.values, r->t.types_count);
    if (s.value <= 0) {
        fb_report_loss(r->report,
                       s.value < 0 ? "samples of negative value (the base of a difference)"
                                   : "samples whose value of this type is 0",
                       1);
        return FB_OK;
    }
    if (r->is_missing)
        return fail_missing(r, number, err);
    if (s.chain.data) {
        status = put_chain(r, number, &s.chain, &stack, err);
        if (status != FB_OK)
            return status;
    } else {
        stack = fb_profile_stack_put_all(r->p, r->frames, r->frames_count).n;
    }
    r->timed += s.has_time;
    fb_profile_sample_add(r->p, s.time_ns, put_thread(r, &s.thread), (fb_stack_id){stack},
                          (uint64_t)s.value);
    if (r->labels_count > 0)
        fb_profile_sample_labels_set(r->p, r->p->samples.count - 1,
                                     fb_profile_labels_put(r->p, r->labels, r->labels_count));
    return FB_OK;
}

static enum fb_status read_samples(struct reader *r, const void *bytes, size_t n,
                                   struct fb_err *err)
{
    struct fb_wire_in in = {.data = bytes, .len = n};
    struct fb_proto_field f;
    enum fb_status status = FB_OK;

    while (status == FB_OK && fb_proto_next(&in, &f)) {
        if (f.number == PPROF_SAMPLE && f.wire == FB_PROTO_BYTES)
            status = add_sample(r, &f, err);
    }
    return status;
}

/* ---- what the values are ---- */

static const char *text_of(struct reader *r, uint64_t string)
{
    return fb_profile_text(r->p, fb_pprof_string(&r->t, string));
}

static enum fb_status choose_type(struct reader *r, const char *asked, struct fb_err *err)
{
    size_t n = r->t.types_count, fallback = n - 1;
    struct fb_value_type *types = fb_alloc_array(n, sizeof *types);
    enum fb_status status;

    for (size_t i = 0; i < n; i++) {
        types[i] = (struct fb_value_type){text_of(r, r->t.types[i].type),
                                          text_of(r, r->t.types[i].unit), r->t.samples};
        if (r->t.default_type != 0 && strcmp(types[i].name, text_of(r, r->t.default_type)) == 0)
            fallback = i;
    }
    if (n == 0)
        status = fb_fail(err, FB_EFORMAT, "%s: has no sample type, one was expected", r->t.name);
    else
        status = fb_types_choose(r->t.name, types, n, asked, fallback, &r->type, err);
    if (status == FB_OK && !asked)
        fb_types_note(types, n, r->type, r->report);
    free(types);
    return status;
}

static void set_unit(struct reader *r)
{
    const char *type = text_of(r, r->t.types[r->type].type);
    const char *unit = text_of(r, r->t.types[r->type].unit);
    bool is_ticks = strcmp(type, "samples") == 0 && strcmp(unit, "count") == 0;
    bool is_period = strcmp(text_of(r, r->t.period_type.unit), "nanoseconds") == 0 &&
                     (is_ticks || strcmp(text_of(r, r->t.period_type.type), type) == 0);

    r->p->type = is_ticks ? fb_pprof_string(&r->t, r->t.period_type.type)
                          : fb_pprof_string(&r->t, r->t.types[r->type].type);
    if (!is_ticks)
        r->p->unit = fb_pprof_string(&r->t, r->t.types[r->type].unit);
    if (is_period && r->t.period > 0)
        r->p->interval_ns = (uint64_t)r->t.period;
    r->p->rows_merged = 1;
}

/* What flamebank wrote as a comment is read as what it was; others are kept under one key. */
static void set_manifest(struct reader *r)
{
    struct fb_buf others = {0};

    for (size_t i = 0; i < r->t.comments_count; i++) {
        const char *text = text_of(r, r->t.comments[i]), *value = strchr(text, '=');

        if (strncmp(text, "flamebank.", 10) == 0 && value) {
            char *key = fb_strndup(text + 10, (size_t)(value - text) - 10);

            fb_profile_manifest_set(r->p, key, value + 1);
            free(key);
        } else {
            fb_buf_printf(&others, "%s%s", others.len > 0 ? "\n" : "", text);
        }
    }
    if (others.len > 0)
        fb_profile_manifest_set(r->p, "comment", others.data);
    fb_buf_done(&others);
    if (r->t.drop_frames)
        fb_profile_manifest_set(r->p, "pprof.drop_frames", text_of(r, r->t.drop_frames));
    if (r->t.keep_frames)
        fb_profile_manifest_set(r->p, "pprof.keep_frames", text_of(r, r->t.keep_frames));
    if (r->t.doc_url)
        fb_profile_manifest_set(r->p, "pprof.doc_url", text_of(r, r->t.doc_url));
    if (r->t.time_ns != 0)
        fb_profile_manifest_set_number(r->p, "start_wall_ns", r->t.time_ns);
    if (r->t.duration_ns != 0)
        fb_profile_manifest_set_number(r->p, "duration_ns", r->t.duration_ns);
}

static void reader_done(struct reader *r)
{
    fb_pprof_tables_done(&r->t);
    free(r->chains);
    fb_index_done(&r->chain_index);
    free(r->frames);
    free(r->labels);
    free(r->threads);
    fb_index_done(&r->thread_index);
}

/* Times count where all samples have one. */
static void set_times(struct reader *r)
{
    struct fb_samples *s = &r->p->samples;

    r->p->has_times = s->count > 0 && r->timed == s->count;
    if (!r->p->has_times && r->timed > 0)
        memset(s->time_ns, 0, s->count * sizeof *s->time_ns);
    fb_profile_span_update(r->p);
}

enum fb_status fb_pprof_read(struct fb_source *in, const struct fb_read_options *options,
                             struct fb_profile **ret_p, struct fb_read_report *ret_report,
                             struct fb_err *err)
{
    struct reader r = {.report = ret_report};
    const char *bytes;
    size_t n;
    enum fb_status status = fb_source_all(in, &bytes, &n, err);

    if (status != FB_OK)
        return status;
    r.p = fb_profile_new();
    status = fb_pprof_tables_read(&r.t, bytes, n, fb_source_name(in), r.p, err);
    if (status == FB_OK)
        status = fb_pprof_tables_resolve(&r.t, err);
    if (status == FB_OK)
        status = choose_type(&r, options->type, err);
    if (status == FB_OK) {
        set_unit(&r);
        set_manifest(&r);
        status = read_samples(&r, bytes, n, err);
    }
    if (status == FB_OK) {
        set_times(&r);
        r.p->ended = true;
        *ret_p = r.p;
    } else {
        fb_profile_free(r.p);
    }
    reader_done(&r);
    return status;
}

/* The events of a recording.  Which types have samples is known only at the end, and samples of
 * several are never added up: those of the first type are kept; once a second one is met (and none
 * was asked for), samples are only counted, for the list in the error. */
#include "profile/read/jfr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/read/jfr_chunk.h"
#include "profile/read/jfr_pools.h"
#include "profile/types.h"

enum weigh { WEIGH_ONE, WEIGH_NUMBER, WEIGH_TICKS };

struct kind {
    const char *class, *type, *unit;
    enum weigh weigh;
    const char *weight; /* field */
    const char *about;  /* field: of what class it is */
};

static const struct kind kinds[] = {
    {"jdk.ExecutionSample", "cpu", "samples", WEIGH_ONE, NULL, "state"},
    {"jdk.NativeMethodSample", "native", "samples", WEIGH_ONE, NULL, NULL},
    {"jdk.CPUTimeSample", "cputime", "nanoseconds", WEIGH_TICKS, "samplingPeriod", NULL},
    {"profiler.WallClockSample", "wall", "samples", WEIGH_NUMBER, "samples", "state"},
    {"jdk.ObjectAllocationInNewTLAB", "alloc", "bytes", WEIGH_NUMBER, "tlabSize", "objectClass"},
    {"jdk.ObjectAllocationOutsideTLAB", "alloc", "bytes", WEIGH_NUMBER, "allocationSize",
     "objectClass"},
    {"jdk.ObjectAllocationSample", "alloc-sample", "bytes", WEIGH_NUMBER, "weight", "objectClass"},
    {"profiler.LiveObject", "live", "bytes", WEIGH_NUMBER, "allocationSize", "objectClass"},
    {"jdk.JavaMonitorEnter", "lock", "nanoseconds", WEIGH_TICKS, "duration", "monitorClass"},
    {"jdk.ThreadPark", "park", "nanoseconds", WEIGH_TICKS, "duration", "parkedClass"},
    {"profiler.Malloc", "malloc", "bytes", WEIGH_NUMBER, "size", NULL},
    {"profiler.NativeLock", "nativelock", "nanoseconds", WEIGH_TICKS, "duration", NULL},
};

enum { KINDS = sizeof kinds / sizeof kinds[0], KIND_ASKED = KINDS, TYPES_MOST = KINDS + 1 };

/* Fields of an event; a slot each. */
enum { F_START, F_STACK, F_SAMPLED, F_THREAD, F_WEIGHT, F_ABOUT, F_COUNT };

struct reader {
    const char *name, *asked;
    struct fb_profile *p;
    struct fb_read_report *report;
    struct fb_jfr_chunk chunk;
    struct fb_jfr_classes classes;
    struct fb_jfr_pools pools;
    struct fb_jfr_thread_ids threads;
    struct of_chunk {
        uint64_t class_id;
        uint32_t program;
    } kinds[KINDS + 1], setting, lost, jvm; /* program 0: the chunk has no such class */
    struct kind asked_kind;                 /* a class by its name that kinds[] does not have */
    uint64_t counts[KINDS + 1];             /* samples by kind */
    struct {
        size_t type; /* the first kind of the same type */
        bool wanted;
    } roles[KINDS + 1];      /* as the settings of the chunk say */
    const struct kind *kept; /* whose samples are in the profile; NULL none yet */
    size_t kept_at;
    bool only_counts;
    bool is_wall; /* ExecutionSample is async-profiler's wall clock */
    uint64_t lost_stacks, lost_samples, no_weight, damaged;
    uint64_t interval_ns, wall_interval_ns;
};

bool fb_jfr_sniff(const void *head, size_t n)
{
    return n >= 4 && memcmp(head, "FLR", 4) == 0;
}

/* ---- what is wanted of a chunk ---- */

static const struct kind *kind_at(const struct reader *r, size_t i)
{
    return i < KINDS ? &kinds[i] : &r->asked_kind;
}

/* async-profiler writes the samples of its wall clock as jdk.ExecutionSample, too. */
static const char *type_of(const struct reader *r, const struct kind *kind)
{
    return kind == &kinds[0] && r->is_wall ? "wall" : kind->type;
}

static bool is_asked(const struct reader *r, const struct kind *kind)
{
    return strcmp(type_of(r, kind), r->asked) == 0 || strcmp(kind->class, r->asked) == 0;
}

static struct of_chunk find_class(struct reader *r, const char *name, const char *const *fields,
                                  size_t n)
{
    const struct fb_jfr_class *class = fb_jfr_class_named(&r->classes, name);

    if (!class)
        return (struct of_chunk){0};
    return (struct of_chunk){class->id, fb_jfr_program(&r->classes, class, fields, n)};
}

static void find_classes(struct reader *r)
{
    static const char *const setting[] = {"id", "name", "value"}, *const lost[] = {"lostSamples"};
    static const char *const jvm[] = {"jvmName", "jvmVersion", "jvmArguments", "javaArguments",
                                      "pid"};

    r->setting = find_class(r, "jdk.ActiveSetting", setting, 3);
    r->lost = find_class(r, "jdk.CPUTimeSamplesLost", lost, 1);
    r->jvm = find_class(r, "jdk.JVMInformation", jvm, 5);
    for (size_t i = 0; i <= KINDS; i++) {
        const struct kind *kind = kind_at(r, i);
        const char *fields[F_COUNT] = {"startTime",
                                       "stackTrace",
                                       "sampledThread",
                                       "eventThread",
                                       kind->weight ? kind->weight : "",
                                       kind->about ? kind->about : ""};

        r->kinds[i] = (struct of_chunk){0};
        if (kind->class)
            r->kinds[i] = find_class(r, kind->class, fields, F_COUNT);
    }
}

/* A class of events that is asked for by its name. */
static void find_asked(struct reader *r)
{
    const struct fb_jfr_class *class;

    if (!r->asked || r->asked_kind.class)
        return;
    for (size_t i = 0; i < KINDS; i++) {
        if (is_asked(r, &kinds[i]))
            return;
    }
    class = fb_jfr_class_named(&r->classes, r->asked);
    if (!class || !fb_jfr_class_has(&r->classes, class, "stackTrace"))
        return;
    r->asked_kind = (struct kind){r->asked, r->asked, "samples", WEIGH_ONE, NULL, NULL};
    if (fb_jfr_class_has(&r->classes, class, "duration"))
        r->asked_kind =
            (struct kind){r->asked, r->asked, "nanoseconds", WEIGH_TICKS, "duration", NULL};
}

static void set_roles(struct reader *r)
{
    for (size_t i = 0; i <= KINDS; i++) {
        const struct kind *kind = kind_at(r, i);
        size_t k = 0;

        if (!kind->class)
            continue;
        while (strcmp(type_of(r, kind_at(r, k)), type_of(r, kind)) != 0)
            k++;
        r->roles[i].type = k;
        r->roles[i].wanted = !r->asked || is_asked(r, kind);
    }
}

/* ---- samples ---- */

static void set_about(struct reader *r, const struct kind *kind, uint64_t key)
{
    bool is_state = strcmp(kind->about, "state") == 0;
    struct fb_label label = {.text = is_state ? fb_jfr_state(&r->pools, key)
                                              : fb_jfr_class_name(&r->pools, key)};

    if (label.text == 0)
        return;
    label.key = fb_strings_put_z(&r->p->strings, is_state ? "state" : "class");
    fb_profile_sample_labels_set(r->p, r->p->samples.count - 1,
                                 fb_profile_labels_put(r->p, &label, 1));
}

static void keep_sample(struct reader *r, const struct kind *kind, const uint64_t *v)
{
    uint64_t weight = v[F_WEIGHT];
    uint32_t thread = fb_jfr_thread(&r->pools, v[v[F_SAMPLED] ? F_SAMPLED : F_THREAD]);
    fb_stack_id stack;

    if (kind->weigh == WEIGH_ONE)
        weight = 1;
    else if (kind->weigh == WEIGH_TICKS)
        weight = (uint64_t)fb_jfr_span(&r->chunk, weight);
    if (weight == 0 || weight > INT64_MAX) {
        r->no_weight++;
        return;
    }
    if (!fb_jfr_stack(&r->pools, v[F_STACK], &stack)) {
        r->lost_stacks++;
        return;
    }
    fb_profile_sample_add(r->p, fb_jfr_time(&r->chunk, v[F_START]), thread, stack, weight);
    if (kind->about)
        set_about(r, kind, v[F_ABOUT]);
}

/* False where the event is damaged. */
static bool take_sample(struct reader *r, size_t i, struct fb_wire_in *in)
{
    const struct kind *kind = kind_at(r, i);
    uint64_t values[F_COUNT] = {0};

    r->counts[i]++;
    if (!r->roles[i].wanted)
        return true;
    if (!r->kept) {
        r->kept = kind;
        r->kept_at = i;
    }
    /* Those of one type are added up, though their events are of two classes. */
    if (r->roles[i].type != r->roles[r->kept_at].type)
        r->only_counts = true;
    if (r->only_counts)
        return true;
    if (!fb_jfr_numbers_read(&r->classes, r->kinds[i].program, in, values)) {
        r->damaged++;
        return false;
    }
    keep_sample(r, kind, values);
    return true;
}

/* ---- what else is of interest ---- */

/* "20 ms", "10000000" (nanoseconds); 0 where it is none. */
static uint64_t parse_span(const char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double n = strtod(text, &end);

    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) == 0 && n > 0 && n * units[i].ns < 1e15)
            return (uint64_t)(n * units[i].ns);
    }
    return 0;
}

static void take_setting(struct reader *r, struct fb_wire_in *in)
{
    struct fb_jfr_value v[3] = {0};
    const char *name, *value;

    if (!fb_jfr_value_read(&r->classes, r->setting.program, in, v))
        return;
    name = fb_profile_text(r->p, fb_jfr_string(&r->pools, &v[1].text));
    value = fb_profile_text(r->p, fb_jfr_string(&r->pools, &v[2].text));
    if (strcmp(name, "event") == 0 && strcmp(value, "wall") == 0)
        r->is_wall = true;
    else if (strcmp(name, "wall") == 0)
        r->wall_interval_ns = parse_span(value);
    else if (strcmp(name, "interval") == 0 ||
             (strcmp(name, "period") == 0 && v[0].number == r->kinds[0].class_id))
        r->interval_ns = parse_span(value);
}

static void take_jvm(struct reader *r, struct fb_wire_in *in)
{
    static const char *const keys[] = {"jvm.vm", "jvm.version", "jvm.arguments", "command"};
    struct fb_jfr_value v[5] = {0};

    if (!fb_jfr_value_read(&r->classes, r->jvm.program, in, v))
        return;
    for (size_t i = 0; i < 4; i++) {
        const char *text = fb_profile_text(r->p, fb_jfr_string(&r->pools, &v[i].text));

        if (text[0])
            fb_profile_manifest_set(r->p, keys[i], text);
    }
    if (v[4].number > 0 && v[4].number < INT32_MAX)
        fb_profile_manifest_set_number(r->p, "pid", (int64_t)v[4].number);
}

static void take_fact(struct reader *r, struct fb_jfr_event *event)
{
    struct fb_jfr_value lost = {0};

    if (event->type == r->setting.class_id && r->setting.program != 0)
        take_setting(r, &event->payload);
    else if (event->type == r->jvm.class_id && r->jvm.program != 0)
        take_jvm(r, &event->payload);
    else if (event->type == r->lost.class_id && r->lost.program != 0 &&
             fb_jfr_value_read(&r->classes, r->lost.program, &event->payload, &lost))
        r->lost_samples += lost.number;
}

static bool take_event(struct reader *r, struct fb_jfr_event *event)
{
    for (size_t i = 0; i <= KINDS; i++) {
        if (r->kinds[i].program != 0 && r->kinds[i].class_id == event->type)
            return take_sample(r, i, &event->payload);
    }
    return true;
}

/* ---- chunks ---- */

/* The place of the first event that is damaged; false (and nothing set) where there is none. */
static enum fb_status fail_at(const struct reader *r, size_t pos, const char *what,
                              struct fb_err *err)
{
    return fb_fail(err, FB_EFORMAT, "%s: chunk %llu: byte %zu: %s", r->name,
                   (unsigned long long)r->chunk.number, pos + FB_JFR_HEADER_SIZE, what);
}

/* The last metadata event describes the classes. */
static enum fb_status read_classes(struct reader *r, bool *ret_found, struct fb_err *err)
{
    struct fb_wire_in in = r->chunk.bytes;
    struct fb_jfr_event event, metadata = {0};

    while (fb_jfr_event_next(&in, &event)) {
        if (event.type == FB_JFR_METADATA)
            metadata = event;
    }
    if (in.bad && r->chunk.is_whole)
        return fail_at(r, in.pos, "the size of an event cannot be", err);
    r->chunk.torn_bytes = in.bad ? in.len - in.pos : 0;
    *ret_found = metadata.payload.data != NULL;
    if (!*ret_found)
        return FB_OK;
    if (fb_jfr_classes_read(&r->classes, metadata.payload, err) != FB_OK)
        return fb_within(err, "%s: chunk %llu", r->name, (unsigned long long)r->chunk.number);
    return FB_OK;
}

static enum fb_status read_pools(struct reader *r, struct fb_err *err)
{
    struct fb_wire_in in = r->chunk.bytes;
    struct fb_jfr_event event;

    fb_jfr_pools_init(&r->pools, &r->classes, r->p, &r->threads);
    while (fb_jfr_event_next(&in, &event)) {
        if (event.type == FB_JFR_CHECKPOINT && !fb_jfr_pools_read(&r->pools, event.payload) &&
            r->chunk.is_whole)
            return fail_at(r, in.pos - event.payload.len, "a checkpoint is damaged", err);
    }
    return FB_OK;
}

static enum fb_status read_events(struct reader *r, struct fb_err *err)
{
    struct fb_wire_in in = r->chunk.bytes;
    struct fb_jfr_event event;

    while (fb_jfr_event_next(&in, &event)) /* what samples mean depends on the settings */
        take_fact(r, &event);
    set_roles(r);
    in = r->chunk.bytes;
    while (fb_jfr_event_next(&in, &event)) {
        size_t from = in.pos - event.payload.len;

        if (event.type > FB_JFR_CHECKPOINT && !take_event(r, &event) && r->chunk.is_whole)
            return fail_at(r, from, "a sample is damaged", err);
    }
    return FB_OK;
}

static enum fb_status read_chunk(struct reader *r, struct fb_err *err)
{
    bool found = false;
    enum fb_status status = read_classes(r, &found, err);

    if (status == FB_OK && !found && r->chunk.is_whole)
        status = fail_at(r, 0, "it has no metadata, a description of its events was expected", err);
    if (status == FB_OK && found) {
        find_asked(r);
        find_classes(r);
        status = read_pools(r, err);
        if (status == FB_OK)
            status = read_events(r, err);
        r->p->losses[FB_LOSS_TRUNCATED] += r->pools.truncated;
    }
    fb_jfr_pools_done(&r->pools);
    fb_jfr_classes_done(&r->classes);
    if (!r->chunk.is_whole || !r->chunk.is_finished)
        r->p->ended = false;
    if (!r->chunk.is_whole) {
        r->report->damage.torn_tail = true;
        r->report->damage.torn_bytes = found ? r->chunk.torn_bytes : r->chunk.bytes.len;
    }
    return status;
}

/* ---- the end ---- */

static enum fb_status choose(struct reader *r, struct fb_err *err)
{
    struct fb_value_type types[TYPES_MOST];
    const char *asked = r->asked;
    size_t n = 0, chosen;
    enum fb_status status;

    for (size_t i = 0; i <= KINDS; i++) {
        const struct kind *kind = kind_at(r, i);
        size_t k = 0;

        if (r->counts[i] == 0)
            continue;
        if (asked && strcmp(asked, kind->class) == 0)
            asked = type_of(r, kind);
        while (k < n && strcmp(types[k].name, type_of(r, kind)) != 0)
            k++;
        if (k == n)
            types[n++] = (struct fb_value_type){type_of(r, kind), kind->unit, 0};
        types[k].samples += r->counts[i];
    }
    status = fb_types_choose(r->name, types, n, asked, FB_TYPES_NO_DEFAULT, &chosen, err);
    if (status == FB_OK)
        r->report->samples_in = types[chosen].samples;
    return status;
}

static void finish(struct reader *r)
{
    struct fb_profile *p = r->p;
    bool is_wall = strcmp(type_of(r, r->kept), "wall") == 0;
    bool is_timed = is_wall || r->kept == &kinds[0] || r->kept == &kinds[1];

    p->unit = fb_strings_put_z(&p->strings, r->kept->unit);
    p->type = fb_strings_put_z(&p->strings, type_of(r, r->kept));
    if (is_timed)
        p->interval_ns = is_wall && r->wall_interval_ns ? r->wall_interval_ns : r->interval_ns;
    if (is_wall)
        fb_profile_manifest_set(p, "clock_got", "wall");
    else if (r->kept == &kinds[0])
        fb_profile_labels_clear(p); /* a thread that is sampled on a CPU runs */
    p->has_times = true;
    fb_profile_span_update(p);
    fb_report_loss(r->report, "samples whose stack was not written any more", r->lost_stacks);
    fb_report_loss(r->report, "samples of weight 0", r->no_weight);
    fb_report_loss(r->report, "samples that are damaged", r->damaged);
    if (r->kept == &kinds[2])
        r->report->samples_in += r->lost_samples;
    if (r->kept == &kinds[2] && r->lost_samples > 0)
        fb_report_loss(r->report, "samples that the JVM itself lost", r->lost_samples);
}

enum fb_status fb_jfr_read(struct fb_source *in, const struct fb_read_options *options,
                           struct fb_profile **ret_p, struct fb_read_report *ret_report,
                           struct fb_err *err)
{
    struct reader r = {.name = fb_source_name(in),
                       .asked = options->type,
                       .p = fb_profile_new(),
                       .report = ret_report};
    enum fb_status status;

    r.p->ended = true;
    while ((status = fb_jfr_chunk_next(&r.chunk, in, err)) == FB_OK && r.chunk.bytes.len > 0) {
        status = read_chunk(&r, err);
        if (status != FB_OK)
            break;
    }
    if (status == FB_OK)
        status = choose(&r, err);
    if (status == FB_OK) {
        finish(&r);
        *ret_p = r.p;
    } else {
        fb_profile_free(r.p);
    }
    fb_jfr_chunk_done(&r.chunk);
    free(r.threads.items);
    fb_index_done(&r.threads.index);
    return status;
}

/* Payloads to the model.  Every count is bounded by the bytes that are left, every id is looked up
 * in a map, and a map can grow only as the bytes read so far allow: a hostile file costs no more
 * memory than a small multiple of its unpacked size. */
#include "profile/bank_chunks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/events.h"

enum {
    IDS_PER_BYTE = 16,
    IDS_LEAST = 1 << 16,
    COUNTERS_MOST = 4096,
    LABELS_MOST = 256,   /* of one sample */
    EVENTS_MOST = 16384, /* they are kept sorted as they come */
    LINE_MAX_VALUE = 1 << 30,
};

/* Times and counters beyond these (wall clocks of the years 1896 and 2116) are damage; within them
 * any difference of two is an int64_t. */
static const int64_t VALUE_LEAST = -((int64_t)1 << 61), VALUE_MOST = (int64_t)1 << 62;

/* A time may be rounded down when it is written again. */
static const int64_t ROUNDING = 2000000;

static const uint64_t WEIGHT_MOST = (uint64_t)1 << 53;

struct fb_mark_read {
    struct fb_mark mark;
    size_t order;
};

void fb_bank_decoder_init(struct fb_bank_decoder *d, struct fb_profile *p,
                          struct fb_bank_damage *damage)
{
    *d = (struct fb_bank_decoder){.p = p, .damage = damage};
}

void fb_bank_decoder_done(struct fb_bank_decoder *d)
{
    free(d->strings.ids);
    free(d->frames.ids);
    free(d->stacks.ids);
    free(d->modules.ids);
    free(d->threads.ids);
    free(d->counters.ids);
    free(d->label_sets.ids);
    free(d->frame_facts.ids);
    free(d->facts);
    free(d->marks);
}

static int64_t bounded(struct fb_bank_decoder *d, int64_t value)
{
    if (value < VALUE_LEAST || value > VALUE_MOST)
        d->out_of_range = true;
    if (value < VALUE_LEAST + ROUNDING)
        return VALUE_LEAST + ROUNDING;
    return value < VALUE_MOST ? value : VALUE_MOST;
}

static bool map_set(struct fb_bank_decoder *d, struct fb_id_map *map, uint64_t id, uint32_t model)
{
    if (id >= IDS_LEAST && id / IDS_PER_BYTE > d->raw_bytes)
        return false;
    if (id >= UINT32_MAX)
        return false;
    if (id >= map->count) {
        fb_vec_reserve(&map->ids, &map->room, (size_t)id + 1, sizeof *map->ids);
        while (map->count <= id)
            map->ids[map->count++] = UINT32_MAX;
    }
    map->ids[id] = model;
    return true;
}

/* The model's id, or `fallback` where the definition was lost. */
static uint32_t map_get(const struct fb_id_map *map, uint64_t id, uint32_t fallback)
{
    return id < map->count && map->ids[id] != UINT32_MAX ? map->ids[id] : fallback;
}

static uint32_t get_text(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    size_t n;
    const uint8_t *text = fb_wire_get_blob(in, &n);

    return text ? fb_strings_put(&d->p->strings, (const char *)text, n) : 0;
}

/* A count of items of at least `least` bytes each; bad if they cannot fit. */
static uint64_t get_count(struct fb_wire_in *in, size_t least)
{
    uint64_t n = fb_wire_get_varint(in);

    if (n > fb_wire_left(in) / least)
        in->bad = true;
    return in->bad ? 0 : n;
}

/* Keys that say what a profile of another format is; they are members of it, and not kept. */
static bool take_fact(struct fb_bank_decoder *d, const char *key, uint32_t value)
{
    if (strcmp(key, "weight_unit") == 0)
        d->p->unit = value;
    else if (strcmp(key, "weight_type") == 0)
        d->p->type = value;
    else if (strcmp(key, "rows_merged") == 0)
        d->p->rows_merged = strtoull(fb_profile_text(d->p, value), NULL, 10);
    else if (strcmp(key, "times") == 0)
        d->has_no_times = strcmp(fb_profile_text(d->p, value), "none") == 0;
    else
        return false;
    return true;
}

static void put_manifest(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 2);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint32_t key = get_text(d, in), value = get_text(d, in);

        if (!in->bad && !take_fact(d, fb_profile_text(d->p, key), value))
            fb_profile_manifest_set(d->p, fb_profile_text(d->p, key), fb_profile_text(d->p, value));
    }
}

static uint32_t get_build_id(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    static const char hex[] = "0123456789abcdef";
    char text[2 * 64];
    size_t n;
    const uint8_t *bytes = fb_wire_get_blob(in, &n);

    if (!bytes || n > 64) {
        in->bad = in->bad || n > 64;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = hex[bytes[i] >> 4];
        text[2 * i + 1] = hex[bytes[i] & 15];
    }
    return fb_strings_put(&d->p->strings, text, 2 * n);
}

static void put_modules(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 7);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        struct fb_module m = {.unload_ns = INT64_MAX};
        uint64_t id = fb_wire_get_varint(in);
        bool is_unload;
        uint32_t known;

        m.load_ns = fb_wire_get_signed(in);
        m.start = fb_wire_get_varint(in);
        m.end = fb_wire_get_varint(in);
        m.bias = fb_wire_get_varint(in);
        m.build_id = get_build_id(d, in);
        m.path = get_text(d, in);
        if (in->bad)
            return;
        known = map_get(&d->modules, id, UINT32_MAX);
        is_unload = m.end == 0;
        if (m.start == 0 && m.end == 1) /* its place is not known */
            m.end = 0;
        if (is_unload) {
            if (known != UINT32_MAX)
                d->p->modules[known].unload_ns = m.load_ns;
        } else if (known == UINT32_MAX) {
            in->bad = !map_set(d, &d->modules, id, fb_profile_module_add(d->p, &m));
        } else {
            d->p->modules[known] = m;
        }
    }
}

static void put_threads(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 4);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t id = fb_wire_get_varint(in), tid = fb_wire_get_varint(in);
        int64_t time_ns = fb_wire_get_signed(in);
        uint32_t name = get_text(d, in), thread;

        if (in->bad)
            return;
        thread = map_get(&d->threads, id, UINT32_MAX);
        if (thread == UINT32_MAX) {
            thread = fb_profile_thread_add(d->p, (uint32_t)tid, name);
            in->bad = !map_set(d, &d->threads, id, thread);
        }
        if (!in->bad)
            fb_profile_thread_rename(d->p, thread, time_ns, name);
    }
}

static void put_strings(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t first = fb_wire_get_varint(in), n = get_count(in, 1);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint32_t id = get_text(d, in);

        if (!in->bad && !map_set(d, &d->strings, first + i, id))
            in->bad = true;
    }
}

static uint32_t bounded_line(uint64_t line)
{
    return line < LINE_MAX_VALUE ? (uint32_t)line : 0;
}

/* Kept until FRAMES defines the frame. */
static void put_frame_facts(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 5);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t id = fb_wire_get_varint(in);
        uint8_t tier = fb_wire_get_u8(in);
        struct fb_frame_facts facts = {.tier = (enum fb_tier)tier};

        facts.signature = map_get(&d->strings, fb_wire_get_varint(in), 0);
        facts.file = map_get(&d->strings, fb_wire_get_varint(in), 0);
        facts.line = bounded_line(fb_wire_get_varint(in));
        if (in->bad || tier >= FB_FRAME_TIER_COUNT || id == 0) {
            in->bad = true;
            return;
        }
        in->bad = !map_set(d, &d->frame_facts, id, (uint32_t)d->facts_count);
        fb_vec_reserve(&d->facts, &d->facts_room, d->facts_count + 1, sizeof *d->facts);
        d->facts[d->facts_count++] = facts;
    }
}

static void add_facts(const struct fb_bank_decoder *d, uint64_t id, struct fb_frame *f)
{
    uint32_t at = map_get(&d->frame_facts, id, UINT32_MAX);

    if (at == UINT32_MAX)
        return;
    f->tier = d->facts[at].tier;
    f->signature = d->facts[at].signature;
    f->file = d->facts[at].file;
    f->line = d->facts[at].line;
}

static void put_frames(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t first = fb_wire_get_varint(in), n = get_count(in, 4);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint8_t kind = fb_wire_get_u8(in);
        uint64_t module = fb_wire_get_varint(in);
        struct fb_frame f = {.address = fb_wire_get_varint(in)};
        uint64_t name = fb_wire_get_varint(in);

        if (in->bad || kind >= FB_FRAME_KIND_COUNT || first + i == 0) {
            in->bad = true;
            return;
        }
        f.kind = (enum fb_frame_kind)kind;
        f.module = module ? map_get(&d->modules, module - 1, FB_NO_MODULE) : FB_NO_MODULE;
        f.name = name ? map_get(&d->strings, name, 0) : 0;
        add_facts(d, first + i, &f);
        /* Its own, since SYMBOLS may tell it from another at the same address. */
        if (!map_set(d, &d->frames, first + i, fb_profile_frame_append(d->p, &f).n))
            in->bad = true;
    }
}

static void put_stacks(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t first = fb_wire_get_varint(in), n = get_count(in, 2);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t own = first + i, up = fb_wire_get_varint(in), frame = fb_wire_get_varint(in);
        fb_stack_id parent = FB_STACK_ROOT;
        fb_frame_id model = {map_get(&d->frames, frame, UINT32_MAX)};

        if (in->bad || up == 0 || up > own) {
            in->bad = true;
            return;
        }
        if (own - up != 0)
            parent.n = map_get(&d->stacks, own - up, UINT32_MAX);
        if (parent.n == UINT32_MAX || model.n == UINT32_MAX)
            continue; /* its own definition is lost with that of its parent */
        if (!map_set(d, &d->stacks, own, fb_profile_stack_put(d->p, parent, model).n))
            in->bad = true;
    }
}

/* The stack that samples with a lost definition are kept under. */
static uint32_t lost_stack(struct fb_bank_decoder *d)
{
    if (d->lost_stack == 0) {
        struct fb_frame f = {.kind = FB_FRAME_MARK};

        f.name = fb_strings_put_z(&d->p->strings, "[lost definition]");
        d->lost_stack = fb_profile_stack_put(d->p, FB_STACK_ROOT, fb_profile_frame_put(d->p, &f)).n;
    }
    return d->lost_stack;
}

static void put_sample_ids(struct fb_bank_decoder *d, size_t from, size_t n)
{
    struct fb_samples *s = &d->p->samples;

    for (size_t i = from; i < from + n; i++) {
        uint32_t stack = s->stack[i] ? map_get(&d->stacks, s->stack[i], UINT32_MAX) : 0;
        uint32_t thread =
            s->thread[i] ? map_get(&d->threads, s->thread[i], UINT32_MAX) : FB_NO_THREAD;

        if (stack == UINT32_MAX || thread == UINT32_MAX)
            d->damage->orphan_samples++;
        s->stack[i] = stack == UINT32_MAX ? lost_stack(d) : stack;
        s->thread[i] = thread == UINT32_MAX ? FB_NO_THREAD : thread;
    }
}

/* A column of n ids; an id that is out of range becomes one that no map knows. */
static void get_ids(struct fb_wire_in *in, uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t id = fb_wire_get_varint(in);

        ids[i] = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
    }
}

/* A weight counts ticks, at least one. */
static void bound_weights(struct fb_bank_decoder *d, uint64_t *weights, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (weights[i] - 1 < WEIGHT_MOST)
            continue;
        d->out_of_range = true;
        weights[i] = weights[i] == 0 ? 1 : WEIGHT_MOST;
    }
}

static void put_samples(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    int64_t time_ns = fb_wire_get_signed(in);
    uint64_t grain_ns = fb_wire_get_varint(in);
    size_t n = (size_t)get_count(in, 4), from = d->p->samples.count;
    struct fb_samples *s = &d->p->samples;

    if (in->bad || grain_ns == 0 || grain_ns > 1000000000u) {
        in->bad = true;
        return;
    }
    if (n == 0)
        return;
    fb_profile_samples_reserve(d->p, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t step = (uint64_t)fb_wire_get_signed(in) * grain_ns;

        time_ns = (int64_t)((uint64_t)time_ns + step);
        s->time_ns[from + i] = time_ns;
    }
    get_ids(in, s->thread + from, n);
    get_ids(in, s->stack + from, n);
    for (size_t i = 0; i < n; i++)
        s->weight[from + i] = fb_wire_get_varint(in);
    if (in->bad)
        return;
    bound_weights(d, s->weight + from, n);
    put_sample_ids(d, from, n);
    s->count += n;
    d->last_samples = n;
}

static void put_label_sets(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t first = fb_wire_get_varint(in), count = get_count(in, 1);
    struct fb_label labels[LABELS_MOST];

    for (uint64_t i = 0; i < count && !in->bad; i++) {
        uint64_t n = get_count(in, 4);

        if (n > LABELS_MOST) {
            in->bad = true;
            return;
        }
        for (uint64_t k = 0; k < n; k++) {
            labels[k].key = map_get(&d->strings, fb_wire_get_varint(in), 0);
            labels[k].text = map_get(&d->strings, fb_wire_get_varint(in), 0);
            labels[k].number = fb_wire_get_signed(in);
            labels[k].unit = map_get(&d->strings, fb_wire_get_varint(in), 0);
        }
        if (!in->bad &&
            !map_set(d, &d->label_sets, first + i, fb_profile_labels_put(d->p, labels, (size_t)n)))
            in->bad = true;
    }
}

static void put_sample_labels(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 1);
    size_t first = d->p->samples.count - d->last_samples;

    if (n != d->last_samples)
        in->bad = true;
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t id = fb_wire_get_varint(in);

        fb_profile_sample_labels_set(d->p, first + (size_t)i,
                                     id ? map_get(&d->label_sets, id, 0) : 0);
    }
}

static void put_counter_defs(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 4);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t id = fb_wire_get_varint(in);
        uint32_t name = get_text(d, in), unit = get_text(d, in);
        uint8_t kind = fb_wire_get_u8(in);

        if (in->bad || kind > FB_COUNTER_GAUGE) {
            in->bad = true;
            return;
        }
        if (id >= COUNTERS_MOST || d->p->counters.count >= COUNTERS_MOST) {
            in->bad = true;
            return;
        }
        in->bad = !map_set(d, &d->counters, id,
                           fb_profile_counter_put(d->p, fb_profile_text(d->p, name),
                                                  fb_profile_text(d->p, unit),
                                                  (enum fb_counter_kind)kind));
    }
}

static void put_counter_column(struct fb_bank_decoder *d, struct fb_wire_in *in, size_t row0,
                               size_t rows)
{
    uint32_t counter = map_get(&d->counters, fb_wire_get_varint(in), UINT32_MAX);
    uint64_t value = 0;

    for (size_t r = 0; r < rows && !in->bad; r++) {
        value += (uint64_t)fb_wire_get_signed(in);
        if (counter != UINT32_MAX && !in->bad)
            d->p->counters.items[counter].values[row0 + r] = bounded(d, (int64_t)value);
    }
}

static void put_counters(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t time_ns = (uint64_t)fb_wire_get_signed(in);
    size_t rows = (size_t)fb_wire_get_varint(in), columns = (size_t)fb_wire_get_varint(in);
    size_t row0 = d->p->counters.rows;

    if (in->bad || rows > fb_wire_left(in) || columns > fb_wire_left(in)) {
        in->bad = true;
        return;
    }
    if ((row0 + rows) * d->p->counters.count / IDS_PER_BYTE > d->raw_bytes + IDS_LEAST) {
        in->bad = true; /* a cell takes memory in all columns, and a byte in those that have it */
        return;
    }
    for (size_t r = 0; r < rows; r++) {
        time_ns += (uint64_t)fb_wire_get_signed(in) * 1000u;
        if (in->bad)
            return;
        (void)fb_profile_counter_row_add(d->p, (int64_t)time_ns);
    }
    for (size_t c = 0; c < columns && !in->bad; c++)
        put_counter_column(d, in, row0, rows);
}

static void put_marks(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 5);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        int64_t mono = fb_wire_get_signed(in), wall = fb_wire_get_signed(in);
        struct fb_mark m = {.name = get_text(d, in)};
        uint64_t offered;

        m.flags = fb_wire_get_u8(in);
        offered = fb_wire_get_varint(in);
        m.offered = offered ? (double)offered / 1000.0 : NAN;
        m.time_ns = wall;
        if (mono != 0 && d->p->wall_offset_ns != 0)
            m.time_ns = (int64_t)((uint64_t)mono + (uint64_t)d->p->wall_offset_ns);
        m.time_ns = bounded(d, m.time_ns);
        if (in->bad)
            return;
        fb_vec_reserve(&d->marks, &d->marks_room, d->marks_count + 1, sizeof *d->marks);
        d->marks[d->marks_count] = (struct fb_mark_read){m, d->marks_count};
        d->marks_count++;
    }
}

static void put_events(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 4);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        int64_t mono = fb_wire_get_signed(in), wall = fb_wire_get_signed(in);
        struct fb_sampler_event e = {.time_ns = wall};

        e.kind = fb_wire_get_u8(in);
        e.value = fb_wire_get_varint(in);
        if (mono != 0)
            e.time_ns = (int64_t)((uint64_t)mono + (uint64_t)d->p->wall_offset_ns);
        e.time_ns = bounded(d, e.time_ns);
        in->bad = in->bad || d->p->events_count >= EVENTS_MOST;
        if (!in->bad)
            fb_profile_event_add(d->p, &e);
    }
}

static void put_losses(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n;

    (void)fb_wire_get_signed(in);
    n = get_count(in, 2);
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint8_t cause = fb_wire_get_u8(in);
        uint64_t total = fb_wire_get_varint(in);

        if (!in->bad && cause < FB_LOSS_CAUSE_COUNT)
            d->p->losses[cause] = total;
    }
}

static void put_symbols(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    uint64_t n = get_count(in, 4);

    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint32_t frame = map_get(&d->frames, fb_wire_get_varint(in), UINT32_MAX);
        uint32_t name = map_get(&d->strings, fb_wire_get_varint(in), 0);
        uint32_t file = map_get(&d->strings, fb_wire_get_varint(in), 0);
        uint64_t line = fb_wire_get_varint(in);

        if (in->bad || frame == UINT32_MAX)
            continue;
        d->p->frames[frame].name = name;
        d->p->frames[frame].file = file;
        d->p->frames[frame].line = bounded_line(line);
    }
}

static void put_end(struct fb_bank_decoder *d, struct fb_wire_in *in)
{
    (void)fb_wire_get_signed(in);
    d->end_samples = fb_wire_get_varint(in);
    d->end_weight = fb_wire_get_varint(in);
    d->has_end = !in->bad;
}

/* The offset is needed by marks at once and by everything else at the end. */
static void take_clocks(struct fb_bank_decoder *d)
{
    const char *mono = fb_profile_manifest_get(d->p, "start_monotonic_ns");
    const char *wall = fb_profile_manifest_get(d->p, "start_wall_ns");
    const char *interval = fb_profile_manifest_get(d->p, "interval_ns");

    if (mono && wall)
        d->p->wall_offset_ns = bounded(
            d, (int64_t)((uint64_t)strtoll(wall, NULL, 10) - (uint64_t)strtoll(mono, NULL, 10)));
    if (interval)
        d->p->interval_ns = strtoull(interval, NULL, 10);
}

bool fb_bank_decoder_put(struct fb_bank_decoder *d, unsigned type, const uint8_t *payload, size_t n)
{
    static void (*const put[])(struct fb_bank_decoder *, struct fb_wire_in *) = {
        [FB_CHUNK_MANIFEST] = put_manifest,
        [FB_CHUNK_MODULES] = put_modules,
        [FB_CHUNK_THREADS] = put_threads,
        [FB_CHUNK_STRINGS] = put_strings,
        [FB_CHUNK_FRAMES] = put_frames,
        [FB_CHUNK_STACKS] = put_stacks,
        [FB_CHUNK_SAMPLES] = put_samples,
        [FB_CHUNK_COUNTER_DEFS] = put_counter_defs,
        [FB_CHUNK_COUNTERS] = put_counters,
        [FB_CHUNK_MARKS] = put_marks,
        [FB_CHUNK_LOSSES] = put_losses,
        [FB_CHUNK_SYMBOLS] = put_symbols,
        [FB_CHUNK_END] = put_end,
        [FB_CHUNK_EVENTS] = put_events,
        [FB_CHUNK_FRAME_FACTS] = put_frame_facts,
        [FB_CHUNK_LABEL_SETS] = put_label_sets,
        [FB_CHUNK_SAMPLE_LABELS] = put_sample_labels,
    };
    struct fb_wire_in in = {.data = payload, .len = n};

    d->raw_bytes += n;
    if (type >= sizeof put / sizeof put[0] || !put[type]) {
        d->damage->unknown_chunks++;
        return true;
    }
    put[type](d, &in);
    if (type == FB_CHUNK_MANIFEST)
        take_clocks(d);
    return !in.bad && in.pos == in.len;
}

static void shift(struct fb_bank_decoder *d, int64_t *time_ns)
{
    int64_t sum;

    if (__builtin_add_overflow(*time_ns, d->p->wall_offset_ns, &sum))
        sum = *time_ns < 0 ? INT64_MIN : INT64_MAX;
    *time_ns = bounded(d, sum);
}

static int by_time(const void *a, const void *b)
{
    const struct fb_mark_read *x = a, *y = b;

    if (x->mark.time_ns != y->mark.time_ns)
        return x->mark.time_ns < y->mark.time_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Damage of the whole, which no single chunk shows. */
static void note_rule(struct fb_bank_decoder *d, const char *what)
{
    d->damage->bad_payloads++;
    if (d->damage->first[0] == '\0')
        (void)snprintf(d->damage->first, sizeof d->damage->first, "%s", what);
}

static void finish_marks(struct fb_bank_decoder *d)
{
    if (d->marks_count > 1)
        qsort(d->marks, d->marks_count, sizeof *d->marks, by_time);
    for (size_t i = 0; i < d->marks_count; i++)
        fb_profile_mark_add(d->p, &d->marks[i].mark);
}

void fb_bank_decoder_finish(struct fb_bank_decoder *d)
{
    struct fb_profile *p = d->p;

    for (size_t i = 0; i < p->samples.count; i++)
        shift(d, &p->samples.time_ns[i]);
    for (size_t i = 0; i < p->counters.rows; i++)
        shift(d, &p->counters.time_ns[i]);
    for (size_t i = 0; i < p->thread_names_count; i++)
        shift(d, &p->thread_names[i].time_ns);
    for (size_t i = 1; i < p->modules_count; i++) {
        shift(d, &p->modules[i].load_ns);
        if (p->modules[i].unload_ns != INT64_MAX)
            shift(d, &p->modules[i].unload_ns);
    }
    finish_marks(d);
    if (d->out_of_range)
        note_rule(d, "a time, a weight or a counter is out of range");
    p->has_times = !d->has_no_times;
    p->ended = d->has_end;
    if (d->has_end && d->end_samples > p->samples.count)
        d->damage->unwritten_samples = d->end_samples - p->samples.count;
    else if (d->has_end &&
             (d->end_samples != p->samples.count || d->end_weight != fb_profile_weight(p)))
        note_rule(d, "the end mark's account is not that of the samples");
    fb_profile_span_update(p);
}

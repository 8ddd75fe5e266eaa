#include "profile/read/perf_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/read/perf_event.h"
#include "profile/read/perf_file.h"
#include "profile/read/perf_maps.h"
#include "profile/types.h"

enum {
    MISC_MODE = 7,
    MODE_KERNEL = 1,
    MODE_GUEST_KERNEL = 4,
    MISC_COMM_EXEC = 1 << 13,
    MISC_MMAP_BUILD_ID = 1 << 14,
    CHAIN_MOST = 1 << 16,
};

/* Addresses from here on are marks in a call chain. */
#define CONTEXT_MARKS  ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER   ((uint64_t)-512)

struct entry { /* a record, to be taken in the order of time */
    uint64_t time;
    const uint8_t *bytes;
    uint32_t type, attr;
    uint16_t misc;
    uint16_t size;
    uint32_t number;
};

struct thread { /* by tid: its process, name and the profile's thread */
    uint32_t tid, pid, comm, id, root;
};

struct file { /* what was mapped: a module of the profile */
    uint32_t module;
    enum fb_frame_kind kind;
};

struct reader {
    struct fb_perf_file file;
    struct fb_profile *p;
    struct fb_read_report *report;
    struct fb_perf_maps maps;
    struct entry *entries;
    size_t count, room;
    struct thread *threads;
    size_t threads_count, threads_room;
    struct fb_index threads_index, modules_index;
    struct file *files; /* by module of the profile */
    size_t files_room, files_count;
    bool *is_asked; /* by attr */
    bool by_period, is_uneven;
    uint64_t period;
    uint32_t *chain; /* frames, leaf first */
    size_t depth, chain_room;
};

/* A sample's fields, those that its event has. */
struct sample {
    uint64_t ip, time, period;
    uint32_t pid, tid;
    const uint8_t *chain;
    uint64_t chain_count;
};

/* ---- records ---- */

static bool take_u64(const uint8_t **at, const uint8_t *end, uint64_t *ret_value)
{
    if (end - *at < 8)
        return false;
    *ret_value = fb_perf_u64(*at);
    *at += 8;
    return true;
}

/* Passes over the counter's values. */
static bool skip_read(const struct fb_perf_attr *a, const uint8_t **at, const uint8_t *end)
{
    uint64_t format = a->read_format, fields = 1, count = 1, value;
    uint64_t times = (format & 1) + (format >> 1 & 1);

    fields += (format >> 2 & 1) + (format >> 4 & 1);
    if (format >> 3 & 1) {
        if (!take_u64(at, end, &count) || count > 4096)
            return false;
    }
    for (uint64_t i = 0; i < times + fields * count; i++) {
        if (!take_u64(at, end, &value))
            return false;
    }
    return true;
}

static bool parse_sample(const struct fb_perf_attr *a, const uint8_t *at, size_t n,
                         struct sample *ret_sample)
{
    const uint8_t *end = at + n;
    struct sample s = {.period = a->is_freq ? 1 : a->period, .tid = UINT32_MAX, .pid = UINT32_MAX};
    uint64_t type = a->sample_type, ids, ignored;

    if ((type & FB_PERF_HAS_IDENTIFIER && !take_u64(&at, end, &ignored)) ||
        (type & FB_PERF_HAS_IP && !take_u64(&at, end, &s.ip)))
        return false;
    if (type & FB_PERF_HAS_TID) {
        if (!take_u64(&at, end, &ids))
            return false;
        s.pid = (uint32_t)ids;
        s.tid = (uint32_t)(ids >> 32);
    }
    if ((type & FB_PERF_HAS_TIME && !take_u64(&at, end, &s.time)) ||
        (type & FB_PERF_HAS_ADDR && !take_u64(&at, end, &ignored)) ||
        (type & FB_PERF_HAS_ID && !take_u64(&at, end, &ignored)) ||
        (type & FB_PERF_HAS_STREAM_ID && !take_u64(&at, end, &ignored)) ||
        (type & FB_PERF_HAS_CPU && !take_u64(&at, end, &ignored)) ||
        (type & FB_PERF_HAS_PERIOD && !take_u64(&at, end, &s.period)) ||
        (type & FB_PERF_HAS_READ && !skip_read(a, &at, end)))
        return false;
    if (type & FB_PERF_HAS_CALLCHAIN) {
        if (!take_u64(&at, end, &s.chain_count) || s.chain_count > (uint64_t)(end - at) / 8)
            return false;
        s.chain = at;
    }
    *ret_sample = s;
    return true;
}

/* Which event a sample is of: by the id that stands at a place all events share. */
static uint32_t attr_of_sample(const struct fb_perf_file *f, const uint8_t *bytes, size_t n)
{
    uint64_t type = f->attrs[0].sample_type;
    size_t at = 0;

    if (f->attrs_count == 1)
        return 0;
    if (!(type & FB_PERF_HAS_IDENTIFIER)) {
        if (!(type & FB_PERF_HAS_ID))
            return 0;
        at = 8 * (size_t)__builtin_popcountll(type & (FB_PERF_HAS_IP | FB_PERF_HAS_TID |
                                                      FB_PERF_HAS_TIME | FB_PERF_HAS_ADDR));
    }
    return n >= at + 8 ? fb_perf_file_attr_of(f, fb_perf_u64(bytes + at)) : 0;
}

/* The time at the end of a record that is no sample; 0 where it has none. */
static uint64_t trailing_time(const struct fb_perf_attr *a, const uint8_t *bytes, size_t n)
{
    uint64_t behind = a->sample_type & (FB_PERF_HAS_ID | FB_PERF_HAS_STREAM_ID | FB_PERF_HAS_CPU |
                                        FB_PERF_HAS_IDENTIFIER);
    size_t at = 8 + 8 * (size_t)__builtin_popcountll(behind);

    if (!a->has_sample_id || !(a->sample_type & FB_PERF_HAS_TIME) || n < at)
        return 0;
    return fb_perf_u64(bytes + n - at);
}

static void note_lost(struct reader *r, const struct fb_perf_record *record)
{
    size_t at = record->type == FB_PERF_LOST ? 8 : 0;

    if (record->size >= at + 8)
        fb_report_loss(r->report, "samples or other records that the kernel had no room for",
                       fb_perf_u64(record->bytes + at));
}

static void collect(struct reader *r, uint64_t *samples)
{
    struct fb_perf_record record;
    struct sample s;

    for (size_t at = 0; fb_perf_file_next(&r->file, &at, &record);) {
        struct entry e = {.bytes = record.bytes,
                          .type = record.type,
                          .misc = record.misc,
                          .size = (uint16_t)record.size,
                          .number = (uint32_t)r->count};

        if (record.type == FB_PERF_LOST || record.type == FB_PERF_LOST_SAMPLES)
            note_lost(r, &record);
        if (record.type == FB_PERF_SAMPLE) {
            e.attr = attr_of_sample(&r->file, record.bytes, record.size);
            if (!parse_sample(&r->file.attrs[e.attr], record.bytes, record.size, &s)) {
                fb_report_loss(r->report, "samples that are cut", 1);
                continue;
            }
            e.time = s.time;
            samples[e.attr]++;
        } else if (record.type == FB_PERF_MMAP || record.type == FB_PERF_MMAP2 ||
                   record.type == FB_PERF_COMM || record.type == FB_PERF_FORK) {
            e.time = trailing_time(&r->file.attrs[0], record.bytes, record.size);
        } else {
            continue;
        }
        fb_vec_reserve(&r->entries, &r->room, r->count + 1, sizeof *r->entries);
        r->entries[r->count++] = e;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- processes ---- */

static struct thread *thread_of(struct reader *r, uint32_t pid, uint32_t tid)
{
    struct fb_index_cursor at = fb_index_seek(&r->threads_index, fb_hash_mix(tid));
    uint32_t i;

    while (fb_index_step(&r->threads_index, &at, &i)) {
        if (r->threads[i].tid == tid)
            return &r->threads[i];
    }
    fb_vec_reserve(&r->threads, &r->threads_room, r->threads_count + 1, sizeof *r->threads);
    fb_index_add(&r->threads_index, fb_hash_mix(tid), (uint32_t)r->threads_count);
    r->threads[r->threads_count] = (struct thread){.tid = tid, .pid = pid};
    if (tid == 0)
        r->threads[r->threads_count].comm = fb_strings_put_z(&r->p->strings, "swapper");
    return &r->threads[r->threads_count++];
}

static void take_comm(struct reader *r, const struct entry *e)
{
    struct thread *t;
    uint32_t pid;

    if (e->size < 9)
        return;
    pid = fb_perf_u32(e->bytes);
    t = thread_of(r, pid, fb_perf_u32(e->bytes + 4));
    t->pid = pid;
    t->comm = fb_strings_put(&r->p->strings, (const char *)e->bytes + 8,
                             strnlen((const char *)e->bytes + 8, e->size - 8u));
    t->id = t->root = 0;
    if (e->misc & MISC_COMM_EXEC)
        fb_perf_maps_exec(&r->maps, pid);
}

/* pid, parent's pid, tid, parent's tid */
static void take_fork(struct reader *r, const struct entry *e)
{
    struct thread *t;
    uint32_t pid, parent, comm;

    if (e->size < 16)
        return;
    pid = fb_perf_u32(e->bytes);
    parent = fb_perf_u32(e->bytes + 4);
    comm = thread_of(r, parent, fb_perf_u32(e->bytes + 12))->comm;
    t = thread_of(r, pid, fb_perf_u32(e->bytes + 8));
    *t = (struct thread){.tid = t->tid, .pid = pid, .comm = comm};
    fb_perf_maps_fork(&r->maps, parent, pid);
}

/* ---- files ---- */

static bool begins(const char *text, size_t len, const char *start)
{
    size_t n = strlen(start);

    return len >= n && memcmp(text, start, n) == 0;
}

static uint32_t put_hex(struct fb_profile *p, const uint8_t *bytes, size_t n)
{
    char hex[41];

    for (size_t i = 0; i < n && i < 20; i++) {
        hex[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return n ? fb_strings_put(&p->strings, hex, 2 * n) : 0;
}

static uint32_t build_id_of(struct reader *r, const char *path, size_t len)
{
    for (size_t i = 0; i < r->file.build_ids_count; i++) {
        const struct fb_perf_build_id *b = &r->file.build_ids[i];

        if (b->path_len == len && memcmp(b->path, path, len) == 0)
            return put_hex(r->p, b->bytes, b->size);
    }
    return 0;
}

static struct file *file_of(struct reader *r, uint32_t module)
{
    if (module >= r->files_count) {
        fb_vec_reserve(&r->files, &r->files_room, module + 1, sizeof *r->files);
        memset(r->files + r->files_count, 0, (module + 1 - r->files_count) * sizeof *r->files);
        r->files_count = module + 1;
    }
    return &r->files[module];
}

/* The module of a file, added if new; its addresses are offsets in the file. */
static uint32_t module_of(struct reader *r, const char *path, size_t len, uint32_t build_id,
                          bool is_kernel, const struct fb_perf_map *map)
{
    uint32_t text = fb_strings_put(&r->p->strings, path, len), id;
    struct fb_index_cursor at = fb_index_seek(&r->modules_index, fb_hash_pair(text, build_id));
    struct fb_module m = {.path = text,
                          .build_id = build_id,
                          .start = map->start,
                          .end = map->end,
                          .offset = map->offset,
                          .unload_ns = INT64_MAX};

    while (fb_index_step(&r->modules_index, &at, &id)) {
        if (r->p->modules[id].path == text && r->p->modules[id].build_id == build_id)
            return id;
    }
    m.by_offset = len > 0 && path[0] == '/';
    m.bias = m.by_offset ? map->start - map->offset : 0;
    id = fb_profile_module_add(r->p, &m);
    fb_index_add(&r->modules_index, fb_hash_pair(text, build_id), id);
    file_of(r, id)->module = id;
    file_of(r, id)->kind =
        is_kernel ? FB_FRAME_KERNEL
        : begins(path, len, "//anon") || begins(path, len, "[anon") || begins(path, len, "/memfd:")
            ? FB_FRAME_JIT
            : FB_FRAME_NATIVE;
    return id;
}

/* pid, tid, address, length, offset, then (MMAP2) build ID or device and inode, protection, flags
 */
static void take_mmap(struct reader *r, const struct entry *e)
{
    size_t path_at = e->type == FB_PERF_MMAP2 ? 64 : 32, len;
    bool is_kernel = (e->misc & MISC_MODE) == MODE_KERNEL;
    struct fb_perf_map map;
    uint32_t build_id = 0;
    const char *path;

    if (e->size <= path_at)
        return;
    map.start = fb_perf_u64(e->bytes + 8);
    map.end = map.start + fb_perf_u64(e->bytes + 16);
    map.offset = fb_perf_u64(e->bytes + 24);
    if (map.end < map.start)
        map.end = UINT64_MAX;
    path = (const char *)e->bytes + path_at;
    len = strnlen(path, e->size - path_at);
    /* "[kernel.kallsyms]_text": the symbol says what the offset means */
    if (is_kernel && begins(path, len, "[kernel.kallsyms]"))
        len = strlen("[kernel.kallsyms]");
    if (e->type == FB_PERF_MMAP2 && e->misc & MISC_MMAP_BUILD_ID && e->bytes[32] <= 20)
        build_id = put_hex(r->p, e->bytes + 36, e->bytes[32]);
    if (build_id == 0)
        build_id = build_id_of(r, path, len);
    map.file = module_of(r, path, len, build_id, is_kernel, &map);
    fb_perf_maps_add(&r->maps, is_kernel ? FB_PERF_KERNEL : fb_perf_u32(e->bytes), &map);
}

/* ---- samples ---- */

static void push_frame(struct reader *r, uint32_t pid, uint64_t address, bool is_caller)
{
    uint64_t within = address - (is_caller && address > 0);
    const struct fb_perf_map *map = fb_perf_maps_find(&r->maps, pid, within);
    struct fb_frame f = {.kind = pid == FB_PERF_KERNEL ? FB_FRAME_KERNEL : FB_FRAME_NATIVE,
                         .address = within};

    if (map) {
        f.module = map->file;
        f.kind = r->files[map->file].kind;
        if (r->p->modules[map->file].by_offset)
            f.address = within - map->start + map->offset;
    }
    fb_vec_reserve(&r->chain, &r->chain_room, r->depth + 1, sizeof *r->chain);
    r->chain[r->depth++] = fb_profile_frame_put(r->p, &f).n;
}

static void push_chain(struct reader *r, const struct entry *e, const struct sample *s)
{
    unsigned mode = e->misc & MISC_MODE;
    uint32_t pid = mode == MODE_KERNEL || mode == MODE_GUEST_KERNEL ? FB_PERF_KERNEL : s->pid;
    bool is_caller = false;

    r->depth = 0;
    for (uint64_t i = 0; i < s->chain_count && r->depth < CHAIN_MOST; i++) {
        uint64_t address = fb_perf_u64(s->chain + 8 * i);

        if (address >= CONTEXT_MARKS) {
            pid = address == CONTEXT_KERNEL ? FB_PERF_KERNEL
                  : address == CONTEXT_USER ? s->pid
                                            : pid;
            is_caller = false;
            continue;
        }
        push_frame(r, pid, address, is_caller);
        is_caller = true;
    }
    if (r->depth == 0 && s->ip != 0)
        push_frame(r, pid, s->ip, false);
}

/* The thread of the profile and its root, made when its first sample comes. */
static void ready_thread(struct reader *r, struct thread *t)
{
    struct fb_frame f = {.kind = FB_FRAME_MARK, .name = t->comm};

    if (t->id != 0)
        return;
    t->id = fb_profile_thread_add(r->p, t->tid, t->comm);
    r->p->threads[t->id].pid = t->pid == UINT32_MAX ? 0 : t->pid;
    if (t->comm != 0)
        t->root = fb_profile_stack_put(r->p, FB_STACK_ROOT, fb_profile_frame_put(r->p, &f)).n;
}

static void take_sample(struct reader *r, const struct entry *e)
{
    struct sample s;
    struct thread *t;
    fb_stack_id stack;

    if (!r->is_asked[e->attr] || !parse_sample(&r->file.attrs[e->attr], e->bytes, e->size, &s))
        return;
    t = thread_of(r, s.pid, s.tid);
    ready_thread(r, t);
    push_chain(r, e, &s);
    stack.n = t->root;
    while (r->depth > 0)
        stack = fb_profile_stack_put(r->p, stack, (fb_frame_id){r->chain[--r->depth]});
    if (r->period == 0)
        r->period = s.period;
    r->is_uneven = r->is_uneven || s.period != r->period;
    s.time += (uint64_t)r->file.wall_offset_ns;
    fb_profile_sample_add(r->p, (int64_t)(s.time & INT64_MAX), t->id, stack,
                          r->by_period ? s.period & INT64_MAX : 1);
}

/* ---- the file ---- */

/* Which attrs are the event that was asked for, or the only one with samples. */
static enum fb_status choose(struct reader *r, const uint64_t *samples, const char *asked,
                             const char *name, const char **ret_event, struct fb_err *err)
{
    struct fb_value_type *types = fb_alloc_array(r->file.attrs_count, sizeof *types);
    size_t n = 0, chosen = 0, match = 0, matches = 0;
    enum fb_status status = FB_OK;

    for (size_t i = 0; i < r->file.attrs_count; i++) {
        size_t k = 0;

        while (k < n && strcmp(types[k].name, r->file.attrs[i].name) != 0)
            k++;
        if (k == n && samples[i] == 0 && strncmp(r->file.attrs[i].name, "dummy", 5) == 0)
            continue; /* perf's own, for its mmap records */
        if (k == n)
            types[n++] = (struct fb_value_type){r->file.attrs[i].name, "", 0};
        types[k].samples += samples[i];
    }
    for (size_t k = 0; k < n && asked; k++) {
        if (strcmp(types[k].name, asked) == 0) {
            match = k;
            matches = 1;
            break;
        }
        if (fb_perf_event_is(types[k].name, strlen(types[k].name), asked, false)) {
            match = k;
            matches++;
        }
    }
    if (matches == 1)
        chosen = match;
    else
        status = fb_types_choose(name, types, n, matches ? NULL : asked, FB_TYPES_NO_DEFAULT,
                                 &chosen, err);
    for (size_t i = 0; i < r->file.attrs_count && status == FB_OK; i++)
        r->is_asked[i] = strcmp(r->file.attrs[i].name, types[chosen].name) == 0;
    if (status == FB_OK)
        *ret_event = types[chosen].name;
    free(types);
    return status;
}

static void take_all(struct reader *r)
{
    if (r->count > 0)
        qsort(r->entries, r->count, sizeof *r->entries, by_time);
    for (size_t i = 0; i < r->count; i++) {
        const struct entry *e = &r->entries[i];

        if (e->type == FB_PERF_SAMPLE)
            take_sample(r, e);
        else if (e->type == FB_PERF_COMM)
            take_comm(r, e);
        else if (e->type == FB_PERF_FORK)
            take_fork(r, e);
        else
            take_mmap(r, e);
    }
}

static void describe(struct reader *r, const char *event)
{
    const struct fb_perf_file *f = &r->file;

    fb_perf_event_describe(r->p, event, r->by_period, r->is_uneven ? 0 : r->period);
    if (f->hostname)
        fb_profile_manifest_set(r->p, "perf.hostname", f->hostname);
    if (f->release)
        fb_profile_manifest_set(r->p, "perf.os release", f->release);
    if (f->version)
        fb_profile_manifest_set(r->p, "perf.perf version", f->version);
    if (f->cmdline)
        fb_profile_manifest_set(r->p, "perf.cmdline", f->cmdline);
    r->p->has_times = (f->attrs[0].sample_type & FB_PERF_HAS_TIME) != 0;
    r->p->wall_offset_ns = f->wall_offset_ns;
    r->p->ended = !f->is_torn;
    fb_profile_span_update(r->p);
}

static enum fb_status read_samples(struct reader *r, const struct fb_read_options *options,
                                   const char *name, struct fb_err *err)
{
    uint64_t *samples = fb_alloc_array(r->file.attrs_count, sizeof *samples);
    const char *event;
    enum fb_status status;

    r->is_asked = fb_alloc_array(r->file.attrs_count, sizeof *r->is_asked);
    r->by_period = options->weight != FB_WEIGHT_SAMPLES;
    collect(r, samples);
    status = choose(r, samples, options->type, name, &event, err);
    if (status == FB_OK) {
        take_all(r);
        describe(r, event);
        r->report->samples_in = r->p->samples.count;
        for (size_t i = 0; i < r->report->losses_count; i++)
            r->report->samples_in += r->report->losses[i].count;
        if (r->file.attrs[0].sample_type & FB_PERF_HAS_STACK_USER)
            (void)snprintf(r->report->note, sizeof r->report->note,
                           "stacks that were dumped (--call-graph dwarf) are not unwound here, "
                           "'perf script' unwinds them");
        if (r->p->samples.count == 0)
            status = fb_fail(err, FB_EFORMAT, "%s: holds no samples", name);
    }
    free(samples);
    return status;
}

enum fb_status fb_perf_data_read(struct fb_source *in, const struct fb_read_options *options,
                                 struct fb_profile **ret_p, struct fb_read_report *ret_report,
                                 struct fb_err *err)
{
    struct reader r = {.report = ret_report};
    const char *bytes;
    size_t n;
    enum fb_status status = fb_source_all(in, &bytes, &n, err);

    if (status == FB_OK)
        status = fb_perf_file_open(&r.file, bytes, n, fb_source_name(in), err);
    if (status != FB_OK)
        return status;
    r.p = fb_profile_new();
    status = read_samples(&r, options, fb_source_name(in), err);
    if (status == FB_OK)
        *ret_p = r.p;
    else
        fb_profile_free(r.p);
    fb_perf_maps_done(&r.maps);
    fb_perf_file_done(&r.file);
    fb_index_done(&r.threads_index);
    fb_index_done(&r.modules_index);
    free(r.entries);
    free(r.threads);
    free(r.files);
    free(r.is_asked);
    free(r.chain);
    return status;
}

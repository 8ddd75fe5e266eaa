/* The model to a packed bank.  Chunks are cut at CHUNK_TARGET raw bytes; the order is fixed, so
 * the same profile gives the same bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/file.h"
#include "base/vec.h"
#include "profile/bank.h"

enum {
    CHUNK_TARGET = 1 << 20,
    SAMPLES_PER_CHUNK = 1 << 16,
    ROWS_PER_CHUNK = 4096,
    PACK_LEVEL = 9,
    GRAIN_NS = 1000000,
    LABELS_MOST = 256, /* of one sample, as readers take them */
    NOWHERE_END = 1,   /* of a module that is known by its name alone, since 0 is an unload */
};

struct encoder {
    const struct fb_profile *p;
    struct fb_buf *out;
    uint32_t sequence;
    uint8_t *raw; /* grows */
    size_t raw_room, raw_len;
    uint32_t crc_table[256];
};

/* ---- the payload under construction ---- */

static void put_varint(struct encoder *e, uint64_t v)
{
    struct fb_wire_out out;

    fb_vec_reserve(&e->raw, &e->raw_room, e->raw_len + FB_WIRE_VARINT_MAX, 1);
    out = (struct fb_wire_out){.data = e->raw + e->raw_len, .cap = FB_WIRE_VARINT_MAX};
    fb_wire_put_varint(&out, v);
    e->raw_len += out.len;
}

static void put_signed(struct encoder *e, int64_t v)
{
    put_varint(e, fb_wire_zigzag(v));
}

static void put_bytes(struct encoder *e, const void *bytes, size_t n)
{
    fb_vec_reserve(&e->raw, &e->raw_room, e->raw_len + n + 1, 1);
    if (n > 0)
        memcpy(e->raw + e->raw_len, bytes, n);
    e->raw_len += n;
}

static void put_u8(struct encoder *e, uint8_t v)
{
    put_bytes(e, &v, 1);
}

static void put_string(struct encoder *e, uint32_t id)
{
    const struct fb_string *s = &e->p->strings.items[id];

    put_varint(e, s->len);
    put_bytes(e, s->text, s->len);
}

/* Frames the payload as a chunk, packed where that is smaller, and starts an empty one. */
static void chunk_end(struct encoder *e, enum fb_chunk_type type)
{
    static const uint8_t zeros[FB_CHUNK_ALIGN];
    struct fb_buf packed = {0};
    struct fb_chunk_header h = {.type = (uint16_t)type,
                                .run_id = e->p->run_id,
                                .sequence = e->sequence++,
                                .raw_length = (uint32_t)e->raw_len};
    uint8_t header[FB_CHUNK_HEADER_SIZE];
    const uint8_t *stored = e->raw;

    h.stored_length = h.raw_length;
    fb_zstd_pack(e->raw ? e->raw : header, e->raw_len, PACK_LEVEL, &packed);
    if (packed.len < e->raw_len) {
        h.flags = FB_CHUNK_PACKED;
        h.stored_length = (uint32_t)packed.len;
        stored = (const uint8_t *)packed.data;
    }
    fb_chunk_header_store(header, &h, stored, e->crc_table);
    fb_buf_add(e->out, header, sizeof header);
    fb_buf_add(e->out, stored, h.stored_length);
    fb_buf_add(e->out, zeros, fb_chunk_padding(h.stored_length));
    fb_buf_drain(e->out);
    fb_buf_done(&packed);
    e->raw_len = 0;
}

/* A list that is cut into chunks: count is written before its items, so the items are counted
 * first by their target size.  `put` writes item i. */
static void put_list(struct encoder *e, enum fb_chunk_type type, size_t first, size_t count,
                     bool has_first_id, void (*put)(struct encoder *, size_t))
{
    while (first < count) {
        struct encoder items = {.p = e->p};
        size_t n = 0;

        while (first + n < count && items.raw_len < CHUNK_TARGET)
            put(&items, first + n++);
        if (has_first_id)
            put_varint(e, first);
        put_varint(e, n);
        put_bytes(e, items.raw, items.raw_len);
        free(items.raw);
        chunk_end(e, type);
        first += n;
    }
}

/* ---- items ---- */

static int64_t mono(const struct encoder *e, int64_t time_ns)
{
    return (int64_t)((uint64_t)time_ns - (uint64_t)e->p->wall_offset_ns);
}

static void item_manifest(struct encoder *e, size_t i)
{
    put_string(e, e->p->manifest[i].key);
    put_string(e, e->p->manifest[i].value);
}

static void item_string(struct encoder *e, size_t i)
{
    put_string(e, (uint32_t)i);
}

static void put_module(struct encoder *e, size_t i, int64_t time_ns, bool is_load)
{
    const struct fb_module *m = &e->p->modules[i];
    const struct fb_string *hex = &e->p->strings.items[m->build_id];

    put_varint(e, i);
    put_signed(e, time_ns == INT64_MAX ? time_ns : mono(e, time_ns));
    put_varint(e, is_load ? m->start : 0);
    put_varint(e, is_load ? (m->end ? m->end : NOWHERE_END) : 0);
    put_varint(e, is_load ? m->bias : 0);
    put_varint(e, is_load ? hex->len / 2 : 0);
    for (size_t k = 0; is_load && k + 1 < hex->len; k += 2) {
        char byte[3] = {hex->text[k], hex->text[k + 1], 0};

        put_u8(e, (uint8_t)strtoul(byte, NULL, 16));
    }
    put_string(e, is_load ? m->path : 0);
}

static void item_module(struct encoder *e, size_t i)
{
    put_module(e, i, e->p->modules[i].load_ns, true);
}

static void item_thread_name(struct encoder *e, size_t i)
{
    const struct fb_thread_name *n = &e->p->thread_names[i];

    put_varint(e, n->thread);
    put_varint(e, e->p->threads[n->thread].tid);
    put_signed(e, mono(e, n->time_ns));
    put_string(e, n->name);
}

static void item_frame(struct encoder *e, size_t i)
{
    const struct fb_frame *f = &e->p->frames[i];

    put_u8(e, (uint8_t)f->kind);
    put_varint(e, f->module ? (uint64_t)f->module + 1 : 0);
    put_varint(e, f->address);
    put_varint(e, f->address ? 0 : f->name); /* an address has its name in SYMBOLS */
}

static void item_stack(struct encoder *e, size_t i)
{
    put_varint(e, i - e->p->stacks[i].parent.n);
    put_varint(e, e->p->stacks[i].frame.n);
}

static void item_counter_def(struct encoder *e, size_t i)
{
    const struct fb_counter *c = &e->p->counters.items[i];

    put_varint(e, i);
    put_string(e, c->name);
    put_string(e, c->unit);
    put_u8(e, (uint8_t)c->kind);
}

static void item_mark(struct encoder *e, size_t i)
{
    const struct fb_mark *m = &e->p->marks[i];

    put_signed(e, e->p->wall_offset_ns ? mono(e, m->time_ns) : 0);
    put_signed(e, m->time_ns);
    put_string(e, m->name);
    put_u8(e, m->flags);
    put_varint(e, m->offered > 0 ? (uint64_t)llround(m->offered * 1000.0) : 0);
}

static void item_event(struct encoder *e, size_t i)
{
    const struct fb_sampler_event *event = &e->p->events[i];

    put_signed(e, e->p->wall_offset_ns ? mono(e, event->time_ns) : 0);
    put_signed(e, event->time_ns);
    put_u8(e, event->kind);
    put_varint(e, event->value);
}

/* ---- lists with a filter ---- */

static void put_unloads(struct encoder *e)
{
    struct encoder items = {.p = e->p};
    size_t n = 0;

    for (size_t i = 1; i < e->p->modules_count; i++) {
        if (e->p->modules[i].unload_ns == INT64_MAX)
            continue;
        put_module(&items, i, e->p->modules[i].unload_ns, false);
        n++;
    }
    if (n > 0) {
        put_varint(e, n);
        put_bytes(e, items.raw, items.raw_len);
        chunk_end(e, FB_CHUNK_MODULES);
    }
    free(items.raw);
}

/* What SYMBOLS says of a frame: an address is a frame whatever its name is found to be later. */
static bool has_symbol(const struct fb_frame *f)
{
    return f->address != 0 && (f->name != 0 || f->file != 0 || f->line != 0);
}

/* What FRAME_FACTS says: all that tells frames of one name apart. */
static bool has_facts(const struct fb_frame *f)
{
    return f->tier != FB_TIER_UNKNOWN || f->signature != 0 ||
           (f->address == 0 && (f->file != 0 || f->line != 0));
}

static void put_symbol(struct encoder *e, size_t at)
{
    const struct fb_frame *f = &e->p->frames[at];

    put_varint(e, at);
    put_varint(e, f->name);
    put_varint(e, f->file);
    put_varint(e, f->line);
}

static void put_facts(struct encoder *e, size_t at)
{
    const struct fb_frame *f = &e->p->frames[at];

    put_varint(e, at);
    put_u8(e, (unsigned)f->tier < FB_FRAME_TIER_COUNT ? (uint8_t)f->tier : 0);
    put_varint(e, f->signature);
    put_varint(e, f->address ? 0 : f->file);
    put_varint(e, f->address ? 0 : f->line);
}

/* Something of those frames that have it. */
static void put_some_frames(struct encoder *e, enum fb_chunk_type type,
                            bool (*has)(const struct fb_frame *f),
                            void (*put)(struct encoder *, size_t))
{
    size_t at = 1;

    while (at < e->p->frames_count) {
        struct encoder items = {.p = e->p};
        size_t n = 0;

        for (; at < e->p->frames_count && items.raw_len < CHUNK_TARGET; at++) {
            if (!has(&e->p->frames[at]))
                continue;
            put(&items, at);
            n++;
        }
        if (n > 0) {
            put_varint(e, n);
            put_bytes(e, items.raw, items.raw_len);
            chunk_end(e, type);
        }
        free(items.raw);
    }
}

/* Threads that never got a name event still need a definition. */
static void put_nameless_threads(struct encoder *e)
{
    struct encoder items = {.p = e->p};
    bool *named = fb_alloc_array(e->p->threads_count, sizeof *named);
    size_t n = 0;

    for (size_t i = 0; i < e->p->thread_names_count; i++)
        named[e->p->thread_names[i].thread] = true;
    for (size_t i = 1; i < e->p->threads_count; i++) {
        if (named[i])
            continue;
        put_varint(&items, i);
        put_varint(&items, e->p->threads[i].tid);
        put_signed(&items, mono(e, e->p->first_ns));
        put_string(&items, e->p->threads[i].name);
        n++;
    }
    if (n > 0) {
        put_varint(e, n);
        put_bytes(e, items.raw, items.raw_len);
        chunk_end(e, FB_CHUNK_THREADS);
    }
    free(items.raw);
    free(named);
}

static void put_losses(struct encoder *e)
{
    size_t n = 0;

    for (size_t i = 0; i < FB_LOSS_CAUSE_COUNT; i++)
        n += e->p->losses[i] > 0;
    if (n == 0)
        return;
    put_signed(e, mono(e, e->p->last_ns));
    put_varint(e, n);
    for (size_t i = 0; i < FB_LOSS_CAUSE_COUNT; i++) {
        if (e->p->losses[i] == 0)
            continue;
        put_u8(e, (uint8_t)i);
        put_varint(e, e->p->losses[i]);
    }
    chunk_end(e, FB_CHUNK_LOSSES);
}

/* ---- samples, by time ---- */

static int by_time(const void *a, const void *b, void *samples)
{
    const struct fb_samples *s = samples;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    int64_t ti = s->time_ns[i], tk = s->time_ns[k];

    return ti != tk ? (ti < tk ? -1 : 1) : (i < k ? -1 : i > k);
}

static size_t *time_order(const struct fb_samples *s)
{
    size_t *order = fb_alloc_array(s->count, sizeof *order);
    bool sorted = true;

    for (size_t i = 0; i < s->count; i++) {
        order[i] = i;
        sorted = sorted && (i == 0 || s->time_ns[i - 1] <= s->time_ns[i]);
    }
    if (!sorted)
        qsort_r(order, s->count, sizeof *order, by_time, (void *)(size_t)s);
    return order;
}

static void item_label_set(struct encoder *e, size_t i)
{
    const struct fb_label_set *set = &e->p->label_sets[i];
    uint32_t n = set->count < LABELS_MOST ? set->count : LABELS_MOST;

    put_varint(e, n);
    for (uint32_t k = set->first; k < set->first + n; k++) {
        const struct fb_label *l = &e->p->label_items[k];

        put_varint(e, l->key);
        put_varint(e, l->text);
        put_signed(e, l->number);
        put_varint(e, l->unit);
    }
}

/* Of n samples in the order in which they were written. */
static void put_sample_labels(struct encoder *e, const size_t *order, size_t n)
{
    if (e->p->label_sets_count < 2)
        return;
    put_varint(e, n);
    for (size_t i = 0; i < n; i++)
        put_varint(e, fb_profile_sample_labels(e->p, order[i]));
    chunk_end(e, FB_CHUNK_SAMPLE_LABELS);
}

static int64_t floor_grain(int64_t ns)
{
    int64_t rest = ns % GRAIN_NS;

    return ns - (rest < 0 ? rest + GRAIN_NS : rest);
}

static void put_samples(struct encoder *e)
{
    const struct fb_samples *s = &e->p->samples;
    size_t *order = time_order(s);

    for (size_t first = 0; first < s->count; first += SAMPLES_PER_CHUNK) {
        size_t n = s->count - first < SAMPLES_PER_CHUNK ? s->count - first : SAMPLES_PER_CHUNK;
        const size_t *o = order + first;
        int64_t before = floor_grain(mono(e, s->time_ns[o[0]]));

        put_signed(e, before);
        put_varint(e, GRAIN_NS);
        put_varint(e, n);
        for (size_t i = 0; i < n; i++) {
            int64_t t = floor_grain(mono(e, s->time_ns[o[i]]));

            put_signed(e, (t - before) / GRAIN_NS);
            before = t;
        }
        for (size_t i = 0; i < n; i++)
            put_varint(e, s->thread[o[i]]);
        for (size_t i = 0; i < n; i++)
            put_varint(e, s->stack[o[i]]);
        for (size_t i = 0; i < n; i++)
            put_varint(e, s->weight[o[i]]);
        chunk_end(e, FB_CHUNK_SAMPLES);
        put_sample_labels(e, o, n);
    }
    free(order);
}

/* ---- counters: rows with the same set of present columns share a chunk ---- */

static bool same_presence(const struct fb_counters *all, size_t a, size_t b)
{
    for (size_t c = 0; c < all->count; c++) {
        if ((all->items[c].values[a] == FB_COUNTER_ABSENT) !=
            (all->items[c].values[b] == FB_COUNTER_ABSENT))
            return false;
    }
    return true;
}

static void put_counter_rows(struct encoder *e, size_t first, size_t rows)
{
    const struct fb_counters *all = &e->p->counters;
    int64_t before = mono(e, all->time_ns[first]) / 1000;
    size_t columns = 0;

    for (size_t c = 0; c < all->count; c++)
        columns += all->items[c].values[first] != FB_COUNTER_ABSENT;
    put_signed(e, before * 1000);
    put_varint(e, rows);
    put_varint(e, columns);
    for (size_t r = first; r < first + rows; r++) {
        int64_t t = mono(e, all->time_ns[r]) / 1000;

        put_signed(e, t - before);
        before = t;
    }
    for (size_t c = 0; c < all->count; c++) {
        uint64_t last = 0;

        if (all->items[c].values[first] == FB_COUNTER_ABSENT)
            continue;
        put_varint(e, c);
        for (size_t r = first; r < first + rows; r++) {
            put_signed(e, (int64_t)((uint64_t)all->items[c].values[r] - last));
            last = (uint64_t)all->items[c].values[r];
        }
    }
    chunk_end(e, FB_CHUNK_COUNTERS);
}

static void put_counters(struct encoder *e)
{
    const struct fb_counters *all = &e->p->counters;
    size_t first = 0;

    while (first < all->rows) {
        size_t rows = 1;

        while (first + rows < all->rows && rows < ROWS_PER_CHUNK &&
               same_presence(all, first, first + rows))
            rows++;
        put_counter_rows(e, first, rows);
        first += rows;
    }
}

static void put_end(struct encoder *e)
{
    if (!e->p->ended)
        return;
    put_signed(e, mono(e, e->p->last_ns));
    put_varint(e, e->p->samples.count);
    put_varint(e, fb_profile_weight(e->p));
    chunk_end(e, FB_CHUNK_END);
}

static void put_fact(struct encoder *e, const char *key, const char *value)
{
    put_varint(e, strlen(key));
    put_bytes(e, key, strlen(key));
    put_varint(e, strlen(value));
    put_bytes(e, value, strlen(value));
}

/* What the sampler's banks need not say: those of other formats have other units, or no times. */
static void put_facts_of_profile(struct encoder *e)
{
    const struct fb_profile *p = e->p;
    const char *unit = fb_profile_text(p, p->unit);
    bool has_unit = strcmp(unit, "samples") != 0;
    bool has_interval = p->interval_ns > 0 && !fb_profile_manifest_get(p, "interval_ns");
    char number[24];
    size_t n = (size_t)has_unit + (p->type != 0) + (p->rows_merged > 0) + !p->has_times +
               (size_t)has_interval;

    if (n == 0)
        return;
    put_varint(e, n);
    if (has_unit)
        put_fact(e, "weight_unit", unit);
    if (p->type != 0)
        put_fact(e, "weight_type", fb_profile_text(p, p->type));
    if (!p->has_times)
        put_fact(e, "times", "none");
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)p->rows_merged);
    if (p->rows_merged > 0)
        put_fact(e, "rows_merged", number);
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)p->interval_ns);
    if (has_interval)
        put_fact(e, "interval_ns", number);
    chunk_end(e, FB_CHUNK_MANIFEST);
}

void fb_bank_encode(const struct fb_profile *p, struct fb_buf *out)
{
    struct encoder e = {.p = p, .out = out};
    uint8_t header[FB_BANK_HEADER_SIZE];

    fb_crc32_init(e.crc_table);
    fb_bank_header_store(header, p->run_id, p->writer_id);
    fb_buf_add(out, header, sizeof header);
    put_list(&e, FB_CHUNK_MANIFEST, 0, p->manifest_count, false, item_manifest);
    put_facts_of_profile(&e);
    put_list(&e, FB_CHUNK_STRINGS, 1, p->strings.count, true, item_string);
    put_list(&e, FB_CHUNK_MODULES, 1, p->modules_count, false, item_module);
    put_nameless_threads(&e);
    put_list(&e, FB_CHUNK_THREADS, 0, p->thread_names_count, false, item_thread_name);
    put_some_frames(&e, FB_CHUNK_FRAME_FACTS, has_facts, put_facts);
    put_list(&e, FB_CHUNK_FRAMES, 1, p->frames_count, true, item_frame);
    put_some_frames(&e, FB_CHUNK_SYMBOLS, has_symbol, put_symbol);
    put_list(&e, FB_CHUNK_STACKS, 1, p->stacks_count, true, item_stack);
    put_list(&e, FB_CHUNK_LABEL_SETS, 1, p->label_sets_count, true, item_label_set);
    put_samples(&e);
    put_unloads(&e);
    put_list(&e, FB_CHUNK_COUNTER_DEFS, 0, p->counters.count, false, item_counter_def);
    put_counters(&e);
    put_list(&e, FB_CHUNK_MARKS, 0, p->marks_count, false, item_mark);
    put_list(&e, FB_CHUNK_EVENTS, 0, p->events_count, false, item_event);
    put_losses(&e);
    put_end(&e);
    free(e.raw);
}

enum fb_status fb_bank_write(const struct fb_profile *p, const char *path, struct fb_err *err)
{
    struct fb_buf bytes = {0};
    enum fb_status r;

    fb_bank_encode(p, &bytes);
    r = fb_file_write(path, bytes.data, bytes.len, err);
    fb_buf_done(&bytes);
    return r;
}

#include "profile/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/events.h"

/* How far a window may reach past the first or last counter row: rows come once a second. */
static const int64_t COUNTER_REACH_NS = 1500000000;

struct fb_profile *fb_profile_new(void)
{
    struct fb_profile *p = fb_alloc(sizeof *p);

    fb_strings_init(&p->strings);
    fb_vec_reserve(&p->frames, &p->frames_room, 1, sizeof *p->frames);
    p->frames[p->frames_count++] = (struct fb_frame){.kind = FB_FRAME_MARK};
    fb_vec_reserve(&p->stacks, &p->stacks_room, 1, sizeof *p->stacks);
    p->stacks[p->stacks_count++] = (struct fb_stack){{0}, {0}};
    fb_vec_reserve(&p->modules, &p->modules_room, 1, sizeof *p->modules);
    p->modules[p->modules_count++] = (struct fb_module){.unload_ns = INT64_MAX};
    (void)fb_profile_thread_add(p, 0, 0);
    fb_vec_reserve(&p->label_sets, &p->label_sets_room, 1, sizeof *p->label_sets);
    p->label_sets[p->label_sets_count++] = (struct fb_label_set){0};
    p->unit = fb_strings_put_z(&p->strings, "samples");
    return p;
}

void fb_profile_free(struct fb_profile *p)
{
    if (!p)
        return;
    fb_strings_done(&p->strings);
    fb_index_done(&p->frame_index);
    fb_index_done(&p->stack_index);
    fb_index_done(&p->label_index);
    for (size_t i = 0; i < p->counters.count; i++)
        free(p->counters.items[i].values);
    free(p->counters.items);
    free(p->counters.time_ns);
    free(p->samples.time_ns);
    free(p->samples.thread);
    free(p->samples.stack);
    free(p->samples.weight);
    free(p->samples.labels);
    free(p->label_sets);
    free(p->label_items);
    free(p->frames);
    free(p->stacks);
    free(p->modules);
    free(p->threads);
    free(p->thread_names);
    free(p->marks);
    free(p->events);
    free(p->manifest);
    free(p);
}

static uint64_t frame_hash(const struct fb_frame *f)
{
    uint64_t place =
        fb_hash_pair((uint64_t)f->signature << 32 | f->name, (uint64_t)f->file << 32 | f->line);

    return fb_hash_pair((uint64_t)f->module << 32 | (uint32_t)f->tier << 8 | (uint32_t)f->kind,
                        fb_hash_pair(f->address, place));
}

static fb_frame_id frame_append(struct fb_profile *p, const struct fb_frame *frame, uint64_t hash)
{
    fb_frame_id id = {(uint32_t)p->frames_count};

    fb_vec_reserve(&p->frames, &p->frames_room, p->frames_count + 1, sizeof *p->frames);
    p->frames[p->frames_count++] = *frame;
    fb_index_add(&p->frame_index, hash, id.n);
    return id;
}

fb_frame_id fb_profile_frame_put(struct fb_profile *p, const struct fb_frame *frame)
{
    uint64_t hash = frame_hash(frame);
    struct fb_index_cursor at = fb_index_seek(&p->frame_index, hash);
    fb_frame_id id;

    while (fb_index_step(&p->frame_index, &at, &id.n)) {
        const struct fb_frame *f = &p->frames[id.n];

        if (f->kind == frame->kind && f->tier == frame->tier && f->module == frame->module &&
            f->address == frame->address && f->name == frame->name && f->file == frame->file &&
            f->line == frame->line && f->signature == frame->signature)
            return id;
    }
    return frame_append(p, frame, hash);
}

fb_frame_id fb_profile_frame_append(struct fb_profile *p, const struct fb_frame *frame)
{
    return frame_append(p, frame, frame_hash(frame));
}

/* Most stacks are the first child of the one before them (a path that is new from some frame on),
 * so that child is looked for at parent + 1, and only what is elsewhere is in the index: a path
 * costs eight bytes a frame, and one entry of the index for each place where it leaves another. */
fb_stack_id fb_profile_stack_put(struct fb_profile *p, fb_stack_id parent, fb_frame_id frame)
{
    uint32_t next = parent.n + 1;
    struct fb_index_cursor at;
    uint64_t hash;
    fb_stack_id id;

    if (next < p->stacks_count) {
        if (p->stacks[next].parent.n == parent.n && p->stacks[next].frame.n == frame.n)
            return (fb_stack_id){next};
        hash = fb_hash_pair(parent.n, frame.n);
        at = fb_index_seek(&p->stack_index, hash);
        while (fb_index_step(&p->stack_index, &at, &id.n)) {
            const struct fb_stack *s = &p->stacks[id.n];

            if (s->parent.n == parent.n && s->frame.n == frame.n)
                return id;
        }
        fb_index_add(&p->stack_index, hash, (uint32_t)p->stacks_count);
    }
    fb_vec_reserve(&p->stacks, &p->stacks_room, p->stacks_count + 1, sizeof *p->stacks);
    id.n = (uint32_t)p->stacks_count;
    p->stacks[p->stacks_count++] = (struct fb_stack){parent, frame};
    return id;
}

/* Below a node that is the newest everything is new. */
fb_stack_id fb_profile_stack_put_all(struct fb_profile *p, const fb_frame_id *frames, size_t n)
{
    fb_stack_id stack = FB_STACK_ROOT;
    struct fb_stack *to;

    while (n > 0 && stack.n + 1 < p->stacks_count)
        stack = fb_profile_stack_put(p, stack, frames[--n]);
    if (n == 0)
        return stack;
    fb_vec_reserve(&p->stacks, &p->stacks_room, p->stacks_count + n, sizeof *p->stacks);
    to = p->stacks + p->stacks_count;
    p->stacks_count += n;
    while (n > 0) {
        *to++ = (struct fb_stack){stack, frames[--n]};
        stack.n = (uint32_t)(to - p->stacks) - 1;
    }
    return stack;
}

fb_stack_id fb_profile_stack_append(struct fb_profile *p, fb_stack_id parent, fb_frame_id frame)
{
    p->stacks_repeat = true;
    fb_vec_reserve(&p->stacks, &p->stacks_room, p->stacks_count + 1, sizeof *p->stacks);
    p->stacks[p->stacks_count] = (struct fb_stack){parent, frame};
    return (fb_stack_id){(uint32_t)p->stacks_count++};
}

void fb_profile_samples_reserve(struct fb_profile *p, size_t more)
{
    struct fb_samples *s = &p->samples;
    size_t need = s->count + more;
    size_t room[3] = {s->room, s->room, s->room};

    if (need <= s->room) /* the four columns grow together */
        return;
    fb_vec_reserve(&s->time_ns, &room[0], need, sizeof *s->time_ns);
    fb_vec_reserve(&s->thread, &room[1], need, sizeof *s->thread);
    fb_vec_reserve(&s->stack, &room[2], need, sizeof *s->stack);
    fb_vec_reserve(&s->weight, &s->room, need, sizeof *s->weight);
}

void fb_profile_sample_add(struct fb_profile *p, int64_t time_ns, uint32_t thread,
                           fb_stack_id stack, uint64_t weight)
{
    struct fb_samples *s = &p->samples;

    fb_profile_samples_reserve(p, 1);
    s->time_ns[s->count] = time_ns;
    s->thread[s->count] = thread;
    s->stack[s->count] = stack.n;
    s->weight[s->count] = weight;
    s->count++;
}

static void span_take(struct fb_profile *p, const int64_t *times, size_t count, bool *any)
{
    for (size_t i = 0; i < count; i++) {
        p->first_ns = *any && p->first_ns < times[i] ? p->first_ns : times[i];
        p->last_ns = *any && p->last_ns > times[i] ? p->last_ns : times[i];
        *any = true;
    }
}

void fb_profile_span_update(struct fb_profile *p)
{
    bool any = false;

    p->first_ns = p->last_ns = 0;
    if (!p->has_times)
        return;
    span_take(p, p->samples.time_ns, p->samples.count, &any);
    span_take(p, p->counters.time_ns, p->counters.rows, &any);
}

uint32_t fb_profile_module_add(struct fb_profile *p, const struct fb_module *module)
{
    fb_vec_reserve(&p->modules, &p->modules_room, p->modules_count + 1, sizeof *p->modules);
    p->modules[p->modules_count] = *module;
    return (uint32_t)p->modules_count++;
}

uint32_t fb_profile_thread_add(struct fb_profile *p, uint32_t tid, uint32_t name)
{
    fb_vec_reserve(&p->threads, &p->threads_room, p->threads_count + 1, sizeof *p->threads);
    p->threads[p->threads_count] = (struct fb_thread){.tid = tid, .name = name};
    return (uint32_t)p->threads_count++;
}

void fb_profile_thread_rename(struct fb_profile *p, uint32_t thread, int64_t time_ns, uint32_t name)
{
    fb_vec_reserve(&p->thread_names, &p->thread_names_room, p->thread_names_count + 1,
                   sizeof *p->thread_names);
    p->thread_names[p->thread_names_count++] = (struct fb_thread_name){thread, name, time_ns};
    p->threads[thread].name = name;
}

void fb_profile_mark_add(struct fb_profile *p, const struct fb_mark *mark)
{
    size_t at = p->marks_count;

    fb_vec_reserve(&p->marks, &p->marks_room, p->marks_count + 1, sizeof *p->marks);
    for (; at > 0 && p->marks[at - 1].time_ns > mark->time_ns; at--)
        p->marks[at] = p->marks[at - 1];
    p->marks[at] = *mark;
    p->marks_count++;
}

uint64_t fb_profile_weight(const struct fb_profile *p)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->samples.count; i++)
        sum += p->samples.weight[i];
    return sum;
}

const char *fb_profile_unit_word(const struct fb_profile *p)
{
    const char *unit = fb_profile_text(p, p->unit);

    return p->interval_ns > 0 && strcmp(unit, "samples") == 0 ? "ticks" : unit;
}

double fb_profile_weight_ns(const struct fb_profile *p)
{
    static const struct {
        const char *unit;
        double ns;
    } times[] = {
        {"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
    const char *unit = fb_profile_text(p, p->unit);

    if (strcmp(unit, "samples") == 0)
        return (double)p->interval_ns;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (strcmp(unit, times[i].unit) == 0)
            return times[i].ns;
    }
    return 0;
}

bool fb_profile_is_wall(const struct fb_profile *p)
{
    const char *clock = fb_profile_manifest_get(p, "clock_got");

    return clock && strcmp(clock, "wall") == 0;
}

double fb_profile_overruns(const struct fb_profile *p)
{
    uint64_t weight = fb_profile_weight(p);
    uint64_t beyond = 0;

    if (p->interval_ns == 0 || p->rows_merged > 0 || weight == 0 || fb_profile_is_wall(p) ||
        strcmp(fb_profile_text(p, p->unit), "samples") != 0)
        return NAN;
    if (fb_profile_slowest(p) > p->interval_ns)
        return fb_profile_counted_overruns(p); /* a sample of a lower rate weighs more by itself */
    for (size_t i = 0; i < p->samples.count; i++) {
        uint32_t frame = p->stacks[p->samples.stack[i]].frame.n;

        /* A mark counts many ticks in one sample: those of a thread's end, or of the kernel. */
        if (p->frames[frame].kind != FB_FRAME_MARK && p->samples.weight[i] > 0)
            beyond += p->samples.weight[i] - 1;
    }
    return (double)beyond / (double)weight;
}

const char *fb_profile_overruns_cause(const struct fb_profile *p)
{
    const char *clock = fb_profile_manifest_get(p, "clock_got");
    const char *tick = fb_profile_manifest_get(p, "tick_hz");
    double tick_hz = tick ? strtod(tick, NULL) : 0;

    if (clock && strcmp(clock, "perf") == 0)
        return "the clock's interrupts were late, or less often than asked for";
    if (p->interval_ns > 0 && tick_hz > 0 && 1e9 / (double)p->interval_ns > tick_hz)
        return "the clock asks for more than the kernel's tick gives";
    return "the arm works in bursts shorter than the kernel's tick";
}

void fb_profile_manifest_set(struct fb_profile *p, const char *key, const char *value)
{
    struct fb_manifest_item item = {fb_strings_put_z(&p->strings, key),
                                    fb_strings_put_z(&p->strings, value)};

    for (size_t i = 0; i < p->manifest_count; i++) {
        if (p->manifest[i].key == item.key) {
            p->manifest[i].value = item.value;
            return;
        }
    }
    fb_vec_reserve(&p->manifest, &p->manifest_room, p->manifest_count + 1, sizeof *p->manifest);
    p->manifest[p->manifest_count++] = item;
}

void fb_profile_manifest_set_number(struct fb_profile *p, const char *key, int64_t value)
{
    char *text = fb_format("%lld", (long long)value);

    fb_profile_manifest_set(p, key, text);
    free(text);
}

const char *fb_profile_manifest_get(const struct fb_profile *p, const char *key)
{
    for (size_t i = 0; i < p->manifest_count; i++) {
        if (strcmp(fb_profile_text(p, p->manifest[i].key), key) == 0)
            return fb_profile_text(p, p->manifest[i].value);
    }
    return NULL;
}

/* ---- counters ---- */

const struct fb_counter *fb_profile_counter_find(const struct fb_profile *p, const char *name)
{
    for (size_t i = 0; i < p->counters.count; i++) {
        if (strcmp(fb_profile_text(p, p->counters.items[i].name), name) == 0)
            return &p->counters.items[i];
    }
    return NULL;
}

/* Makes room for `rows` values; the new ones are absent. */
static void counter_extend(struct fb_counter *c, size_t from, size_t rows)
{
    fb_vec_reserve(&c->values, &c->room, rows, sizeof *c->values);
    for (size_t i = from; i < rows; i++)
        c->values[i] = FB_COUNTER_ABSENT;
}

uint32_t fb_profile_counter_put(struct fb_profile *p, const char *name, const char *unit,
                                enum fb_counter_kind kind)
{
    const struct fb_counter *found = fb_profile_counter_find(p, name);
    struct fb_counters *all = &p->counters;
    struct fb_counter *c;

    if (found)
        return (uint32_t)(found - all->items);
    fb_vec_reserve(&all->items, &all->room, all->count + 1, sizeof *all->items);
    c = &all->items[all->count];
    *c = (struct fb_counter){.name = fb_strings_put_z(&p->strings, name),
                             .unit = fb_strings_put_z(&p->strings, unit),
                             .kind = kind};
    counter_extend(c, 0, all->rows);
    return (uint32_t)all->count++;
}

size_t fb_profile_counter_row_add(struct fb_profile *p, int64_t time_ns)
{
    struct fb_counters *all = &p->counters;

    fb_vec_reserve(&all->time_ns, &all->rows_room, all->rows + 1, sizeof *all->time_ns);
    all->time_ns[all->rows] = time_ns;
    for (size_t i = 0; i < all->count; i++)
        counter_extend(&all->items[i], all->rows, all->rows + 1);
    return all->rows++;
}

size_t fb_profile_counter_row(const struct fb_profile *p, int64_t time_ns)
{
    size_t low = 0, high = p->counters.rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->counters.time_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The counter's value at a time, linear between the two rows that have one around it; clamped to
 * the first or last within COUNTER_REACH_NS.  False where there is no such row. */
static bool counter_value_at(const struct fb_profile *p, const struct fb_counter *c,
                             int64_t time_ns, double *ret_value)
{
    const struct fb_counters *all = &p->counters;
    size_t row = fb_profile_counter_row(p, time_ns), before = SIZE_MAX, after = SIZE_MAX;

    for (size_t i = row; i < all->rows && after == SIZE_MAX; i++)
        if (c->values[i] != FB_COUNTER_ABSENT)
            after = i;
    if (after != SIZE_MAX && all->time_ns[after] == time_ns)
        before = after;
    for (size_t i = row; i-- > 0 && before == SIZE_MAX;)
        if (c->values[i] != FB_COUNTER_ABSENT)
            before = i;
    if (before == SIZE_MAX && after == SIZE_MAX)
        return false;
    if (before == SIZE_MAX || after == SIZE_MAX) {
        size_t only = before == SIZE_MAX ? after : before;

        *ret_value = (double)c->values[only];
        return llabs(all->time_ns[only] - time_ns) <= COUNTER_REACH_NS;
    }
    *ret_value = (double)c->values[before];
    if (after != before)
        *ret_value += (double)(c->values[after] - c->values[before]) *
                      ((double)(time_ns - all->time_ns[before]) /
                       (double)(all->time_ns[after] - all->time_ns[before]));
    return true;
}

/* Whether a row from the last at or before from_ns to to_ns is less than the one before it: the
 * process or its group began anew, and the growth over the span is not known. */
static bool counter_falls(const struct fb_profile *p, const struct fb_counter *c, int64_t from_ns,
                          int64_t to_ns)
{
    size_t first = fb_profile_counter_row(p, from_ns);
    int64_t before = FB_COUNTER_ABSENT;

    for (size_t i = first; i-- > 0 && before == FB_COUNTER_ABSENT;)
        before = c->values[i];
    for (size_t i = first; i < p->counters.rows; i++) {
        int64_t value = c->values[i], at = p->counters.time_ns[i];

        if (value == FB_COUNTER_ABSENT)
            continue;
        if (at > from_ns && value < before)
            return true;
        if (at >= to_ns)
            return false;
        before = value;
    }
    return false;
}

bool fb_profile_counter_delta(const struct fb_profile *p, const char *name, int64_t from_ns,
                              int64_t to_ns, double *ret_delta)
{
    const struct fb_counter *c = fb_profile_counter_find(p, name);
    double from, to;

    if (!c || from_ns >= to_ns ||
        (c->kind == FB_COUNTER_CUMULATIVE && counter_falls(p, c, from_ns, to_ns)) ||
        !counter_value_at(p, c, from_ns, &from) || !counter_value_at(p, c, to_ns, &to))
        return false;
    *ret_delta = to - from;
    return true;
}

bool fb_profile_counter_level(const struct fb_profile *p, const char *name, int64_t from_ns,
                              int64_t to_ns, double *ret_max, double *ret_last)
{
    const struct fb_counter *c = fb_profile_counter_find(p, name);
    bool any = false;
    double max = 0, last = 0;

    for (size_t i = fb_profile_counter_row(p, from_ns); c && i < p->counters.rows; i++) {
        if (p->counters.time_ns[i] > to_ns)
            break;
        if (c->values[i] == FB_COUNTER_ABSENT)
            continue;
        last = (double)c->values[i];
        max = any && max > last ? max : last;
        any = true;
    }
    if (any) {
        *ret_max = max;
        *ret_last = last;
    }
    return any;
}

/* ---- words ---- */

static const struct {
    const char *text, *unit;
} losses[FB_LOSS_CAUSE_COUNT] = {
    [FB_LOSS_NO_SEGMENT] = {"no sample memory was free", "samples"},
    [FB_LOSS_NO_TIMER] = {"no timer could be had", "threads"},
    [FB_LOSS_SMALL_STACK] = {"the signal stack was too small", "samples"},
    [FB_LOSS_WRITE] = {"the bank could not be written", "samples"},
    [FB_LOSS_UNKNOWN_THREAD] = {"the thread was not known", "samples"},
    [FB_LOSS_SIGNAL_BLOCKED] = {"the signal is blocked", "threads"},
    [FB_LOSS_TRUNCATED] = {"kept, but the stack is cut at the depth limit", "samples"},
    [FB_LOSS_PARTIAL] = {"kept, but the stack stops before its root", "samples"},
    [FB_LOSS_FORKED] = {"in flight across a fork", "samples"},
    [FB_LOSS_TABLE_FULL] = {"a table of the writer was full", "samples"},
};

const char *fb_loss_text(enum fb_loss_cause cause)
{
    return losses[cause].text;
}

const char *fb_loss_unit(enum fb_loss_cause cause)
{
    return losses[cause].unit;
}

static const char *const kinds[FB_FRAME_KIND_COUNT] = {
    [FB_FRAME_NATIVE] = "native",   [FB_FRAME_KERNEL] = "kernel", [FB_FRAME_JAVA] = "java",
    [FB_FRAME_JS] = "js",           [FB_FRAME_JIT] = "jit",       [FB_FRAME_STUB] = "stub",
    [FB_FRAME_INLINED] = "inlined", [FB_FRAME_MARK] = "mark",
};

const char *fb_frame_kind_text(enum fb_frame_kind kind)
{
    return kinds[kind];
}

bool fb_frame_kind_parse(const char *text, enum fb_frame_kind *ret_kind)
{
    for (int i = 0; i < FB_FRAME_KIND_COUNT; i++) {
        if (strcmp(kinds[i], text) == 0) {
            *ret_kind = (enum fb_frame_kind)i;
            return true;
        }
    }
    return false;
}

const char *fb_tier_text(enum fb_tier tier)
{
    static const char *const tiers[FB_TIER_COUNT] = {
        [FB_TIER_UNKNOWN] = "unknown", [FB_TIER_INTERPRETED] = "interpreted",
        [FB_TIER_C1] = "c1",           [FB_TIER_C2] = "c2",
        [FB_TIER_JIT] = "jit",         [FB_TIER_INLINED] = "inlined",
        [FB_TIER_NATIVE] = "native",   [FB_TIER_KERNEL] = "kernel",
        [FB_TIER_STUB] = "stub"};

    return tiers[tier];
}

/* writer_samples.c - records to frames, stacks and samples.  See writer.h. */
#include "sampler/writer_samples.h"

#include <stdatomic.h>
#include <string.h>

#include "sampler/clock.h"
#include "sampler/clock_parked.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/jvm/threads.h"
#include "sampler/modules.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/handler.h"
#include "sampler/threads.h"
#include "sampler/unfinished.h"
#include "sampler/writer_threads.h"

enum {
    GRAIN_NS = 1000000, /* of sample times */
    KEPT_NS_MAX =
        20000000, /* two ticks of the slowest kernel: more did not come for other reasons */
    FRAME_BYTES_MAX = 1 + 5 + 10 + 3,
    NODE_BYTES_MAX = 5 + 5,
    SAMPLE_BYTES_MAX = 10 + 5 + 5 + 5,
};

struct fb_segment *fb_samples_take(struct fb_writer *w)
{
    uint32_t end = fb_threads_end();
    struct fb_segment *list = NULL;
    struct fb_segment *full;

    (void)w;
    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot(i);
        struct fb_segment *segment;

        /* Most of two thousand threads have none: the look alone leaves their lines clean. */
        if (atomic_load_explicit(&t->segment, memory_order_relaxed) == NULL)
            continue;
        segment = atomic_exchange(&t->segment, NULL);
        if (segment != NULL)
            fb_pool_push_full(segment);
    }
    full = fb_pool_take_full();
    /* Newest first; turned round, so that time mostly grows. */
    while (full != NULL) {
        struct fb_segment *next = fb_pool_next(full);

        fb_pool_link(full, list);
        list = full;
        full = next;
    }
    return list;
}

static bool frames_write(struct fb_writer *w)
{
    uint8_t bytes[FB_WIRE_VARINT_MAX];
    struct fb_wire_out prefix = {.data = bytes, .cap = sizeof bytes};

    if (w->frames.count == 0)
        return true;
    fb_wire_put_varint(&prefix, w->first_frame);
    if (!fb_sink_write_list(&w->sink, &w->frames, FB_CHUNK_FRAMES, &prefix))
        return false;
    w->first_frame = w->intern.next_frame;
    return true;
}

static bool stacks_write(struct fb_writer *w)
{
    uint8_t bytes[FB_WIRE_VARINT_MAX];
    struct fb_wire_out prefix = {.data = bytes, .cap = sizeof bytes};

    if (w->stacks.count == 0)
        return true;
    fb_wire_put_varint(&prefix, w->first_stack);
    if (!fb_sink_write_list(&w->sink, &w->stacks, FB_CHUNK_STACKS, &prefix))
        return false;
    w->first_stack = w->intern.next_node;
    return true;
}

static bool threads_write(struct fb_writer *w)
{
    return w->threads.count == 0 ||
           fb_sink_write_list(&w->sink, &w->threads, FB_CHUNK_THREADS, NULL);
}

static bool columns_write(struct fb_writer *w)
{
    struct fb_wire_out *out = &w->misc.body;
    int64_t base = (int64_t)(w->samples[0].time_ns / GRAIN_NS);
    int64_t before = base;

    fb_chunk_begin(&w->misc, w->misc.memory, w->misc.size);
    fb_wire_put_signed(out, base * GRAIN_NS);
    fb_wire_put_varint(out, GRAIN_NS);
    fb_wire_put_varint(out, w->sample_count);
    for (uint32_t i = 0; i < w->sample_count; i++) {
        int64_t at = (int64_t)(w->samples[i].time_ns / GRAIN_NS);

        fb_wire_put_signed(out, at - before);
        before = at;
    }
    for (uint32_t i = 0; i < w->sample_count; i++)
        fb_wire_put_varint(out, w->samples[i].thread);
    for (uint32_t i = 0; i < w->sample_count; i++)
        fb_wire_put_varint(out, w->samples[i].stack);
    for (uint32_t i = 0; i < w->sample_count; i++)
        fb_wire_put_varint(out, w->samples[i].weight);
    return fb_sink_write(&w->sink, &w->misc, FB_CHUNK_SAMPLES, NULL, 0);
}

/* They were received, and are lost: no handler has counted them. */
static void parked_lose(void *ctx, uint32_t thread, uint32_t stack, uint32_t weight)
{
    struct fb_writer *w = ctx;

    (void)thread, (void)stack;
    w->exited_weight += weight;
    atomic_fetch_add(&fb_handler_losses[FB_LOSS_WRITE], weight);
}

/* Definitions that did not reach the file: give them out anew from now on. */
static void definitions_forget(struct fb_writer *w)
{
    fb_intern_reset(&w->intern);
    w->epoch++;
    fb_chunk_begin(&w->frames, w->frames.memory, w->frames.size);
    fb_chunk_begin(&w->stacks, w->stacks.memory, w->stacks.size);
    fb_chunk_begin(&w->threads, w->threads.memory, w->threads.size);
    w->first_frame = w->intern.next_frame;
    w->first_stack = w->intern.next_node;
    fb_writer_names_forget(w);
    fb_writer_jvm_forget(w);
    fb_writer_jit_forget(w);
    fb_module_names_forget(&w->native);
    fb_writer_threads_forget_names();
    fb_clock_parked_forget(parked_lose, w);
}

static void batch_write(struct fb_writer *w)
{
    uint64_t weight = 0;
    bool ok;

    for (uint32_t i = 0; i < w->sample_count; i++)
        weight += w->samples[i].weight;
    ok = threads_write(w) && fb_writer_names_write(w) && frames_write(w) && stacks_write(w);
    if (!ok)
        definitions_forget(w);
    if (w->sample_count == 0)
        return;
    if (ok && columns_write(w)) {
        w->samples_written += w->sample_count;
        w->weight_written += weight;
    } else {
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_WRITE], weight);
    }
    w->sample_count = 0;
}

static enum fb_frame_kind kind_without_module(struct fb_writer *w, uint64_t address)
{
    if (!w->generated_read && !w->quiet) {
        fb_maps_read_generated(&w->generated);
        w->generated_read = true;
    }
    return fb_maps_is_generated(&w->generated, address) ? FB_FRAME_JIT : FB_FRAME_NATIVE;
}

static void frame_put(struct fb_writer *w, const struct fb_frame_key *key)
{
    fb_wire_put_u8(&w->frames.body, key->kind);
    fb_wire_put_varint(&w->frames.body, key->module);
    fb_wire_put_varint(&w->frames.body, key->address);
    fb_wire_put_varint(&w->frames.body, key->name);
    w->frames.count++;
}

/* The frame of a mark whose string id is `name`. */
static uint32_t mark_make(struct fb_writer *w, enum fb_writer_mark name)
{
    struct fb_frame_key key = {.name = (uint16_t)name, .kind = FB_FRAME_MARK};
    bool is_new;
    uint32_t id = fb_intern_frame(&w->intern, &key, &is_new);

    if (id != 0 && is_new)
        frame_put(w, &key);
    return id;
}

/* Kernel code lies in the upper half. */
static bool is_kernel(uint64_t pc)
{
    return pc >> 63 != 0;
}

/* The bank's address of a frame is the pc where it is exact (the innermost frame, and those that a
 * signal interrupted), else pc - 1: inside the call, not behind it. */
static uint32_t frame_make(struct fb_writer *w, uint64_t pc, bool exact, uint64_t time_ns,
                           bool *ret_timed)
{
    uint64_t address = exact ? pc : pc - 1;
    struct fb_frame_key key = {.address = address};
    struct fb_module_ref module = {.timed = false};
    uint32_t id;
    bool is_new;

    if (fb_jvm_word_is(pc)) {
        *ret_timed = false;
        return fb_writer_jvm_frame(w, pc);
    }
    if (is_kernel(pc)) {
        key.kind = FB_FRAME_KERNEL;
    } else if (fb_modules_find(address, (int64_t)time_ns, &module)) {
        key.module = module.id + 1;
        key.address = address - module.bias;
        key.kind = FB_FRAME_NATIVE;
    } else {
        key.kind = (uint8_t)kind_without_module(w, address);
        id = key.kind == FB_FRAME_JIT ? fb_writer_jit_frame(w, address, time_ns, &module.timed) : 0;
        *ret_timed = module.timed;
        if (id != 0)
            return id;
    }
    *ret_timed = module.timed;
    id = fb_intern_frame(&w->intern, &key, &is_new);
    if (id != 0 && is_new) {
        frame_put(w, &key);
        if (key.kind == FB_FRAME_KERNEL)
            fb_kernel_names_want(&w->kernel, id, address);
        else if (key.module != 0)
            fb_module_names_want(&w->native, id, module.id, key.address);
    }
    return id;
}

static bool is_signal_frame(uint64_t pc)
{
    const struct fb_code_module *module = fb_code_map_find(fb_code_map_enter(), pc);
    const struct fb_rule *rule = NULL;
    bool answer;

    if (module != NULL)
        rule = fb_code_module_rule(module, pc);
    answer = rule != NULL && rule->cfa == FB_CFA_SIGNAL;
    fb_code_map_leave();
    return answer;
}

/* Too many pcs met in the slots in use: more slots, all empty. */
static void pcs_grow(struct fb_writer *w)
{
    if (w->pc_slots < FB_WRITER_PC_CACHE && w->pc_replaced > w->pc_slots / 4) {
        w->pc_slots *= 4;
        w->epoch++;
    }
    w->pc_replaced = 0;
}

static struct fb_pc_entry *pc_entry(struct fb_writer *w, uint64_t pc)
{
    uint64_t hash = pc * 0x9e3779b97f4a7c15u;
    struct fb_pc_entry *e = &w->pcs[hash >> 40 & (w->pc_slots - 1)];

    if (e->pc == pc && e->epoch == w->epoch)
        return e;
    w->pc_replaced += e->epoch == w->epoch;
    e->pc = pc;
    e->epoch = w->epoch;
    e->frame[0] = e->frame[1] = 0;
    e->signal_frame = !fb_jvm_word_is(pc) && is_signal_frame(pc);
    e->is_virtual = fb_writer_jvm_is_border(pc);
    return e;
}

/* Frame ids of r->pcs into ids, innermost first; 0 where memory was short.  True: of a virtual
 * thread. */
static bool frames_resolve(struct fb_writer *w, const struct fb_record *r, uint32_t *ids)
{
    bool exact = true;
    bool is_virtual = false;

    for (unsigned i = 0; i < r->depth; i++) {
        struct fb_pc_entry *e = pc_entry(w, r->pcs[i]);
        bool whole = exact || e->signal_frame; /* nobody called a trampoline */
        bool timed = false;

        is_virtual |= e->is_virtual;
        ids[i] = e->frame[whole];
        if (ids[i] == 0)
            ids[i] = frame_make(w, r->pcs[i], whole, r->time_ns, &timed);
        e->frame[whole] = timed ? 0 : ids[i]; /* another module's for the next record, maybe */
        exact = e->signal_frame ||
                (i + 1 < r->depth && is_kernel(r->pcs[i]) && !is_kernel(r->pcs[i + 1]));
    }
    return is_virtual;
}

static uint32_t node_add(struct fb_writer *w, uint32_t parent, uint32_t frame)
{
    bool is_new;
    uint32_t id;

    if (frame == 0)
        return 0;
    id = fb_intern_node(&w->intern, parent, frame, &is_new);
    if (id != 0 && is_new) {
        fb_wire_put_varint(&w->stacks.body, id - parent);
        fb_wire_put_varint(&w->stacks.body, frame);
        w->stacks.count++;
    }
    return id;
}

/* The bounds of the section of wrap.c's trampoline, which the linker makes. */
extern const char __start_fb_trampoline[] __attribute__((weak, visibility("hidden")));
extern const char __stop_fb_trampoline[] __attribute__((weak, visibility("hidden")));

/* Every thread's stack passes through our own start routine, which is no code of the host's. */
static bool is_trampoline(uint64_t pc)
{
    return pc > (uintptr_t)__start_fb_trampoline && pc <= (uintptr_t)__stop_fb_trampoline;
}

static unsigned state_of(const struct fb_record *r)
{
    return r->state & ((1u << FB_RECORD_STATE_BITS) - 1);
}

/* The node of the whole stack; 0 if memory was short. */
static uint32_t stack_make(struct fb_writer *w, const struct fb_record *r, bool *ret_virtual)
{
    uint32_t ids[FB_SAMPLE_DEPTH_MAX];
    uint32_t node = 0;

    if (r->depth == 0)
        return node_add(
            w, 0, mark_make(w, r->state == FB_RECORD_KERNEL ? FB_MARK_KERNEL : FB_MARK_THREAD_END));
    *ret_virtual = frames_resolve(w, r, ids);
    if (r->stop != FB_WALK_ROOT) {
        node = node_add(
            w, 0, mark_make(w, r->stop == FB_WALK_DEPTH ? FB_MARK_TRUNCATED : FB_MARK_PARTIAL));
        if (node == 0)
            return 0;
    }
    for (unsigned i = r->depth; i > 0; i--) {
        if (i > 1 && is_trampoline(r->pcs[i - 1]))
            continue;
        node = node_add(w, node, ids[i - 1]);
        if (node == 0)
            return 0;
    }
    switch (state_of(r)) {
    case FB_RECORD_PARKED:
        return node_add(w, node, mark_make(w, FB_MARK_PARKED));
    case FB_RECORD_RUNNABLE:
        return node_add(w, node, mark_make(w, FB_MARK_RUNNABLE));
    default:
        return node;
    }
}

static bool batch_is_full(const struct fb_writer *w)
{
    return w->sample_count == FB_WRITER_BATCH ||
           w->frames.body.cap - w->frames.body.len < FB_SAMPLE_DEPTH_MAX * FRAME_BYTES_MAX + 64 ||
           w->stacks.body.cap - w->stacks.body.len <
               (FB_SAMPLE_DEPTH_MAX + 1) * NODE_BYTES_MAX + 64 ||
           w->threads.body.cap - w->threads.body.len < 2 * (FB_JVM_THREAD_NAME + 64) ||
           fb_writer_names_full(w);
}

static void record_add(struct fb_writer *w, const struct fb_record *r)
{
    uint32_t thread = r->thread_id;
    uint32_t stack;
    bool is_virtual = false;

    r = fb_unfinished_finish(r);
    if (batch_is_full(w))
        batch_write(w);
    fb_writer_thread_name(w, r->slot, r->thread_id, r->time_ns);
    stack = stack_make(w, r, &is_virtual);
    if (stack == 0) {
        atomic_fetch_add(&fb_handler_losses[w->names.lost ? FB_LOSS_WRITE : FB_LOSS_TABLE_FULL],
                         r->weight);
        return;
    }
    if (state_of(r) == FB_RECORD_PARKED)
        fb_clock_parked_stack(r->slot, r->thread_id, r->state >> FB_RECORD_STATE_BITS, stack);
    else if (is_virtual)
        thread = fb_writer_thread_virtual(w, r->slot, r->thread_id, r->time_ns);
    w->samples[w->sample_count++] = (struct fb_sample){
        .time_ns = r->time_ns, .thread = thread, .stack = stack, .weight = r->weight};
}

/* Ticks of a thread that waited, which needed no signal. */
static void parked_add(void *ctx, uint32_t thread, uint32_t stack, uint32_t weight)
{
    struct fb_writer *w = ctx;
    uint32_t epoch = w->epoch;

    if (batch_is_full(w))
        batch_write(w);
    if (epoch != w->epoch) { /* the stack's definition is gone */
        parked_lose(w, thread, stack, weight);
        return;
    }
    w->exited_weight += weight;
    if (stack == 0) {
        atomic_fetch_add(&fb_handler_losses[FB_LOSS_NO_SEGMENT], weight);
        return;
    }
    w->samples[w->sample_count++] = (struct fb_sample){
        .time_ns = fb_clock_now(), .thread = thread, .stack = stack, .weight = weight};
}

void fb_samples_parked(struct fb_writer *w)
{
    fb_clock_parked_each(parked_add, w);
    batch_write(w);
}

void fb_samples_keep_last(struct fb_writer *w)
{
    uint32_t end = fb_threads_end();

    for (uint32_t i = 0; i < end; i++) {
        struct fb_task *t = fb_threads_slot(i);
        struct fb_record r = {.time_ns = fb_clock_now(), .thread_id = t->id, .slot = (uint16_t)i};

        if (atomic_load_explicit(&t->state, memory_order_acquire) != FB_THREAD_LIVE || t->blocked ||
            !fb_clock_thread_cpu(t->tid, &t->cpu_ns))
            continue;
        r.weight = fb_clock_thread_missed(t);
        if (r.weight == 0 ||
            (!fb_clock_misses_the_kernel() && r.weight * w->config->interval_ns > KEPT_NS_MAX))
            continue;
        r.state = fb_clock_misses_the_kernel() ? FB_RECORD_KERNEL : FB_RECORD_THREAD_END;
        atomic_fetch_add(&t->kept, r.weight);
        fb_handler_count(FB_COUNT_KEPT, r.weight);
        w->exited_weight += r.weight;
        record_add(w, &r);
    }
    batch_write(w);
}

static const struct fb_record *record_at(const struct fb_segment *segment, uint32_t *at)
{
    const struct fb_record *r = (const struct fb_record *)(const void *)(segment->data + *at);

    *at += (uint32_t)fb_record_size(r);
    return r;
}

void fb_samples_write(struct fb_writer *w, struct fb_segment *segments)
{
    while (segments != NULL) {
        struct fb_segment *next = fb_pool_next(segments);

        for (uint32_t at = 0; at < segments->used;)
            record_add(w, record_at(segments, &at));
        fb_pool_give(segments);
        segments = next;
    }
    batch_write(w);
    pcs_grow(w);
}

void fb_samples_lose(struct fb_writer *w, struct fb_segment *segments)
{
    (void)w;
    while (segments != NULL) {
        struct fb_segment *next = fb_pool_next(segments);

        for (uint32_t at = 0; at < segments->used;)
            atomic_fetch_add(&fb_handler_losses[FB_LOSS_WRITE], record_at(segments, &at)->weight);
        fb_pool_give(segments);
        segments = next;
    }
}

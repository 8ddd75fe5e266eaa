/* writer.c - the order of a flush and the chunks that are not samples.  See writer.h. */
#include "sampler/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#include "sampler/clock.h"
#include "sampler/fault.h"
#include "sampler/jvm/flags.h"
#include "sampler/jvm/start.h"
#include "sampler/memory.h"
#include "sampler/modules.h"
#include "sampler/say.h"
#include "sampler/signal/handler.h"
#include "sampler/threads.h"
#include "sampler/unfinished.h"
#include "sampler/writer_control.h"
#include "sampler/writer_samples.h"
#include "sampler/writer_symbols.h"
#include "sampler/writer_threads.h"

enum {
    MODULES_BYTES = 512 << 10,
    THREADS_BYTES = 64 << 10,
    FRAMES_BYTES = 128 << 10,
    STACKS_BYTES = 128 << 10,
    MISC_BYTES = 512 << 10,
    LATE_NS = 1000000000,
};

static const char *const mark_names[] = {"[truncated]", "[partial]", "[thread end]", "[kernel]",
                                         "[parked]",    "[runnable]"}; /* by enum fb_writer_mark */

static size_t memory_bytes(void)
{
    return MODULES_BYTES + THREADS_BYTES + FRAMES_BYTES + STACKS_BYTES + MISC_BYTES +
           FB_WRITER_BATCH * sizeof(struct fb_sample) +
           FB_WRITER_PC_CACHE * sizeof(struct fb_pc_entry) + FB_WRITER_NAMES_BYTES;
}

bool fb_writer_init(struct fb_writer *w, const struct fb_config *config,
                    const struct fb_manifest *manifest, uint64_t run_id)
{
    uint8_t *at = fb_memory_map(memory_bytes());

    memset(w, 0, sizeof *w);
    if (at == NULL || !fb_intern_init(&w->intern)) {
        fb_memory_unmap(at, memory_bytes());
        return false;
    }
    w->config = config;
    w->manifest = manifest;
    w->born_ns = fb_clock_now();
    w->epoch = 1;
    w->status_fd = -1;
    w->sandbox = -1;
    w->pc_slots = FB_WRITER_PC_FIRST;
    fb_counters_start_took(0);
    fb_unfinished_reset();
    fb_sink_init(&w->sink, config, run_id);
    w->pcs = (struct fb_pc_entry *)(void *)at;
    at += FB_WRITER_PC_CACHE * sizeof(struct fb_pc_entry);
    w->samples = (struct fb_sample *)(void *)at;
    at += FB_WRITER_BATCH * sizeof(struct fb_sample);
    fb_chunk_begin(&w->modules, at, MODULES_BYTES);
    at += MODULES_BYTES;
    fb_chunk_begin(&w->threads, at, THREADS_BYTES);
    at += THREADS_BYTES;
    fb_chunk_begin(&w->frames, at, FRAMES_BYTES);
    at += FRAMES_BYTES;
    fb_chunk_begin(&w->stacks, at, STACKS_BYTES);
    at += STACKS_BYTES;
    fb_chunk_begin(&w->misc, at, MISC_BYTES);
    at += MISC_BYTES;
    fb_writer_names_init(w, at);
    fb_jit_files_init(&w->jit.files);
    fb_jvm_flags_want(config->jvm_nonsafepoints);
    return true;
}

static void on_module(void *ctx, const struct fb_module_event *event)
{
    struct fb_writer *w = ctx;
    struct fb_wire_out *out = &w->modules.body;
    size_t before = out->len;

    fb_jvm_module(event);
    fb_wire_put_varint(out, event->id);
    fb_wire_put_signed(out, event->time_ns);
    fb_wire_put_varint(out, event->loaded ? event->start : 0);
    fb_wire_put_varint(out, event->loaded ? event->end : 0);
    fb_wire_put_varint(out, event->loaded ? event->bias : 0);
    fb_wire_put_blob(out, event->build_id, event->loaded ? event->build_id_size : 0);
    fb_wire_put_blob(out, event->path, event->loaded ? strlen(event->path) : 0);
    if (!out->overflow) {
        w->modules.count++;
        return;
    }
    /* Half a megabyte of loads within one second, or a disk that stays full. */
    out->overflow = false;
    out->len = before;
    atomic_fetch_add(&fb_handler_losses[FB_LOSS_TABLE_FULL], 1);
}

static void modules_look(struct fb_writer *w)
{
    if (!fb_modules_changed())
        return;
    fb_modules_scan(on_module, w);
    if (!fb_fault_watch())
        fb_say(FB_SAY_ALWAYS, "SIGSEGV", "is handled past us, stacks of coroutines stay short",
               NULL, EBUSY);
    w->epoch++;
}

/* Has a system call filter come since the last look? */
static void quiet_look(struct fb_writer *w)
{
    fb_writer_status_look(w);
    w->sink.quiet = w->quiet;
    if (w->quiet)
        fb_modules_seal();
}

void fb_writer_tables_make(struct fb_writer *w)
{
    if (w->ended)
        return;
    quiet_look(w);
    if (!w->quiet) {
        modules_look(w);
        fb_jvm_look(fb_clock_now());
    }
    fb_modules_tables_make();
}

static void mark_names_write(struct fb_writer *w)
{
    uint8_t bytes[4];
    struct fb_wire_out prefix = {.data = bytes, .cap = sizeof bytes};

    fb_wire_put_varint(&prefix, FB_MARK_TRUNCATED);
    for (unsigned i = 0; i < sizeof mark_names / sizeof mark_names[0]; i++) {
        fb_wire_put_blob(&w->misc.body, mark_names[i], strlen(mark_names[i]));
        w->misc.count++;
    }
    fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_STRINGS, &prefix);
    w->names.next_string = FB_MARK_COUNT;
}

/* The manifest is in the file before it has its name: a process that is killed in between leaves
 * none, and not one without a chunk. */
static bool bank_make(struct fb_writer *w)
{
    bool made;

    if (w->sink.fd >= 0)
        return true;
    if (w->sink.refused)
        return false;
    fb_counters_init(&w->counters, (char *)w->misc.memory, MISC_BYTES);
    fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    fb_manifest_put(w->manifest, w->config, &w->counters.cgroup, w->sink.crc_table, &w->misc);
    made = fb_sink_open(&w->sink, &w->misc);
    fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    if (!made)
        return false;
    w->first_frame = w->intern.next_frame;
    w->first_stack = w->intern.next_node;
    mark_names_write(w);
    fb_writer_control_begin(w);
    return true;
}

static void modules_write(struct fb_writer *w)
{
    if (w->modules.count > 0)
        fb_sink_write_list(&w->sink, &w->modules, FB_CHUNK_MODULES, NULL);
}

static void own_read(void *ctx, struct fb_counters_own *ret_own)
{
    fb_writer_own(ctx, ret_own);
}

static void counters_write(struct fb_writer *w, bool whole)
{
    fb_counters_read(&w->counters, own_read, w, whole);
    fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    fb_counters_put_defs(&w->counters, &w->misc);
    if (w->misc.count > 0) {
        fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_COUNTER_DEFS, NULL);
        fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    }
    fb_counters_put_row(&w->counters, &w->misc.body);
    fb_sink_write(&w->sink, &w->misc, FB_CHUNK_COUNTERS, NULL, 0);
}

static void losses_write(struct fb_writer *w)
{
    uint8_t bytes[FB_WIRE_VARINT_MAX];
    struct fb_wire_out prefix = {.data = bytes, .cap = sizeof bytes};
    uint64_t now[FB_LOSS_CAUSE_COUNT];

    fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    for (unsigned i = 0; i < FB_LOSS_CAUSE_COUNT; i++) {
        now[i] = atomic_load(&fb_handler_losses[i]);
        if (now[i] == w->losses_written[i])
            continue;
        fb_wire_put_u8(&w->misc.body, (uint8_t)i);
        fb_wire_put_varint(&w->misc.body, now[i]);
        w->misc.count++;
    }
    if (w->misc.count == 0)
        return;
    fb_wire_put_signed(&prefix, (int64_t)fb_clock_now());
    if (fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_LOSSES, &prefix))
        memcpy(w->losses_written, now, sizeof now);
}

static void end_write(struct fb_writer *w)
{
    fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    fb_wire_put_signed(&w->misc.body, (int64_t)fb_clock_now());
    fb_wire_put_varint(&w->misc.body, w->samples_written);
    fb_wire_put_varint(&w->misc.body, w->weight_written);
    w->ended = fb_sink_write(&w->sink, &w->misc, FB_CHUNK_END, NULL, 0);
}

static void fallbacks_write(struct fb_writer *w)
{
    uint32_t now = fb_clock_fallbacks();

    if (now == w->fallbacks_written)
        return;
    w->fallbacks_written = now;
    fb_chunk_begin(&w->misc, w->misc.memory, MISC_BYTES);
    fb_manifest_put_fallbacks(now, &w->misc);
    fb_sink_write_list(&w->sink, &w->misc, FB_CHUNK_MANIFEST, NULL);
}

/* Is there a reason to have a bank, now that there are samples or none? */
static bool bank_is_due(const struct fb_writer *w, enum fb_flush why, bool samples)
{
    switch (why) {
    case FB_FLUSH_OPEN:
        break;
    case FB_FLUSH_EXIT:
        return samples || w->config->root;
    case FB_FLUSH_EXEC:
        return samples;
    case FB_FLUSH_SECOND:
        break;
    }
    /* The run's first process has one from its start on, so that its counters have a first row. */
    return samples || w->config->root || fb_clock_now() - w->born_ns >= LATE_NS;
}

void fb_writer_flush(struct fb_writer *w, enum fb_flush why)
{
    bool last = why == FB_FLUSH_EXEC || why == FB_FLUSH_EXIT;
    bool whole = last; /* the row of counters */
    struct fb_segment *segments;

    if (w->ended)
        return;
    if (why == FB_FLUSH_OPEN) {
        bank_make(w); /* the host waits: no more than that */
        return;
    }
    w->generated_read = false;
    quiet_look(w);
    if (!w->quiet) {
        whole |= fb_writer_control_look(w);
        modules_look(w);
        fb_jvm_look(fb_clock_now());
    }
    fb_writer_threads_look(w, last);
    segments = fb_samples_take(w);
    if (w->sink.fd < 0 && !bank_is_due(w, why, segments != NULL)) {
        fb_writer_threads_free(w);
        return;
    }
    if ((w->quiet && w->sink.fd < 0) || !bank_make(w)) {
        fb_samples_lose(w, segments);
        fb_writer_threads_free(w);
        return;
    }
    fb_writer_events_write(w);
    modules_write(w);
    fb_samples_write(w, segments);
    fb_samples_parked(w);
    fb_writer_jit_rest(w);
    if (last && !w->quiet && (w->samples_written > 0 || w->config->root))
        fb_samples_keep_last(w);
    if (last && w->samples_written == 0 && (why == FB_FLUSH_EXEC || !w->config->root) &&
        fb_clock_now() - w->born_ns < LATE_NS) {
        fb_sink_discard(&w->sink);
        return;
    }
    fb_writer_threads_free(w);
    if (!w->quiet) {
        fb_writer_jvm_tell(w, last);
        counters_write(w, whole);
        fb_writer_budget_look(w);
    }
    losses_write(w);
    fallbacks_write(w);
    if (last)
        end_write(w);
    if (!w->quiet) /* behind the end: nobody waits for long, and no end is lost over names */
        fb_writer_symbols_look(w, last);
}

void fb_writer_thread_begin(struct fb_writer *w, bool own_table)
{
    fb_modules_thread_begin(own_table);
    fb_counters_thread_begin(&w->counters, own_table);
    w->leader_file = (struct fb_kept_file){0};
    w->status_fd = -1;
    if (own_table && !w->quiet)
        w->status_fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
}

void fb_writer_resume(struct fb_writer *w)
{
    w->ended = false;
}

/* writer.h - from segments to chunks: what the helper thread does each second.
 *
 * Context: the helper thread alone; all its memory is its own mappings.
 *
 *     fb_writer_init(&w, config, manifest, run_id);    in every process, forked ones too
 *     fb_writer_flush(&w, why);                        once a second, at the end, and when asked
 *
 * A flush scans modules if something was loaded, takes every segment with
 * records, gives frames and stacks their ids, and writes, definitions first:
 * MODULES, THREADS, FRAMES, STACKS, SAMPLES, then COUNTERS and LOSSES.
 *
 * The bank is made late: with the first samples, or after a second of life, so
 * that a child that only calls exec leaves no file.  The process that the run
 * began with makes one at its end all the same.
 *
 * Another process may append a chunk that asks for a pause (foreign.h): it is seen at the next
 * flush. While the clock is paused the counters go on.
 *
 * A system call filter that the host installs while it runs (seccomp with
 * TSYNC) may kill for calls that it does not know, and cannot be probed: from
 * then on the writer only writes (and asks for its pid), and counters, modules
 * and names stay as they are.  It is seen by pread on a descriptor that is open
 * already.
 *
 * A definition that could not be written (full disk) makes the writer forget
 * its ids, so that later samples bring their definitions with them; what was in
 * hand is counted under FB_LOSS_WRITE. */
#ifndef FB_SAMPLER_WRITER_H
#define FB_SAMPLER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/budget.h"
#include "sampler/counters.h"
#include "sampler/intern.h"
#include "sampler/kernel_names.h"
#include "sampler/manifest.h"
#include "sampler/maps.h"
#include "sampler/module_names.h"
#include "sampler/signal/pool.h"
#include "sampler/sink.h"
#include "sampler/writer_jit.h"
#include "sampler/writer_jvm.h"
#include "sampler/writer_names.h"

enum fb_flush {
    FB_FLUSH_SECOND, /* the periodic one                                             */
    FB_FLUSH_OPEN,   /* make the bank now: the process is about to give up its rights */
    FB_FLUSH_EXEC,   /* the program is about to be replaced: END                      */
    FB_FLUSH_EXIT,   /* the process ends: END                                         */
};

enum {
    FB_WRITER_PC_CACHE = 4096,
    FB_WRITER_PC_FIRST = 256, /* of them are used at first */
    FB_WRITER_BATCH = 8192,   /* samples a chunk, at most */
};

/* Names of frames that are not code, by their string id. */
enum fb_writer_mark {
    FB_MARK_TRUNCATED = 1,
    FB_MARK_PARTIAL = 2,
    FB_MARK_THREAD_END = 3,
    FB_MARK_KERNEL = 4,
    FB_MARK_PARKED = 5,
    FB_MARK_RUNNABLE = 6,
    FB_MARK_COUNT
};

struct fb_sample {
    uint64_t time_ns;
    uint32_t thread;
    uint32_t stack;
    uint32_t weight;
};

struct fb_pc_entry {
    uint64_t pc;
    uint32_t
        frame[2];   /* its id where pc is a return address, and where it is exact; 0: not known */
    uint32_t epoch; /* valid if the writer's                                                    */
    bool signal_frame; /* the frame is a signal trampoline: the next one's pc is exact */
    bool is_virtual;   /* what is above runs in a virtual thread                       */
};

enum { FB_WRITER_EVENTS = 16 };

struct fb_writer_event { /* of the sampler itself, until it is written */
    uint64_t time_ns;
    uint64_t value;
    enum fb_event_kind kind;
};

struct fb_writer {
    const struct fb_config *config;
    const struct fb_manifest *manifest;
    struct fb_sink sink;
    struct fb_intern intern;
    struct fb_counter_row counters;
    struct fb_maps generated;
    struct fb_kernel_names kernel;
    struct fb_module_names native;
    bool names_told;         /* in the manifest: that there are names of symbol tables */
    bool generated_read;     /* in this flush */
    struct fb_chunk modules; /* kept until written */
    struct fb_chunk threads;
    struct fb_chunk frames;
    struct fb_chunk stacks;
    struct fb_writer_names names;
    struct fb_writer_jit jit;
    struct fb_writer_jvm jvm;
    struct fb_chunk misc; /* manifest, samples, counters, losses */
    uint32_t first_frame; /* of the frames chunk */
    uint32_t first_stack;
    uint32_t fallbacks_written; /* threads of the manifest's clock_fallbacks */
    struct fb_sample *samples;
    uint32_t sample_count;
    struct fb_pc_entry *pcs;
    uint32_t pc_slots; /* a power of two: few pages are touched while few do */
    uint32_t pc_replaced;
    uint32_t epoch;
    uint64_t samples_written;
    uint64_t weight_written;
    uint64_t exited_cpu_ns; /* of threads whose slot was freed */
    uint64_t exited_handler_ns;
    uint64_t exited_handler_count;
    uint64_t exited_weight;
    uint64_t exited_overrun;
    struct fb_budget budget;
    struct fb_writer_event events[FB_WRITER_EVENTS];
    unsigned event_count;
    bool rate_said;
    uint64_t losses_written[FB_LOSS_CAUSE_COUNT];
    bool any_drained;      /* of the slots */
    uint32_t next_checked; /* slot where the next look at CPU times begins */
    uint32_t name_budget;
    uint64_t born_ns;
    int status_fd; /* /proc/thread-self/status while the table is ours, else -1 */
    int sandbox;   /* its "Seccomp:" at the first look, -1 before               */
    bool quiet;    /* a system call filter came: write only                     */
    struct fb_kept_file leader_file;
    uint64_t leader_cpu_ns; /* of the main thread when last looked at */
    int leader_status;      /* of a main thread that left by a bare system call: the process's */
    bool ended;             /* END is the last chunk: nothing more until fb_writer_resume() */
};

/* False: no memory.  In a fork's child it starts over and lets the parent's memory be: the helper
 * may have been half-way through moving a table, so that no size can be trusted. */
bool fb_writer_init(struct fb_writer *w, const struct fb_config *config,
                    const struct fb_manifest *manifest, uint64_t run_id);

void fb_writer_flush(struct fb_writer *w, enum fb_flush why);

/* The bell of the code map rang: walks have met code without rows, or unknown code. */
void fb_writer_tables_make(struct fb_writer *w);

/* In a new helper thread: descriptors that are kept open will stay ours (table) or may not. */
void fb_writer_thread_begin(struct fb_writer *w, bool own_table);

/* exec failed: the program goes on. */
void fb_writer_resume(struct fb_writer *w);

#endif

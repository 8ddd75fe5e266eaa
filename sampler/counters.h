/* counters.h - the machine, the group, the process and the sampler itself, in numbers, once a
 * second.
 *
 * Context: the helper thread alone.
 *
 *     fb_counters_thread_begin(&c, own_table);     in each helper thread: may files stay open?
 *     fb_counters_init(&c, scratch, cap);          finds the files
 *     fb_counters_read(&c, read_own, ctx, false);  one row
 *     fb_counters_put_defs(&c, &chunk);            in front of each row: what is new
 *     fb_counters_put_row(&c, &out, &out_prefix);  each row one COUNTERS chunk
 *
 * A counter that was not readable at the first row has no column, but for those of a JVM, which
 * come with it.  All are int64_t; times are in ns.
 *
 * What it costs is bounded, not only how often it is done.  The CPU time of a process costs the
 * kernel a walk over its threads (0.7 ms for 2,000 of them, cold), the node's times one over its
 * CPUs.  Such a counter is read as often as keeps it within its allowance of CPU time a second, at
 * least every FB_COUNTERS_SKIPPED rows, and in every row that is asked for whole; in the rows
 * between it has no column.  Levels (of memory) repeat the last value instead.  The times of each
 * CPU come with every tenth reading of the node's, where they have grown.
 *
 * A row is of one moment: where the thread was kept from running between the time and the CPU
 * counters (a quota), they are read anew. */
#ifndef FB_SAMPLER_COUNTERS_H
#define FB_SAMPLER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/cgroup.h"
#include "sampler/signal/walk.h"
#include "sampler/sink.h"

/* Order is the counter id in the file, less one: append only. */
enum fb_counter_id {
    FB_COUNTER_PROCESS_CPU,
    FB_COUNTER_PROCESS_RSS,
    FB_COUNTER_CGROUP_CPU,
    FB_COUNTER_CGROUP_THROTTLED,
    FB_COUNTER_CGROUP_THROTTLED_COUNT,
    FB_COUNTER_CGROUP_MEMORY,
    FB_COUNTER_NODE_BUSY,
    FB_COUNTER_NODE_SOFTIRQ,
    FB_COUNTER_NODE_STEAL,
    FB_COUNTER_NODE_IDLE,
    FB_COUNTER_MACHINE_SPIN,
    FB_COUNTER_THREADS,
    FB_COUNTER_THREADS_CPU,
    FB_COUNTER_HANDLER,
    FB_COUNTER_HANDLER_COUNT,
    FB_COUNTER_WRITER,
    FB_COUNTER_BYTES,
    FB_COUNTER_SWITCH_VOLUNTARY,
    FB_COUNTER_SWITCH_INVOLUNTARY,
    FB_COUNTER_WEIGHT,
    FB_COUNTER_OVERRUN,
    FB_COUNTER_SIGNALS,
    FB_COUNTER_FOREIGN,
    FB_COUNTER_STRAYS,
    FB_COUNTER_KEPT,
    FB_COUNTER_OWN_RSS,
    FB_COUNTER_START,
    FB_COUNTER_WALK_DEPTH, /* the stops of sampler/signal/walk.h from FB_WALK_DEPTH on, in order */
    FB_COUNTER_WALK_NO_RULE,
    FB_COUNTER_WALK_BAD_CFA,
    FB_COUNTER_WALK_BAD_LOAD,
    FB_COUNTER_WALK_BAD_PC,
    FB_COUNTER_WALK_OFF_STACK,
    FB_COUNTER_WALK_LOST_REG,
    FB_COUNTER_WALK_NO_TABLE,
    FB_COUNTER_WALK_JAVA,
    FB_COUNTER_WALK_FINISHED,
    FB_COUNTER_INTERVAL,
    FB_COUNTER_JVM_HEAP, /* the values of sampler/jvm/perf_data.h, in order */
    FB_COUNTER_JVM_COMMITTED,
    FB_COUNTER_JVM_YOUNG_COUNT,
    FB_COUNTER_JVM_YOUNG,
    FB_COUNTER_JVM_OLD_COUNT,
    FB_COUNTER_JVM_OLD,
    FB_COUNTER_JVM_CYCLE_COUNT,
    FB_COUNTER_JVM_CYCLE,
    FB_COUNTER_JVM_LOADED,
    FB_COUNTER_JVM_UNLOADED,
    FB_COUNTER_JVM_COMPILE,
    FB_COUNTER_JVM_SAFEPOINT,
    FB_COUNTER_CGROUP_PERIODS,
    FB_COUNTER_CGROUP_PRESSURE_CPU,
    FB_COUNTER_CGROUP_PRESSURE_MEMORY,
    FB_COUNTER_NODE_PRESSURE_CPU, /* these two only where the group's cannot be read */
    FB_COUNTER_NODE_PRESSURE_MEMORY,
    FB_COUNTER_ESTABLISHED,
    FB_COUNTER_OPEN_FILES,
    FB_COUNTER_WALL_OFFSET,
    FB_COUNTER_NAMED_COUNT,
    FB_COUNTER_CPU_FIRST = FB_COUNTER_NAMED_COUNT, /* three of each CPU: busy, softirq, steal */
    FB_COUNTER_COUNT = FB_COUNTER_CPU_FIRST + 3 * 64
};

enum {
    FB_COUNTERS_SKIPPED = 10,
    FB_COUNTERS_CPUS = 64, /* those beyond are in the node's sums alone */
};

/* What the caller knows itself. */
struct fb_counters_own {
    uint64_t threads;
    uint64_t threads_cpu_ns;
    uint64_t handler_ns;
    uint64_t handler_count;
    uint64_t bytes;
    uint64_t weight;
    uint64_t overrun;
    uint64_t signals; /* these four: enum fb_handler_count */
    uint64_t foreign;
    uint64_t strays;
    uint64_t kept;
    uint64_t walk_stops[FB_WALK_STOP_COUNT];
    uint64_t walks_finished;
};

typedef void (*fb_counters_own_fn)(void *ctx, struct fb_counters_own *ret_own);

/* Of a reader whose cost is not bounded by itself. */
struct fb_counters_meter {
    uint64_t cost_ns; /* of the last reading, CPU time */
    uint64_t saved_ns;
    unsigned skipped;
};

struct fb_counter_row {
    struct fb_cgroup cgroup;
    struct fb_kept_file node_file;
    struct fb_kept_file memory_file;
    struct fb_kept_file cpu_pressure_file;
    struct fb_kept_file memory_pressure_file;
    struct fb_kept_file snmp_file;
    struct fb_counters_meter process;
    struct fb_counters_meter switches;
    struct fb_counters_meter node;
    struct fb_counters_meter memory;
    struct fb_counters_meter own_memory;
    struct fb_counters_meter pressure;
    struct fb_counters_meter connections;
    unsigned cpus_skipped; /* rows of the node's times without those of each CPU */
    int64_t value[FB_COUNTER_COUNT];
    bool readable[FB_COUNTER_COUNT];
    bool defined[FB_COUNTER_COUNT]; /* in the file */
    bool fresh[FB_COUNTER_COUNT];   /* has a column in this row */
    bool started;
    bool keep;           /* files may stay open */
    int64_t time_ns;     /* of the row */
    uint64_t stamp_ns;   /* CPU time of this thread at the end of the last reading */
    uint64_t earlier_ns; /* CPU time of helper threads before this one */
};

/* CPU time of the constructor and what it read before main(), for `sampler.start_ns`. */
void fb_counters_start_took(uint64_t cpu_ns);

/* A new helper thread; descriptors of the one before are gone. */
void fb_counters_thread_begin(struct fb_counter_row *c, bool own_table);

void fb_counters_init(struct fb_counter_row *c, char *scratch, size_t cap);

/* The helper thread ends for the moment; another will go on. */
void fb_counters_thread_end(struct fb_counter_row *c);

/* whole: every counter, whatever it costs (the last row, and those at which something begins or
 * ends). */
void fb_counters_read(struct fb_counter_row *c, fb_counters_own_fn own, void *ctx, bool whole);

/* The items of COUNTER_DEFS for what is in the last row and was not told before. */
void fb_counters_put_defs(struct fb_counter_row *c, struct fb_chunk *chunk);

/* The payload of COUNTERS with the row last read. */
void fb_counters_put_row(const struct fb_counter_row *c, struct fb_wire_out *out);

#endif

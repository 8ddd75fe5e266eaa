/* counters.h - the machine, the group, the process and the sampler itself, in numbers, once a
 * second.
 *
 * Context: the helper thread alone.
 *
 *     fb_counters_init(&c, scratch, cap);          finds the files
 *     fb_counters_read(&c, &own);                  one row
 *     fb_counters_put_defs(&c, &chunk);            once, behind the first row
 *     fb_counters_put_row(&c, &out, &out_prefix);  each row one COUNTERS chunk
 *
 * A counter that was not readable at the first row has no column; one that
 * stops being readable repeats its value.  All are int64_t; times are in ns. */
#ifndef FB_SAMPLER_COUNTERS_H
#define FB_SAMPLER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/cgroup.h"
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
    FB_COUNTER_COUNT
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
};

struct fb_counter_row {
    struct fb_cgroup cgroup;
    int64_t value[FB_COUNTER_COUNT];
    bool readable[FB_COUNTER_COUNT];
    bool started;
    int64_t time_ns;     /* of the row */
    uint64_t earlier_ns; /* CPU time of helper threads before this one */
};

void fb_counters_init(struct fb_counter_row *c, char *scratch, size_t cap);

/* The helper thread ends for the moment; another will go on. */
void fb_counters_thread_end(struct fb_counter_row *c);

void fb_counters_read(struct fb_counter_row *c, const struct fb_counters_own *own);

/* The items of COUNTER_DEFS. */
void fb_counters_put_defs(const struct fb_counter_row *c, struct fb_chunk *chunk);

/* The payload of COUNTERS with the row last read. */
void fb_counters_put_row(const struct fb_counter_row *c, struct fb_wire_out *out);

#endif

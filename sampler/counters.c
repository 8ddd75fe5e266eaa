/* counters.c - see counters.h. */
#include "sampler/counters.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/jvm/perf_data.h"
#include "sampler/memory.h"
#include "sampler/surroundings.h"
#include "sampler/text.h"

enum { SPIN_STEPS = 20000, SPIN_TIMES = 3 }; /* a third of some 0.1 ms of dependent arithmetic */

/* CPU time a second, each. */
enum {
    PROCESS_NS = 100000,
    SWITCHES_NS = 20000,
    NODE_NS = 60000,
    MEMORY_NS = 30000,
    OWN_MEMORY_NS = 10000,
    PRESSURE_NS = 20000,
    CONNECTIONS_NS = 20000,
};

enum {
    MOMENT_NS = 2000000, /* a row that took longer is not of one moment */
    MOMENT_TRIES = 3,
};

static _Atomic uint64_t start_ns;

struct definition {
    const char *name;
    const char *unit;
    enum fb_counter_kind kind;
};

_Static_assert(FB_COUNTER_WALK_FINISHED - FB_COUNTER_WALK_DEPTH ==
                   FB_WALK_STOP_COUNT - FB_WALK_DEPTH,
               "a counter for each stop but the root");

static const struct definition definitions[FB_COUNTER_NAMED_COUNT] = {
    [FB_COUNTER_PROCESS_CPU] = {"process.cpu_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_PROCESS_RSS] = {"process.rss_bytes", "bytes", FB_COUNTER_GAUGE},
    [FB_COUNTER_CGROUP_CPU] = {"cgroup.cpu_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_CGROUP_THROTTLED] = {"cgroup.throttled_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_CGROUP_THROTTLED_COUNT] = {"cgroup.nr_throttled", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_CGROUP_MEMORY] = {"cgroup.memory_bytes", "bytes", FB_COUNTER_GAUGE},
    [FB_COUNTER_NODE_BUSY] = {"node.busy_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_NODE_SOFTIRQ] = {"node.softirq_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_NODE_STEAL] = {"node.steal_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_NODE_IDLE] = {"node.idle_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_MACHINE_SPIN] = {"machine.spin_ns", "ns", FB_COUNTER_GAUGE},
    [FB_COUNTER_THREADS] = {"threads.count", "count", FB_COUNTER_GAUGE},
    [FB_COUNTER_THREADS_CPU] = {"threads.cpu_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_HANDLER] = {"sampler.handler_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_HANDLER_COUNT] = {"sampler.handler_count", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WRITER] = {"sampler.writer_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_BYTES] = {"sampler.bytes", "bytes", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_SWITCH_VOLUNTARY] = {"process.switches_voluntary", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_SWITCH_INVOLUNTARY] = {"process.switches_involuntary", "count",
                                       FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WEIGHT] = {"sampler.weight", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_OVERRUN] = {"sampler.overrun", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_SIGNALS] = {"sampler.signals", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_FOREIGN] = {"sampler.foreign", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_STRAYS] = {"sampler.strays", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_KEPT] = {"sampler.kept", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_OWN_RSS] = {"sampler.rss_bytes", "bytes", FB_COUNTER_GAUGE},
    [FB_COUNTER_START] = {"sampler.start_ns", "ns", FB_COUNTER_GAUGE},
    [FB_COUNTER_WALK_DEPTH] = {"walk.depth", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_NO_RULE] = {"walk.no_rule", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_BAD_CFA] = {"walk.bad_cfa", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_BAD_LOAD] = {"walk.bad_load", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_BAD_PC] = {"walk.bad_pc", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_OFF_STACK] = {"walk.off_stack", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_LOST_REG] = {"walk.lost_reg", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_NO_TABLE] = {"walk.no_table", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_JAVA] = {"walk.java_lost", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_WALK_FINISHED] = {"walk.finished_later", "ticks", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_INTERVAL] = {"sampler.interval_ns", "ns", FB_COUNTER_GAUGE},
    [FB_COUNTER_JVM_HEAP] = {"jvm.heap_at_gc_bytes", "bytes", FB_COUNTER_GAUGE},
    [FB_COUNTER_JVM_COMMITTED] = {"jvm.heap_committed_bytes", "bytes", FB_COUNTER_GAUGE},
    [FB_COUNTER_JVM_YOUNG_COUNT] = {"jvm.gc_young_count", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_YOUNG] = {"jvm.gc_young_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_OLD_COUNT] = {"jvm.gc_old_count", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_OLD] = {"jvm.gc_old_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_CYCLE_COUNT] = {"jvm.gc_cycle_count", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_CYCLE] = {"jvm.gc_cycle_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_LOADED] = {"jvm.classes_loaded", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_UNLOADED] = {"jvm.classes_unloaded", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_COMPILE] = {"jvm.compile_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_JVM_SAFEPOINT] = {"jvm.safepoint_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_CGROUP_PERIODS] = {"cgroup.nr_periods", "count", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_CGROUP_PRESSURE_CPU] = {"cgroup.pressure_cpu_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_CGROUP_PRESSURE_MEMORY] = {"cgroup.pressure_memory_ns", "ns",
                                           FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_NODE_PRESSURE_CPU] = {"node.pressure_cpu_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_NODE_PRESSURE_MEMORY] = {"node.pressure_memory_ns", "ns", FB_COUNTER_CUMULATIVE},
    [FB_COUNTER_ESTABLISHED] = {"net.established", "count", FB_COUNTER_GAUGE},
    [FB_COUNTER_OPEN_FILES] = {"process.open_files", "count", FB_COUNTER_GAUGE},
    [FB_COUNTER_WALL_OFFSET] = {"clock.wall_offset_ns", "ns", FB_COUNTER_GAUGE},
};

_Static_assert(FB_COUNTER_JVM_SAFEPOINT - FB_COUNTER_JVM_HEAP == FB_JVM_PERF_SAFEPOINT_NS &&
                   FB_JVM_PERF_SAFEPOINT_NS + 1 == FB_JVM_PERF_COUNT,
               "a counter for each value of the JVM");

void fb_counters_start_took(uint64_t cpu_ns)
{
    atomic_store(&start_ns, cpu_ns);
}

void fb_counters_thread_begin(struct fb_counter_row *c, bool own_table)
{
    c->keep = own_table;
    c->node_file = c->memory_file = c->snmp_file = (struct fb_kept_file){0};
    c->cpu_pressure_file = c->memory_pressure_file = (struct fb_kept_file){0};
    fb_cgroup_keep(&c->cgroup, own_table);
}

void fb_counters_init(struct fb_counter_row *c, char *scratch, size_t cap)
{
    uint64_t earlier_ns = c->earlier_ns; /* a helper may end before the bank is made */
    bool keep = c->keep;

    memset(c, 0, sizeof *c);
    c->earlier_ns = earlier_ns;
    c->keep = keep;
    fb_cgroup_find(&c->cgroup, "", scratch, cap);
    fb_cgroup_keep(&c->cgroup, keep);
}

static void set(struct fb_counter_row *c, unsigned counter, uint64_t value)
{
    if (!c->started)
        c->readable[counter] = true;
    c->fresh[counter] = c->readable[counter];
    if (c->readable[counter] && value <= INT64_MAX)
        c->value[counter] = (int64_t)value;
}

static uint64_t clock_read(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* May this be read in this row, at so much CPU time a second? */
static bool is_due(struct fb_counters_meter *m, uint64_t allowance_ns, bool whole)
{
    m->saved_ns += allowance_ns;
    m->skipped++;
    return whole || m->saved_ns >= m->cost_ns || m->skipped > FB_COUNTERS_SKIPPED;
}

/* It cost what was used since the last stamp. */
static void was_read(struct fb_counter_row *c, struct fb_counters_meter *m)
{
    uint64_t now_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);

    m->cost_ns = now_ns - c->stamp_ns;
    m->saved_ns = 0;
    m->skipped = 0;
    c->stamp_ns = now_ns;
}

static void read_switches(struct fb_counter_row *c, bool whole)
{
    struct rusage usage;

    if (!is_due(&c->switches, SWITCHES_NS, whole) || getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    set(c, FB_COUNTER_SWITCH_VOLUNTARY, (uint64_t)usage.ru_nvcsw);
    set(c, FB_COUNTER_SWITCH_INVOLUNTARY, (uint64_t)usage.ru_nivcsw);
    was_read(c, &c->switches);
}

/* A level: what was read last stands for the rows between. */
static void read_memory(struct fb_counter_row *c, bool whole)
{
    char text[256];
    const char *at = text;

    c->fresh[FB_COUNTER_PROCESS_RSS] = c->readable[FB_COUNTER_PROCESS_RSS];
    if (!is_due(&c->memory, MEMORY_NS, whole) ||
        fb_kept_read(&c->memory_file, c->keep, "/proc/self/statm", text, sizeof text) <= 0)
        return;
    fb_text_number(text, &at); /* total pages, then resident ones */
    if (*at == ' ') {
        uint64_t pages = fb_text_number(at + 1, &at);

        set(c, FB_COUNTER_PROCESS_RSS, pages * (uint64_t)sysconf(_SC_PAGESIZE));
    }
    was_read(c, &c->memory);
}

static void read_own_memory(struct fb_counter_row *c, bool whole)
{
    c->fresh[FB_COUNTER_OWN_RSS] = c->readable[FB_COUNTER_OWN_RSS];
    if (!is_due(&c->own_memory, OWN_MEMORY_NS, whole))
        return;
    set(c, FB_COUNTER_OWN_RSS, fb_memory_touched());
    was_read(c, &c->own_memory);
}

static void read_cgroup(struct fb_counter_row *c)
{
    struct fb_cgroup_now now;

    fb_cgroup_read(&c->cgroup, &now);
    if (now.has_cpu)
        set(c, FB_COUNTER_CGROUP_CPU, now.cpu_ns);
    if (now.has_throttling) {
        set(c, FB_COUNTER_CGROUP_THROTTLED, now.throttled_ns);
        set(c, FB_COUNTER_CGROUP_THROTTLED_COUNT, now.throttled_count);
        set(c, FB_COUNTER_CGROUP_PERIODS, now.periods);
    }
    if (now.has_memory)
        set(c, FB_COUNTER_CGROUP_MEMORY, now.memory_bytes);
}

/* Mostly it has not: no column then. */
static void set_grown(struct fb_counter_row *c, unsigned counter, uint64_t value, bool whole)
{
    if (whole || value != (uint64_t)c->value[counter])
        set(c, counter, value);
}

static void read_own(struct fb_counter_row *c, const struct fb_counters_own *own, bool whole)
{
    set(c, FB_COUNTER_THREADS, own->threads);
    set(c, FB_COUNTER_THREADS_CPU, own->threads_cpu_ns);
    set(c, FB_COUNTER_HANDLER, own->handler_ns);
    set(c, FB_COUNTER_HANDLER_COUNT, own->handler_count);
    set(c, FB_COUNTER_WRITER, c->earlier_ns + c->stamp_ns);
    set(c, FB_COUNTER_BYTES, own->bytes);
    set(c, FB_COUNTER_WEIGHT, own->weight);
    set(c, FB_COUNTER_OVERRUN, own->overrun);
    set(c, FB_COUNTER_SIGNALS, own->signals);
    set(c, FB_COUNTER_FOREIGN, own->foreign);
    set(c, FB_COUNTER_STRAYS, own->strays);
    set(c, FB_COUNTER_KEPT, own->kept);
    set_grown(c, FB_COUNTER_WALK_FINISHED, own->walks_finished, whole);
    for (unsigned i = FB_WALK_DEPTH; i < FB_WALK_STOP_COUNT; i++)
        set_grown(c, FB_COUNTER_WALK_DEPTH + i - FB_WALK_DEPTH, own->walk_stops[i], whole);
    set(c, FB_COUNTER_START, atomic_load(&start_ns));
    set(c, FB_COUNTER_INTERVAL, fb_clock_is_paused() ? 0 : fb_clock_interval());
}

/* Everything that is compared with CPU time, and the time. */
static void read_moment(struct fb_counter_row *c, fb_counters_own_fn own, void *ctx, bool whole)
{
    bool process = is_due(&c->process, PROCESS_NS, whole);
    struct fb_counters_own now;

    for (int i = 0; i < MOMENT_TRIES; i++) {
        uint64_t before_ns = fb_clock_now();
        uint64_t after_ns;

        own(ctx, &now);
        c->stamp_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
        if (process) {
            set(c, FB_COUNTER_PROCESS_CPU, clock_read(CLOCK_PROCESS_CPUTIME_ID));
            was_read(c, &c->process);
        }
        read_cgroup(c);
        c->stamp_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
        read_own(c, &now, whole);
        after_ns = fb_clock_now();
        c->time_ns = (int64_t)(before_ns + (after_ns - before_ns) / 2);
        if (after_ns - before_ns < MOMENT_NS)
            return;
    }
}

static void read_cpus(struct fb_counter_row *c, const char *line, bool whole)
{
    struct fb_cpu_times times;
    int cpu;

    while (line != NULL && (line = fb_cpu_times_parse(line, &times, &cpu)) != NULL) {
        unsigned first = FB_COUNTER_CPU_FIRST + 3 * (unsigned)cpu;

        if (cpu < 0 || cpu >= FB_COUNTERS_CPUS)
            continue;
        set_grown(c, first, times.busy, whole);
        set_grown(c, first + 1, times.softirq, whole);
        set_grown(c, first + 2, times.steal, whole);
    }
}

/* The kernel makes the whole text in any case; what is read of it are the first lines. */
static void read_node(struct fb_counter_row *c, bool whole)
{
    char text[8192];
    struct fb_cpu_times all;
    const char *line;
    bool cpus;
    int cpu;

    if (!is_due(&c->node, NODE_NS, whole))
        return;
    cpus = whole || ++c->cpus_skipped >= FB_COUNTERS_SKIPPED;
    if (fb_kept_read(&c->node_file, c->keep, "/proc/stat", text, cpus ? sizeof text : 512) < 8 ||
        (line = fb_cpu_times_parse(text, &all, &cpu)) == NULL || cpu >= 0)
        return;
    set(c, FB_COUNTER_NODE_BUSY, all.busy);
    set(c, FB_COUNTER_NODE_SOFTIRQ, all.softirq);
    set(c, FB_COUNTER_NODE_STEAL, all.steal);
    set(c, FB_COUNTER_NODE_IDLE, all.idle);
    if (cpus) {
        c->cpus_skipped = 0;
        read_cpus(c, line, whole);
    }
    was_read(c, &c->node);
}

static bool node_pressure(struct fb_counter_row *c, struct fb_kept_file *file, const char *path,
                          uint64_t *ret_ns)
{
    char text[256];

    return fb_kept_read(file, c->keep, path, text, sizeof text) > 0 &&
           fb_pressure_parse(text, ret_ns);
}

/* The group's where the kernel says it, else the node's. */
static void read_pressure(struct fb_counter_row *c, bool whole)
{
    uint64_t ns;

    if (!is_due(&c->pressure, PRESSURE_NS, whole))
        return;
    if (fb_cgroup_cpu_pressure(&c->cgroup, &ns))
        set(c, FB_COUNTER_CGROUP_PRESSURE_CPU, ns);
    else if (node_pressure(c, &c->cpu_pressure_file, "/proc/pressure/cpu", &ns))
        set(c, FB_COUNTER_NODE_PRESSURE_CPU, ns);
    if (fb_cgroup_memory_pressure(&c->cgroup, &ns))
        set(c, FB_COUNTER_CGROUP_PRESSURE_MEMORY, ns);
    else if (node_pressure(c, &c->memory_pressure_file, "/proc/pressure/memory", &ns))
        set(c, FB_COUNTER_NODE_PRESSURE_MEMORY, ns);
    was_read(c, &c->pressure);
}

/* Levels.  No descriptor is looked at: the kernel keeps both numbers, of the network namespace (a
 * pod's own) and, since Linux 6.2, of the descriptor table. */
static void read_connections(struct fb_counter_row *c, bool whole)
{
    char text[4096];
    struct stat st;
    uint64_t count;

    c->fresh[FB_COUNTER_ESTABLISHED] = c->readable[FB_COUNTER_ESTABLISHED];
    c->fresh[FB_COUNTER_OPEN_FILES] = c->readable[FB_COUNTER_OPEN_FILES];
    if (!is_due(&c->connections, CONNECTIONS_NS, whole))
        return;
    if (fb_kept_read(&c->snmp_file, c->keep, "/proc/self/net/snmp", text, sizeof text) > 0 &&
        fb_established_parse(text, &count))
        set(c, FB_COUNTER_ESTABLISHED, count);
    if (stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
        set(c, FB_COUNTER_OPEN_FILES, (uint64_t)st.st_size);
    was_read(c, &c->connections);
}

/* A host's clock that is set moves the steps of a log against the samples. */
static void read_wall(struct fb_counter_row *c, bool whole)
{
    enum { MOVED_NS = 1000000 };
    int64_t offset = (int64_t)(clock_read(CLOCK_REALTIME) - fb_clock_now());
    int64_t moved = offset - c->value[FB_COUNTER_WALL_OFFSET];

    if (whole || moved > MOVED_NS || moved < -MOVED_NS)
        set(c, FB_COUNTER_WALL_OFFSET, (uint64_t)offset);
}

/* The machine's own speed: CPU time of a fixed amount of arithmetic that no compiler shortens. */
static uint64_t spin(void)
{
    uint64_t start =
        clock_read(CLOCK_THREAD_CPUTIME_ID); /* the stamp is older where nothing was due */
    uint64_t x = start | 1;

    for (int i = 0; i < SPIN_STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __asm__ volatile("" : "+r"(x));
    }
    return (clock_read(CLOCK_THREAD_CPUTIME_ID) - start) * SPIN_TIMES;
}

/* They come with the JVM, and go with it. */
static void read_jvm(struct fb_counter_row *c)
{
    struct fb_jvm_perf_values now;

    fb_jvm_perf_read(&now);
    for (unsigned i = 0; i < FB_JVM_PERF_COUNT; i++) {
        if (!now.has[i])
            continue;
        c->readable[FB_COUNTER_JVM_HEAP + i] = true;
        set(c, FB_COUNTER_JVM_HEAP + i, now.value[i]);
    }
}

void fb_counters_thread_end(struct fb_counter_row *c)
{
    c->earlier_ns += clock_read(CLOCK_THREAD_CPUTIME_ID);
}

void fb_counters_read(struct fb_counter_row *c, fb_counters_own_fn own, void *ctx, bool whole)
{
    bool all = whole || !c->started;

    memset(c->fresh, 0, sizeof c->fresh);
    read_moment(c, own, ctx, all);
    read_switches(c, all);
    read_memory(c, all);
    read_own_memory(c, all);
    read_jvm(c);
    read_node(c, all);
    read_pressure(c, all);
    read_connections(c, all);
    read_wall(c, all);
    set(c, FB_COUNTER_MACHINE_SPIN, spin());
    c->started = true;
}

/* "node.cpu7.softirq_ns" */
static void cpu_name_put(struct fb_wire_out *out, unsigned counter)
{
    static const char *const parts[] = {".busy_ns", ".softirq_ns", ".steal_ns"};
    char name[48];
    struct fb_text t = {.data = name, .cap = sizeof name};

    fb_text_str(&t, "node.cpu");
    fb_text_dec(&t, (counter - FB_COUNTER_CPU_FIRST) / 3);
    fb_text_str(&t, parts[(counter - FB_COUNTER_CPU_FIRST) % 3]);
    fb_wire_put_blob(out, name, t.len);
}

void fb_counters_put_defs(struct fb_counter_row *c, struct fb_chunk *chunk)
{
    static const struct definition of_cpu = {"", "ns", FB_COUNTER_CUMULATIVE};

    for (unsigned i = 0; i < FB_COUNTER_COUNT; i++) {
        const struct definition *d = i < FB_COUNTER_NAMED_COUNT ? &definitions[i] : &of_cpu;

        if (!c->readable[i] || c->defined[i])
            continue;
        c->defined[i] = true;
        fb_wire_put_varint(&chunk->body, i + 1);
        if (i < FB_COUNTER_NAMED_COUNT)
            fb_wire_put_blob(&chunk->body, d->name, strlen(d->name));
        else
            cpu_name_put(&chunk->body, i);
        fb_wire_put_blob(&chunk->body, d->unit, strlen(d->unit));
        fb_wire_put_u8(&chunk->body, (uint8_t)d->kind);
        chunk->count++;
    }
}

void fb_counters_put_row(const struct fb_counter_row *c, struct fb_wire_out *out)
{
    unsigned columns = 0;

    for (unsigned i = 0; i < FB_COUNTER_COUNT; i++)
        columns += c->fresh[i];
    fb_wire_put_signed(out, c->time_ns);
    fb_wire_put_varint(out, 1);
    fb_wire_put_varint(out, columns);
    fb_wire_put_signed(out, 0); /* the row is at the base time */
    for (unsigned i = 0; i < FB_COUNTER_COUNT; i++) {
        if (!c->fresh[i])
            continue;
        fb_wire_put_varint(out, i + 1);
        fb_wire_put_signed(out, c->value[i]);
    }
}

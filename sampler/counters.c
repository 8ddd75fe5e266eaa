/* counters.c - see counters.h. */
#include "sampler/counters.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sampler/clock.h"
#include "sampler/text.h"

enum { SPIN_STEPS = 20000, SPIN_TIMES = 3 }; /* a third of some 0.1 ms of dependent arithmetic */

struct definition {
    const char *name;
    const char *unit;
    enum fb_counter_kind kind;
};

static const struct definition definitions[FB_COUNTER_COUNT] = {
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
};

void fb_counters_init(struct fb_counter_row *c, char *scratch, size_t cap)
{
    uint64_t earlier_ns = c->earlier_ns; /* a helper may end before the bank is made */

    memset(c, 0, sizeof *c);
    c->earlier_ns = earlier_ns;
    fb_cgroup_find(&c->cgroup, "", scratch, cap);
}

static void set(struct fb_counter_row *c, enum fb_counter_id counter, uint64_t value)
{
    if (!c->started)
        c->readable[counter] = true;
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

static void read_process(struct fb_counter_row *c)
{
    char text[256];
    const char *at = text;
    struct rusage usage;

    set(c, FB_COUNTER_PROCESS_CPU, clock_read(CLOCK_PROCESS_CPUTIME_ID));
    set(c, FB_COUNTER_WRITER, c->earlier_ns + clock_read(CLOCK_THREAD_CPUTIME_ID));
    if (fb_file_glance("/proc/self/statm", text, sizeof text) > 0) {
        fb_text_number(text, &at); /* total pages, then resident ones */
        if (*at == ' ') {
            uint64_t pages = fb_text_number(at + 1, &at);

            set(c, FB_COUNTER_PROCESS_RSS, pages * (uint64_t)sysconf(_SC_PAGESIZE));
        }
    }
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        set(c, FB_COUNTER_SWITCH_VOLUNTARY, (uint64_t)usage.ru_nvcsw);
        set(c, FB_COUNTER_SWITCH_INVOLUNTARY, (uint64_t)usage.ru_nivcsw);
    }
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
    }
    if (now.has_memory)
        set(c, FB_COUNTER_CGROUP_MEMORY, now.memory_bytes);
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks of the user HZ;
 * guest time is part of user time. */
static void read_node(struct fb_counter_row *c)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    char text[512];
    const char *at = text + 4;
    uint64_t v[FIELDS];
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);

    if (fb_file_glance("/proc/stat", text, sizeof text) < 8 || strncmp(text, "cpu ", 4) != 0)
        return;
    for (int i = 0; i < FIELDS; i++) {
        while (*at == ' ')
            at++;
        v[i] = fb_text_number(at, &at) * tick_ns;
    }
    set(c, FB_COUNTER_NODE_BUSY, v[USER] + v[NICE] + v[SYSTEM] + v[IRQ] + v[SOFTIRQ] + v[STEAL]);
    set(c, FB_COUNTER_NODE_SOFTIRQ, v[SOFTIRQ]);
    set(c, FB_COUNTER_NODE_STEAL, v[STEAL]);
    set(c, FB_COUNTER_NODE_IDLE, v[IDLE] + v[IOWAIT]);
}

/* The machine's own speed: CPU time of a fixed amount of arithmetic that no compiler shortens. */
static uint64_t spin(void)
{
    uint64_t start = clock_read(CLOCK_THREAD_CPUTIME_ID);
    uint64_t x = start | 1;

    for (int i = 0; i < SPIN_STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __asm__ volatile("" : "+r"(x));
    }
    return (clock_read(CLOCK_THREAD_CPUTIME_ID) - start) * SPIN_TIMES;
}

void fb_counters_thread_end(struct fb_counter_row *c)
{
    c->earlier_ns += clock_read(CLOCK_THREAD_CPUTIME_ID);
}

void fb_counters_read(struct fb_counter_row *c, const struct fb_counters_own *own)
{
    c->time_ns = (int64_t)fb_clock_now();
    read_process(c);
    read_cgroup(c);
    read_node(c);
    set(c, FB_COUNTER_MACHINE_SPIN, spin());
    set(c, FB_COUNTER_THREADS, own->threads);
    set(c, FB_COUNTER_THREADS_CPU, own->threads_cpu_ns);
    set(c, FB_COUNTER_HANDLER, own->handler_ns);
    set(c, FB_COUNTER_HANDLER_COUNT, own->handler_count);
    set(c, FB_COUNTER_BYTES, own->bytes);
    set(c, FB_COUNTER_WEIGHT, own->weight);
    set(c, FB_COUNTER_OVERRUN, own->overrun);
    set(c, FB_COUNTER_SIGNALS, own->signals);
    set(c, FB_COUNTER_FOREIGN, own->foreign);
    set(c, FB_COUNTER_STRAYS, own->strays);
    set(c, FB_COUNTER_KEPT, own->kept);
    c->started = true;
}

void fb_counters_put_defs(const struct fb_counter_row *c, struct fb_chunk *chunk)
{
    for (unsigned i = 0; i < FB_COUNTER_COUNT; i++) {
        const struct definition *d = &definitions[i];

        if (!c->readable[i])
            continue;
        fb_wire_put_varint(&chunk->body, i + 1);
        fb_wire_put_blob(&chunk->body, d->name, strlen(d->name));
        fb_wire_put_blob(&chunk->body, d->unit, strlen(d->unit));
        fb_wire_put_u8(&chunk->body, (uint8_t)d->kind);
        chunk->count++;
    }
}

void fb_counters_put_row(const struct fb_counter_row *c, struct fb_wire_out *out)
{
    unsigned columns = 0;

    for (unsigned i = 0; i < FB_COUNTER_COUNT; i++)
        columns += c->readable[i];
    fb_wire_put_signed(out, c->time_ns);
    fb_wire_put_varint(out, 1);
    fb_wire_put_varint(out, columns);
    fb_wire_put_signed(out, 0); /* the row is at the base time */
    for (unsigned i = 0; i < FB_COUNTER_COUNT; i++) {
        if (!c->readable[i])
            continue;
        fb_wire_put_varint(out, i + 1);
        fb_wire_put_signed(out, c->value[i]);
    }
}

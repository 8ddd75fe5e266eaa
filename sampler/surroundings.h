/* surroundings.h - what is around the arm, out of small texts of the kernel's: time per CPU,
 * pressure, connections.
 *
 * Parsers alone; counters.h reads the files and says how often.  A text may be cut anywhere. */
#ifndef FB_SAMPLER_SURROUNDINGS_H
#define FB_SAMPLER_SURROUNDINGS_H

#include <stdbool.h>
#include <stdint.h>

struct fb_cpu_times { /* ns */
    uint64_t busy;
    uint64_t softirq; /* a part of busy */
    uint64_t steal;   /* a part of busy */
    uint64_t idle;
};

/* The line of /proc/stat that is at `line` ("cpu " of all, "cpu7 " of one): its times, the number
 * of the CPU (-1: all), and the line behind it.  NULL: it is no such line, or is cut. */
const char *fb_cpu_times_parse(const char *line, struct fb_cpu_times *ret_times, int *ret_cpu);

/* "some avg10=... total=MICROSECONDS": the time in which some task waited. */
bool fb_pressure_parse(const char *text, uint64_t *ret_some_ns);

/* /proc/net/snmp: TCP connections that are established in the network namespace. */
bool fb_established_parse(const char *text, uint64_t *ret_count);

#endif

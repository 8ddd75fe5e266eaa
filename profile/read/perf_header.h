/* perf_header.h - the line that begins a sample in the output of `perf script`.  Private to
 * profile/.
 *
 *     comm tid time: period event:          comm pid/tid [cpu] time: event: payload
 *     comm tid event:                       comm tid [cpu] time: event:  ip symbol (dso)
 *
 * The command's name may hold any byte, also blanks, digits and brackets, and may be empty: so the
 * line is told by its time, of which the last one is taken that leaves a name of at most 16 bytes
 * before the thread. */
#ifndef FB_PROFILE_READ_PERF_HEADER_H
#define FB_PROFILE_READ_PERF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_perf_header {
    const char *comm, *event, *rest;      /* within the line; event "" where there is none    */
    size_t comm_len, event_len, rest_len; /* rest: what is behind the event, without blanks */
    uint32_t pid, tid;                    /* pid 0: not said; UINT32_MAX for -1             */
    bool has_time, has_period;
    int64_t time_ns; /* of perf's clock */
    uint64_t period;
};

bool fb_perf_header_parse(const char *line, size_t len, struct fb_perf_header *ret_header);

#endif

/* cgroup.h - where the process's control groups are, and what they count.
 *
 *     fb_cgroup_find(&cg, "", scratch, cap);     "" or the folder of a fixture in place of "/"
 *     fb_cgroup_keep(&cg, keep);                 whether its files may stay open (kept_file.h)
 *     fb_cgroup_read(&cg, &now);                 once a second
 *
 * Version 1 and 2 and their mixture: each controller is taken where
 * /proc/self/cgroup and mountinfo say that it lives; a controller that is
 * nowhere is absent, never zero. */
#ifndef FB_SAMPLER_CGROUP_H
#define FB_SAMPLER_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/kept_file.h"

enum { FB_CGROUP_PATH_MAX = 1024 };

struct fb_cgroup_folder {
    bool found;
    bool v2;
    struct fb_kept_file file; /* the one that is read each second */
    char path[FB_CGROUP_PATH_MAX];
};

struct fb_cgroup {
    struct fb_cgroup_folder cpu; /* quota and throttling  */
    struct fb_cgroup_folder cpuacct;
    struct fb_cgroup_folder memory;
    struct fb_kept_file cpu_pressure;
    struct fb_kept_file memory_pressure;
    bool keep;
    char name[FB_CGROUP_PATH_MAX]; /* the cpu controller's path as /proc/self/cgroup says it */
};

struct fb_cgroup_now {
    bool has_cpu;
    bool has_throttling;
    bool has_memory;
    uint64_t cpu_ns;
    uint64_t throttled_ns;
    uint64_t throttled_count;
    uint64_t periods; /* with throttling */
    uint64_t memory_bytes;
};

/* scratch: at least 64 KiB for the two /proc files; longer ones are read that far. */
void fb_cgroup_find(struct fb_cgroup *ret_cg, const char *root, char *scratch, size_t cap);

/* Descriptors of another table are forgotten. */
void fb_cgroup_keep(struct fb_cgroup *cg, bool keep);

void fb_cgroup_read(struct fb_cgroup *cg, struct fb_cgroup_now *ret_now);

/* Time in which some task of the group waited for a CPU, for memory: version 2 alone.  False: this
 * kernel does not say. */
bool fb_cgroup_cpu_pressure(struct fb_cgroup *cg, uint64_t *ret_ns);
bool fb_cgroup_memory_pressure(struct fb_cgroup *cg, uint64_t *ret_ns);

/* CPU quota in thousandths of a core; false: there is no limit, or it cannot be read. */
bool fb_cgroup_quota(const struct fb_cgroup *cg, uint64_t *ret_millicores);

#endif

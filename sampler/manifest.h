/* manifest.h - the facts of a run, as keys and texts, at the head of its bank.
 *
 *   KEY                  VALUE
 *   flamebank_version    of the sampler
 *   command              the arguments, a blank between each two (blanks inside one are not marked)
 *   exe                  path of the executable
 *   cwd                  the folder at the start
 *   pid ppid uid
 *   host kernel machine  as uname(2) says
 *   cpu_model            "AMD EPYC 7B13", or the numbers of implementer and part (arm)
 *   cpus                 CPUs that are online
 *   cpus_allowed         CPUs that the process may run on
 *   container            "docker", "podman", "kubernetes" or "pid1-namespace"; absent: no hint
 *   clock_asked clock_got    cpu, itimer, perf or wall
 *   clock_lack           why they differ; absent if they do not
 *   kernel_frames        "yes", or why there are none; absent with a clock that never has them
 *   clock_fallbacks      threads that took their samples from the clock cpu all the same; absent: 0
 *   hz_asked hz_got      ticks a second of CPU time; got with three decimals
 *   interval_ns          what one tick of weight stands for (cpu); with itimer a label only
 *   tick_hz              the kernel's tick, the ceiling of signals a second
 *   start_monotonic_ns start_wall_ns    the same moment in both clocks
 *   run_root             "1" in the process that the run began with, else "0"
 *   parent_writer        in a fork's child: the parent's writer id, 16 hex digits
 *   cgroup_path          of the cpu controller
 *   cgroup_quota_cores   "1.500"; absent: no limit
 *   label.K              from FLAMEBANK_LABELS
 *   env.K                value, where FLAMEBANK_ENV names K; else "crc32:xxxxxxxx" of the value */
#ifndef FB_SAMPLER_MANIFEST_H
#define FB_SAMPLER_MANIFEST_H

#include <stdint.h>

#include "sampler/cgroup.h"
#include "sampler/config.h"
#include "sampler/sink.h"

struct fb_manifest {
    uint64_t start_monotonic_ns;
    uint64_t start_wall_ns;
    uint64_t parent_writer; /* 0: none */
    char cwd[1024];
    /* The environment as it was at the start, "K=V" with NULs between and behind; borrowed. */
    const char *environment;
    size_t environment_size;
};

/* In the constructor (and a fork's child): the start, the folder.  environment is kept as it is. */
void fb_manifest_start(struct fb_manifest *m);

/* Takes a copy of environ to own memory, once, in the constructor: later the host may change it
 * while the helper reads. */
void fb_manifest_copy_environment(struct fb_manifest *m);

/* The items of MANIFEST. */
void fb_manifest_put(const struct fb_manifest *m, const struct fb_config *config,
                     const struct fb_cgroup *cgroup, const uint32_t crc_table[256],
                     struct fb_chunk *chunk);

/* One item: how many threads run on the clock cpu all the same. */
void fb_manifest_put_fallbacks(uint32_t threads, struct fb_chunk *chunk);

#endif

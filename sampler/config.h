/* config.h - what the environment asks for, read once at start.
 *
 *   FLAMEBANK_OUT     pattern of the bank's name: %p pid, %e executable, %h host, %t start time
 *                     (UTC), %% a percent sign; default "%e.%h.%t.%p.fbank"
 *   FLAMEBANK_MODE    its permissions, octal; default 600
 *   FLAMEBANK_RUN     run id: up to 16 hex digits, not 0; made when absent.  The sampler exports it
 *                     as "<id>.<pid>": pid is the process that the run began with, which writes
 *                     a bank even if it took no sample
 *   FLAMEBANK_CLOCK   cpu (a timer per thread, the default), itimer (the classic ITIMER_PROF),
 *                     perf (an event per thread, with the kernel's frames where permitted)
 *                     or wall (every thread, whether it runs or waits)
 *   FLAMEBANK_HZ      1 .. 10000; default 99
 *   FLAMEBANK_LABELS  K=V,K=V: facts for the manifest
 *   FLAMEBANK_ENV     names, comma-separated, of variables whose values may be banked
 *   FLAMEBANK_FOLLOW  any of fork,exec or "none"; default fork,exec
 *   FLAMEBANK_GUARD   1: the front of SIGSEGV and SIGBUS (sampler/fault.h) from the start, so that
 *                     stacks of coroutines are walked whole; default: only beside a JVM
 *   FLAMEBANK_OFF     1: do nothing
 *
 * A wrong value yields one sentence, and the host runs unprofiled. */
#ifndef FB_SAMPLER_CONFIG_H
#define FB_SAMPLER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum fb_clock { FB_CLOCK_CPU, FB_CLOCK_ITIMER, FB_CLOCK_PERF, FB_CLOCK_WALL, FB_CLOCK_COUNT };

enum {
    FB_CONFIG_OUT_MAX = 2048,
    FB_CONFIG_LIST_MAX = 4096,
    FB_CONFIG_HZ_MAX = 10000,
};

struct fb_config {
    bool off;
    bool follow_fork;
    bool follow_exec;
    bool guard;
    bool jvm_nonsafepoints; /* DebugNonSafepoints may be set */
    bool root;              /* the run begins with this process */
    enum fb_clock clock;
    unsigned hz;
    uint64_t interval_ns;
    mode_t mode;
    uint64_t run_id;                /* 0: none was given */
    int64_t root_pid;               /* 0: none was given */
    char out[FB_CONFIG_OUT_MAX];    /* absolute, not yet expanded */
    char tmpdir[FB_CONFIG_OUT_MAX]; /* $TMPDIR, or empty                */
    char labels[FB_CONFIG_LIST_MAX];
    char env[FB_CONFIG_LIST_MAX];
};

/* Reads the variables through `get` (getenv, or a test's own).  False: *ret_message holds the
 * sentence, without a newline. */
bool fb_config_read(struct fb_config *c, char *(*get)(const char *name), char *ret_message,
                    size_t message_cap);

/* The values of a comma-separated list one after the other: *cursor starts at the list; false at
 * its end.  Empty items are skipped. */
bool fb_config_next(const char **cursor, const char **ret_item, size_t *ret_size);

#endif

/* perf_data.h - heap, collections, classes and compilation, in the JVM's own numbers.
 *
 *     fb_jvm_perf_read(&values);        once a second; values.has[i] says which there are
 *     text = fb_jvm_perf_state();       for the manifest: "yes", or why there are none
 *
 * Context: the helper thread, while the JVM is walked (guarded loads may be used).
 *
 * HotSpot keeps what jstat shows in a table of names and values in its own memory, whether it is
 * also mapped to a file or not, unless it runs with -XX:-UsePerfData.  The table is searched when
 * it has grown; then a reading is some loads.
 *
 * The heap's number is not the used heap of this moment: the JVM writes it at the end of each
 * collection, and at few other times.  So it has a name of its own. */
#ifndef FB_SAMPLER_JVM_PERF_DATA_H
#define FB_SAMPLER_JVM_PERF_DATA_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of enum fb_counter_id from FB_COUNTER_JVM_HEAP on. */
enum fb_jvm_perf_value {
    FB_JVM_PERF_HEAP,      /* bytes, as of the last collection */
    FB_JVM_PERF_COMMITTED, /* bytes */
    FB_JVM_PERF_YOUNG_COUNT,
    FB_JVM_PERF_YOUNG_NS,
    FB_JVM_PERF_OLD_COUNT, /* full and major ones */
    FB_JVM_PERF_OLD_NS,
    FB_JVM_PERF_CYCLE_COUNT, /* pauses of concurrent cycles */
    FB_JVM_PERF_CYCLE_NS,
    FB_JVM_PERF_CLASSES_LOADED,
    FB_JVM_PERF_CLASSES_UNLOADED,
    FB_JVM_PERF_COMPILE_NS, /* of all compiler threads */
    FB_JVM_PERF_SAFEPOINT_NS,
    FB_JVM_PERF_COUNT
};

struct fb_jvm_perf_values {
    bool has[FB_JVM_PERF_COUNT];
    uint64_t value[FB_JVM_PERF_COUNT];
};

void fb_jvm_perf_read(struct fb_jvm_perf_values *ret_values);

/* NULL while it is not known. */
const char *fb_jvm_perf_state(void);

#endif

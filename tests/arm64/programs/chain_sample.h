/* chain_sample.h - takes the samples of chain.cc with the unwinder as it is shipped.
 *
 *     chain_begin();                    main thread, once: compiles the tables, takes the signal
 *     chain_thread_begin() ... _end()   each thread that is to be sampled
 *     chain_samples(&count);            when no thread is sampled any more
 *
 * The clock is CLOCK_MONOTONIC, whose timers are not bound to the kernel's tick. */
#ifndef FB_TESTS_ARM64_CHAIN_SAMPLE_H
#define FB_TESTS_ARM64_CHAIN_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CHAIN_DEPTH_MAX = 62, CHAIN_SAMPLES_MAX = 20000, CHAIN_ROOT = 0 };

struct chain_sample {
    uint32_t depth;
    uint32_t stop; /* enum fb_walk_stop */
    uint64_t pcs[CHAIN_DEPTH_MAX];
};

bool chain_begin(void);
void chain_thread_begin(void);
void chain_thread_end(void);
const struct chain_sample *chain_samples(unsigned *ret_count);

#ifdef __cplusplus
}
#endif

#endif

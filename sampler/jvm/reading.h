/* reading.h - whether the helper may read the JVM's memory by guarded loads at this moment.
 *
 *     if (fb_jvm_may_read()) ... fb_jvm_read_64(address, &word)
 *
 * Context: the helper thread.  A load that fails kills where its signal is blocked, as in a
 * helper's thread that start.h has not opened, and where our front of SIGSEGV is gone (a handler
 * was set past us).  What is not read then is not told: a line, a name, a number. */
#ifndef FB_SAMPLER_JVM_READING_H
#define FB_SAMPLER_JVM_READING_H

#include <stdbool.h>

#include "sampler/jvm/signal/vm.h"
#include "sampler/signal/guard.h"

static inline bool fb_jvm_may_read(void)
{
    return fb_jvm_thread_open && fb_guard_stands();
}

#endif

/* injected.c - part of a sampler whose guarded loads fail: one in FB_JVM_INJECT of them. */
#include <stdatomic.h>
#include <stdlib.h>

#include "sampler/signal/guard.h"

__attribute__((constructor)) static void begin(void)
{
    const char *every = getenv("FB_JVM_INJECT");

    if (every != NULL)
        atomic_store(&fb_guard_inject_every, (uint32_t)strtoul(every, NULL, 10));
}

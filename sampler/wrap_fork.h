/* wrap_fork.h - around a fork that runs no fork hooks.
 *
 *     fb_fork_begin(&fork);
 *     pid = ...;                      a copy of this process, on the same stack
 *     fb_fork_end(&fork, pid);        in both
 *
 * The signal is blocked meanwhile: the copy of a large process is thrown away and begun again for
 * each signal that comes, for ever if it takes longer than a tick.  The child is not sampled: it
 * has no timers and no helper, and whoever forks this way wants nothing run between.  errno is
 * kept. */
#ifndef FB_SAMPLER_WRAP_FORK_H
#define FB_SAMPLER_WRAP_FORK_H

#include <signal.h>
#include <stdbool.h>

struct fb_fork {
    bool ours; /* there is something to do */
    sigset_t before;
};

void fb_fork_begin(struct fb_fork *ret_fork);
void fb_fork_end(const struct fb_fork *fork, long pid);

#endif

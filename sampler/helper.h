/* helper.h - the one thread of ours: it wakes once a second, and when asked.
 *
 *     fb_helper_start(config, manifest, run_id);          normal context
 *     fb_helper_ask(FB_FLUSH_EXIT, 200);                  any context; waits that long at most
 *
 * It blocks every signal (but the C library's own, which setuid() needs), has a
 * descriptor table of its own where the kernel can do that (close_range with
 * CLOSE_RANGE_UNSHARE), and takes no lock of the host: no heap, no stdio, no
 * locale; the loader's lock only in sampler/modules.c.  When every other thread
 * has left it returns, so that the process can end. */
#ifndef FB_SAMPLER_HELPER_H
#define FB_SAMPLER_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/config.h"
#include "sampler/manifest.h"
#include "sampler/writer.h"

/* False: no memory or no thread.  In a fork's child it starts over. */
bool fb_helper_start(const struct fb_config *config, const struct fb_manifest *manifest,
                     uint64_t run_id);

/* False: not done within the time, or there is no helper (any more). */
bool fb_helper_ask(enum fb_flush why, unsigned timeout_ms);

/* Ends the thread for the moment, and starts it again: glibc makes every thread change its rights
 * when one does, and aborts where one cannot (a host that changed its capabilities by system calls,
 * which are per thread); and some system calls want a process with one thread.  The bank stays
 * open: its descriptor waits in the host's table.  The new thread has the rights of the caller.
 * False: it was not ended within the time; then fb_helper_unpause() must not be called. */
bool fb_helper_pause(unsigned timeout_ms);
void fb_helper_unpause(void);

/* From now on it only writes (writer.h).  What is loaded is looked at before. */
void fb_helper_quiet(unsigned timeout_ms);

/* Ends it for good, after what is there was written. */
void fb_helper_stop(unsigned timeout_ms);

/* Wakes it to see whether it is alone. */
void fb_helper_wake(void);

/* exec failed: go on after FB_FLUSH_EXEC. */
void fb_helper_resume(void);

/* The bank of this process was made. */
bool fb_helper_has_bank(void);

/* This process's, for the manifest of a child. */
uint64_t fb_helper_writer_id(void);

#endif

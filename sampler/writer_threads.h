/* writer_threads.h - the part of the writer that looks after threads: names, CPU time, silence,
 * ends. Inside sampler/ only. */
#ifndef FB_SAMPLER_WRITER_THREADS_H
#define FB_SAMPLER_WRITER_THREADS_H

#include "sampler/writer.h"

/* First of all: has a system call filter come, and how many signals may the user still queue? */
void fb_writer_status_look(struct fb_writer *w);

/* Before segments are taken: adopts, buries, reads CPU times (round robin, for 60 us of CPU time a
 * call), finds threads that block the signal, and remembers which slots are EXITED now. */
void fb_writer_threads_look(struct fb_writer *w, bool last);

/* After their records are written: frees the slots that look() found EXITED. */
void fb_writer_threads_free(struct fb_writer *w);

/* Puts the thread's name into the threads chunk, if it has a new one. */
void fb_writer_thread_name(struct fb_writer *w, uint32_t slot, uint32_t id, uint64_t time_ns);

/* After a lost THREADS chunk: all names are new again. */
/* The bank's thread for the virtual threads that this one carries: "NAME (virtual)".  The same id
 * where there is none. */
uint32_t fb_writer_thread_virtual(struct fb_writer *w, uint32_t slot, uint32_t id,
                                  uint64_t time_ns);

void fb_writer_threads_forget_names(void);

/* Sums over living and exited threads. */
void fb_writer_own(const struct fb_writer *w, struct fb_counters_own *ret_own);

enum {
    FB_NAMES_CHECKED = 32, /* renames looked for, a flush */
};

/* The thread has SIGPROF in its mask; some 20 us. */
bool fb_writer_blocks_signal(int32_t tid);

#endif

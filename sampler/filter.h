/* filter.h - what a system call filter of the host's will refuse us, read before it is installed.
 *
 *     refused = fb_filter_refuses(program);       program: classic BPF, as the kernel will get it
 *     if (refused & FB_FILTER_TICKS) ...
 *
 * A filter that is installed cannot be asked: it may kill for the question.  Its program can be
 * run, for each call that we make, as the kernel runs it.  What cannot be followed counts as
 * refused.
 *
 * Context: normal; no allocation, no system call.  A filter costs some microseconds. */
#ifndef FB_SAMPLER_FILTER_H
#define FB_SAMPLER_FILTER_H

#include <linux/filter.h>

/* Who makes the calls that are refused. */
enum fb_filter_refused {
    FB_FILTER_TICKS = 1,     /* the handler, and the hooks at each end: nothing works without */
    FB_FILTER_THREADS = 2,   /* a thread's first and last moments                              */
    FB_FILTER_PROCESSES = 4, /* a new helper thread, a new bank; the start of a program          */
    FB_FILTER_HELPER = 8,    /* the helper when it only writes                                   */
};

/* Bits of enum fb_filter_refused. */
unsigned fb_filter_refuses(const struct sock_fprog *program);

#endif

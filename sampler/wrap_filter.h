/* wrap_filter.h - before the host installs a system call filter, whichever way.
 *
 *     fb_filter_comes(program, all_threads);       then the installation itself
 *
 * What the filter will refuse us is read from its program (filter.h), and what needs it stops
 * before: threads are not followed any more, or processes, or nothing is sampled from here on. */
#ifndef FB_SAMPLER_WRAP_FILTER_H
#define FB_SAMPLER_WRAP_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

/* program NULL: the host only asks whether there are filters. */
void fb_filter_comes(const struct sock_fprog *program, bool all_threads);

/* A filter would refuse what the start of a program with us needs: exec must tell it to be off. */
bool fb_filter_forbids_start(void);

#endif

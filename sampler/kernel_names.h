/* kernel_names.h - the names of the kernel's functions that samples met, from /proc/kallsyms.
 *
 * Context: the helper thread alone.
 *
 *     fb_kernel_names_want(&k, frame, address);        a frame that is new in the bank
 *     if (fb_kernel_names_due(&k, last))
 *         fb_kernel_names_find(&k);                    then k.wants[0 .. k.count) have names
 *     ... writes them ...
 *     fb_kernel_names_clear(&k);
 *
 * The kernel makes that file's 5 to 10 MB of text anew for each reader, some
 * 50 ms of CPU: it is read once in 20 s of the process's CPU time at most
 * (0.25 %), and at the end of a process that had at least one.  Nothing of it is
 * kept but the names that were asked for.  What has no name yet when a process
 * is killed, or does not live so long, is shown as [kernel]. */
#ifndef FB_SAMPLER_KERNEL_NAMES_H
#define FB_SAMPLER_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FB_KERNEL_WANTS = 1024, /* more of them between two looks stay without a name */
    FB_KERNEL_NAME = 64,    /* longer ones are cut                                */
};

struct fb_kernel_want {
    uint64_t address;
    uint64_t start; /* of the function; 0: none was found */
    uint32_t frame;
    char name[FB_KERNEL_NAME];
};

struct fb_kernel_names {
    struct fb_kernel_want *wants; /* sorted by address once they are found */
    uint32_t count;
    uint64_t read_cpu_ns; /* the process's CPU time when the file was read last */
};

void fb_kernel_names_want(struct fb_kernel_names *k, uint32_t frame, uint64_t address);

/* last: the process ends. */
bool fb_kernel_names_due(const struct fb_kernel_names *k, bool last);

void fb_kernel_names_find(struct fb_kernel_names *k);

/* Takes one line, without its newline: "ffffffff81000000 T name", maybe with "\t[module]". */
void fb_kernel_names_line(struct fb_kernel_names *k, const char *line);

void fb_kernel_names_clear(struct fb_kernel_names *k);

#endif

/* symbol_scan.h - symbol tables of a file read once, for a few addresses.
 *
 * Context: the helper thread alone; needs 16 KiB of stack.
 *
 *     wants[0 .. n) sorted by address, all zero but for that and what is the caller's
 *     fb_symbol_scan(&file, wants, n, &limit);
 *     if (fb_symbol_scan_name(&file, &wants[i], buffer, sizeof buffer)) ...
 *
 * The rule of what covers an address is in module_names.h. */
#ifndef FB_SAMPLER_SYMBOL_SCAN_H
#define FB_SAMPLER_SYMBOL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/module_file.h"

/* When to give up: CLOCK_MONOTONIC, and CPU time of the calling thread. */
struct fb_symbol_limit {
    uint64_t end_ns;
    uint64_t end_cpu_ns;
};

struct fb_symbol_found {
    uint64_t start;
    uint64_t name_at; /* in the file; 0: none was found */
    uint32_t size;
    uint8_t kind; /* as fb_symbol_rank wants it */
    bool local;
    bool weak;
};

struct fb_symbol_want {
    uint64_t address;
    uint32_t module;                 /* the caller's */
    uint32_t frame;                  /* the caller's */
    uint64_t section;                /* where the section of its code begins */
    struct fb_symbol_found covering; /* after the scan: the answer, if there is one    */
    struct fb_symbol_found before;   /* the last one without size at or before it      */
    uint64_t sized_before;           /* the last start of one with size before it      */
};

bool fb_symbol_limit_over(const struct fb_symbol_limit *limit);

/* False: the time was over, nothing is known. */
bool fb_symbol_scan(const struct fb_module_file *file, struct fb_symbol_want *wants, uint32_t n,
                    const struct fb_symbol_limit *limit);

/* False: no symbol covers it, or its name is longer than the buffer. */
bool fb_symbol_scan_name(const struct fb_module_file *file, const struct fb_symbol_want *want,
                         char *buffer, size_t size);

#endif

/* modules.h - which libraries are loaded, when, and the unwind tables made of them.
 *
 * Context: normal, and one thread only (the helper), but for the fork hooks; it
 * needs 40 KiB of stack.
 * dlopen and dlclose are never wrapped; nothing here runs code of the host.
 *
 *     if (fb_modules_changed())                      once a second: cheap
 *         fb_modules_scan(on_event, ctx);            the first time: everything is new
 *     found = fb_modules_find(pc, time_ns, &ref);    to bank a pc: ref.id, pc - ref.bias
 *
 * A scan copies names and program headers under dl_iterate_phdr (the loader's
 * lock is held for that copy alone), then, without any lock, looks where each new
 * module's .eh_frame is, then publishes a new code map and reports
 * what was loaded and unloaded.  Rows are made when walks ask for them
 * (sampler/lazy.h):
 *
 *     fb_modules_tables_make();                      when the bell of the code map rang
 *
 * A module may vanish while it is read: its
 * memory is only touched through sampler/self_read.h, where an unmapped page is
 * an error and not a fault, and a scan during which dlpi_subs moved throws away
 * what it read and starts again (a few times; then the rest waits for the next).
 *
 * Retirement.  An unloaded module's table, and every replaced code map, is kept
 * for at least two later scans AND until the code map was quiet after it was
 * replaced (the argument is in sampler/signal/code_map.h).  Ids are never
 * reused: they count from 1 in the order of discovery.
 *
 * Libraries of other namespaces (dlmopen), and ELF files that the program mapped
 * by hand, are not shown to us by dl_iterate_phdr().  Where a walk has met unknown
 * code, the next scan looks for them in /proc/self/maps (sampler/mapped.h); looks
 * that find nothing become rarer, since generated code is unknown as well.
 *
 * Fork.  The child goes on with its copy of everything.  fork_prepare waits
 * until no scan is inside the loader or changing our lists (microseconds; never
 * for a table being compiled), so that the child inherits neither the loader's
 * lock nor half a list; a scan that meets forks without a gap for 100 ms is put off.  It gives up
 * after 100 ms (only possible if the forking thread itself holds the loader's lock); the child then
 * never scans again and unwinds with the tables it has.  In the child the next scan reports all
 * modules again, under the same ids, for the child's own bank.  The child of a
 * fork() that ran without the hooks (a raw clone) must not call anything here. */
#ifndef FB_SAMPLER_MODULES_H
#define FB_SAMPLER_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/module_file.h"

enum { FB_BUILD_ID_MAX = 64 };

struct fb_module_event {
    uint32_t id;     /* from 1; never reused in this process or its forked children   */
    bool loaded;     /* false: unloaded; then only id and time_ns matter              */
    int64_t time_ns; /* CLOCK_MONOTONIC when the scan saw it                          */
    uint64_t start;  /* runtime addresses of all its segments, [start, end)           */
    uint64_t end;
    uint64_t bias;           /* ELF virtual address = runtime address - bias                  */
    const uint8_t *build_id; /* borrowed for the call; build_id_size 0: it has none           */
    size_t build_id_size;
    const char *path; /* borrowed; absolute where known, "[vdso]" for the vDSO         */
};

typedef void (*fb_modules_event_fn)(void *ctx, const struct fb_module_event *event);

struct fb_module_ref {
    uint32_t id;
    uint64_t bias;
    bool timed; /* at another time the answer for this pc may be another: set on false, too */
};

struct fb_modules_stats {
    uint32_t live;          /* modules loaded now                                   */
    uint32_t without_table; /* of them: no readable or usable .eh_frame             */
    uint32_t mapped;        /* of them: not shown by the loader                     */
    uint32_t compressed;    /* .debug_frames that were not read for that            */
    uint32_t blocks;        /* of code whose rows were made                         */
    uint32_t retired;       /* tables and maps that wait for their grace period     */
    uint64_t table_bytes;   /* memory of all tables, retired ones included          */
    uint64_t build_ns;      /* CPU time spent compiling since the start             */
    uint32_t raced;         /* scans thrown away because a module was unloaded      */
};

/* Whether a scan is due: something was loaded or unloaded since the last one, a
 * table waits for its end, or nothing was scanned yet.  A few microseconds. */
bool fb_modules_changed(void);

/* Brings tables and code map up to date; unloads are reported before loads.
 * False if memory was short or the child may not scan (see Fork): what was there stays. */
bool fb_modules_scan(fb_modules_event_fn on_event, void *ctx);

/* Makes the rows that walks have asked for; false if there were none to be made.  Of modules that
 * are known: unknown code is for the next scan. */
bool fb_modules_tables_make(void);

/* The reader of the host's memory may stay open from now on (the thread's descriptors are its own),
 * or may not; once in each new helper thread, before the first scan. */
void fb_modules_thread_begin(bool own_table);

/* The host has forbidden most system calls: no more scans, and rows are made with pread() alone,
 * from the reader if it stayed open. */
void fb_modules_seal(void);

/* The module that held pc at time_ns (CLOCK_MONOTONIC), loaded or unloaded up to about two scans
 * ago. Where an address range was reused between two scans nobody knows which of the two it was in
 * between: false. */
bool fb_modules_find(uint64_t pc, int64_t time_ns, struct fb_module_ref *ret_ref);

/* The file of a module that is loaded now; the vDSO's memory.  False: it cannot be had, or is
 * another file by now.  No other call of this page before fb_modules_file_close(). */
bool fb_modules_file_open(uint32_t id, struct fb_module_file *ret_file);
void fb_modules_file_close(struct fb_module_file *file);

void fb_modules_stats_get(struct fb_modules_stats *ret_stats);

/* To be called around fork(), in this order, by the forking thread. */
void fb_modules_fork_prepare(void);
void fb_modules_fork_parent(void);
void fb_modules_fork_child(void);

#endif

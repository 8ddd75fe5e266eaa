/* module_names.h - the names of functions that samples met, from the symbol tables of their files.
 *
 * Context: the helper thread alone; needs 24 KiB of stack.
 *
 *     fb_module_names_want(&m, frame, module, address);     a frame that is new in the bank
 *     if (fb_module_names_due(&m, now, last))
 *         fb_module_names_find(&m, on_name, ctx);            on_name for each that was found
 *     fb_module_names_forget(&m);                            ids of frames are no longer good
 *
 * So a bank has names when the files of its arm are gone.  They are as the
 * tables have them (mangled): readers demangle, and look into better files
 * where there are any, for inlined functions and lines as well.
 *
 * .symtab and .dynsym are read by blocks, once for all that is wanted of a
 * module; nothing of them is kept but the best name of each wanted address, by
 * the rule of base/symbol_rank.h.  The bounds of functions are those of
 * `symbolize`: a symbol with a size covers its size, the inner one where two
 * do; one without goes up to the next one, if the file has a table of all.
 * What is compressed (MiniDebugInfo) is not read: that needs a library.
 *
 * What it may cost.  For 1,000 addresses a table of 58,000 symbols takes
 * some 2 ms of CPU, tables of 185,000 some 7.  The first look is after two seconds, then after 10,
 * 30 and every 60, where something new was met and what was spent is within 2 ms and 0.2 % of the
 * process's CPU time; the last one is at the end of the process.  A look takes 40 ms of CPU at
 * most, and keeps a process that ends waiting for 150 ms at most.  What it does not reach has its
 * address, and no name; so has a module that was unloaded before. */
#ifndef FB_SAMPLER_MODULE_NAMES_H
#define FB_SAMPLER_MODULE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/pages.h"

enum {
    FB_MODULE_NAMES_MAX = 16384, /* wanted at a time; more stay without */
    FB_MODULE_NAME = 8192,       /* longer ones are not taken           */
};

struct fb_module_names {
    struct fb_pages pages; /* of struct want (module_names.c) */
    uint32_t count;
    uint64_t begin_ns;
    uint64_t next_ns;
    unsigned looks;
    uint64_t spent_ns;
};

/* same: it is the function of the name before. */
typedef void (*fb_module_name_fn)(void *ctx, uint32_t frame, const char *name, bool same);

/* address: of the ELF file. */
void fb_module_names_want(struct fb_module_names *m, uint32_t frame, uint32_t module,
                          uint64_t address);

bool fb_module_names_due(struct fb_module_names *m, uint64_t now_ns, bool last);

/* last: at the end of the process.  What was wanted is not wanted any more, but for what there was
 * no time for. */
void fb_module_names_find(struct fb_module_names *m, bool last, fb_module_name_fn on_name,
                          void *ctx);

void fb_module_names_forget(struct fb_module_names *m);

#endif

/* banks.h - the bank files that a recorded run left. */
#ifndef FB_CLI_BANKS_H
#define FB_CLI_BANKS_H

#include <stddef.h>
#include <stdint.h>

struct fb_bank_files {
    char **paths;
    size_t count, room;
};

/* The banks of run `run_id` in the folder of `path`, `path` itself first, the others by name. */
void fb_bank_files_find(const char *path, uint64_t run_id, struct fb_bank_files *ret_files);
void fb_bank_files_done(struct fb_bank_files *files);

/* Symbolizes and packs every bank in place, gives `path` to the one of process `pid` with the most
 * samples (a shell may have forked, or become another program), and says on stderr what each
 * holds.  A damaged one is left as it is, and said. */
void fb_bank_files_finish(const struct fb_bank_files *files, const char *path, long pid);

#endif

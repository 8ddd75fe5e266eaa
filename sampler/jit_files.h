/* jit_files.h - perf-PID.map and jit-PID.dump of this process, read while they grow.
 *
 * Context: the helper thread alone; needs 24 KiB of stack.
 *
 *     if (fb_jit_files_look(&files, &codes, now_ns)) ...        there is new code
 *     n = fb_jit_files_name(&files, code, buffer, size);
 *     if (fb_jit_files_line(&files, code, pc, buffer, size, &line)) ...
 *     fb_jit_files_rest(&files);                                until the next look
 *
 * The map is /tmp/perf-PID.map, or one of that name among the files that the
 * process has open; the dump is the mapping by which its writer marks it. They
 * are looked for when code is met that no module has, then ever more rarely, and
 * followed from then on: what was appended is read, 4 MiB a look at most, up to
 * the last whole line or record.  A file that is shorter than before, or another
 * one under the name, is read anew.  A map has no times: what is new was made
 * since the look before.
 *
 * Names stay in the files, and are read from there for code that was hit. */
#ifndef FB_SAMPLER_JIT_FILES_H
#define FB_SAMPLER_JIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/jit_codes.h"

enum { FB_JIT_PATH = 1024 };

struct fb_jit_file {
    char path[FB_JIT_PATH]; /* "": not found yet  */
    int fd;                 /* -1: not open       */
    uint64_t device;
    uint64_t inode;
    uint64_t done; /* bytes that were read */
    bool in_line;  /* a line that is too long goes on */
};

struct fb_jit_files {
    struct fb_jit_file map;
    struct fb_jit_file dump;
    bool own_clock;    /* of the dump  */
    bool refused;      /* the dump is none, or of another version or order of bytes */
    uint64_t debug_at; /* the last DEBUG_INFO of the dump, and what it is of */
    uint64_t debug_of;
    uint64_t looked_ns;
    uint64_t search_ns; /* when to look for them next */
    unsigned searches;
};

void fb_jit_files_init(struct fb_jit_files *files);

/* True: codes has changed. */
bool fb_jit_files_look(struct fb_jit_files *files, struct fb_jit_codes *codes, uint64_t now_ns);

/* Not ended with a NUL; 0: it cannot be read any more. */
size_t fb_jit_files_name(const struct fb_jit_files *files, const struct fb_jit_code *code,
                         char *buffer, size_t size);

/* The line of the address, and its file, with a NUL. */
bool fb_jit_files_line(const struct fb_jit_files *files, const struct fb_jit_code *code,
                       uint64_t pc, char *file, size_t size, uint32_t *ret_line);

void fb_jit_files_rest(struct fb_jit_files *files);

/* For tests: the lines or records of an open file that are there; false: none is new. */
bool fb_jit_map_read(struct fb_jit_files *files, struct fb_jit_codes *codes);
bool fb_jit_dump_read(struct fb_jit_files *files, struct fb_jit_codes *codes);

#endif

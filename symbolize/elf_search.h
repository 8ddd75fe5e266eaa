/* elf_search.h - the files that belong to a module of a profile: itself and its debug file.
 *
 * Searched, in this order, each candidate's build ID compared with the profile's:
 *   the file      PATH;  ROOT/PATH;  /proc/PID/root/PATH (only with a build ID);
 *                 DIR/.build-id/xx/rest;  a debuginfod server
 *   debug file    DIR/.build-id/xx/rest.debug;  DIR/xx/rest.debug;
 *                 the name in .gnu_debuglink beside PATH, in .debug/ beside it, in DIR/<folder of
 *                 PATH> (build ID or, where the file has none, the link's checksum);
 *                 a debuginfod server, where the file has no DWARF itself
 * where DIR is debug_dir, then ROOT/usr/lib/debug, then /usr/lib/debug. */
#ifndef FB_SYMBOLIZE_ELF_SEARCH_H
#define FB_SYMBOLIZE_ELF_SEARCH_H

#include "base/err.h"
#include "symbolize/elf_file.h"
#include "symbolize/fetch.h"

/* Where to look beside PATH and the system's folders; zeroed: nowhere.  Texts are borrowed. */
struct fb_elf_places {
    const char *debug_dir;  /* NULL none                                                    */
    const char *root;       /* the arm's file system: an unpacked image, /proc/PID/root     */
    long pid;               /* of the arm, where it may still run; 0 unknown                */
    struct fb_fetch *fetch; /* debuginfod; NULL: nothing is fetched from a network          */
};

/* Sets *ret_main and *ret_debug, yours; one of them may be NULL.  build_id "" accepts any file.
 * Fails (both unset) if neither is found; err says why the file at `path` was not good. */
enum fb_status fb_elf_search(const struct fb_elf_places *places, const char *path,
                             const char *build_id, struct fb_elf_file **ret_main,
                             struct fb_elf_file **ret_debug, struct fb_err *err);

/* The file that dwz(1) moved the shared part of a debug file to: the name in .gnu_debugaltlink
 * (relative to the folder of `file`, then in DIR/.dwz), then by its build ID as above.  *ret_alt is
 * yours; *ret_name (free it) is what was looked for.  False, both NULL, where `file` has no such
 * link; true with *ret_alt NULL where the file is not there. */
bool fb_elf_search_alt(const struct fb_elf_places *places, const struct fb_elf_file *file,
                       struct fb_elf_file **ret_alt, char **ret_name);

#endif

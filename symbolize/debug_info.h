/* debug_info.h - the functions, inlined or not, and lines of a module's addresses, from DWARF.
 *
 *     struct fb_debug *d = fb_debug_open(file, code, &places);         NULL: none there
 *     n = fb_debug_find(d, address, places, FB_PLACES_MAX);
 *     places[0]      the innermost function, and the line of the address itself
 *     places[n - 1]  the function that has the code; its line is that of the call in it
 *     fb_debug_close(d);
 *
 * Opening reads the first entry of each unit.  A unit's entries are walked, and its line table is
 * run, when the first address in it is asked for; then both are kept.  DWARF 2 to 5; split units
 * are looked for at the name that their skeleton gives (under the folder of the compilation), then
 * beside the file, then in places->debug_dir, as a .dwo file or a .dwp package; each must have the
 * skeleton's id. */
#ifndef FB_SYMBOLIZE_DEBUG_INFO_H
#define FB_SYMBOLIZE_DEBUG_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf_file.h"
#include "symbolize/elf_search.h"

enum { FB_PLACES_MAX = 128 }; /* what was inlined deeper is left out in the middle */

struct fb_place {
    const char *function; /* linkage name, else plain name; NULL unknown */
    const char *file;     /* NULL unknown                                 */
    uint32_t line;        /* 0 unknown                                    */
};

struct fb_debug;

/* Both files must outlive it.  code: the sections of the loaded file; ranges elsewhere (dropped by
 * the linker) are ignored. */
struct fb_debug *fb_debug_open(const struct fb_elf_file *file, const struct fb_elf_file *code,
                               const struct fb_elf_places *places);
void fb_debug_close(struct fb_debug *debug);

/* How many places; 0 where nothing is known.  with_inlined false: one place at most, that of the
 * function that has the code, with the line of the address.  Texts are borrowed. */
size_t fb_debug_find(struct fb_debug *debug, uint64_t address, bool with_inlined,
                     struct fb_place *places);

/* What files of debug data it missed so far: a clause, or NULL.  Free it. */
char *fb_debug_missing(const struct fb_debug *debug);

#endif

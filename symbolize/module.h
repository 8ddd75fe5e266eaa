/* module.h - all that is known about the addresses of one module.
 *
 *     r = fb_symbols_open(&places, path, build_id, &symbols, err);
 *     const struct fb_symbol *s = fb_symbols_find(symbols, address);
 *     fb_symbols_free(symbols);
 *
 * Opening builds the index of the functions; line tables are opened when the first line is asked
 * for. */
#ifndef FB_SYMBOLIZE_MODULE_H
#define FB_SYMBOLIZE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "symbolize/debug_info.h"
#include "symbolize/elf_search.h"
#include "symbolize/symbol_index.h"

struct fb_symbols;

/* build_id "" accepts the file as it is; path "[vdso]" is this machine's vDSO.  The texts of places
 * must outlive it. */
enum fb_status fb_symbols_open(const struct fb_elf_places *places, const char *path,
                               const char *build_id, struct fb_symbols **ret_symbols,
                               struct fb_err *err);

/* The same for n bytes of malloc()ed memory, which it takes.  No debug file, no MiniDebugInfo. */
enum fb_status fb_symbols_open_memory(void *image, size_t n, const char *name,
                                      struct fb_symbols **ret_symbols, struct fb_err *err);
void fb_symbols_free(struct fb_symbols *symbols);

/* The ELF address of an offset in the module's file; false where none of it is loaded there. */
bool fb_symbols_address(const struct fb_symbols *symbols, uint64_t offset, uint64_t *ret_address);

/* Borrowed, or NULL. */
const struct fb_symbol *fb_symbols_find(const struct fb_symbols *symbols, uint64_t address);

/* Appends the symbol's name as people read it: demangled, "f@plt" for a stub of f, "f.resolver"
 * for the code that chooses an IFUNC's implementation. */
void fb_symbol_name(const struct fb_symbol *symbol, struct fb_buf *out);

/* The functions that the code at the address is of, innermost first, the one that has the code last
 * (debug_info.h).  0 where nothing is known.  places: FB_PLACES_MAX of them. */
size_t fb_symbols_places(struct fb_symbols *symbols, uint64_t address, bool with_inlined,
                         struct fb_place *places);

/* The line of the address itself.  *ret_file is borrowed. */
bool fb_symbols_line(struct fb_symbols *symbols, uint64_t address, const char **ret_file,
                     uint32_t *ret_line);

/* Whether there was a table of all symbols (.symtab or MiniDebugInfo), not only of exported ones.
 */
bool fb_symbols_whole(const struct fb_symbols *symbols);

/* What debug data it missed so far: a clause, or NULL.  Free it. */
char *fb_symbols_missing(const struct fb_symbols *symbols);

/* Appends a name as people read it to out: demangled where it is mangled. */
void fb_symbols_demangle(const char *name, struct fb_buf *out);

#endif

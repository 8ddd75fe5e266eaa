/* plt.h - the procedure linkage table: which stub jumps to which function.
 *
 *     struct fb_symbol_index stubs = {0};
 *     fb_plt_read(file, &functions, &stubs);
 *     fb_symbol_index_find(&stubs, address)       .name is the FUNCTION's, .kind FB_SYMBOL_STUB
 *
 * No symbol table has these entries.  Each is decoded: it jumps through a slot of the GOT, and the
 * relocation of that slot names the function; so the layout does not matter (.plt, .plt.sec,
 * .plt.got, lazily bound or not, with and without IBT or BTI, any linker).  An entry that only
 * pushes the number of its relocation (.plt with IBT) is found by that number.  x86_64 and
 * aarch64; nothing elsewhere.  The common first entry has no function and stays unknown. */
#ifndef FB_SYMBOLIZE_PLT_H
#define FB_SYMBOLIZE_PLT_H

#include "symbolize/elf_file.h"
#include "symbolize/symbol_index.h"

/* Fills and builds `stubs` (zeroed before).  `functions`, already built, names the targets of
 * relocations that carry an address instead of a name (IRELATIVE).  Names are borrowed from the
 * file and from `functions`. */
void fb_plt_read(const struct fb_elf_file *file, const struct fb_symbol_index *functions,
                 struct fb_symbol_index *stubs);

#endif

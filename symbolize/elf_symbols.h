/* elf_symbols.h - the symbol tables of one ELF file, and where its functions start. */
#ifndef FB_SYMBOLIZE_ELF_SYMBOLS_H
#define FB_SYMBOLIZE_ELF_SYMBOLS_H

#include "symbolize/elf_file.h"
#include "symbolize/symbol_index.h"

/* Adds the functions of every .symtab and .dynsym to ix; names are borrowed from the file.
 * *ret_whole (may be NULL) tells whether there was a .symtab. */
void fb_elf_symbols_add(const struct fb_elf_file *file, struct fb_symbol_index *ix,
                        bool *ret_whole);

/* Adds one symbol if it is a function: not a data object, a file, a mapping symbol ($x, $d, $a,
 * $t) or a mark of the compiler. */
void fb_elf_symbol_add(uint16_t machine, const GElf_Sym *symbol, const char *name, bool whole_table,
                       struct fb_symbol_index *ix);

/* The starts of the functions in .eh_frame_hdr's table, rising; free() it.  NULL and 0 where there
 * is none, or one in an encoding that no linker of x86_64 or aarch64 writes. */
uint64_t *fb_elf_function_starts(const struct fb_elf_file *file, size_t *ret_count);

#endif

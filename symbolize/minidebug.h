/* minidebug.h - MiniDebugInfo: the symbols of a stripped file, xz-packed in its .gnu_debugdata.
 *
 * libdwfl unpacks them; it needs the file's descriptor, so a file from memory has none. */
#ifndef FB_SYMBOLIZE_MINIDEBUG_H
#define FB_SYMBOLIZE_MINIDEBUG_H

#include "symbolize/elf_file.h"
#include "symbolize/symbol_index.h"

struct fb_minidebug;

/* Adds the symbols to ix, whose names are borrowed from the result.  NULL (nothing added) where
 * the file has none or they cannot be unpacked. */
struct fb_minidebug *fb_minidebug_read(const struct fb_elf_file *file, struct fb_symbol_index *ix);
void fb_minidebug_free(struct fb_minidebug *mini);

#endif

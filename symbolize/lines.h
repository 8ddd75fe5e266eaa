/* lines.h - source file and line of an address, from .debug_line.
 *
 * Opening reads one entry of .debug_info per compilation unit; a unit's line table is decoded when
 * its first address is asked for, and kept. */
#ifndef FB_SYMBOLIZE_LINES_H
#define FB_SYMBOLIZE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolize/elf_file.h"

struct fb_lines;

/* NULL where the file has no usable .debug_info and .debug_line.  The file must outlive it.
 * code: the sections of the loaded file; units elsewhere (dropped by the linker) are ignored. */
struct fb_lines *fb_lines_open(const struct fb_elf_file *file, const struct fb_elf_file *code);
void fb_lines_free(struct fb_lines *lines);

/* *ret_file is borrowed until fb_lines_free(). */
bool fb_lines_find(struct fb_lines *lines, uint64_t address, const char **ret_file,
                   uint32_t *ret_line);

#endif

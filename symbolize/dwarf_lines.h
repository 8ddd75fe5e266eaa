/* dwarf_lines.h - a line table: file and line of an address, and the names of its files.
 *
 *     struct fb_line_table *t = fb_line_table_read(unit, &budget);
 *     if (fb_line_table_find(t, address, &file, &line))
 *         fb_line_table_file(t, file)
 *
 * Of DWARF 2 to 5.  The program is run once, its rows are kept. */
#ifndef FB_SYMBOLIZE_DWARF_LINES_H
#define FB_SYMBOLIZE_DWARF_LINES_H

#include "symbolize/dwarf_file.h"

struct fb_line_table;

/* The table of a unit with has_lines; NULL where it cannot be read.  *budget: bytes of programs
 * that may still be run; less after it. */
struct fb_line_table *fb_line_table_read(const struct fb_dwarf_unit *unit, uint64_t *budget);
void fb_line_table_free(struct fb_line_table *table);

/* False where no row covers the address.  *ret_line 0: the compiler says that the code is of no
 * line. */
bool fb_line_table_find(const struct fb_line_table *table, uint64_t address, uint32_t *ret_file,
                        uint32_t *ret_line);

/* The path of a file by its number in the table (what DW_AT_call_file is, too); NULL where there is
 * none.  Borrowed. */
const char *fb_line_table_file(struct fb_line_table *table, uint32_t file);

#endif

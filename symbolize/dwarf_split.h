/* dwarf_split.h - split units: the files in which the compiler left what a skeleton only names.
 *
 *     struct fb_splits splits = {.file = ..., .debug_dir = ...};
 *     struct fb_dwarf_unit *u = fb_splits_find(&splits, skeleton);
 *     fb_splits_done(&splits); */
#ifndef FB_SYMBOLIZE_DWARF_SPLIT_H
#define FB_SYMBOLIZE_DWARF_SPLIT_H

#include "symbolize/dwarf_file.h"

struct fb_split_file {
    struct fb_elf_file *elf;
    struct fb_dwarf *dwarf;
};

struct fb_splits {
    const struct fb_elf_file *file; /* that has the skeletons    */
    const char *debug_dir;          /* NULL none                 */
    struct fb_split_file package;   /* the .dwp                  */
    bool package_tried;
    struct fb_split_file *files;
    size_t count, room;
    size_t missing;     /* units whose file was not there */
    char *missing_name; /* the first one's            */
};

/* The split unit of a skeleton, tied to it; NULL where its file is not there.  Borrowed. */
const struct fb_dwarf_unit *fb_splits_find(struct fb_splits *splits,
                                           const struct fb_dwarf_unit *skeleton);
void fb_splits_done(struct fb_splits *splits);

#endif
